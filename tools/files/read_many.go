package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/workspace"
)

// A SkippedFile is a requested file that was not read.
type SkippedFile struct {
	Path   string // absolute; empty if the Reason names it
	Reason string // such as "ignored"
}

// ReadMany reads the files at paths, which are absolute, and those below the directories
// among them. Of each it returns a label and the text, without secrets; an image or the like
// is returned without a label, and only if paths names it. Skipped files are returned with
// the reason, except usually generated files of a directory. The context that find, which
// may be nil, returns for the read directories is at the end; its warnings are among the
// skipped files, without a path.
//
// The model has then seen the texts. The only error is ctx's.
func (ts Tools) ReadMany(ctx context.Context, paths []string, find Discover) ([]*genai.Part, []SkippedFile, error) {
	ws := ts.Workspace
	m := &manyReader{tools: ts, find: find, seen: map[string]bool{}, askedDirs: map[string]bool{}}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		info, err := ws.Stat(path)
		switch {
		case !ws.Contains(path):
			m.skip(path, "outside the workspace")
		case err != nil:
			m.skip(path, "not found")
		case ws.Ignore.Names(path, info.IsDir()):
			m.skip(path, "ignored")
		case info.IsDir():
			if err := m.tree(ctx, path); err != nil {
				return nil, nil, err
			}
		default:
			m.file(path, true)
		}
	}
	if len(m.found) > 0 {
		m.parts = append(m.parts, genai.NewPartFromText("\n"+discoveredBegin+strings.Join(m.found,
			"\n\n")+discoveredEnd))
	}
	return m.parts, m.skipped, nil
}

type manyReader struct {
	tools     Tools
	find      Discover
	seen      map[string]bool
	askedDirs map[string]bool // directories
	found     []string
	parts     []*genai.Part
	skipped   []SkippedFile
}

// touch requests the context for the file at path, in dir.
func (m *manyReader) touch(path, dir string) {
	if m.find == nil || m.askedDirs[dir] {
		return
	}
	m.askedDirs[dir] = true
	text, warnings := m.find(path)
	if text != "" {
		m.found = append(m.found, text)
	}
	for _, w := range warnings {
		m.skip("", w)
	}
}

func (m *manyReader) skip(path, reason string) {
	m.skipped = append(m.skipped, SkippedFile{path, reason})
}

// tree reads the files below dir, sorted case-insensitively.
func (m *manyReader) tree(ctx context.Context, dir string) error {
	m.touch(dir, dir)
	var files, ignored []string
	o := workspace.WalkOptions{Ignored: true, Dirs: true, Skip: func(path string, dir bool) bool {
		return dir && generated(filepath.Base(path))
	}}
	for e, err := range m.tools.Workspace.Walk(ctx, dir, o) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			m.skip(e.Path, reason(err))
		case e.Ignored:
			ignored = append(ignored, e.Path)
		case m.tools.Workspace.Suspect(e.Path):
			m.skip(e.Path, "it may hold secrets; name it to have it read")
		case e.Type.IsRegular() && !unwanted(filepath.Base(e.Path)):
			files = append(files, e.Path)
		}
	}
	sort.Strings(ignored)
	for _, path := range ignored {
		m.skip(path, "ignored")
	}
	sort.Slice(files, func(i, j int) bool {
		a, b := strings.ToLower(files[i]), strings.ToLower(files[j])
		return a < b || a == b && files[i] < files[j]
	})
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.file(path, false)
	}
	return nil
}

// file reads one file, named explicitly or found.
func (m *manyReader) file(path string, named bool) {
	if m.seen[path] {
		return
	}
	m.seen[path] = true
	c, err := m.tools.load(path)
	if err != nil {
		m.skip(path, reason(err))
		return
	}
	m.touch(path, filepath.Dir(path))
	switch {
	case c.media != nil && !named:
		m.skip(path, "an image or the like that was not named")
	case c.media != nil:
		m.parts = append(m.parts, c.media)
	case c.instead != "":
		m.text(path, c.instead)
	default:
		m.tools.Known.noteRead(m.tools.Workspace, path, c.raw, c.format)
		v := selectLines(c.text, 0, 0)
		text := strings.TrimSpace(v.text)
		switch {
		case v.last < v.total:
			text = fmt.Sprintf("[WARNING: This file was cut: it has %d lines, and only the first %d are here. Use the 'read_file' tool to read more.]\n%s", v.total, v.last, text)
		case v.cut:
			text = fmt.Sprintf("[WARNING: Lines longer than %d characters were cut.]\n%s", maxLineChars, text)
		}
		m.text(path, text)
	}
}

func (m *manyReader) text(path, said string) {
	m.parts = append(m.parts,
		genai.NewPartFromText(labelBegin+text.Name(m.tools.Workspace.Rel(path))+labelEnd),
		genai.NewPartFromText(said))
}

const labelBegin, labelEnd = "\nContent from @", ":\n"

// FileLabel returns the name of the file in the next part, if p is a label of [ReadMany]. No
// file's text begins like a label.
func FileLabel(p *genai.Part) (name string, ok bool) {
	if name, ok = strings.CutPrefix(p.Text, labelBegin); ok {
		name, ok = strings.CutSuffix(name, labelEnd)
	}
	return name, ok
}

// reason returns a short reason why a file was not read.
func reason(err error) string {
	if ce := (*engine.CallError)(nil); errors.As(err, &ce) {
		switch ce.Type {
		case "file_not_found":
			return "not found"
		case "file_too_large":
			return fmt.Sprintf("larger than %d MB", workspace.MaxFile>>20)
		case "path_not_in_workspace":
			return "outside the workspace"
		}
		return cmp.Or(ce.Display, ce.Message)
	}
	return disk.Cause(err).Error()
}

// generated reports whether directories of this name usually hold generated files.
func generated(name string) bool {
	switch name {
	case ".vscode", ".idea", "dist", "build", "coverage", "__pycache__",
		".venv", ".tox", ".nox", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", ".nuxt", ".gradle", ".terraform":
		return true
	}
	return vendored(name)
}

// unwanted reports whether files of this name are read only if named.
func unwanted(name string) bool {
	switch name {
	case ".DS_Store", ".env", "GEMINI.md":
		return true
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".pyc", ".pyo", ".bin", ".exe", ".dll", ".so", ".dylib", ".class", ".jar", ".war", ".zip", ".tar", ".gz",
		".bz2", ".xz", ".zst", ".rar", ".7z", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods",
		".odp", ".dat", ".obj", ".o", ".a", ".lib", ".wasm":
		return true
	}
	return false
}
