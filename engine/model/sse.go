package model

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxAnswer is the maximum size of an answer in bytes. Real answers are far smaller; an endless
// answer must not fill the memory.
const maxAnswer = 64 << 20

// errTooLarge is the error of an answer larger than maxAnswer.
var errTooLarge = fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)

// An eventReader reads server-sent events and returns their data, as the HTML standard has it:
// lines end in CR, LF or both, a leading byte order mark and comments don't count, several data
// lines are one event. Other fields are ignored, except for "error" of llama.cpp's servers, which
// counts as data.
type eventReader struct {
	r         io.Reader
	remaining int   // bytes left until the limit
	err       error // of r

	ahead    *bufio.Reader // of the limited stream, without its byte order mark
	lines    *bufio.Scanner
	searched int  // searched bytes of the next line
	skipLF   bool // the last line ended in CR, so that an LF belongs to it
	torn     bool // the last line has no end
	data     []byte
	pending  bool // data holds at least one line
}

func newEventReader(r io.Reader) *eventReader {
	const size, mark = 32 << 10, "\ufeff"
	e := &eventReader{r: r, remaining: maxAnswer}
	e.ahead = bufio.NewReaderSize(e, size)
	if begin, _ := e.ahead.Peek(len(mark)); string(begin) == mark {
		e.ahead.Discard(len(mark))
	}
	e.lines = bufio.NewScanner(e.ahead)
	e.lines.Buffer(make([]byte, 0, size), 2*maxAnswer)
	e.lines.Split(e.split)
	return e
}

// Read implements [io.Reader] within the limit.
func (e *eventReader) Read(b []byte) (n int, err error) {
	if e.err == nil {
		n, e.err = e.r.Read(b)
		if e.remaining -= n; e.remaining < 0 {
			e.err = errTooLarge
		}
	}
	return n, e.err
}

// next returns the data of the next event, which is valid until the next call.
// The error is io.EOF at the end of a complete stream.
func (e *eventReader) next() ([]byte, error) {
	e.data, e.pending = e.data[:0], false
	for {
		line, err := e.line()
		if err != nil {
			return e.rest(err)
		}
		if value, ok := bytes.CutPrefix(line, []byte("error: {")); ok && !e.pending {
			e.add(fmt.Appendf(nil, `{"error":{%s}`, value))
			continue
		}
		switch value, ok := bytes.CutPrefix(line, []byte("data")); {
		case len(line) == 0:
			if len(e.data) > 0 {
				return e.data, nil
			}
			e.pending = false
		case !ok:
		case len(value) == 0:
			e.add(nil)
		case value[0] == ':':
			e.add(bytes.TrimPrefix(value[1:], []byte(" ")))
		}
	}
}

func (e *eventReader) add(value []byte) {
	if e.pending {
		e.data = append(e.data, '\n')
	}
	e.data = append(e.data, value...)
	e.pending = true
}

// rest handles the end of the stream. A complete event without its blank line is accepted.
func (e *eventReader) rest(err error) ([]byte, error) {
	if err != io.EOF || len(e.data) == 0 {
		return nil, err
	}
	if complete(e.data) {
		return e.data, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// line returns the next line without its end, which the last line may lack.
func (e *eventReader) line() ([]byte, error) {
	if !e.lines.Scan() {
		return nil, cmp.Or(e.lines.Err(), io.EOF)
	}
	return e.lines.Bytes(), nil
}

// split is the [bufio.SplitFunc] of lines.
func (e *eventReader) split(b []byte, atEOF bool) (n int, line []byte, err error) {
	from := 0
	if e.skipLF && len(b) > 0 && b[0] == '\n' {
		from = 1
	}
	e.searched = max(e.searched, from)
	i := lineEnd(b[e.searched:])
	switch end := e.searched + i; {
	case i >= 0:
		e.searched, e.skipLF = 0, b[end] == '\r'
		return end + 1, b[from:end], nil
	case !atEOF:
		e.searched = len(b)
	case len(b) > from:
		e.searched, e.torn = 0, true
		return len(b), b[from:], nil
	default:
		e.searched = 0 // Scan may be called again at the end
	}
	return 0, nil, nil
}

// lineEnd returns the index of the first CR or LF in b, -1 if there is none.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if j := bytes.IndexByte(b[:i], '\r'); j >= 0 {
		return j
	}
	return i
}

// peek returns the first byte that is no space.
func (e *eventReader) peek() (byte, error) {
	for n := 1; ; n++ {
		b, err := e.ahead.Peek(n)
		switch {
		case err == bufio.ErrBufferFull: // the buffer is full of spaces
			e.ahead.Discard(len(b))
			n = 0
		case err != nil:
			return 0, err
		case !strings.ContainsRune(" \t\r\n", rune(b[n-1])):
			return b[n-1], nil
		}
	}
}

// all returns the rest, without space around it. Errors of the connection after a complete
// document are ignored.
func (e *eventReader) all() ([]byte, error) {
	b, err := io.ReadAll(e.ahead)
	if json.Valid(b) {
		err = nil
	}
	return bytes.TrimSpace(b), err
}
