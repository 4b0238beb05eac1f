package model

import (
	"bytes"
	"fmt"
	"io"
)

// maxAnswer is how many bytes an answer may have on the wire. The longest that
// a model gives is far below; a server that never ends must not fill the memory.
const maxAnswer = 64 << 20

// errTooLarge ends an answer that nobody would want.
var errTooLarge = fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)

// An eventReader reads server-sent events and returns their data, as the
// HTML standard has it: lines end in CR, LF or both, a leading byte order mark
// and comments don't count, several data lines are one event. Other fields mean
// nothing here, but "error" of llama.cpp's servers, which has what others have in data.
type eventReader struct {
	r         io.Reader
	remaining int    // bytes that may still come
	buf       []byte // buf[from:] is read but not used
	from      int
	searched  int  // buf[from:searched] has no line end
	skipLF    bool // the last line ended in CR, so that an LF belongs to it
	begun     bool
	data      []byte
	pending   bool // data holds at least one line
	err       error
}

func newEventReader(r io.Reader) *eventReader { return &eventReader{r: r, remaining: maxAnswer} }

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

// rest deals with the end of the stream. An event that lacks its blank line is
// taken if it is whole otherwise.
func (e *eventReader) rest(err error) ([]byte, error) {
	if err != io.EOF || len(e.data) == 0 {
		return nil, err
	}
	if complete(e.data) {
		return e.data, nil
	}
	return nil, io.ErrUnexpectedEOF
}

// line returns the next line without its end. The last one may lack it.
func (e *eventReader) line() ([]byte, error) {
	for {
		if e.skipLF && e.from < len(e.buf) {
			e.skipLF = false
			if e.buf[e.from] == '\n' {
				e.from++
			}
			e.searched = max(e.searched, e.from)
		}
		if i := lineEnd(e.buf[e.searched:]); i >= 0 {
			i += e.searched
			line := e.buf[e.from:i]
			e.skipLF = e.buf[i] == '\r'
			e.from, e.searched = i+1, i+1
			return e.first(line), nil
		}
		e.searched = len(e.buf)
		if e.err != nil {
			if e.from == len(e.buf) {
				return nil, e.err
			}
			line := e.buf[e.from:]
			e.from = len(e.buf)
			return e.first(line), nil
		}
		e.fill()
	}
}

// first takes the byte order mark off the first line.
func (e *eventReader) first(line []byte) []byte {
	if e.begun {
		return line
	}
	e.begun = true
	return bytes.TrimPrefix(line, []byte("\ufeff"))
}

// fill reads more, making room for it first.
func (e *eventReader) fill() {
	const size = 32 << 10
	if e.from > 0 {
		n := copy(e.buf, e.buf[e.from:])
		e.buf = e.buf[:n]
		e.searched -= e.from
		e.from = 0
	}
	if len(e.buf) == cap(e.buf) {
		e.buf = append(make([]byte, 0, max(size, 2*cap(e.buf))), e.buf...)
	}
	for range 100 {
		n, err := e.r.Read(e.buf[len(e.buf):cap(e.buf)])
		e.buf = e.buf[:len(e.buf)+n]
		if e.remaining -= n; e.remaining < 0 {
			err = errTooLarge
		}
		if e.err = err; n > 0 || err != nil {
			return
		}
	}
	e.err = io.ErrNoProgress
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

// peek returns the first byte that is neither space nor byte order mark.
func (e *eventReader) peek() (byte, error) {
	const mark = "\ufeff"
	for {
		b := e.buf[e.from:]
		cut := e.err == nil && len(b) > 0 && len(b) < len(mark) && b[0] == mark[0]
		if !cut {
			b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte(mark)), " \t\r\n")
			if len(b) > 0 {
				return b[0], nil
			}
		}
		if e.err != nil {
			return 0, e.err
		}
		e.fill()
	}
}

// all returns everything that is left, without the space and the byte order
// mark around it.
func (e *eventReader) all() ([]byte, error) {
	for e.err == nil {
		e.fill()
	}
	if e.err != io.EOF {
		return nil, e.err
	}
	b := bytes.TrimSpace(bytes.TrimPrefix(e.buf[e.from:], []byte("\ufeff")))
	e.from = len(e.buf)
	return b, nil
}
