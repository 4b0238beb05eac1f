package protocol

import "strings"

// The tags around a thought in text, from servers that do not separate thoughts.
const openThought, closeThought = "<think>", "</think>"

const space = " \t\r\n"

// The last part of an answer's text.
const (
	nothing  = iota // or space
	opening         // the tag of a thought, and space
	thinking        // a thought
	closing         // the tag after it, and space
	saying          // the answer's text
)

// A tags separates a thought at the beginning of a text from the rest.
type tags struct {
	read    int
	partial string // the end of the text, if it may be the beginning of a tag
}

// split splits the next piece into thought and text.
func (t *tags) split(s string) (thought, said string) {
	s, t.partial = t.partial+s, ""
	bare := strings.TrimLeft(s, space)
	if t.read == nothing {
		switch {
		case strings.HasPrefix(bare, openThought):
			t.read, bare = opening, strings.TrimLeft(bare[len(openThought):], space)
		case strings.HasPrefix(openThought, bare):
			t.partial = s
			return "", ""
		default:
			t.read = saying
			return "", s
		}
	}
	if t.read == opening && bare != "" {
		t.read, s = thinking, bare
	}
	if t.read == thinking {
		var closed bool
		if thought, bare, closed = strings.Cut(s, closeThought); !closed {
			end := max(0, len(s)-len(closeThought)+1)
			for !strings.HasPrefix(closeThought, s[end:]) {
				end++
			}
			t.partial = s[end:]
			return s[:end], ""
		}
		t.read, bare = closing, strings.TrimLeft(bare, space)
	}
	if t.read == closing && bare != "" {
		t.read = saying
		return thought, bare
	}
	return thought, ""
}
