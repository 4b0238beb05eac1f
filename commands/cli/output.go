package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"gemline/engine/text"
	"gemline/repl/output"
)

// Output is where a sub-command prints what was asked for: as lines, or with --json
// as one document.
type Output struct {
	Out    io.Writer
	Err    io.Writer    // standard error
	Notify func(string) // tells what is odd but no error
	JSON   bool         // set by --json

	// Page shows a text with the user's pager. It is nil where there is none,
	// and in plain mode.
	Page func(ctx context.Context, text string) error

	Terminal bool // Out is a terminal
	Width    int  // of the terminal in columns, 0 if it is not known
}

// beside returns where is told what is not the document: with --json that is standard error.
func (o Output) beside() *Output {
	if o.JSON && o.Err != nil {
		o.Out = o.Err
	}
	return &o
}

// document writes v, which is an object, as one document of JSON that begins
// with the version of its schema.
func (o *Output) document(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b = bytes.TrimPrefix(b, []byte("{"))
	if !bytes.HasPrefix(b, []byte("}")) {
		b = append([]byte(","), b...)
	}
	return o.print(json.RawMessage(fmt.Sprintf(`{"schema_version":%d%s`, SchemaVersion, b)))
}

// print writes v as JSON.
func (o *Output) print(v any) error {
	b, err := text.JSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.Out, text.Escape(string(b))+"\n")
	return err
}

// show writes v as a document with --json, and else lines.
func (o *Output) show(v any, lines ...string) error {
	if o.JSON {
		return o.document(v)
	}
	return o.lines(lines)
}

// line writes a line.
func (o *Output) line(format string, args ...any) error {
	_, err := fmt.Fprintf(o.Out, format+"\n", args...)
	return err
}

// lines writes lines. Each stays one line, whatever characters are in it.
func (o *Output) lines(lines []string) error {
	for _, l := range lines {
		if err := o.line("%s", output.EscapeLine(l)); err != nil {
			return err
		}
	}
	return nil
}

// page shows a long text.
func (o *Output) page(ctx context.Context, text string) error {
	if o.Page != nil {
		return o.Page(ctx, text)
	}
	_, err := io.WriteString(o.Out, text)
	return err
}

// width returns how wide text may be: as wide as the screen, but no wider than
// is easy to read.
func (o *Output) width() int {
	const most = 100
	return max(20, min(cmp.Or(o.Width, 80), most))
}
