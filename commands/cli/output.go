package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/output"
)

// An Output is where a sub-command prints its result: as lines, or with --json
// as one document.
type Output struct {
	Out    io.Writer
	Err    io.Writer    // standard error
	Notify func(string) // prints a notice
	JSON   bool         // set by --json

	// Page shows a text with the user's pager. It is nil without a pager, and in plain mode.
	Page func(ctx context.Context, text string) error

	Terminal bool // Out is a terminal
	Width    int  // columns of the terminal, 0 if unknown
}

// beside returns the Output for text outside of the document: standard error with --json.
func (out Output) beside() *Output {
	if out.JSON && out.Err != nil {
		out.Out = out.Err
	}
	return &out
}

// document writes v, an object, as a JSON document with the version of its schema first.
func (out *Output) document(v any) error {
	if doc, is := v.(map[string]any); is {
		for key, list := range doc {
			if of := reflect.ValueOf(list); of.Kind() == reflect.Slice && of.IsNil() {
				doc[key] = []any{} // a list is never null
			}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b = bytes.TrimPrefix(b, []byte("{"))
	if !bytes.HasPrefix(b, []byte("}")) {
		b = append([]byte(","), b...)
	}
	return out.print(json.RawMessage(fmt.Sprintf(`{"schema_version":%d%s`, SchemaVersion, b)))
}

// print writes v as JSON.
func (out *Output) print(v any) error {
	b, err := text.JSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out.Out, text.Printable(string(b))+"\n")
	return err
}

// show writes v as a document with --json, otherwise lines.
func (out *Output) show(v any, lines ...string) error {
	if out.JSON {
		return out.document(v)
	}
	return out.lines(lines)
}

// A record is a member of a list: an object of the document, and the same content as lines.
type record interface{ lines() []string }

// A listing is a printed list: a document with --json, otherwise lines.
type listing struct {
	doc   map[string]any
	lines []string
}

// listingOf returns the listing of records. Name is their key in the document.
func listingOf[R record](name string, all []R) *listing {
	l := &listing{doc: map[string]any{name: all}}
	for _, r := range all {
		l.lines = append(l.lines, r.lines()...)
	}
	return l
}

// add adds texts to the document, as a list, and to the lines, each behind a label.
func (l *listing) add(name, label string, texts ...string) *listing {
	all, _ := l.doc[name].([]string)
	l.doc[name] = append(all, texts...)
	l.lines = append(l.lines, lists.Map(texts, func(t string) string { return label + t })...)
	return l
}

// list shows a listing. None is the line of an empty list.
func (out *Output) list(l *listing, none string) error { return out.listing(l.doc, l.lines, none) }

// listing shows lists: as a document with --json, otherwise as lines. None is the line without any
// others.
func (out *Output) listing(doc map[string]any, lines []string, none string) error {
	if len(lines) == 0 {
		lines = []string{none}
	}
	return out.show(doc, lines...)
}

// fields takes pairs of names and values, and returns a line for each value that is not empty.
func fields(pairs ...string) (lines []string) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			lines = append(lines, pair[0]+": "+pair[1])
		}
	}
	return lines
}

// line writes a line.
func (out *Output) line(format string, args ...any) error {
	_, err := fmt.Fprintf(out.Out, format+"\n", args...)
	return err
}

// lines writes lines. A text with line breaks stays on one line.
func (out *Output) lines(lines []string) error {
	for _, l := range lines {
		if err := out.line("%s", output.EscapeLine(l)); err != nil {
			return err
		}
	}
	return nil
}

// page shows a long text.
func (out *Output) page(ctx context.Context, text string) error {
	if out.Page != nil {
		return out.Page(ctx, text)
	}
	_, err := io.WriteString(out.Out, text)
	return err
}

// width returns the width for text: that of the screen, up to a width that is easy to read.
func (out *Output) width() int {
	const most = 100
	return max(20, min(cmp.Or(out.Width, 80), most))
}
