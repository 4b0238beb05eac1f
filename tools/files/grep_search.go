package files

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"gemline/engine"
	"gemline/engine/charset"
	"gemline/engine/redact"
	"gemline/engine/text"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/grep_search.md
var grepSearchDoc string

const grepSearchSchema = `{"type":"object","properties":{
"pattern":{"type":"string","description":"Regular expression (RE2)"},
"dir_path":{"type":"string","description":"Directory or file"},
"include_pattern":{"type":"string","description":"Glob of files"},
"exclude_pattern":{"type":"string","description":"Regular expression of lines to leave out"},
"names_only":{"type":"boolean"},
"case_sensitive":{"type":"boolean"},
"fixed_strings":{"type":"boolean"},
"context":{"type":"integer","minimum":0},
"after":{"type":"integer","minimum":0},
"before":{"type":"integer","minimum":0},
"no_ignore":{"type":"boolean"},
"max_matches_per_file":{"type":"integer","minimum":1},
"total_max_matches":{"type":"integer","minimum":1}},
"required":["pattern"]}`

const (
	grepTimeout = 30 * time.Second
	maxMatches  = 100
	maxContext  = 1000
)

type grepArgs struct {
	Pattern   string `json:"pattern"`
	Dir       string `json:"dir_path"`
	Include   string `json:"include_pattern"`
	Exclude   string `json:"exclude_pattern"`
	NamesOnly bool   `json:"names_only"`
	Exact     bool   `json:"case_sensitive"`
	Fixed     bool   `json:"fixed_strings"`
	Context   *int   `json:"context"`
	After     *int   `json:"after"`
	Before    *int   `json:"before"`
	NoIgnore  bool   `json:"no_ignore"`
	PerFile   int    `json:"max_matches_per_file"`
	Total     int    `json:"total_max_matches"`
}

// grepSearch returns the tool that searches lines in files.
func (ts Tools) grepSearch() engine.Tool {
	ws := ts.Workspace
	t := toolkit.Define("grep_search", "SearchText", engine.Search, grepSearchDoc, grepSearchSchema,
		func(_ context.Context, a grepArgs) (engine.Call, error) {
			a.Dir, a.Total = cmp.Or(a.Dir, "."), cmp.Or(a.Total, maxMatches)
			g := &grep{args: a, ws: ws, secrets: ts.Secrets, ripgrep: ts.Ripgrep}
			var err error
			if g.query, err = a.query(); err != nil {
				return engine.Call{}, err
			}
			if g.path, err = ws.Resolve(a.Dir); err != nil {
				return engine.Call{}, unread(g.path, err)
			}
			info, err := ws.Stat(g.path)
			switch {
			case err != nil:
				return engine.Call{}, because(err, "search_path_not_found", "Path does not exist: "+g.path)
			case !info.IsDir() && !info.Mode().IsRegular():
				return engine.Call{}, because(workspace.ErrIrregular, "search_path_not_a_directory",
					"Path is not a valid directory or file: "+g.path)
			}
			rules := ws.Ignore.Rules
			rules.Git = rules.Git && !a.NoIgnore
			if g.dir = info.IsDir(); !g.dir && ws.Ignore.NamesBy(g.path, false, rules) {
				return engine.Call{}, toolkit.Misuse("File path '%s' is ignored by configured ignore patterns.", g.path)
			}
			title := fmt.Sprintf("search %q", a.Pattern)
			if a.Dir != "." {
				title += " in " + text.Name(ws.Rel(g.path))
			}
			if a.Include != "" {
				title += " (" + text.Name(a.Include) + ")"
			}
			in := engine.Intent{Title: title, Paths: []string{g.path}}
			if !g.dir {
				in = shows(ws, in, "grep_search", "dir_path", g.path)
			}
			return engine.Call{Intent: in,
				Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) { return g.run(ctx) }}, nil
		})
	t.OldName = "search_file_content"
	return t
}

