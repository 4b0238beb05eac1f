package files

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/glob.md
var globDoc string

const globSchema = `{"type":"object","properties":{
"pattern":{"type":"string"},
"dir_path":{"type":"string"},
"case_sensitive":{"type":"boolean"},
"respect_git_ignore":{"type":"boolean"},
"respect_gemini_ignore":{"type":"boolean"}},
"required":["pattern"]}`

type globArgs struct {
	Pattern string `json:"pattern"`
	Dir     string `json:"dir_path"`
	Exact   bool   `json:"case_sensitive"`
	Git     *bool  `json:"respect_git_ignore"`
	Gemini  *bool  `json:"respect_gemini_ignore"`
}

// glob returns the tool that finds files by their names.
func (ts Tools) glob() engine.Tool {
	ws := ts.Workspace
	return toolkit.Define("glob", "FindFiles", engine.Search, globDoc, globSchema,
		func(_ context.Context, a globArgs) (engine.Call, error) {
			a.Pattern = strings.ReplaceAll(a.Pattern, "\x00", "")
			if strings.TrimSpace(a.Pattern) == "" {
				return engine.Call{}, toolkit.Misuse("The 'pattern' parameter cannot be empty.")
			}
			dirs, where := ws.Roots(), ""
			if a.Dir != "" {
				dir, err := SearchDir(ws, a.Dir)
				if err != nil {
					return engine.Call{}, err
				}
				dirs, where = []string{dir}, " in "+text.Name(ws.Rel(dir))
			}
			return engine.Call{
				Intent: engine.Intent{Title: "find " + text.Name(a.Pattern) + where, Paths: dirs},
				Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
					return a.find(ctx, ws, dirs)
				},
			}, nil
		})
}

// SearchDir resolves a directory to search in.
func SearchDir(ws *workspace.Workspace, name string) (string, error) {
	dir, err := ws.Resolve(name)
	if err != nil {
		return "", unread(dir, err)
	}
	info, err := ws.Stat(dir)
	switch {
	case err != nil:
		return "", because(err, "search_path_not_found", "Search path does not exist "+dir)
	case !info.IsDir():
		return "", because(workspace.ErrNoDirectory, "search_path_not_a_directory",
			"Search path is not a directory: "+dir)
	}
	return dir, nil
}

// A hit is a file that matches.
type hit struct {
	path string
	time time.Time
}

// find looks for the files below dirs. Brackets are first literal, as in a folder [id], and
// character classes only if no file matches.
func (a globArgs) find(ctx context.Context, ws *workspace.Workspace, dirs []string) (engine.Result, error) {
	if strings.Contains(a.Pattern, "[") {
		if r, n, err := a.search(ctx, ws, dirs, true); err == nil && n > 0 || ctx.Err() != nil {
			return r, err
		}
	}
	r, _, err := a.search(ctx, ws, dirs, false)
	return r, err
}

// search looks for the files below dirs, once, and counts them.
func (a globArgs) search(ctx context.Context, ws *workspace.Workspace, dirs []string, names bool) (engine.Result, int, error) {
	rules := filtering{a.Git, a.Gemini}.rules(ws)
	var hits []hit
	ignored := 0
	var without omission
	seen := map[string]bool{} // roots may hold each other
	for _, dir := range dirs {
		without.below(ws, dir)
		g, err := compileGlob(ws, a.Pattern, dir, a.Exact, names)
		if err != nil {
			return engine.Result{}, 0, because(err, "glob_execution_error",
				fmt.Sprintf("Error during glob search operation: %v", err))
		}
		o := workspace.WalkOptions{Rules: &rules, Ignored: true, Under: true, Info: true,
			Skip: func(path string, dir bool) bool { return dir && (vendored(filepath.Base(path)) || !g.leads(path)) },
			Keep: func(path string, t fs.FileMode) bool { return g.match(path) && present(ws, path, t) },
		}
		for e, err := range ws.Walk(ctx, dir, o) {
			if ctx.Err() != nil || e.Path == dir {
				return engine.Result{}, 0, because(err, "glob_execution_error",
					fmt.Sprintf("Error during glob search operation: %v", err))
			}
			if err != nil || len(dirs) > 1 && seen[e.Path] {
				continue
			}
			if len(dirs) > 1 {
				seen[e.Path] = true
			}
			switch {
			case e.Ignored:
				ignored++
			case e.Info != nil && !without.leaves(e.Path):
				hits = append(hits, hit{e.Path, e.Info.ModTime()})
			}
		}
	}
	return without.tell(a.report(hits, ignored, dirs)), len(hits) + ignored, nil
}

