package files

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

//go:embed doc/read_file.md
var readFileDoc string

const readFileSchema = `{"type":"object","properties":{
"file_path":{"type":"string"},
"start_line":{"type":"integer","minimum":1},
"end_line":{"type":"integer","minimum":1,"description":"Inclusive"}},
"required":["file_path"]}`

// Limits of a text file's shown part.
const (
	maxReadLines = 2000
	maxLineChars = 2000
	cutMark      = "... [truncated]"
)

type readFileArgs struct {
	Path  string `json:"file_path"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

// readFile returns the tool that reads one file.
func (ts Tools) readFile() engine.Tool {
	ws := ts.Workspace
	return toolkit.Define("read_file", "ReadFile", engine.Read, readFileDoc, readFileSchema,
		func(_ context.Context, a readFileArgs) (engine.Call, error) {
			if strings.Trim(a.Path, "\x00") == "" {
				return engine.Call{}, toolkit.Misuse("The 'file_path' parameter must be non-empty.")
			}
			if a.Start > 0 && a.End > 0 && a.Start > a.End {
				return engine.Call{}, toolkit.Misuse("start_line cannot be greater than end_line")
			}
			path, err := ws.Resolve(a.Path)
			if err != nil {
				return engine.Call{}, unread(path, err)
			}
			if ws.Ignore.Names(path, false) {
				return engine.Call{}, toolkit.Misuse("File path '%s' is ignored by configured ignore patterns.", path)
			}
			return engine.Call{
				Intent: shows(ws, engine.Intent{Title: "read " + text.Name(ws.Rel(path)) + a.lines(),
					Paths: []string{path}}, "read_file", "file_path", path),
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					return ts.read(path, a.Start, a.End)
				},
			}, nil
		})
}

// lines returns the requested range, as the end of a title.
func (a readFileArgs) lines() string {
	switch {
	case a.End > 0:
		return fmt.Sprintf(" %d-%d", max(a.Start, 1), a.End)
	case a.Start > 0:
		return fmt.Sprintf(" %d-", a.Start)
	}
	return ""
}

// read reads the file at path: the lines from start to end of a text, where 0 means the
// default limit, or a whole image and the like.
func (ts Tools) read(path string, start, end int) (engine.Result, error) {
	ws := ts.Workspace
	c, err := ts.load(path)
	if ce := (*engine.CallError)(nil); errors.As(err, &ce) && ce.Type == "file_not_found" {
		ts.Known.missed(ws, path)
	}
	if err != nil {
		return engine.Result{}, err
	}
	rel := text.Name(ws.Rel(path))
	switch {
	case c.media != nil:
		kind, _, _ := strings.Cut(c.media.InlineData.MIMEType, "/")
		if kind == "application" {
			kind = "pdf"
		}
		return engine.Result{Media: []*genai.Part{c.media}, Display: fmt.Sprintf("Read %s file: %s", kind, rel)}, nil
	case c.instead != "":
		return engine.Result{Text: c.instead, Display: c.display}, nil
	}
	ts.Known.noteRead(ws, path, c.raw, c.format)
	v := selectLines(c.text, start, end)
	v.guess = c.guess()
	if v.whole() && v.guess == "" {
		return engine.Result{Text: v.text}, nil
	}
	r := engine.Result{Text: v.framed(), Display: fmt.Sprintf("Read lines %d-%d of %d from %s",
		v.first, v.last, v.total, rel)}
	if v.empty() {
		r.Display = fmt.Sprintf("Read nothing: %s has %d lines", rel, v.total)
	}
	if v.whole() {
		r.Display = v.guess
	}
	if v.cut {
		r.Display += " (some lines were shortened)"
	}
	return r, nil
}

// A content is the content of a file: a text with LF line ends, or media, or a message
// instead.
type content struct {
	text             string
	raw              string // the text with its line ends and secrets
	format           workspace.Format
	media            *genai.Part
	instead, display string
}

// load reads the file at path and redacts known secrets, before lines are cut or omitted.
// Its error is a [*engine.CallError].
func (ts Tools) load(path string) (content, error) {
	ws := ts.Workspace
	b, _, err := ws.ReadBytes(path, workspace.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, because(err, "file_not_found", "File not found: "+path+hint(ws, path))
	}
	if err != nil {
		return content{}, unread(path, err)
	}
	rel := text.Name(ws.Rel(path))
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".svg" && len(b) > 1<<20 {
		return content{instead: "Cannot display content of SVG file larger than 1MB: " + rel,
			display: "Skipped large SVG file (>1MB): " + rel}, nil
	}
	text, format, err := ws.Decode(path, b)
	mime := workspace.Media(path, b)
	if mime != "application/pdf" && err == nil && format.Charset == "utf-8" && !format.Lossy && !format.Raw {
		mime = "" // a text that begins like media
	}
	switch {
	case strings.HasPrefix(mime, "audio/") && !audible(mime):
		return content{}, &engine.CallError{Type: "read_content_failure",
			Message: fmt.Sprintf("Unsupported audio format %s: %s. MP3, WAV, AIFF, AAC, OGG and FLAC can be read.", mime, path),
			Display: "Unsupported audio format."}
	case mime != "":
		return content{media: genai.NewPartFromBytes(b, mime)}, nil
	case err != nil:
		return content{instead: "Cannot display content of binary file: " + rel,
			display: "Skipped binary file: " + rel}, nil
	}
	readable := text
	if format.Raw {
		readable = charset.Readable(text)
	}
	return content{text: ts.Secrets.RedactKnown(strings.ReplaceAll(readable, "\r\n", "\n")), raw: text, format: format}, nil
}

// guess describes a guessed charset, and undecodable bytes; "" if there are none.
func (c content) guess() string {
	switch {
	case c.format.Raw || c.format.Lossy:
		return "some bytes are not valid " + cmp.Or(c.format.Charset, "utf-8") + " and show as \ufffd"
	case c.format.Guessed:
		return "the encoding is not known and was taken to be " + c.format.Charset
	}
	return ""
}

// audible reports whether the API supports audio of this type.
func audible(mime string) bool {
	switch mime {
	case "audio/mpeg", "audio/wav", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac":
		return true
	}
	return false
}

// unread returns the error for the model for an unreadable file.
func unread(path string, err error) error {
	if err := untouched(path, err); err != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return because(err, "file_not_found", "File not found: "+path)
	}
	return because(err, "read_content_failure", fmt.Sprintf("Error reading file %s: %v", path, disk.Cause(err)))
}

// untouched returns the error for the model for an inaccessible file; nil if err has another
// cause.
func untouched(path string, err error) error {
	size, outside := (*workspace.SizeError)(nil), (*workspace.OutsideError)(nil)
	switch {
	case errors.As(err, &outside):
		return because(err, "path_not_in_workspace", err.Error())
	case errors.As(err, &size):
		return because(err, "file_too_large",
			fmt.Sprintf("File size exceeds the %dMB limit: %s (%.2fMB). Search it with grep_search, or run a command that prints a part of it.",
				size.Limit>>20, path, float64(size.Size)/(1<<20)))
	case errors.Is(err, workspace.ErrDirectory):
		return because(err, "target_is_directory", "Path is a directory, not a file: "+path)
	case errors.Is(err, workspace.ErrIrregular):
		return because(err, "read_content_failure", "Path is not a regular file: "+path+irregular)
	case errors.Is(err, workspace.ErrKernel):
		return because(err, "read_content_failure", "Path is not a file of a disk: "+path+ofTheKernel)
	}
	return nil
}

// because returns the error of a call that failed because of err: message for the model, and
// a few words for the user, who sees the path already.
func because(err error, class, message string) error {
	size, outside := (*workspace.SizeError)(nil), (*workspace.OutsideError)(nil)
	why := disk.Cause(err).Error()
	switch {
	case errors.As(err, &outside):
		why = outside.Summary()
	case errors.As(err, &size):
		why = fmt.Sprintf("it is larger than %d MB", size.Limit>>20)
	case errors.Is(err, workspace.ErrDirectory):
		why = "it is a directory"
	case errors.Is(err, workspace.ErrNoDirectory):
		why = "it is not a directory"
	case errors.Is(err, workspace.ErrBinary):
		why = "it is a binary file"
	case errors.Is(err, workspace.ErrIrregular):
		why = "it is not a regular file"
	case errors.Is(err, workspace.ErrKernel):
		why = "it is not a file on a disk"
	}
	return &engine.CallError{Type: class, Message: message, Display: why}
}

// Messages about inaccessible files, to follow their names.
const (
	irregular   = ". Devices, pipes and sockets are left alone, since they may wait for ever or have no end. If you need what it gives, run a command that takes a limited part."
	ofTheKernel = ". The kernel makes it up, and what it says of processes and of this machine is kept from the file tools. If you need it, run a command, which the user can judge."
)

// A view is a range of lines of a text. Lines count from 1, and a final line end begins an
// additional empty line.
type view struct {
	text               string
	first, last, total int
	limited            bool   // it ends at a limit, not at the requested end
	cut                bool   // a line was too long
	guess              string // about the encoding
}

// selectLines returns the lines of text from start to end; 0 means the default.
func selectLines(all string, start, end int) view {
	v := view{first: max(start, 1), total: strings.Count(all, "\n") + 1}
	v.last = min(end, v.total)
	if end == 0 {
		v.last = min(v.first-1+maxReadLines, v.total)
		v.limited = v.last < v.total
	}
	if v.first > v.total {
		return v
	}
	for range v.first - 1 {
		all = all[strings.IndexByte(all, '\n')+1:]
	}
	var out strings.Builder
	for n := v.first; n <= v.last; n++ {
		line, rest, _ := strings.Cut(all, "\n")
		all = rest
		if n > v.first {
			out.WriteByte('\n')
		}
		short, cut := text.First(line, maxLineChars)
		out.WriteString(short)
		if cut {
			out.WriteString(cutMark)
			v.cut = true
		}
	}
	v.text = out.String()
	return v
}

func (v view) empty() bool { return v.first > v.total }

func (v view) whole() bool { return v.first == 1 && v.last == v.total && !v.cut }

// framed returns the text below a header that describes the part.
func (v view) framed() string {
	if v.empty() {
		return fmt.Sprintf("\nStatus: Nothing to show: start_line %d is beyond the last of %d total lines.\n", v.first, v.total)
	}
	var s strings.Builder
	mark := ""
	if v.limited || v.cut {
		s.WriteString("\nIMPORTANT: The file content has been truncated.")
		mark = " (truncated)"
	}
	fmt.Fprintf(&s, "\nStatus: Showing lines %d-%d of %d total lines.", v.first, v.last, v.total)
	if v.cut {
		fmt.Fprintf(&s, " Lines longer than %d characters were cut.", maxLineChars)
	}
	if v.guess != "" {
		s.WriteString("\nEncoding: " + v.guess + ".")
	}
	if v.last < v.total {
		fmt.Fprintf(&s, "\nAction: To read more of the file, you can use the 'start_line' and 'end_line' parameters in a subsequent 'read_file' call."+
			" For example, to read the next section of the file, use start_line: %d.", v.last+1)
	}
	fmt.Fprintf(&s, "\n\n--- FILE CONTENT%s ---\n%s", mark, v.text)
	return s.String()
}
