package rpc

import (
	"bytes"
	"io"

	"gemline/engine/text"
)

// An Event is a server-sent event.
type Event struct {
	Name, ID string
	Data     []byte
}

// Events reads server-sent events.
type Events struct {
	r  *text.Lines
	id string // the last one
}

// NewEvents returns a reader of the events of r.
func NewEvents(r io.Reader) *Events { return &Events{r: text.NewLines(r, '\n', MaxMessage)} }

// Next returns the next event that has data. If the event is too long, it returns the
// beginning and [ErrTooLong].
func (e *Events) Next() (ev Event, err error) {
	begun, long := false, error(nil)
	for {
		line, err := e.r.Next()
		switch {
		case err == text.ErrLong:
			long = ErrTooLong
		case err != nil:
			return ev, err
		}
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 {
			if begun {
				ev.ID = e.id
				return ev, long
			}
			ev = Event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			ev.Name = string(value)
		case "id":
			e.id = string(value)
		case "data":
			if begun {
				ev.Data = append(ev.Data, '\n')
			}
			if begun = true; len(ev.Data)+len(value) > MaxMessage {
				long = ErrTooLong
			} else {
				ev.Data = append(ev.Data, value...)
			}
		}
	}
}
