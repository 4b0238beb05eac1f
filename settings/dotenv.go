package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// A Variable is one line of a .env file.
type Variable struct{ Name, Value string }

// parseEnv reads the text of a .env file as the JavaScript library of that name
// does: nothing is filled in, a # ends a value that is not quoted, a line that
// makes no sense is passed over, and of two lines the last one counts.
func parseEnv(text string) []Variable {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var out []Variable
	at := map[string]int{}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		m := assignment().FindStringSubmatch(line)
		if m == nil {
			text = rest
			continue
		}
		v := Variable{Name: m[1]}
		v.Value, text = envValue(text[len(m[0]):])
		if i, seen := at[v.Name]; seen {
			out[i] = v
			continue
		}
		at[v.Name] = len(out)
		out = append(out, v)
	}
	return out
}

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:export\s+)?([\w.-]+)(?:[ \t]*=|:[ \t]+)[ \t]*`)
})

// envValue reads the value at the start of s and returns what comes after its
// line. A quoted value may be of several lines.
func envValue(s string) (value, rest string) {
	if s != "" && strings.IndexByte("'\"`", s[0]) >= 0 {
		if end := closing(s); end > 0 {
			after, rest, _ := strings.Cut(s[end+1:], "\n")
			if after = strings.TrimSpace(after); after == "" || after[0] == '#' {
				return unescape(s[1:end], s[0]), rest
			}
		}
	}
	line, rest, _ := strings.Cut(s, "\n")
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if n := len(line); n > 1 && strings.IndexByte("'\"`", line[0]) >= 0 && line[n-1] == line[0] {
		line = unescape(line[1:n-1], line[0])
	}
	return line, rest
}

// closing returns where the quote that begins s ends, or -1.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == s[0]:
			i++
		case s[i] == s[0]:
			return i
		}
	}
	return -1
}

func unescape(s string, quote byte) string {
	if quote != '"' {
		return s
	}
	return strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(s)
}

// envFiles returns where a .env file is looked for, in order: in the working
// directory and each one above it, then in the user's. Those in a project's
// .gemini are among them only if the folder is trusted.
func envFiles(p project.Paths, trusted bool) []string {
	var paths []string
	for dir := p.Cwd; ; {
		if trusted || disk.Follow(dir) == disk.Follow(p.Home) {
			paths = append(paths, filepath.Join(dir, ".gemini", ".env"))
		}
		paths = append(paths, filepath.Join(dir, ".env"))
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	if p.Home != "" {
		paths = append(paths, p.User(".env"), filepath.Join(p.Home, ".env"))
	}
	return paths
}

// DotEnv returns the variables of one .env file, the first that is there, less
// those that the environment sets already. A project's file counts only if the
// folder is trusted, and even then it can't say whom gemline talks to, how it
// is run, or which programs it and others start.
func (s *Settings) DotEnv(p project.Paths, trusted bool,
	lookup func(string) (string, bool)) (vars map[string]string, warnings []string) {
	path := s.EnvFile(p, trusted)
	if why := astray(path, filepath.Dir(path)); path != "" && !p.Own(path) && why != "" {
		return nil, []string{text.EscapeLine(path + " is passed over: " + why)}
	}
	if why := disk.Foreign(path, p.Cwd); path != "" && why != "" {
		return nil, []string{text.EscapeLine(path + " is passed over: " + why)}
	}
	b, err := jsonc.ReadFile(path)
	if err != nil {
		return nil, []string{err.Error() + "; it is not used"}
	}
	plain := filepath.Base(filepath.Dir(path)) != ".gemini"
	vars = map[string]string{}
	var refused []string
	for _, v := range parseEnv(string(b)) {
		_, set := lookup(v.Name)
		switch {
		case set, plain && slices.Contains(s.ExcludedVars, v.Name):
		case !p.Own(path) && reserved(v.Name):
			refused = append(refused, v.Name)
		default:
			vars[v.Name] = v.Value
		}
	}
	if len(refused) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: a project can't set %s", text.EscapeLine(path),
			text.List(refused)))
	}
	return vars, warnings
}

// EnvFile returns the path of the .env file that counts, "" if none does.
func (s *Settings) EnvFile(p project.Paths, trusted bool) string {
	for _, path := range envFiles(p, trusted) {
		plain := filepath.Base(filepath.Dir(path)) != ".gemini"
		if !trusted && !p.Own(path) || plain && s.IgnoreLocalEnv && !p.Own(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// EnvNames returns the variables that the text of a project's .env file sets, and
// those that it can't.
func EnvNames(text string) (sets, refused []string) {
	for _, v := range parseEnv(text) {
		if reserved(v.Name) {
			refused = append(refused, v.Name)
			continue
		}
		sets = append(sets, v.Name)
	}
	return sets, refused
}
