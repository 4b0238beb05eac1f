package teletype

import (
	"bytes"
	"regexp"
	"testing"
	"time"
)

// A Bill is what a program writes to a terminal of 24 rows and 80 columns, from
// its start to the end of its first answer.
type Bill struct {
	Start  []byte // until it waits for the user
	Idle   []byte // while nobody does anything
	Typing []byte // while the user types
	Turn   []byte // from Enter until it waits again
}

// An Errand is what a program is measured at.
type Errand struct {
	Ready string // the prompt
	Typed string // the question, character by character
	Done  string // is shown when the answer is over, before the prompt
	Idle  time.Duration
}

// Measure runs c and returns what it writes for e.
func Measure(t testing.TB, c Command, e Errand) Bill {
	t.Helper()
	s := Start(t, c)
	from := 0
	since := func() []byte {
		all := s.Transcript()
		defer func() { from = len(all) }()
		return all[from:]
	}
	var b Bill
	s.Expect(e.Ready)
	b.Start = since()
	select {
	case <-time.After(e.Idle):
	case <-s.exited:
	}
	b.Idle = since()
	for _, key := range e.Typed {
		s.Send(string(key))
		s.Expect(string(key))
	}
	b.Typing = since()
	s.Send("\r")
	s.Expect(e.Done)
	s.Expect(e.Ready)
	b.Turn = since()
	return b
}

// A Cost counts what makes output hard to follow.
type Cost struct {
	Bytes, Escapes    int
	Erasures          int // of lines or parts of the screen
	Ups               int // of the cursor
	Returns           int // to the start of a line that goes on
	Boxes, Alternates int // characters of frames; changes to another screen
}

var (
	erasures   = regexp.MustCompile(`\x1b\[[0-9;?]*[JKXP]`)
	ups        = regexp.MustCompile(`\x1b\[[0-9;]*[AF]|\x1bM`)
	alternates = regexp.MustCompile(`\x1b\[\?(47|1047|1049)h`)
)

// CostOf counts what b costs.
func CostOf(b []byte) Cost {
	c := Cost{
		Bytes:      len(b),
		Escapes:    bytes.Count(b, []byte{0x1b}),
		Erasures:   len(erasures.FindAll(b, -1)),
		Ups:        len(ups.FindAll(b, -1)),
		Returns:    bytes.Count(b, []byte("\r")) - bytes.Count(b, []byte("\r\n")),
		Alternates: len(alternates.FindAll(b, -1)),
	}
	for _, r := range string(b) {
		if r >= 0x2500 && r <= 0x259f {
			c.Boxes++
		}
	}
	return c
}