// query compiles the patterns of a.
func (a grepArgs) query() (q workspace.Query, err error) {
	source := ecma(a.Pattern)
	if a.Fixed {
		source = regexp.QuoteMeta(a.Pattern)
	}
	flags := ""
	if !a.Exact {
		flags = "(?i)"
	}
	if q.Pattern, err = regexp.Compile(flags + source); err != nil {
		return q, badPattern(a.Pattern, err)
	}
	q.Literal = workspace.Literals(flags + source)
	if a.Exclude != "" {
		if q.Exclude, err = regexp.Compile(flags + ecma(a.Exclude)); err != nil {
			return q, badPattern(a.Exclude, err)
		}
	}
	q.PerFile, q.Total = a.PerFile, a.Total
	if a.NamesOnly {
		q.PerFile = 1
	}
	return q, nil
}

// ecma converts JavaScript's \uXXXX to Go's syntax.
func ecma(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i+1 == len(pattern) {
			out.WriteByte(pattern[i])
			continue
		}
		i++
		if hex := pattern[i+1:]; pattern[i] == 'u' && len(hex) >= 4 &&
			strings.Trim(hex[:4], "0123456789abcdefABCDEF") == "" {
			out.WriteString(`\x{` + hex[:4] + "}")
			i += 4
			continue
		}
		out.WriteByte('\\')
		out.WriteByte(pattern[i])
	}
	return out.String()
}

// badPattern tells the model why pattern is invalid, and which syntax is supported.
func badPattern(pattern string, err error) error {
	why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if se := (*syntax.Error)(nil); errors.As(err, &se) {
		why = fmt.Sprintf("%s: %s", se.Code, se.Expr)
		switch {
		case strings.HasPrefix(se.Expr, "(?=") || strings.HasPrefix(se.Expr, "(?!") || strings.HasPrefix(se.Expr, "(?<"):
			why = "look-ahead and look-behind are not supported; search for more and leave lines out with exclude_pattern"
		case se.Code == syntax.ErrInvalidEscape && len(se.Expr) > 1 && se.Expr[1] >= '1' && se.Expr[1] <= '9':
			why = "back-references are not supported"
		case se.Code == syntax.ErrMissingParen || se.Code == syntax.ErrUnexpectedParen || se.Code == syntax.ErrMissingBracket:
			why += " (to search for the text as it is, set fixed_strings)"
		}
	}
	return toolkit.Misuse("Invalid regular expression pattern provided: %s. Error: %s", pattern, why)
}

// A grep is one search.
type grep struct {
	args    grepArgs
	ws      *workspace.Workspace
	secrets *redact.Redactor
	query   workspace.Query
	path    string
	dir     bool
	ripgrep bool
	without omission
}

func (g *grep) run(ctx context.Context) (engine.Result, error) {
	timed, cancel := context.WithTimeout(ctx, grepTimeout)
	defer cancel()
	if g.dir {
		g.without.below(g.ws, g.path)
		g.query.Skip, g.query.Keep = g.skip(), g.keep()
		if g.args.NoIgnore {
			g.query.Rules = &workspace.Rules{Gemini: g.ws.Ignore.Rules.Gemini} // .geminiignore hides on purpose
		}
		if !g.query.Literal.HasWords() && g.ripgrep {
			g.query.Only = g.candidates(timed)
		}
	}
	found, err := g.ws.Search(timed, g.path, g.query)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return engine.Result{}, grepError("Operation timed out after %dms. In large repositories, narrow the search with 'dir_path' or 'include_pattern'.",
			grepTimeout.Milliseconds())
	}
	if err != nil {
		return engine.Result{}, grepError("%v", err)
	}
	return g.without.tell(g.report(found)), nil
}

func grepError(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	return &engine.CallError{Type: "grep_execution_error",
		Message: "Error during grep search operation: " + text, Display: text}
}

// skip returns the filter for usually generated files, which a search omits unless the call
// includes them.
func (g *grep) skip() func(string, bool) bool {
	named := strings.Split(g.args.Include, "/")
	return func(path string, dir bool) bool {
		name := filepath.Base(path)
		switch {
		case g.args.NoIgnore || slices.Contains(named, name):
			return false
		case dir:
			return generated(name)
		}
		ext := filepath.Ext(name)
		return (ext == ".log" || ext == ".tmp") && !strings.HasSuffix(g.args.Include, ext)
	}
}

