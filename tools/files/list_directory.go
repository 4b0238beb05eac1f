package files

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/list_directory.md
var listDirectoryDoc string

const listDirectorySchema = `{"type":"object","properties":{
"dir_path":{"type":"string"},
"ignore":{"type":"array","items":{"type":"string"},"description":"Globs of names to leave out"},
"file_filtering_options":{"type":"object","properties":{
"respect_git_ignore":{"type":"boolean"},
"respect_gemini_ignore":{"type":"boolean"}}}},
"required":["dir_path"]}`

type listDirectoryArgs struct {
	Path   string    `json:"dir_path"`
	Ignore []string  `json:"ignore"`
	Filter filtering `json:"file_filtering_options"`
}

// filtering overrides the default ignore rules.
type filtering struct {
	Git    *bool `json:"respect_git_ignore"`
	Gemini *bool `json:"respect_gemini_ignore"`
}

// rules returns the ignore rules for ws and f.
func (f filtering) rules(ws *workspace.Workspace) workspace.Rules {
	r := ws.Ignore.Rules
	if f.Git != nil {
		r.Git = *f.Git
	}
	if f.Gemini != nil {
		r.Gemini = *f.Gemini
	}
	return r
}

// listDirectory returns the tool that lists one directory.
func (ts Tools) listDirectory() engine.Tool {
	ws := ts.Workspace
	return toolkit.Define("list_directory", "ReadFolder", engine.Read, listDirectoryDoc, listDirectorySchema,
		func(_ context.Context, a listDirectoryArgs) (engine.Call, error) {
			dir, err := ws.Resolve(a.Path)
			if err != nil {
				return engine.Call{}, unread(dir, err)
			}
			return engine.Call{
				Intent: engine.Intent{Title: "list " + text.Name(ws.Rel(dir)), Paths: []string{dir}},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					return list(ws, dir, a.Ignore, a.Filter.rules(ws))
				},
			}, nil
		})
}

// list lists dir without the names that match the globs in ignore.
func list(ws *workspace.Workspace, dir string, ignore []string, rules workspace.Rules) (engine.Result, error) {
	entries, err := ws.ReadDir(dir)
	if errors.Is(err, workspace.ErrNoDirectory) {
		return engine.Result{}, because(err, "path_is_not_a_directory", "Error: Path is not a directory: "+dir)
	}
	if err != nil {
		return engine.Result{}, because(err, "ls_execution_error", fmt.Sprintf("Error listing directory: %v%s", err, hint(ws, dir)))
	}
	if len(entries) == 0 {
		return engine.Result{Text: fmt.Sprintf("Directory %s is empty.", text.Name(dir)),
			Display: "Directory is empty."}, nil
	}
	type line struct {
		key, text string
		dir       bool
	}
	var lines []line
	hidden, hides := 0, ws.Ignore.Hides(dir, rules)
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		if matchesAny(ignore, name) {
			continue
		}
		info, err := ws.Stat(path)
		isDir := err == nil && info.IsDir()
		if hides(name, isDir && e.IsDir()) {
			hidden++
			continue
		}
		l := line{key: strings.ToLower(name) + "\x00" + name, dir: isDir}
		switch {
		case err != nil && e.Type()&fs.ModeSymlink != 0:
			l.text = text.Name(name) + " (broken link)"
		case err != nil:
			continue // gone meanwhile
		case isDir:
			l.text = "[DIR] " + text.Name(name)
		default:
			l.text = fmt.Sprintf("%s (%d bytes)", text.Name(name), info.Size())
		}
		lines = append(lines, l)
	}
	sort.Slice(lines, func(i, j int) bool {
		a, b := lines[i], lines[j]
		return a.dir && !b.dir || a.dir == b.dir && a.key < b.key
	})
	var out strings.Builder
	fmt.Fprintf(&out, "Directory listing for %s:", text.Name(dir))
	for _, l := range lines {
		out.WriteString("\n" + l.text)
	}
	display := fmt.Sprintf("Found %d item(s).", len(lines))
	if hidden > 0 {
		fmt.Fprintf(&out, "\n\n(%d ignored)", hidden)
		display += fmt.Sprintf(" (%d ignored)", hidden)
	}
	return engine.Result{Text: out.String(), Display: display}, nil
}

// matchesAny reports whether name matches a glob that knows * and ? only.
func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		g = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(g)
		ok, err := doublestar.Match(g, name)
		return ok && err == nil
	})
}
