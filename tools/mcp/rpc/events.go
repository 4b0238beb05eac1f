package rpc

import (
	"bufio"
	"bytes"
	"io"
)

// An event is one of a stream of server-sent events.
type event struct {
	name, id string
	data     []byte
}

// events reads server-sent events.
type events struct {
	r    *bufio.Reader
	line []byte
	id   string // the last one
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReaderSize(r, 32<<10)} }

// next returns the next event that has data. Of one that is too long it returns the
// beginning and [ErrTooLong].
func (e *events) next() (ev event, err error) {
	begun, long := false, error(nil)
	for {
		line, err := readLine(e.r, e.line[:0], MaxMessage)
		e.line = line
		switch {
		case err == ErrTooLong:
			long = err
		case err != nil:
			return ev, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if begun {
				ev.id = e.id
				return ev, long
			}
			ev = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.name = string(value)
		case "id":
			e.id = string(value)
		case "data":
			if begun {
				ev.data = append(ev.data, '\n')
			}
			if begun = true; len(ev.data)+len(value) > MaxMessage {
				long = ErrTooLong
			} else {
				ev.data = append(ev.data, value...)
			}
		}
	}
}
