package workspace

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/charset"
)

// A grepper searches files sequentially, reusing its buffers.
type grepper struct {
	q    *Query
	from ResolvedPath
	done <-chan struct{}
	buf  []byte
	fold []byte
	next []int // the next position of each literal

	charset string // of the file, "" until needed
}

const (
	chunk   = 1 << 20  // bytes of a file that are searched at once
	maxLine = 16 << 20 // a file with a longer line is not searched further
)

// file returns the lines of the file at path that match. A file that is not
// text has none.
func (g *grepper) file(path string) []Match {
	g.charset = ""
	p := g.from.reached(path)
	if n := p.w.Overlay.known(p.real); n != nil {
		return g.written(path, n.now)
	}
	if p.dir == nil {
		return nil
	}
	f, size, err := p.dir.RawFile(p.rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	var in io.Reader = f
	var found []Match
	line := 1 // of the beginning of buf
	have := 0
	for begun := false; ; {
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
		n, err := in.Read(g.buf[have:cap(g.buf)])
		have += n
		if size -= int64(n); size == 0 && err == nil {
			err = io.EOF // as the next read would return
		}
		if err != nil && err != io.EOF {
			return found
		}
		b := g.buf[:have]
		if !begun {
			begun = true
			if format, ok := g.wide(path, b); ok {
				in = format.Reader(io.MultiReader(bytes.NewReader(bytes.Clone(b)), f))
				g.charset, size, have = "utf-8", -1, 0
				continue
			}
		}
		if bytes.IndexByte(b[have-n:], 0) >= 0 {
			return found // binary from here on
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

// written returns the matching lines of b, a file that is not on the disk.
func (g *grepper) written(path string, b []byte) []Match {
	text, _, err := g.from.w.Decode(path, b)
	if err != nil { // not text
		return nil
	}
	g.charset = "utf-8"
	return g.lines(path, []byte(text), 1, nil)
}

// wide returns the format of a text whose characters have two or four bytes; b is its
// beginning.
func (g *grepper) wide(path string, b []byte) (charset.Format, bool) {
	if !charset.HasOtherBOM(b) && bytes.IndexByte(b, 0) < 0 {
		return charset.Format{}, false
	}
	for _, cut := range []int{0, 2} { // it may split a surrogate pair
		_, format, err := g.from.w.Decode(path, b[:max(0, len(b)&^3-cut)])
		if err == nil && format.Wide() {
			return format, true
		}
	}
	return charset.Format{}, false
}

// foreign reports whether lines b show that the file at path is not in UTF-8.
func (g *grepper) foreign(path string, b []byte) bool {
	if g.charset == "" && !utf8.Valid(b) {
		g.charset = "utf-8"
		if _, format, err := g.from.w.Decode(path, b); err == nil {
			g.charset = format.Charset
		}
	}
	return g.charset != "" && g.charset != "utf-8"
}

func ascii(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}

var newline = []byte("\n")

func (g *grepper) enough(n int) bool {
	return g.q.PerFile > 0 && n >= g.q.PerFile || g.q.Total > 0 && n >= g.q.Total
}

// lines adds to found the lines of b that match; b begins with line number n.
func (g *grepper) lines(path string, b []byte, n int, found []Match) []Match {
	before := len(found)
	if n == 1 {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
	}
	sure := g.charset != "" || !g.q.Literal.ASCII()
	if sure && g.foreign(path, b) {
		b = []byte(charset.Format{Charset: g.charset}.Part(b))
	}
	at, number := 0, n // of the line that begins at at
	for start, end := range g.candidates(b) {
		text := bytes.TrimSuffix(b[start:end], []byte("\r"))
		if !sure && !ascii(text) {
			if sure = true; g.foreign(path, b) {
				return g.lines(path, b, n, found[:before])
			}
		}
		if !g.q.Pattern.Match(text) || g.q.Exclude != nil && g.q.Exclude.Match(text) {
			continue
		}
		number += bytes.Count(b[at:start], newline)
		at = start
		found = append(found, Match{Path: path, Line: number, Text: strings.Clone(string(text))})
		if g.enough(len(found)) {
			break
		}
	}
	return found
}

// candidates yields the bounds of lines in b that may match.
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
			g.next = append(g.next, -1) // not searched yet
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

// matching yields the lines of matches in b as a whole. The caller must check each line
// alone, as a match may cross its end.
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

// bounds returns the bounds of the line around b[i].
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
