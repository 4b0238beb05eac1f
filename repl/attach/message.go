package attach

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
)

// A message is a line of JSON between a session and a listener.
type message struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Number   int    `json:"number,omitempty"` // of the open question or prompt
	Question bool   `json:"question,omitempty"`
	Info     *Info  `json:"info,omitempty"`
	By       string `json:"by,omitempty"`
}

// The types of messages. A session sends hello first, and again when its id changes, then text,
// open, busy, late and bye; a listener sends hello, line and interrupt.
const (
	hello     = "hello"
	text      = "text"
	open      = "open"      // a prompt or a question is shown
	busy      = "busy"      // it is answered, and a turn runs
	late      = "late"      // a line did not count
	bye       = "bye"       // nothing follows
	said      = "line"      // a line was entered
	interrupt = "interrupt" // Ctrl-C
)

// Info describes a live session.
type Info struct {
	ID     string `json:"session_id"`
	Folder string `json:"folder"`
	PID    int    `json:"pid"`
	State  string `json:"state"` // working, waiting for a prompt, waiting for an answer, or not answering
}

// longest is the longest message, in bytes.
const longest = 4 << 20

// encode returns m as a line of JSON.
func encode(m message) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // it holds only texts and numbers
	}
	return append(b, '\n')
}

// read reads messages until the end of r, or until an invalid message.
func read(r io.Reader) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, longest)
		for lines.Scan() {
			var m message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				yield(m, errors.New("it does not speak like gemline"))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(message{}, err)
		}
	}
}
