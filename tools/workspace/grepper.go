package workspace

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// A grepper searches one file after the other with the same memory.
type grepper struct {
	q    *Query
	from Place
	done <-chan struct{}
	buf  []byte
	fold []byte
	next []int // where each literal comes next
}

const (
	chunk   = 1 << 20  // how much of a file is looked at at once
	maxLine = 16 << 20 // a file with a longer line is not searched further
)

// file returns the lines of the file at path that match. A file that is not
// text has none.
func (g *grepper) file(path string) []Match {
	p := g.from.reached(path)
	if n := p.w.over.known(p.real); n != nil {
		return g.written(path, n.now)
	}
	if p.dir == nil {
		return nil
	}
	f, size, err := p.dir.Raw(p.rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	var found []Match
	line := 1 // of the beginning of buf
	have := 0
	for {
		select {
		case <-g.done:
			return found
		default:
		}
		if cap(g.buf)-have < chunk/2 {
			if have > maxLine {
				return found
			}
			g.buf = append(make([]byte, 0, 2*cap(g.buf)+chunk), g.buf[:have]...)
		}
		n, err := f.Read(g.buf[have:cap(g.buf)])
		have += n
		if size -= int64(n); size == 0 && err == nil {
			err = io.EOF // as the next read would say
		}
		if err != nil && err != io.EOF {
			return found
		}
		b := g.buf[:have]
		if line == 1 && len(found) == 0 && utf16Mark(b) {
			return g.wide(p, path)
		}
		if bytes.IndexByte(b[have-n:], 0) >= 0 {
			return found // not text, at least from here on
		}
		whole := have // the bytes that make whole lines
		if err == nil {
			if whole = bytes.LastIndexByte(b, '\n') + 1; whole == 0 {
				continue
			}
		}
		found = g.lines(path, b[:whole], line, found)
		if err == io.EOF || g.enough(len(found)) {
			return found
		}
		line += bytes.Count(b[:whole], newline)
		have = copy(g.buf[:cap(g.buf)], b[whole:])
	}
}

// written returns the lines of b, which is not on the disk, that match.
func (g *grepper) written(path string, b []byte) []Match {
	if utf16Mark(b) {
		return g.decoded(path, b)
	}
	if bytes.IndexByte(b, 0) >= 0 { // not text
		return nil
	}
	return g.lines(path, b, 1, nil)
}

var newline = []byte("\n")

func (g *grepper) enough(n int) bool {
	return g.q.PerFile > 0 && n >= g.q.PerFile || g.q.Total > 0 && n >= g.q.Total
}

func utf16Mark(b []byte) bool {
	return len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff)
}

// wide searches a file that is not in single bytes.
func (g *grepper) wide(p Place, path string) []Match {
	b, _, err := p.load(MaxFile)
	if err != nil {
		return nil
	}
	return g.decoded(path, b)
}

func (g *grepper) decoded(path string, b []byte) []Match {
	text, _, err := g.from.w.Decode(path, b)
	if err != nil {
		return nil
	}
	return g.lines(path, []byte(text), 1, nil)
}

// lines adds to found the lines of b that match; b begins with line number n.
func (g *grepper) lines(path string, b []byte, n int, found []Match) []Match {
	at := 0 // n is the number of the line that begins here
	for start, end := range g.candidates(b) {
		text := bytes.TrimSuffix(b[start:end], []byte("\r"))
		if !g.q.Pattern.Match(text) || g.q.Exclude != nil && g.q.Exclude.Match(text) {
			continue
		}
		n += bytes.Count(b[at:start], newline)
		at = start
		found = append(found, Match{Path: path, Line: n, Text: strings.Clone(string(text))})
		if g.enough(len(found)) {
			break
		}
	}
	return found
}

// candidates yields the bounds of the lines of b that may match.
func (g *grepper) candidates(b []byte) func(yield func(int, int) bool) {
	lit := g.q.Literal
	switch {
	case lit == nil || slices.ContainsFunc(lit.odd, func(odd []byte) bool { return bytes.Contains(b, odd) }):
		return everyLine(b)
	case lit.words == nil:
		if lit.lineOnly || bytes.IndexByte(b, '\r') >= 0 {
			return everyLine(b)
		}
		return g.matching(b)
	}
	hay := b
	if lit.Fold {
		g.fold = softLower(g.fold, b)
		hay = g.fold
	}
	return func(yield func(int, int) bool) {
		g.next = g.next[:0]
		for range lit.words {
			g.next = append(g.next, -1) // not looked for yet
		}
		for pos := 0; ; {
			first := len(hay)
			for i, word := range lit.words {
				if g.next[i] < pos {
					if g.next[i] = bytes.Index(hay[pos:], word); g.next[i] >= 0 {
						g.next[i] += pos
					} else {
						g.next[i] = len(hay)
					}
				}
				first = min(first, g.next[i])
			}
			if first >= len(hay) {
				return
			}
			start, end := bounds(b, first)
			if !yield(start, end) {
				return
			}
			pos = end + 1
			if pos > len(hay) {
				return
			}
		}
	}
}

// matching yields the lines where something matches when b is taken as a
// whole. Whoever asks checks the line alone: a match may cross its end.
func (g *grepper) matching(b []byte) func(yield func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for pos := 0; pos < len(b); {
			loc := g.q.Literal.multi.FindIndex(b[pos:])
			if loc == nil {
				return
			}
			if pos+loc[0] >= len(b) && b[len(b)-1] == '\n' {
				return // the empty rest after the last line is no line
			}
			start, end := bounds(b, pos+loc[0])
			if !yield(max(start, pos), end) {
				return
			}
			pos = end + 1
		}
	}
}

// bounds returns where the line around b[i] begins and ends.
func bounds(b []byte, i int) (start, end int) {
	start = bytes.LastIndexByte(b[:i], '\n') + 1
	if end = bytes.IndexByte(b[i:], '\n'); end < 0 {
		return start, len(b)
	}
	return start, i + end
}

func everyLine(b []byte) func(yield func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for pos := 0; pos < len(b); {
			end := bytes.IndexByte(b[pos:], '\n')
			if end < 0 {
				end = len(b) - pos
			}
			if !yield(pos, pos+end) {
				return
			}
			pos += end + 1
		}
	}
}
