package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"gemline/engine"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/edit"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/write_file.md
var writeFileDoc string

const writeFileSchema = `{"type":"object","properties":{
"file_path":{"type":"string"},
"content":{"type":"string","description":"All of it; nothing may be left out as in 'rest of code ...'"}},
"required":["file_path","content"]}`

type writeFileArgs struct {
	Path     string `json:"file_path"`
	Content  string `json:"content"`
	Modified bool   `json:"modified_by_user"`
}

// writeFile returns the tool that writes a whole file.
func writeFile(env Env) engine.Tool {
	return toolkit.Define("write_file", "WriteFile", engine.Edit, writeFileDoc, writeFileSchema,
		func(_ context.Context, a writeFileArgs) (engine.Call, error) {
			if strings.Trim(a.Path, "\x00") == "" {
				return engine.Call{}, toolkit.Misuse(`Missing or empty "file_path"`)
			}
			r, err := revise(env.Workspace, a.Path, "file_write_failure")
			if err != nil {
				return engine.Call{}, err
			}
			if !a.Modified && r.omits("", a.Content) {
				return engine.Call{}, toolkit.Misuse("`content` contains an omission placeholder " +
					"(for example 'rest of methods ...'). Provide complete file content.")
			}
			if err := env.seen.changed(r); err != nil && !a.Modified && !r.private() {
				return engine.Call{}, err
			}
			text := fresh(a.Content)
			if r.file != nil {
				text = edit.KeepEndings(r.file.Text, a.Content)
				if r.file.Format.Raw {
					text = edit.KeepMarked(r.file.Text, text, charset.Readable)
				}
			}
			if err := r.propose(text); err != nil {
				return engine.Call{}, err
			}
			intent := r.intent(func(text string) map[string]any {
				if text == r.draft() {
					return map[string]any{"file_path": a.Path, "content": a.Content}
				}
				return map[string]any{"file_path": r.path, "content": text, "modified_by_user": true}
			})
			if r.same() && !r.private() {
				return engine.Call{Intent: intent, Idle: true, Run: func(context.Context, engine.Host) (engine.Result, error) {
					return engine.Result{Text: "The file already holds exactly this, so nothing was written: " + r.path + ".",
						Display: "already so", Verdict: "already so"}, nil
				}}, nil
			}
			return engine.Call{Intent: intent, Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				if err := r.write(ctx); err != nil {
					return engine.Result{}, err
				}
				env.seen.note(r.place.Path(), r.text, r.format())
				said := fmt.Sprintf("Successfully overwrote file: %s.", r.path)
				if r.file == nil {
					said = fmt.Sprintf("Successfully created and wrote to new file: %s.", r.path)
				}
				if a.Modified {
					said += " User modified the `content` to be: " + a.Content
				}
				return r.result(said + r.snippet()), nil
			}}, nil
		})
}

