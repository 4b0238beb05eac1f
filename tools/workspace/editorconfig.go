package workspace

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// maxEditorConfig is the size of the largest .editorconfig that is read.
const maxEditorConfig = 1 << 16

// maxSection is the longest name of a section that is looked at.
const maxSection = 1 << 11

// editorConfig returns the charset that the nearest .editorconfig above path gives the file,
// or "". Only files of the workspace are read.
func editorConfig(w *Workspace, path string) string {
	for dir := range disk.Upward(filepath.Dir(path)) {
		if !w.Contains(dir) {
			break
		}
		if b, _, err := w.ReadBytes(filepath.Join(dir, ".editorconfig"), maxEditorConfig); err == nil {
			rel, _ := filepath.Rel(dir, path)
			if named, root := configured(string(b), filepath.ToSlash(rel)); named != "" || root {
				return charset.Name(named)
			}
		}
	}
	return ""
}

// configured returns the charset that an .editorconfig gives the file at path, relative to
// it, "" if none, and whether no file above it counts.
func configured(config, path string) (named string, root bool) {
	section, matches := false, false
	for line := range strings.Lines(strings.TrimPrefix(config, "\ufeff")) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if glob, ok := strings.CutPrefix(line, "["); ok {
			if i := strings.LastIndexByte(glob, ']'); i >= 0 {
				section, matches = true, sectionMatches(glob[:i], path)
			}
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value, _, _ = strings.Cut(value, " #")
		value, _, _ = strings.Cut(value, " ;")
		value = strings.ToLower(strings.TrimSpace(value))
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case key == "root" && !section:
			root = value == "true"
		case key == "charset" && matches:
			named = value
		}
	}
	return named, root
}

// sectionMatches reports whether the name of a section of an .editorconfig is meant for path.
func sectionMatches(glob, path string) bool {
	if len(glob) > maxSection {
		return false
	}
	if rest, ok := strings.CutPrefix(glob, "/"); ok {
		glob = rest
	} else if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	g := sectionGlob{glob: glob}
	g.parse(false)
	re, err := regexp.Compile("^(?s:" + g.re.String() + ")$")
	if err != nil {
		return false
	}
	found := re.FindStringSubmatch(path)
	for i, n := range found[min(1, len(found)):] {
		v, err := strconv.Atoi(n)
		if n != "" && (err != nil || v < g.ranges[i].from || v > g.ranges[i].to) {
			return false
		}
	}
	return found != nil
}

// A sectionGlob makes a regular expression of the name of a section, by the rules of
// https://spec.editorconfig.org. Numbers in ranges are its groups.
type sectionGlob struct {
	glob   string // what is left to read
	re     strings.Builder
	ranges []struct{ from, to int }
}

// numbers are the two ends of a range.
var numbers = text.Pattern(`^\{([+-]?\d+)\.\.([+-]?\d+)\}`)

// parse reads up to the end, or to the brace that closes a list.
func (g *sectionGlob) parse(inList bool) {
	for g.glob != "" {
		rest := g.glob
		switch {
		case inList && (rest[0] == ',' || rest[0] == '}'):
			return
		case strings.HasPrefix(rest, "**/"):
			g.take(3, "(?:.*/)?")
		case strings.HasPrefix(rest, "/**/"):
			g.take(4, "/(?:.*/)?")
		case strings.HasPrefix(rest, "**"):
			g.take(2, ".*")
		case rest[0] == '*':
			g.take(1, "[^/]*")
		case rest[0] == '?':
			g.take(1, "[^/]")
		case rest[0] == '[':
			g.set()
		case rest[0] == '{':
			g.list()
		case rest[0] == '\\' && len(rest) > 1:
			g.glob = rest[1:]
			g.literal()
		default:
			g.literal()
		}
	}
}

// take passes over n bytes, which mean re.
func (g *sectionGlob) take(n int, re string) {
	g.re.WriteString(re)
	g.glob = g.glob[n:]
}

// literal passes over a character that means itself.
func (g *sectionGlob) literal() {
	_, n := utf8.DecodeRuneInString(g.glob)
	g.take(n, regexp.QuoteMeta(g.glob[:n]))
}

// set reads [abc] or [!a-z], whose bracket means itself if none closes it or a slash is within.
func (g *sectionGlob) set() {
	end := 1
	for end < len(g.glob) && g.glob[end] != ']' {
		if g.glob[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(g.glob) || strings.Contains(g.glob[:end], "/") {
		g.literal()
		return
	}
	within, not := strings.CutPrefix(g.glob[1:end], "!")
	if within == "" {
		g.take(end+1, regexp.QuoteMeta(g.glob[:end+1]))
		return
	}
	set := strings.NewReplacer("[", `\[`, "^", `\^`, "&", `\&`).Replace(within)
	if not {
		set = "^/" + set
	}
	g.take(end+1, "["+set+"]")
}

// list reads {a,b} or {1..9}. Braces around a single word, and a brace that is never
// closed, are literal.
func (g *sectionGlob) list() {
	if n := numbers().FindStringSubmatch(g.glob); n != nil {
		from, err := strconv.Atoi(n[1])
		to, err2 := strconv.Atoi(n[2])
		if err == nil && err2 == nil {
			g.ranges = append(g.ranges, struct{ from, to int }{min(from, to), max(from, to)})
			g.take(len(n[0]), `([+-]?(?:0|[1-9]\d*))`)
			return
		}
	}
	depth, commas, end := 0, 0, -1
	for i := 0; i < len(g.glob) && end < 0; i++ {
		switch g.glob[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas++
			}
		case '}':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	if end < 0 || commas == 0 {
		g.literal()
		return
	}
	for open := "(?:"; g.glob != "" && g.glob[0] != '}'; open = "|" {
		g.take(1, open)
		g.parse(true)
	}
	g.take(1, ")")
}

// To find a new file's charset, at most maxBeside neighbouring files of at most
// maxBesideSize bytes are read, until enoughBeside are found.
const maxBeside, maxBesideSize, enoughBeside = 64, 1 << 16, 16

// beside returns the texts of path's neighbours that are not UTF-8, files with the same
// extension first.
func beside(w *Workspace, path string) (texts [][]byte) {
	entries, err := w.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	ext := filepath.Ext(path)
	other := func(name string) int {
		if filepath.Ext(name) == ext {
			return 0
		}
		return 1
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != filepath.Base(path) {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(other(a)-other(b), strings.Compare(a, b)) })
	for _, name := range names[:min(len(names), maxBeside)] {
		b, _, err := w.ReadBytes(filepath.Join(filepath.Dir(path), name), maxBesideSize)
		if err == nil && !utf8.Valid(b) {
			if texts = append(texts, b); len(texts) == enoughBeside {
				break
			}
		}
	}
	return texts
}