// keep returns the filter for the searched files.
func (g *grep) keep() func(string) bool {
	include := strings.TrimPrefix(strings.TrimPrefix(g.args.Include, "./"), "/")
	include, not := strings.CutPrefix(include, "!")
	if include == "" {
		return func(path string) bool { return !g.without.leaves(path) }
	}
	wanted := g.like(include)
	if list := listed(include); len(list) > 1 {
		var each []func(string) bool
		for _, one := range list {
			each = append(each, g.like(one))
		}
		wanted = func(path string) bool {
			return slices.ContainsFunc(each, func(is func(string) bool) bool { return is(path) })
		}
	}
	return func(path string) bool { return wanted(path) != not && !g.without.leaves(path) }
}

// like returns the filter for the pattern include. The name of a folder matches all files
// below it.
func (g *grep) like(include string) func(string) bool {
	if dir := strings.TrimSuffix(include, "/"); dir != "" {
		if info, err := g.ws.Stat(filepath.Join(g.path, dir)); err == nil && info.IsDir() || dir != include {
			include = dir + "/**"
		}
	}
	patterns := []string{workspace.BracketNames(g.ws, g.path, include, false), workspace.BracketNames(g.ws, g.path, include, true),
		workspace.BracketNames(g.ws, g.ws.Roots()[0], include, false)}
	match := func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := doublestar.Match(norm.NFC.String(pattern), norm.NFC.String(name))
			return ok && err == nil
		})
	}
	return func(path string) bool {
		if !strings.Contains(include, "/") {
			return match(filepath.Base(path))
		}
		rel, err := filepath.Rel(g.path, path)
		return err == nil && (match(filepath.ToSlash(rel)) || match(g.ws.Rel(path)))
	}
}

// listed splits a list of patterns at commas outside of braces and brackets.
func listed(list string) (all []string) {
	depth, start := 0, 0
	add := func(end int) {
		if one := strings.TrimPrefix(strings.TrimSpace(list[start:end]), "./"); one != "" {
			all = append(all, one)
		}
		start = end + 1
	}
	for i, c := range []byte(list) {
		switch {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth <= 0:
			add(i)
		}
	}
	add(len(list))
	return all
}

// candidates runs rg to find files that may have matches; it is faster if no word is known
// that all matches contain. It returns nil if rg fails.
func (g *grep) candidates(ctx context.Context) map[string]bool {
	rg, err := exec.LookPath("rg")
	if err != nil || g.ws.Contains(rg) {
		return nil
	}
	// Ignore files are applied here: rg must find more files, not fewer.
	args := []string{"--no-config", "--no-ignore-dot", "--no-ignore-global", "--no-ignore-exclude",
		"--no-messages", "--files-with-matches", "--null", "--crlf", "--hidden",
		"--text", "--regexp", `(?-u)[\x00\x80-\xff]`} // we read files in other encodings, too
	if !g.args.Exact {
		args = append(args, "--ignore-case")
	}
	if g.args.NoIgnore || !g.ws.Ignore.Rules.Git || g.ws.Ignore.Unignores() {
		args = append(args, "--no-ignore")
		for _, name := range []string{"node_modules", "bower_components", "dist", "build", "coverage", "__pycache__"} {
			if g.skip()(name, true) {
				args = append(args, "--glob", "!**/"+name+"/**")
			}
		}
	}
	pattern := ecma(g.args.Pattern)
	if g.args.Fixed {
		pattern = regexp.QuoteMeta(g.args.Pattern)
	}
	cmd := exec.CommandContext(ctx, rg, append(args, "--regexp", pattern, "--", g.path)...)
	cmd.Dir, cmd.Env = g.path, []string{"LC_ALL=C.UTF-8"} // --glob is about names below the directory
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Discard
	err = cmd.Run()
	if ee := (*exec.ExitError)(nil); errors.As(err, &ee) && ee.ExitCode() == 1 {
		err = nil // no matches
	}
	if err != nil {
		return nil
	}
	only := map[string]bool{}
	for name := range strings.SplitSeq(out.String(), "\x00") {
		only[name] = true
	}
	return only
}

