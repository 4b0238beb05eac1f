package journal

import (
	"bufio"
	"bytes"
	"io"
	"runtime"
	"sync"

	"gemline/engine/parallel"
	"gemline/engine/text"
)

// maxLine is the length of a line that is no longer believed to be one.
const maxLine = 256 << 20

// buffered has the buffers of readers: a list reads many files.
var buffered = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// lines calls f with each line of r, which is valid until f returns. Lines that
// are too long to be true are passed over.
func lines(r io.Reader, f func([]byte)) error {
	br := buffered.Get().(*bufio.Reader)
	br.Reset(r)
	defer func() { br.Reset(nil); buffered.Put(br) }()
	in := text.NewLines(br, '\n', maxLine)
	for {
		switch line, err := in.Next(); {
		case err == nil:
			f(line)
		case err == io.EOF:
			return nil
		case err != text.ErrLong:
			return err
		}
	}
}

// changes returns the changes of the lines in the first size bytes of f, in order. Blocks are
// parsed concurrently, each with the lines that begin in the block.
func changes(f io.ReaderAt, size, blockSize int64) ([][]change, error) {
	all := make([][]change, (size+blockSize-1)/blockSize)
	errs := make([]error, len(all))
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	parallel.Each(len(all), runtime.GOMAXPROCS(0), func(i int) {
		b := buffers.Get().(*[]byte)
		all[i], errs[i] = block(f, int64(i)*blockSize, int64(i+1)*blockSize, size, b)
		buffers.Put(b)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// block returns the changes of the lines of f that begin between from and to. It reads them
// into buf, which may grow.
func block(f io.ReaderAt, from, to, size int64, buf *[]byte) (all []change, err error) {
	to = min(to, size)
	start := max(0, from-1) // a line begins behind the end of another
	b := (*buf)[:0]
	defer func() { *buf = b }()
	if b, err = readTo(f, b, start, to); err != nil {
		return nil, err
	}
	at := 0
	if from > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil, nil
		}
		at = i + 1
	}
	for start+int64(at) < to {
		n := bytes.IndexByte(b[at:], '\n')
		for have := len(b); n < 0 && start+int64(have) < size && have-at <= maxLine; have = len(b) {
			if b, err = readTo(f, b, start, min(size, start+int64(have+max(32<<10, have-at)))); err != nil {
				return nil, err
			}
			if n = bytes.IndexByte(b[have:], '\n'); n >= 0 {
				n += have - at
			}
		}
		if n < 0 {
			n = len(b) - at
		}
		if n <= maxLine {
			line := reader{want: spoken, line: b[at : at+n], in: f, at: start + int64(at)}
			if c := line.change(); c != (change{}) {
				all = append(all, c)
			}
		}
		at += n + 1
	}
	return all, nil
}

// readTo returns b, which is what f has from start on, with what follows until to.
func readTo(f io.ReaderAt, b []byte, start, to int64) ([]byte, error) {
	have, all := len(b), int(to-start)
	if all > cap(b) {
		b = append(make([]byte, 0, all+all/8), b...)
	}
	b = b[:all]
	n, err := f.ReadAt(b[have:], start+int64(have))
	if err == io.EOF { // it was longer before
		b, err = b[:have+n], nil
	}
	return b, err
}
