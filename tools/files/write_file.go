package files

import (
	"cmp"
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
func (ts Tools) writeFile() engine.Tool {
	return toolkit.Define("write_file", "WriteFile", engine.Edit, writeFileDoc, writeFileSchema,
		func(_ context.Context, a writeFileArgs) (engine.Call, error) {
			if strings.Trim(a.Path, "\x00") == "" {
				return engine.Call{}, toolkit.Misuse(`Missing or empty "file_path"`)
			}
			r, err := Revise(ts.Workspace, a.Path, "file_write_failure")
			if err != nil {
				return engine.Call{}, err
			}
			if !a.Modified && r.omits("", a.Content) {
				return engine.Call{}, toolkit.Misuse("`content` contains an omission placeholder " +
					"(for example 'rest of methods ...'). Provide complete file content.")
			}
			if err := ts.Known.changed(r); err != nil && !a.Modified && !r.private() {
				return engine.Call{}, err
			}
			text := fresh(a.Content)
			if r.File != nil {
				text = edit.KeepEndings(r.File.Text, a.Content)
				if r.File.Format.Raw {
					text = edit.KeepMarked(r.File.Text, text, charset.Readable)
				}
			}
			if err := r.Propose(text); err != nil {
				return engine.Call{}, err
			}
			intent := r.intent(func(text string) map[string]any {
				if text == r.draft() {
					return map[string]any{"file_path": a.Path, "content": a.Content}
				}
				return map[string]any{"file_path": r.Path, "content": text, "modified_by_user": true}
			})
			if r.unchanged() && !r.private() {
				return engine.Call{Intent: intent, Idle: true, Run: func(context.Context, engine.Host) (engine.Result, error) {
					return engine.Result{Text: "The file already holds exactly this, so nothing was written: " + r.Path + ".",
						Display: "already so", Verdict: "already so"}, nil
				}}, nil
			}
			return engine.Call{Intent: intent, Run: func(ctx context.Context, _ engine.Host) (engine.Result, error) {
				if err := r.Write(ctx); err != nil {
					return engine.Result{}, err
				}
				ts.Known.note(r.place.Path(), r.text, r.format())
				said := fmt.Sprintf("Successfully overwrote file: %s.", r.Path)
				if r.File == nil {
					said = fmt.Sprintf("Successfully created and wrote to new file: %s.", r.Path)
				}
				if a.Modified {
					said += " User modified the `content` to be: " + a.Content
				}
				return r.result(said + r.snippet()), nil
			}}, nil
		})
}

// fresh returns text with the default line endings of this system.
func fresh(text string) string {
	if runtime.GOOS != "windows" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// A Revision is a proposed change of a file.
type Revision struct {
	ws    *workspace.Workspace
	Path  string                 // absolute, as named
	place workspace.ResolvedPath // the target of Path; no other file is read or written
	File  *workspace.File        // as it was read; nil if there was none
	class string                 // of failures without a class of their own

	text string // what the file will hold
	diff string
	stat edit.Stat
}

// Revise reads the file called name, if there is one. Failures without a class of their own
// get class.
func Revise(ws *workspace.Workspace, name, class string) (*Revision, error) {
	r := &Revision{ws: ws, class: class}
	var err error
	if r.Path, err = ws.Resolve(name); err != nil {
		return nil, r.unreadable(err)
	}
	return r, r.read()
}

func (r *Revision) read() error {
	place, err := r.ws.Locate(r.Path)
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
	r.File = file
	return nil
}

// unreadable says for the model why the file can't be read.
func (r *Revision) unreadable(err error) error {
	if err := untouched(r.Path, err); err != nil {
		return err
	}
	switch {
	case errors.Is(err, workspace.ErrBinary):
		return because(err, "read_content_failure", "Cannot edit binary file: "+r.Path)
	case errors.Is(err, fs.ErrPermission):
		return because(err, "permission_denied", fmt.Sprintf("Permission denied reading file: %s (EACCES)", r.Path))
	}
	return because(err, r.class, fmt.Sprintf("Error checking existing file '%s': %v", r.Path, disk.Cause(err)))
}

// Propose sets the new content of the file, if the file can hold it.
func (r *Revision) Propose(after string) error {
	if file := inTheWay(r.ws, filepath.Dir(r.place.Path())); file != "" {
		return &engine.CallError{Type: r.class,
			Message: fmt.Sprintf("Error writing to file '%s': %s is not a directory", r.Path, file),
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
		return &engine.CallError{Type: r.class, Message: fmt.Sprintf("Cannot write %s: %v", r.Path, err)}
	}
	if len(b) > workspace.MaxFile {
		return &engine.CallError{Type: "file_too_large",
			Message: fmt.Sprintf("The proposed content exceeds the %dMB limit: %s (%.2fMB)",
				workspace.MaxFile>>20, r.Path, float64(len(b))/(1<<20))}
	}
	r.text = after
	name := text.Name(r.ws.Rel(r.Path))
	r.diff, r.stat = edit.Diff(name+"\tCurrent", name+"\tProposed", r.readable(r.before()), r.readable(after))
	return nil
}

// inTheWay returns the file in the place of dir or a parent of it.
func inTheWay(ws *workspace.Workspace, dir string) string {
	for at := range disk.Upward(dir) {
		switch info, err := ws.Stat(at); {
		case err != nil:
		case info.IsDir():
			return ""
		default:
			return at
		}
	}
	return ""
}

func (r *Revision) format() workspace.Format {
	if r.File == nil {
		return workspace.Format{}
	}
	return r.File.Format
}

// before returns the current content of the file.
func (r *Revision) before() string {
	if r.File == nil {
		return ""
	}
	return r.File.Text
}

// readable returns a text of the file for display and for the model.
func (r *Revision) readable(text string) string {
	if r.format().Raw {
		return charset.Readable(text)
	}
	return text
}

// draft returns the text for the user's editor: with plain line ends, unless the file is new.
func (r *Revision) draft() string {
	if r.File == nil {
		return r.text
	}
	return strings.ReplaceAll(r.text, "\r\n", "\n")
}

// intent describes the revision. args returns the call's arguments for a text edited by the
// user.
func (r *Revision) intent(args func(text string) map[string]any) engine.Intent {
	name := r.ws.Rel(r.Path)
	in := engine.Intent{
		Title:  "edit " + text.Name(name),
		Detail: r.diff,
		Paths:  []string{r.Path},
		Edit:   &engine.TextEdit{Path: r.Path, Created: r.File == nil, Before: r.readable(r.before()), After: r.readable(r.text)},
		Grants: []engine.Grant{{Label: "always for " + text.Name(name), Tool: "edit",
			Target: r.place.Path()}, {Label: "all edits this session", Tool: "edit"}},
	}
	if args != nil {
		in.Draft = &engine.Draft{Name: filepath.Base(r.Path), Text: r.draft(), Args: args}
	}
	if r.private() { // the result shows neighbouring lines
		in.Secret, in.Grants = text.Name(name), in.Grants[:1]
	}
	if r.File == nil {
		in.Title = "create " + text.Name(name)
	}
	if real := r.place.Path(); real != r.Path {
		in.Paths = append(in.Paths, real)
	}
	if r.diff == "" && r.File == nil {
		in.Detail = "an empty file"
	} else if r.diff == "" {
		in.Detail = "no line changes"
	}
	return in
}

// unchanged reports whether the file exists and already holds the proposed text.
func (r *Revision) unchanged() bool { return r.File != nil && r.text == r.File.Text }

// omits reports whether text, which replaces old, has placeholders such as "rest of code
// ...". Code blocks in Markdown may have placeholders.
func (r *Revision) omits(old, text string) bool {
	old = cmp.Or(old, r.before())
	if ext := strings.ToLower(filepath.Ext(r.Path)); ext == ".md" || ext == ".mdx" || ext == ".markdown" {
		text = unfenced(text)
	}
	return edit.HasPlaceholder(old, text)
}

// unfenced returns a Markdown text without code blocks, and headings without dots.
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
func (r *Revision) private() bool { return r.File != nil && r.ws.Private(r.Path) }

// Write writes the text, unless the file is not as it was when the text was
// proposed.
func (r *Revision) Write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	is := Revision{ws: r.ws, Path: r.Path, class: r.class}
	if err := is.read(); err != nil {
		return err
	}
	what := ""
	switch {
	case is.File == nil && r.File == nil:
	case is.File == nil:
		what = "was removed"
	case r.File == nil:
		what = "was created"
	case is.File.Text != r.File.Text || is.File.Format != r.File.Format:
		what = "was changed"
	}
	if is.place.Path() != r.place.Path() {
		what = "was moved"
	}
	if what != "" {
		return &engine.CallError{Type: r.class,
			Message: fmt.Sprintf("File %s by someone else after this call was prepared, so nothing was written: %s. Read it again before changing it.", what, r.Path),
			Display: "nothing written: the file " + what + " meanwhile"}
	}
	if err := is.place.Write(r.text, r.format()); err != nil {
		return r.unwritable(err)
	}
	return nil
}

// unwritable says for the model why the file can't be written.
func (r *Revision) unwritable(err error) error {
	outside := (*workspace.OutsideError)(nil)
	switch {
	case errors.As(err, &outside):
		return r.unreadable(err)
	case errors.Is(err, disk.ErrFull):
		return because(err, engine.NoSpaceLeft, "No space left on device: "+r.Path)
	case errors.Is(err, workspace.ErrDirectory):
		return because(err, "target_is_directory", "Target is a directory, not a file: "+r.Path)
	case errors.Is(err, fs.ErrPermission):
		return because(err, "permission_denied", fmt.Sprintf("Permission denied writing to file: %s (EACCES)", r.Path))
	}
	return because(err, r.class, fmt.Sprintf("Error writing to file '%s': %v", r.Path, disk.Cause(err)))
}

// snippet returns the changed parts of the text, with the words before them.
func (r *Revision) snippet() string {
	s := edit.Snippet(r.readable(r.before()), r.readable(r.text))
	if s == "" {
		return ""
	}
	return " Here is the updated code:\n" + s
}

func (r *Revision) result(said string) engine.Result {
	return engine.Result{
		Text:    said,
		Display: r.stat.String(),
		Changes: []engine.Change{{Path: r.Path, Created: r.File == nil, Added: r.stat.Added, Removed: r.stat.Removed}},
	}
}