// report lists the found lines.
func (g *grep) report(found []workspace.Match) engine.Result {
	a := g.args
	where := fmt.Sprintf("for pattern \"%s\" in path \"%s\"", a.Pattern, a.Dir)
	if a.Include != "" {
		where += fmt.Sprintf(" (filter: \"%s\")", a.Include)
	}
	if len(found) == 0 {
		return engine.Result{Text: fmt.Sprintf("No matches found %s.", where), Display: "No matches found"}
	}
	more := ""
	if len(found) >= a.Total {
		where += fmt.Sprintf(" (results limited to %d matches for performance)", a.Total)
		more = " (limited)"
	}
	if a.NamesOnly {
		return g.names(found, where, more)
	}
	noun := "matches"
	if len(found) == 1 {
		noun = "match"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Found %d %s %s:\n---\n", len(found), noun, where)
	before, after := a.around(len(found))
	for matches := range byFile(found) {
		fmt.Fprintf(&out, "File: %s\n", text.Name(g.ws.Rel(matches[0].Path)))
		g.lines(&out, matches, before, after)
		out.WriteString("---\n")
	}
	return engine.Result{Text: strings.TrimSpace(out.String()),
		Display: fmt.Sprintf("Found %d %s%s", len(found), noun, more)}
}

// byFile splits found into the matches of each file.
func byFile(found []workspace.Match) iter.Seq[[]workspace.Match] {
	return func(yield func([]workspace.Match) bool) {
		for len(found) > 0 {
			n := 1
			for n < len(found) && found[n].Path == found[0].Path {
				n++
			}
			if !yield(found[:n]) {
				return
			}
			found = found[n:]
		}
	}
}

// names lists only the files with matches.
func (g *grep) names(found []workspace.Match, where, more string) engine.Result {
	var names []string
	for matches := range byFile(found) {
		names = append(names, text.Name(g.ws.Rel(matches[0].Path)))
	}
	slices.Sort(names)
	return engine.Result{
		Text:    fmt.Sprintf("Found %d files with matches %s:\n%s", len(names), where, strings.Join(names, "\n")),
		Display: fmt.Sprintf("Found %d files%s", len(names), more),
	}
}

// around returns how many lines are shown before and after each of n matches. For few
// matches, the default is larger.
func (a grepArgs) around(n int) (before, after int) {
	if a.Context == nil && a.Before == nil && a.After == nil {
		switch {
		case n == 1:
			return 50, 50
		case n <= 3:
			return 15, 15
		}
	}
	if a.Context != nil {
		before, after = *a.Context, *a.Context
	}
	if a.Before != nil {
		before = *a.Before
	}
	if a.After != nil {
		after = *a.After
	}
	return min(before, maxContext), min(after, maxContext)
}

// lines writes the matches in one file, with the lines around them.
func (g *grep) lines(out *strings.Builder, matches []workspace.Match, before, after int) {
	put := func(n int, mark, line string) {
		line, cut := text.First(g.secrets.RedactKnown(strings.ToValidUTF8(charset.Readable(line), "\ufffd")), maxLineChars)
		if cut {
			line += cutMark
		}
		fmt.Fprintf(out, "L%d%s %s\n", n, mark, line)
	}
	var all []string
	if before > 0 || after > 0 {
		all = g.allLines(matches[0].Path)
	}
	next := 1 // the first line that was not written
	for i, m := range matches {
		for n := max(next, m.Line-before); n < m.Line && n <= len(all); n++ {
			put(n, "-", all[n-1])
		}
		put(m.Line, ":", m.Text)
		next = m.Line + 1
		stop := min(m.Line+after, len(all))
		if i+1 < len(matches) {
			stop = min(stop, matches[i+1].Line-1)
		}
		for ; next <= stop; next++ {
			put(next, "-", all[next-1])
		}
	}
}

// allLines returns the lines of a file, none if it is gone or very large.
func (g *grep) allLines(path string) []string {
	b, _, err := g.ws.ReadBytes(path, 4*workspace.MaxFile)
	if err != nil {
		return nil
	}
	text, _, err := g.ws.Decode(path, b)
	if err != nil {
		text = string(b) // in the form that was searched
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}
