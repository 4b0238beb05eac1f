package settings

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gemline/docs"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// A Variable is one line of a .env file.
type Variable struct{ Name, Value string }

// parseEnv reads the text of a .env file as the JavaScript library dotenv does: variables are not
// expanded, a # ends an unquoted value, invalid lines are skipped, and the last of equal names
// counts. It also returns the numbers of invalid lines.
func parseEnv(text string) (out []Variable, passed []string) {
	text = strings.TrimPrefix(string(charset.ToUTF8([]byte(text))), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	number, counted := 1, text // the line number of the start of counted
	at := map[string]int{}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		m := assignment().FindStringSubmatch(line)
		if m == nil {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				number += strings.Count(counted[:len(counted)-len(text)], "\n")
				counted = text
				passed = append(passed, strconv.Itoa(number))
			}
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
	return out, passed
}

var assignment = text.Pattern(`^\s*(?:export\s+)?([\w.-]+)(?:[ \t]*=|:[ \t]+)[ \t]*`)

// envValue reads the value at the start of s and returns the rest after its line. A quoted value
// may have several lines.
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

// closing returns the index of the quote that closes the quote at the start of s, or -1.
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

// A DotEnv holds the variables of .env files that the environment does not set.
type DotEnv struct {
	User    map[string]EnvValue // from the user's own files; they count like the environment
	Project map[string]EnvValue // from the project's file; the project's programs get them, after consent
}

// An EnvValue is the value of a variable, and the file that sets it.
type EnvValue struct{ Value, File string }

// Lookup returns a variable for gemline itself: all variables of the user's files, and the
// variables of a project's file that are listed in [permitted] and not empty.
func (d DotEnv) Lookup(name string) (EnvValue, bool) {
	own, ok := d.User[name]
	if v, is := d.Project[name]; is && permits(name, v.Value) && (v.Value != "" || !ok) {
		return v, true
	}
	return own, ok
}

// Values returns all variables for gemline itself.
func (d DotEnv) Values() map[string]string {
	out := map[string]string{}
	for _, vars := range []map[string]EnvValue{d.User, d.Project} {
		for name := range vars {
			if v, ok := d.Lookup(name); ok {
				out[name] = v.Value
			}
		}
	}
	return out
}

// userEnvFiles returns the user's own .env files, the strongest first.
func userEnvFiles(p project.Paths) []string {
	if p.Home == "" {
		return nil
	}
	return []string{p.User(".env"), filepath.Join(p.Home, ".env")}
}

// plainEnv reports whether a .env file is also for other programs.
func plainEnv(path string) bool { return filepath.Base(filepath.Dir(path)) != ".gemini" }

// DotEnv returns the variables of the user's own .env files and of the first .env file of the
// project, without variables of the environment. The project's file counts only in a trusted
// folder, for programs of the project; for gemline itself only [permitted] variables count.
func (s *Settings) DotEnv(p project.Paths, trusted bool,
	lookup func(string) (string, bool)) (d DotEnv, warnings []string) {
	d = DotEnv{User: map[string]EnvValue{}, Project: map[string]EnvValue{}}
	var refused []string
	add := func(to map[string]EnvValue, path string, users bool) {
		list, warning := s.readEnv(p, path)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		for _, v := range list {
			near := likelyVariable(path, v.Name, list)
			if near != "" {
				warnings = append(warnings, fmt.Sprintf("%s: %s means nothing to gemline; did you mean %s?", text.PrintableLine(path), v.Name, near))
			}
			_, set := lookup(v.Name)
			if set || to[v.Name].File != "" {
				continue
			}
			if !users && near == "" && (reserved(v.Name) || own(v.Name) && d.User[v.Name].File == "" && !permits(v.Name, v.Value)) {
				refused = append(refused, v.Name)
			}
			if users || !reserved(v.Name) {
				to[v.Name] = EnvValue{v.Value, path}
			}
		}
	}
	for _, path := range userEnvFiles(p) {
		add(d.User, path, true)
	}
	if !trusted {
		return d, warnings
	}
	path := s.ProjectEnv(p)
	if path == "" {
		return d, warnings
	}
	add(d.Project, path, false)
	if len(refused) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: a project can't set %s%s", text.PrintableLine(path),
			text.List(refused), userEnvHint(p, refused)))
	}
	return d, warnings
}