// vendored reports whether directories of this name are never searched.
func vendored(name string) bool {
	switch name {
	case "node_modules", ".git", "bower_components", ".svn", ".hg":
		return true
	}
	return false
}

// present reports whether an entry is a file, or a link to an accessible file.
func present(ws *workspace.Workspace, path string, t fs.FileMode) bool {
	if t&fs.ModeSymlink == 0 {
		return t.IsRegular()
	}
	info, err := ws.Stat(path)
	return err == nil && info.Mode().IsRegular() && ws.Contains(path)
}

// report lists the found files: first files changed within a day, the newest first, then the
// rest by name.
func (a globArgs) report(hits []hit, ignored int, dirs []string) engine.Result {
	where := "within " + text.Name(dirs[0])
	if len(dirs) > 1 {
		where = fmt.Sprintf("across %d workspace directories", len(dirs))
	}
	if len(hits) == 0 {
		out := fmt.Sprintf("No files found matching pattern \"%s\" %s", a.Pattern, where)
		if ignored > 0 {
			out += fmt.Sprintf(" (%d files were ignored)", ignored)
		}
		return engine.Result{Text: out, Display: "No files found"}
	}
	recent := time.Now().Add(-24 * time.Hour)
	sort.Slice(hits, func(i, j int) bool {
		x, y := hits[i], hits[j]
		if rx, ry := x.time.After(recent), y.time.After(recent); rx != ry {
			return rx
		} else if rx && !x.time.Equal(y.time) {
			return x.time.After(y.time)
		}
		return x.path < y.path
	})
	var out strings.Builder
	fmt.Fprintf(&out, "Found %d file(s) matching \"%s\" %s", len(hits), a.Pattern, where)
	display := fmt.Sprintf("Found %d matching file(s)", len(hits))
	if ignored > 0 {
		fmt.Fprintf(&out, " (%d additional files were ignored)", ignored)
		display += fmt.Sprintf(" (%d ignored)", ignored)
	}
	out.WriteString(", sorted by modification time (newest first):")
	for _, h := range hits {
		out.WriteString("\n" + text.Name(h.path))
	}
	return engine.Result{Text: out.String(), Display: display}
}

// A globber matches the paths below a directory.
type globber struct {
	prefix  string // the directory, with a separator
	pattern string
	fold    bool
	parts   []string // the pattern's elements before the first ** or braces
	deep    bool     // the pattern has ** or braces
}

// compileGlob reads a pattern that is relative to dir, or absolute and below it. A pattern
// that names an existing file matches only that file. If names is true, brackets are
// literal.
func compileGlob(ws *workspace.Workspace, pattern, dir string, exact, names bool) (*globber, error) {
	g := &globber{prefix: dir, fold: !exact}
	if !strings.HasSuffix(g.prefix, string(filepath.Separator)) {
		g.prefix += string(filepath.Separator)
	}
	pattern = strings.TrimPrefix(pattern, g.prefix)
	if _, err := ws.Lstat(g.prefix + pattern); err == nil {
		pattern = workspace.EscapeGlob(filepath.ToSlash(pattern))
	} else {
		pattern = workspace.BracketNames(ws, dir, pattern, names)
	}
	if g.pattern = norm.NFC.String(path.Clean(pattern)); g.fold {
		g.pattern = strings.ToLower(g.pattern)
	}
	if !doublestar.ValidatePattern(g.pattern) {
		return nil, fmt.Errorf("%q is not a glob", pattern)
	}
	for part := range strings.SplitSeq(g.pattern, "/") {
		if strings.Contains(part, "**") || strings.ContainsAny(part, "{}") {
			g.deep = true
			break
		}
		g.parts = append(g.parts, part)
	}
	return g, nil
}

func (g *globber) rel(path string) string {
	rel := norm.NFC.String(filepath.ToSlash(strings.TrimPrefix(path, g.prefix)))
	if g.fold {
		rel = strings.ToLower(rel)
	}
	return rel
}

func (g *globber) match(path string) bool {
	ok, err := doublestar.Match(g.pattern, g.rel(path))
	return ok && err == nil
}

// leads reports whether a match may lie below the directory at path.
func (g *globber) leads(path string) bool {
	n := 0
	for part := range strings.SplitSeq(g.rel(path), "/") {
		if n == len(g.parts) {
			return g.deep
		}
		if ok, err := doublestar.Match(g.parts[n], part); !ok || err != nil {
			return false
		}
		n++
	}
	return n < len(g.parts) || g.deep
}
