package model

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// forever repeats a text without end.
type forever string

func (f forever) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat(string(f), 1+len(b)/len(f))), nil
}

// An answer that never ends is given up, whatever it is made of.
func TestEndless(t *testing.T) {
	limited := func(r io.Reader) *eventReader {
		e := newEventReader(r)
		e.remaining = 1 << 20
		return e
	}
	for _, piece := range []string{"data: {}\n\n", "data: {}\n", "x", ": \n", "\n", "\r", "data\n"} {
		e := limited(forever(piece))
		var err error
		for err == nil {
			_, err = e.next()
		}
		if !errors.Is(err, errTooLarge) {
			t.Errorf("events of %q end with %v", piece, err)
		}
	}
	if _, err := limited(forever(" \n")).peek(); !errors.Is(err, errTooLarge) {
		t.Errorf("space ends with %v", err)
	}
	if _, err := limited(forever("{")).all(); !errors.Is(err, errTooLarge) {
		t.Errorf("a document ends with %v", err)
	}
}
