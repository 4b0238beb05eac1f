package jsonc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// An Error is the error of an unusable file, in one line.
type Error struct {
	Path         string
	Line, Column int // counted from 1; 0 if the error is about the whole file
	Message      string
}

// Error returns the message with its position, in the format of compilers.
func (e *Error) Error() string {
	if e.Line == 0 {
		return text.PrintableLine(e.Path) + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", text.PrintableLine(e.Path), e.Line, e.Column, e.Message)
}

const (
	// MaxFile is the largest size of a file, in bytes; the largest real files are a hundredth of
	// it.
	MaxFile = 4 << 20

	// MaxDepth is the deepest nesting of objects and lists.
	MaxDepth = 100
)

// A Document is the text of a file, with its parsed values.
type Document struct {
	Tree  map[string]any // numbers keep their spelling
	Twice [][]string     // duplicate keys, whose last value counts

	text    []byte // without a byte order mark, and with a line end after a final comment
	root    hujson.Value
	marked  bool // the text had a byte order mark
	unended bool // the final comment had no line end
	top     place
}

// A place is the position of a key or an item of a list in a file.
type place struct {
	offset int
	value  hujson.Value
	below  map[string]*place // nil until needed
}

// Read reads a file with an object. It returns nil for a missing file. The error is an [Error].
func Read(path string) (*Document, error) {
	b, err := ReadFile(path)
	if err != nil || b == nil {
		return nil, err
	}
	return Parse(path, b)
}

// ReadFile reads a regular file of reasonable size. It returns nil for a missing
// file and for the null device. The error is an [Error].
func ReadFile(path string) ([]byte, error) {
	if path == "" || path == os.DevNull {
		return nil, nil
	}
	b, err := disk.Read(path, MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // also if a parent is not a directory
		return nil, nil
	case err != nil:
		return nil, &Error{Path: path, Message: disk.Cause(err).Error()}
	}
	return b, nil
}

// Parse parses the text of the file path, which must be an object. A text of only blanks and
// comments is an empty object. It reads UTF-16, but the result is UTF-8.
func Parse(path string, b []byte) (*Document, error) {
	d := &Document{}
	b, d.marked = bytes.CutPrefix(charset.ToUTF8(b), []byte(mark))
	if len(bytes.TrimSpace(b)) == 0 {
		b = []byte("{}\n")
	}
	v, err := d.parse(path, b)
	if err != nil {
		return nil, err
	}
	tree, ok := v.(map[string]any)
	if !ok {
		return nil, refuse(path, b, d.root.StartOffset, "must hold an object: { ... }")
	}
	d.Tree = tree
	return d, nil
}

const mark = "\ufeff" // the byte order mark of some editors

// Value parses a text that may hold any value.
func Value(b []byte) (any, error) { return (&Document{}).parse("", b) }

func (d *Document) parse(path string, b []byte) (any, error) {
	if i := text.Invalid(string(b)); i >= 0 {
		return nil, refuse(path, b, i, "is not UTF-8")
	}
	if i := tooDeep(b); i >= 0 {
		return nil, refuse(path, b, i, "objects and lists are nested too deep")
	}
	root, err := hujson.Parse(b)
	if errors.Is(err, io.ErrUnexpectedEOF) { // a final comment without a line end, or only comments
		line := append(b[:len(b):len(b)], '\n')
		object := append(bytes.TrimSuffix(b, []byte("\n")), "\n{}\n"...)
		if v, err2 := hujson.Parse(line); err2 == nil {
			root, b, err, d.unended = v, line, nil, true
		} else if v, err2 := hujson.Parse(object); err2 == nil {
			root, b, err = v, object, nil
		}
	}
	if err != nil {
		return nil, syntax(path, b, err)
	}
	d.text, d.root, d.top.value = b, root, root
	return d.value(nil, root), nil
}

// value converts v. Numbers keep their spelling.
func (d *Document) value(path []string, v hujson.Value) any {
	switch x := v.Value.(type) {
	case *hujson.Object:
		tree := make(map[string]any, len(x.Members))
		for _, m := range x.Members {
			name := name(m)
			below := append(path[:len(path):len(path)], name)
			if _, twice := tree[name]; twice {
				d.Twice = append(d.Twice, below)
			}
			tree[name] = d.value(below, m.Value)
		}
		return tree
	case *hujson.Array:
		return lists.Map(x.Elements, func(e hujson.Value) any { return d.value(path, e) })
	case hujson.Literal:
		switch x.Kind() {
		case '"':
			return x.String()
		case '0':
			return json.Number(x.String())
		case 't', 'f':
			return x.Bool()
		}
	}
	return nil
}

// Members yields the members of the outermost object in order. It yields duplicate names each time.
func (d *Document) Members() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, m := range d.root.Value.(*hujson.Object).Members {
			if !yield(name(m), (&Document{}).value(nil, m.Value)) {
				return
			}
		}
	}
}

// Position returns the line and the column of a key, counted from 1; 0 if it is missing. For a
// duplicate key, it is the last. The name of a list item is its index.
func (d *Document) Position(path []string) (line, column int) {
	if at := d.find(path); at != nil {
		return position(d.text, at.offset)
	}
	return 0, 0
}

