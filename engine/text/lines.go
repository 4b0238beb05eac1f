package text

import (
	"bufio"
	"errors"
	"io"
)

// ErrLong is the error of a line above the length limit.
var ErrLong = errors.New("the line is too long")

// Lines reads lines of a bounded length.
type Lines struct {
	At   int64 // how many bytes were read
	Torn bool  // the last line has no end

	r    *bufio.Reader
	end  byte
	most int
	buf  []byte
}

// NewLines returns the Lines of r. Each line ends with the byte end, and has at most the given
// number of bytes before it.
func NewLines(r io.Reader, end byte, most int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), end: end, most: most}
}

// Next returns the next line without its end, valid until Next is called again. For a line
// that is too long it returns a part of the beginning and [ErrLong]. The last line needs no
// end; after it the error is io.EOF. With another error comes the beginning of a line.
func (l *Lines) Next() (line []byte, err error) {
	if l.Torn {
		return nil, io.EOF // a terminal would be read on
	}
	const kept = 1 << 20 // a larger buffer is released
	if l.buf = l.buf[:0]; cap(l.buf) > kept {
		l.buf = nil
	}
	for long := false; ; {
		piece, err := l.r.ReadSlice(l.end)
		l.At += int64(len(piece))
		if err == nil {
			piece = piece[:len(piece)-1]
		}
		switch {
		case long || len(l.buf)+len(piece) > l.most:
			long, line = true, l.buf
		case len(l.buf) == 0 && err != bufio.ErrBufferFull: // the usual line, which is not copied
			line = piece
		default:
			l.buf = append(l.buf, piece...)
			line = l.buf
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (long || len(line) > 0):
			l.Torn, err = true, nil
		}
		if err == nil && long {
			err = ErrLong
		}
		return line, err
	}
}