// likelyVariable returns the variable that a misspelled name in the .env file at path likely means,
// "" if there is none. In a file that is also for other programs, only names with gemline's
// prefixes are checked.
func likelyVariable(path, name string, list []Variable) string {
	if plainEnv(path) && !hasPrefix(name, []string{"GEMINI_", "GEMLINE_"}) {
		return ""
	}
	return text.Misspelled(name, lists.Map(list, func(v Variable) string { return v.Name }), known())
}

// known returns the variables in the documentation and in the table of keys, without variables of
// other programs: a GITLAB_TOKEN beside GITHUB_TOKEN is for an MCP server.
var known = sync.OnceValue(func() (names []string) {
	page, _ := docs.Find("environment")
	names = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+[A-Z0-9]\b`).FindAllString(page.Text, -1)
	for _, k := range table {
		names = append(names, k.env...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !hasPrefix(name, []string{"GEMINI_", "GEMLINE_", "GOOGLE_"}) })
})

// userEnvHint names the place for variables that a project can't set.
func userEnvHint(p project.Paths, refused []string) string {
	if p.Home == "" || !slices.ContainsFunc(refused, own) {
		return ""
	}
	return "; " + text.PrintableLine(p.User(".env")) + " can"
}

// readEnv returns the valid variables of a .env file, or the reason why the file is not used. The
// file need not exist.
func (s *Settings) readEnv(p project.Paths, path string) (list []Variable, warning string) {
	why := disk.OwnedByOther(path, p.Cwd)
	if !p.Own(path) {
		why = cmp.Or(LinksOutside(path, filepath.Dir(path)), why)
	}
	if why != "" {
		return nil, text.PrintableLine(path + " is passed over: " + why)
	}
	b, err := jsonc.ReadFile(path)
	if err != nil {
		return nil, err.Error() + "; it is not used"
	}
	list, passed := parseEnv(string(b))
	if len(passed) > 0 && !plainEnv(path) { // other files may belong to other programs
		passed = passed[:min(3, len(passed))] // the first suffice
		warning = fmt.Sprintf("%s:%s: not NAME=VALUE, so nothing is set", text.PrintableLine(path), text.List(passed))
	}
	if plainEnv(path) {
		list = slices.DeleteFunc(list, func(v Variable) bool { return slices.Contains(s.ExcludedVars, v.Name) })
	}
	return list, warning
}

// ProjectEnv returns the path of the project's .env file, which counts once the folder is trusted,
// "" if there is none. It is the first in the working directory or a directory above.
func (s *Settings) ProjectEnv(p project.Paths) string {
	for dir := range disk.Upward(p.Cwd) {
		for _, path := range []string{filepath.Join(dir, ".gemini", ".env"), filepath.Join(dir, ".env")} {
			if plainEnv(path) && s.IgnoreLocalEnv {
				continue
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !p.Own(path) {
				return path
			}
		}
	}
	return ""
}

// ownVariables returns a lookup of the variables in the user's own .env files. It reads the files
// at its first use.
func ownVariables(p project.Paths) func(string) (string, bool) {
	read := sync.OnceValue(func() DotEnv {
		d, _ := new(Settings).DotEnv(p, false, func(string) (string, bool) { return "", false })
		return d
	})
	return func(name string) (string, bool) {
		v, ok := read().User[name]
		return v.Value, ok
	}
}

// EnvNames returns the variables in the text of a project's .env file in three groups: for gemline
// itself, for the project's programs, and refused.
func EnvNames(text string) (sets, brings, refused []string) {
	list, _ := parseEnv(text)
	for _, v := range list {
		switch {
		case permits(v.Name, v.Value):
			sets = append(sets, v.Name)
		case reserved(v.Name), own(v.Name):
			refused = append(refused, v.Name)
		default:
			brings = append(brings, v.Name)
		}
	}
	return sets, brings, refused
}
