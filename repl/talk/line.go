package talk

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"gemline/engine/text"
)

// longestLine is how many bytes a line may have.
const longestLine = 16 << 20

// A line is one line of the input.
type line struct {
	Number  int // counted from 1
	Message message
	Err     error // why there is no Message
	Size    int   // bytes that are kept while it waits, roughly

	ID string // that it names; "" if that can't be read

	// If Err is that of several lines in a row: the last one's number.
	Through int
}

// overhead is what a line takes beside its text.
const overhead = 256

// readLines reads r to its end, or until a line says that it is the last. Blank
// lines are passed over, and of a line that is too long nothing is kept. An
// error of r is the last Line.
func readLines(r io.Reader) iter.Seq[line] {
	return func(yield func(line) bool) {
		in := text.NewLines(r, '\n', longestLine)
		for n := 1; ; n++ {
			said, err := in.Next()
			if n == 1 {
				said = bytes.TrimPrefix(said, []byte("\ufeff"))
			}
			l := line{Number: n, Size: overhead}
			switch {
			case err == text.ErrLong:
				l.Err = fmt.Errorf("it is longer than %d MiB", longestLine>>20)
			case len(bytes.TrimSpace(said)) > 0:
				l.Message, l.ID, l.Err = decode(said)
				if l.Size += len(l.ID); l.Err == nil {
					l.Size += len(said)
				}
			}
			if (l.Message != nil || l.Err != nil) && !yield(l) {
				return
			}
			if _, last := l.Message.(endMessage); last || err == io.EOF {
				return
			}
			if err != nil && err != text.ErrLong {
				yield(line{Number: n, Err: fmt.Errorf("it can't be read: %w", err), Size: overhead})
				return
			}
		}
	}
}
