package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gemline/engine/text"
	"gemline/repl/input"
)

// A Format is the format of a file of items.
type Format string

// The formats.
const (
	Lines Format = "lines" // each line is a prompt
	NUL   Format = "nul"   // a NUL ends each prompt
	JSONL Format = "jsonl" // each line is an object
)

// FormatOf returns the format of a file, by its name.
func FormatOf(name string) Format {
	if name = strings.ToLower(name); strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		return JSONL
	}
	return Lines
}

// maxItem is the longest item, in bytes.
const maxItem = 16 << 20

// A reader reads items. It holds one at a time.
type reader struct {
	in     *text.Lines
	format Format
	index  int
	line   int
	begun  bool
	err    error
}

// newReader returns a reader of items in format from r.
func newReader(r io.Reader, format Format) *reader {
	end := byte('\n')
	if format == NUL {
		end = 0
	}
	return &reader{in: text.NewLines(r, end, maxItem), format: format}
}

// Next returns the next item, and io.EOF at the end. An error of an item is in the item; any other
// error is a read error, and final.
func (r *reader) Next() (Item, error) {
	for r.err == nil {
		line, err := r.in.Next()
		long := err == text.ErrLong
		if err != nil && !long {
			r.err = err
			if !errors.Is(err, io.EOF) {
				r.err = &input.Error{Message: fmt.Sprintf("the batch can't be read after line %d: %v", r.line, err), Err: err}
			}
			break
		}
		r.line++
		if !r.begun {
			r.begun = true
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if r.format != NUL {
			line = bytes.TrimSuffix(line, []byte("\r"))
		}
		if len(bytes.TrimSpace(line)) == 0 && !long {
			continue
		}
		it := Item{Index: r.index, Line: r.line, ID: strconv.Itoa(r.index)}
		r.index++
		switch {
		case long:
			it.Err = mistake(r.line, "longer than %s", input.FormatSize(maxItem))
		case r.format == JSONL:
			it.parse(line)
		default:
			it.plain(line)
		}
		return it, nil
	}
	return Item{}, r.err
}

// A read is the result of reading an item: an item or an error.
type read struct {
	Item Item
	err  error
}

// read reads items as workers take them. A running read can't be cancelled by ctx; it continues
// until the input ends or is closed.
func (r *runner) read(ctx context.Context) <-chan read {
	c := make(chan read)
	in := newReader(r.Source, r.Format)
	next := func() (it Item, err error) {
		err = errPanic
		defer r.panic.Catch()
		return in.Next()
	}
	go func() {
		for {
			it, err := next()
			select {
			case c <- read{it, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}