// fresh returns text with the line endings of files that this system makes.
func fresh(text string) string {
	if runtime.GOOS != "windows" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// A revision is a file about to hold another text.
type revision struct {
	ws    *workspace.Workspace
	path  string          // absolute, as named
	place workspace.Place // where that leads; nothing else is read or written
	file  *workspace.File // as it was read; nil if there was none
	class string          // of failures that have none of their own

	text string // what the file will hold
	diff string
	stat edit.Stat
}

// revise reads the file called name, if there is one. Failures that have no
// class of their own are of class.
func revise(ws *workspace.Workspace, name, class string) (*revision, error) {
	r := &revision{ws: ws, class: class}
	var err error
	if r.path, err = ws.Resolve(name); err != nil {
		return nil, r.unreadable(err)
	}
	return r, r.read()
}

func (r *revision) read() error {
	place, err := r.ws.Place(r.path)
	if err != nil {
		return r.unreadable(err)
	}
	r.place = place
	if err := place.Writable(); err != nil {
		return r.unreadable(err)
	}
	file, err := place.ReadText()
	if errors.Is(err, fs.ErrNotExist) {
		file, err = nil, nil
	}
	if err != nil {
		return r.unreadable(err)
	}
	r.file = file
	return nil
}

// unreadable says for the model why the file can't be read.
func (r *revision) unreadable(err error) error {
	if err := untouched(r.path, err); err != nil {
		return err
	}
	switch {
	case errors.Is(err, workspace.ErrBinary):
		return because(err, "read_content_failure", "Cannot edit binary file: "+r.path)
	case errors.Is(err, fs.ErrPermission):
		return because(err, "permission_denied", fmt.Sprintf("Permission denied reading file: %s (EACCES)", r.path))
	}
	return because(err, r.class, fmt.Sprintf("Error checking existing file '%s': %v", r.path, disk.Cause(err)))
}

// propose makes after what the file will hold, if it can hold it.
func (r *revision) propose(after string) error {
	if file := inTheWay(r.ws, filepath.Dir(r.place.Path())); file != "" {
		return &engine.CallError{Type: r.class,
			Message: fmt.Sprintf("Error writing to file '%s': %s is not a directory", r.path, file),
			Display: file + " is not a directory"}
	}
	if r.format().BOM { // the file has one already
		after = strings.TrimPrefix(after, "\ufeff")
	}
	b, err := r.format().Encode(after)
	if lost := string(utf8.RuneError); r.format().Raw && strings.Count(after, lost) > strings.Count(r.before(), lost) {
		err = fmt.Errorf("%w; edit around them with replace", workspace.ErrLossy)
	}
	if err != nil {
		return &engine.CallError{Type: r.class, Message: fmt.Sprintf("Cannot write %s: %v", r.path, err)}
	}
	if len(b) > workspace.MaxFile {
		return &engine.CallError{Type: "file_too_large",
			Message: fmt.Sprintf("The proposed content exceeds the %dMB limit: %s (%.2fMB)",
				workspace.MaxFile>>20, r.path, float64(len(b))/(1<<20))}
	}
	r.text = after
	name := text.Name(r.ws.Rel(r.path))
	r.diff, r.stat = edit.Diff(name+"\tCurrent", name+"\tProposed", r.readable(r.before()), r.readable(after))
	return nil
}

// inTheWay returns what stands where dir or a directory above it would be.
func inTheWay(ws *workspace.Workspace, dir string) string {
	for {
		if info, err := ws.Stat(dir); err == nil {
			if info.IsDir() {
				return ""
			}
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

func (r *revision) format() workspace.Format {
	if r.file == nil {
		return workspace.Format{}
	}
	return r.file.Format
}

// before returns what the file holds.
func (r *revision) before() string {
	if r.file == nil {
		return ""
	}
	return r.file.Text
}

// readable returns a text of the file as people and the model read it.
func (r *revision) readable(text string) string {
	if r.format().Raw {
		return charset.Readable(text)
	}
	return text
}

// draft returns what the user edits: with the line endings of any editor, if
// those of the file can be told from it.
func (r *revision) draft() string {
	if r.file == nil {
		return r.text
	}
	return strings.ReplaceAll(r.text, "\r\n", "\n")
}

// intent describes the revision. The arguments of the call as the user changes
// it are those that args returns.
func (r *revision) intent(args func(text string) map[string]any) engine.Intent {
	name := r.ws.Rel(r.path)
	in := engine.Intent{
		Title:  "edit " + text.Name(name),
		Detail: r.diff,
		Paths:  []string{r.path},
		Edit:   &engine.TextEdit{Path: r.path, Made: r.file == nil, Before: r.readable(r.before()), After: r.readable(r.text)},
		Grants: []engine.Grant{{Label: "always for " + text.Name(name), Tool: "edit",
			Target: r.place.Path()}, {Label: "all edits this session", Tool: "edit"}},
	}
	if args != nil {
		in.Draft = &engine.Draft{Name: filepath.Base(r.path), Text: r.draft(), Args: args}
	}
	if r.private() { // the result shows what stands beside the change
		in.Secret, in.Grants = text.Name(name), in.Grants[:1]
	}
	if r.file == nil {
		in.Title = "create " + text.Name(name)
	}
	if real := r.place.Path(); real != r.path {
		in.Paths = append(in.Paths, real)
	}
	if r.diff == "" && r.file == nil {
		in.Detail = "an empty file"
	} else if r.diff == "" {
		in.Detail = "no line changes"
	}
	return in
}

// same reports whether there is a file, and it holds the proposed text.
func (r *revision) same() bool { return r.file != nil && r.text == r.file.Text }

// omits reports whether text, which takes the place of old, leaves something out in words
// such as "rest of code ...". In Markdown, code that is shown may.
func (r *revision) omits(old, text string) bool {
	if old == "" {
		old = r.before()
	}
	if ext := strings.ToLower(filepath.Ext(r.path)); ext == ".md" || ext == ".mdx" || ext == ".markdown" {
		text = unfenced(text)
	}
	return edit.HasPlaceholder(old, text)
}

// unfenced returns a Markdown text without its blocks of code, and headings without dots.
func unfenced(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if mark := strings.TrimLeft(line, " >\t"); strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~") {
			inside = !inside
		} else if !inside && (!strings.HasPrefix(mark, "#") || strings.Contains(mark, "...")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// private reports whether there is a file, and it may hold secrets.
func (r *revision) private() bool { return r.file != nil && r.ws.Private(r.path) }

// write writes the text, unless the file is not as it was when the text was
// proposed.
func (r *revision) write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	is := revision{ws: r.ws, path: r.path, class: r.class}
	if err := is.read(); err != nil {
		return err
	}
	what := ""
	switch {
	case is.file == nil && r.file == nil:
	case is.file == nil:
		what = "was removed"
	case r.file == nil:
		what = "was created"
	case is.file.Text != r.file.Text || is.file.Format != r.file.Format:
		what = "was changed"
	}
	if is.place.Path() != r.place.Path() {
		what = "was moved"
	}
	if what != "" {
		return &engine.CallError{Type: r.class,
			Message: fmt.Sprintf("File %s by someone else after this call was prepared, so nothing was written: %s. Read it again before changing it.", what, r.path),
			Display: "nothing written: the file " + what + " meanwhile"}
	}
	if err := is.place.Write(r.text, r.format()); err != nil {
		return r.unwritable(err)
	}
	return nil
}

// unwritable says for the model why the file can't be written.
func (r *revision) unwritable(err error) error {
	outside := (*workspace.OutsideError)(nil)
	switch {
	case errors.As(err, &outside):
		return r.unreadable(err)
	case errors.Is(err, workspace.ErrFull):
		return because(err, engine.NoSpaceLeft, "No space left on device: "+r.path)
	case errors.Is(err, workspace.ErrDirectory):
		return because(err, "target_is_directory", "Target is a directory, not a file: "+r.path)
	case errors.Is(err, fs.ErrPermission):
		return because(err, "permission_denied", fmt.Sprintf("Permission denied writing to file: %s (EACCES)", r.path))
	}
	return because(err, r.class, fmt.Sprintf("Error writing to file '%s': %v", r.path, disk.Cause(err)))
}

// snippet returns the changed parts of the text, with the words before them.
func (r *revision) snippet() string {
	s := edit.Snippet(r.readable(r.before()), r.readable(r.text))
	if s == "" {
		return ""
	}
	return " Here is the updated code:\n" + s
}

func (r *revision) result(said string) engine.Result {
	return engine.Result{
		Text:    said,
		Display: r.stat.String(),
		Changes: []engine.Change{{Path: r.path, Made: r.file == nil, Added: r.stat.Added, Removed: r.stat.Removed}},
	}
}