// Written returns the value of a key in the file, nil if it is missing.
func (d *Document) Written(path []string) any {
	if at := d.find(path); at != nil {
		return (&Document{}).value(nil, at.value)
	}
	return nil
}

// find returns the place of a key, nil if it is missing.
func (d *Document) find(path []string) *place {
	if len(path) == 0 {
		return nil
	}
	at := &d.top
	for _, name := range path {
		if at.below == nil {
			at.below = places(at.value)
		}
		if at = at.below[name]; at == nil {
			return nil
		}
	}
	return at
}

// places returns the places of the keys or items in v.
func places(v hujson.Value) map[string]*place {
	below := map[string]*place{}
	switch v := v.Value.(type) {
	case *hujson.Array:
		for i, e := range v.Elements {
			below[strconv.Itoa(i)] = &place{offset: e.StartOffset, value: e}
		}
	case *hujson.Object:
		for _, m := range v.Members {
			below[name(m)] = &place{offset: m.Name.StartOffset, value: m.Value}
		}
	}
	return below
}

// name returns the name of a member.
func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func refuse(path string, b []byte, offset int, message string) error {
	line, column := position(b, offset)
	return &Error{Path: path, Line: line, Column: column, Message: message}
}

func position(b []byte, offset int) (line, column int) {
	return 1 + bytes.Count(b[:offset], []byte("\n")), offset - bytes.LastIndexByte(b[:offset], '\n')
}

var mistake = text.Pattern(`^hujson: line (\d+), column (\d+): `)

// expected maps the parser's words for a position to the expected token. It has no entry if the
// words are clear.
func expected() []struct{ where, what string } {
	const text = "a name or a value; texts stand in double quotes"
	return []struct{ where, what string }{
		{"invalid literal", text},
		{"at start of value", text},
		{"at start of object name", "a name in double quotes, or '}'"},
		{"after object name", "':'"}, {"parsing object after name", "':'"},
		{"after top-level value", "the end of the file"},
		{"parsing value", "a name, a value or a closing bracket"},
		{"parsing object after value", "',' or '}'"},
		{"parsing array after value", "',' or ']'"},
		{"parsing string", "the quotation mark that closes a text"},
		{"parsing comment", "the end of a comment, */"},
	}
}

// syntax converts a syntax error of the parser in b into gemline's words.
func syntax(path string, b []byte, err error) error {
	e := &Error{Path: path, Message: err.Error()}
	if m := mistake().FindStringSubmatch(e.Message); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
		e.Message = strings.TrimPrefix(e.Message, m[0])
	}
	wanted := ""
	for _, x := range expected() {
		if strings.Contains(e.Message, x.where) {
			wanted = " (expecting " + x.what + ")"
			break
		}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Message = "the file ends in the middle" + wanted
	case strings.HasPrefix(e.Message, "invalid literal"): // the message quotes the literal, which may be a secret
		e.Message = "is no valid string, number or word of JSON" + wanted
		if escape, at := badEscape(b, e.Line, e.Column); escape != "" {
			e.Column += at
			e.Message = escape + ` in a text means nothing in JSON; a backslash, as in paths of Windows, is written \\`
		}
	default:
		e.Message += wanted
	}
	e.Message = text.PrintableLine(e.Message) // it may quote a character
	return e
}

// badEscape returns the first invalid escape in the text after a position, and its distance from
// the column; "" if there is none.
func badEscape(b []byte, line, column int) (escape string, at int) {
	lines := bytes.Split(b, []byte("\n"))
	if line < 1 || line > len(lines) || column < 1 || column > len(lines[line-1]) {
		return "", 0
	}
	s := lines[line-1][column-1:]
	if s[0] != '"' {
		return "", 0
	}
	for i := 1; i+1 < len(s) && s[i] != '"'; i++ {
		if s[i] != '\\' {
			continue
		}
		i++
		switch r, n := utf8.DecodeRune(s[i:]); {
		case r == 'u' && len(s) >= i+5 && isHex(s[i+1:i+5]), r != 'u' && strings.ContainsRune(`"\/bfnrt`, r):
		case !unicode.IsPrint(r):
			return "", 0
		default:
			return string(s[i-1 : i+n]), i - 1
		}
	}
	return "", 0
}

func isHex(b []byte) bool {
	_, err := hex.DecodeString(string(b))
	return err == nil
}

// tooDeep returns the offset of the first bracket that is nested deeper than MaxDepth, or -1. The
// parser recurses without a limit.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			i += max(0, comment(b[i:])-1)
		}
	}
	return -1
}

// comment returns the length of the comment at the start of b, without its line end; 0 if there is
// none.
func comment(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("//")):
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			return end
		}
		return len(b)
	case bytes.HasPrefix(b, []byte("/*")):
		if end := bytes.Index(b[2:], []byte("*/")); end >= 0 {
			return end + len("/**/")
		}
		return len(b)
	}
	return 0
}

// Map returns a copy of a value, with change applied to all leaves.
func Map(v any, change func(any) any) any {
	switch x := v.(type) {
	case map[string]any:
		tree := make(map[string]any, len(x))
		for name, item := range x {
			tree[name] = Map(item, change)
		}
		return tree
	case []any:
		return lists.Map(x, func(item any) any { return Map(item, change) })
	}
	return change(v)
}

// Describe describes a value in a few words.
func Describe(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%.40q", x)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%.40s", fmt.Sprint(v))
}
