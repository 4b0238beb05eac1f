package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// A FileError is a file of settings that can't be used. It is one line long.
type FileError struct {
	Path         string
	Line, Column int // counted from 1; 0 if it is about the file as a whole
	Message      string
}

// Error names the place as compilers do.
func (e *FileError) Error() string {
	if e.Line == 0 {
		return text.EscapeLine(e.Path) + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", text.EscapeLine(e.Path), e.Line, e.Column, e.Message)
}

const (
	maxFile  = 4 << 20 // bytes of a file; the largest real ones are a hundredth
	maxDepth = 100     // of objects and lists in each other
)

// A document is the text of a file of settings, and what it says.
type document struct {
	text  []byte
	root  hujson.Value
	tree  map[string]any
	twice [][]string // the keys that are given more than once; the last one counts

	index map[string]spot // made when it is needed
	ends  []int           // the offsets of the line ends
}

// readDocument reads a file that holds an object of JSON with comments. A file
// that is not there is nil. The error is a [FileError].
func readDocument(path string) (*document, error) {
	b, err := readFile(path)
	if err != nil || b == nil {
		return nil, err
	}
	return parseDocument(path, b)
}

// parseObject parses the text of the file path.
func parseObject(path string, b []byte) (map[string]any, error) {
	doc, err := parseDocument(path, b)
	if err != nil {
		return nil, err
	}
	return doc.tree, nil
}

func parseDocument(path string, b []byte) (*document, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(bytes.TrimSpace(b)) == 0 {
		b = append([]byte("{}"), b...)
	}
	v, doc, err := parseValue(path, b)
	if err != nil {
		return nil, err
	}
	tree, ok := v.(map[string]any)
	if !ok {
		return nil, refuse(path, b, doc.root.StartOffset, "must hold an object: { ... }")
	}
	doc.tree = tree
	return doc, nil
}

// parseValue parses any value of JSON with comments.
func parseValue(path string, b []byte) (any, *document, error) {
	if i := invalid(b); i >= 0 {
		return nil, nil, refuse(path, b, i, "is not UTF-8")
	}
	if i := tooDeep(b); i >= 0 {
		return nil, nil, refuse(path, b, i, "objects and lists are nested too deep")
	}
	root, err := parseText(b)
	if err != nil {
		return nil, nil, syntax(path, err)
	}
	doc := &document{text: b, root: root}
	return doc.value(nil, root), doc, nil
}

// parseText parses b, which may end in a comment without a line end, or hold
// nothing but comments, which is an empty object.
func parseText(b []byte) (hujson.Value, error) {
	root, err := hujson.Parse(b)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return root, err
	}
	for _, end := range []string{"\n", "\n{}"} {
		if ended, err2 := hujson.Parse(append(b[:len(b):len(b)], end...)); err2 == nil {
			return ended, nil
		}
	}
	return root, err
}

// value returns what v says. Numbers stay as they are written.
func (d *document) value(path []string, v hujson.Value) any {
	switch x := v.Value.(type) {
	case *hujson.Object:
		tree := make(map[string]any, len(x.Members))
		for _, m := range x.Members {
			name := m.Name.Value.(hujson.Literal).String()
			below := append(path[:len(path):len(path)], name)
			if _, twice := tree[name]; twice {
				d.twice = append(d.twice, below)
			}
			tree[name] = d.value(below, m.Value)
		}
		return tree
	case *hujson.Array:
		items := make([]any, len(x.Elements))
		for i, e := range x.Elements {
			items[i] = d.value(path, e)
		}
		return items
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

// A spot is where a key stands in a file.
type spot struct {
	offset int
	value  hujson.Value
}

// place returns the line of a key, and its value as it is written. The last
// of several counts.
func (d *document) place(path []string) (line int, written any) {
	if d.index == nil {
		d.index = map[string]spot{}
		d.mark(nil, d.root)
		for i, b := range d.text {
			if b == '\n' {
				d.ends = append(d.ends, i)
			}
		}
	}
	at, ok := d.index[JoinKey(path)]
	if !ok {
		return 0, nil
	}
	line, _ = slices.BinarySearch(d.ends, at.offset)
	return line + 1, (&document{}).value(nil, at.value)
}

// position returns the line and the column of a key, 0 if it is not there.
func (d *document) position(path []string) (line, column int) {
	if line, _ = d.place(path); line == 0 {
		return 0, 0
	}
	return position(d.text, d.index[JoinKey(path)].offset)
}

// mark enters what is below v in the index.
func (d *document) mark(path []string, v hujson.Value) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	for _, m := range o.Members {
		at := below(path, m.Name.Value.(hujson.Literal).String())
		d.index[JoinKey(at)] = spot{m.Name.StartOffset, m.Value}
		d.mark(at, m.Value)
	}
}

func refuse(path string, b []byte, offset int, message string) error {
	e := &FileError{Path: path, Message: message}
	e.Line, e.Column = position(b, offset)
	return e
}

// readFile reads a regular file of reasonable size. One that is not there, or
// is the null device, is nil.
func readFile(path string) ([]byte, error) {
	if path == "" || path == os.DevNull {
		return nil, nil
	}
	b, err := disk.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // or what should hold it is none
		return nil, nil
	case err != nil:
		return nil, &FileError{Path: path, Message: disk.Cause(err).Error()}
	}
	return b, nil
}

var mistake = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)
})

// expected names what the parser was looking for, by its words for where it
// was. Where these say it themselves, nothing is added.
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

// syntax puts a mistake that the parser found into our words.
func syntax(path string, err error) error {
	e := &FileError{Path: path, Message: err.Error()}
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
	case strings.HasPrefix(e.Message, "invalid literal"): // which it quotes in full, and which may be a secret
		e.Message = "is no valid string, number or word of JSON" + wanted
	default:
		e.Message += wanted
	}
	e.Message = text.EscapeLine(e.Message) // it may quote a character
	return e
}

// position returns the line and the column, in bytes, of an offset.
func position(b []byte, offset int) (line, column int) {
	b = b[:offset]
	return 1 + bytes.Count(b, []byte("\n")), len(b) - bytes.LastIndexByte(b, '\n')
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns the offset of the first bracket that is nested deeper than
// maxDepth, or -1. The parser recurses without a limit of its own.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
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
			i = skipComment(b, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment at i, or i if
// there is none.
func skipComment(b []byte, i int) int {
	rest := b[i:]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			end += 3
		}
	default:
		return i
	}
	if end < 0 {
		return len(b)
	}
	return i + end
}
