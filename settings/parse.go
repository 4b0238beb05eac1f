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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/tailscale/hujson"
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
		return e.Path + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Message)
}

const (
	maxFile  = 4 << 20 // bytes of a file; the largest real ones are a hundredth
	maxDepth = 100     // of objects and lists in each other
)

// readObject reads a file that holds an object of JSON with comments. A file
// that is not there is nil. The error is a [FileError].
func readObject(path string) (map[string]any, error) {
	b, err := readFile(path)
	if err != nil || b == nil {
		return nil, err
	}
	return parseObject(path, b)
}

// readFile reads a regular file of reasonable size. One that is not there, or
// is the null device, is nil.
func readFile(path string) ([]byte, error) {
	if path == "" || path == os.DevNull {
		return nil, nil
	}
	refuse := func(message string) ([]byte, error) { return nil, &FileError{Path: path, Message: message} }
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // or what should hold it is none
		return nil, nil
	case err != nil:
		return refuse(cause(err))
	case info.IsDir():
		return refuse("is a directory, not a file")
	case !info.Mode().IsRegular():
		return refuse("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse(cause(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return refuse(cause(err))
	}
	if len(b) > maxFile {
		return refuse("is larger than 4 MiB, which no settings are")
	}
	return b, nil
}

// cause returns what the system said, without the path.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// parseObject parses the text of the file path.
func parseObject(path string, b []byte) (map[string]any, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	refuse := func(offset int, message string) error {
		e := &FileError{Path: path, Message: message}
		e.Line, e.Column = position(b, offset)
		return e
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return map[string]any{}, nil
	}
	if i := invalid(b); i >= 0 {
		return nil, refuse(i, "is not UTF-8")
	}
	if i := tooDeep(b); i >= 0 {
		return nil, refuse(i, "objects and lists are nested too deep")
	}
	v, err := hujson.Parse(b)
	if err != nil {
		return nil, syntax(path, err)
	}
	v.Standardize()
	if _, ok := v.Value.(*hujson.Object); !ok {
		return nil, refuse(v.StartOffset, "must hold an object: { ... }")
	}
	tree := map[string]any{}
	if err := json.Unmarshal(v.Pack(), &tree); err != nil { // a number too large for any float
		return nil, &FileError{Path: path, Message: err.Error()}
	}
	return tree, nil
}

var place = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^hujson: line (\d+), column (\d+): `)
})

// syntax puts a mistake that the parser found into our words.
func syntax(path string, err error) error {
	e := &FileError{Path: path, Message: err.Error()}
	if m := place().FindStringSubmatch(e.Message); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
		e.Message = strings.TrimPrefix(e.Message, m[0])
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Message = "the file ends in the middle"
	}
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
