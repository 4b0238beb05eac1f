package enginetest

import (
	"strings"
	"testing"

	"gemline/engine"
)

// Broken checks that a Generator distinguishes broken and complete answers: for each kind of
// break, after each piece of an answer. A connection that breaks after the end is no error. The
// function open returns the Generator for the server at a URL; fault is the protocol's error in
// the middle of an answer.
func Broken(t *testing.T, d *Dialect, fault string, open func(t testing.TB, url string) engine.Generator) {
	reply := Streams("one ", "two ", "three ", "four")
	whole := d.Framed(reply)
	whole = whole[1 : len(whole)-1] // the first and the last are empty
	t.Run("is reset behind the end", func(t *testing.T) {
		s := NewDialectServer(d, Reset(Reply{Wire: &Wire{Pieces: whole}}))
		defer s.Close()
		wantHeard(t, open(t, s.URL).Generate(t.Context(), question()), "one  two  three  four")
	})
	for at := range len(whole) {
		before, next := strings.Join(whole[:at], ""), whole[at]
		for name, w := range map[string]*Wire{
			"ends":                {Pieces: []string{before}},
			"is reset":            {Pieces: []string{before}, Reset: true},
			"ends within a piece": {Pieces: []string{before + next[:len(next)/2]}},
			"is no JSON":          {Pieces: []string{before + strings.Replace(next, "{", "{{", 1)}},
			"is an error":         {Pieces: []string{before + d.frame(fault)}},
			"is a web page":       {Pieces: []string{before + "<html><title>Log in</title></html>\n\n"}},
		} {
			if at > 0 && name == "is a web page" {
				continue // within a stream, a page is an ignored or a malformed line
			}
			t.Run(name, func(t *testing.T) {
				s := newServer([]Reply{{Wire: w}})
				s.Dialect = d
				s.start()
				defer s.Close()
				heard, err := hear(open(t, s.URL).Generate(t.Context(), question()))
				if err == nil {
					t.Errorf("behind %d pieces: heard %q and no error", at, heard)
				}
				if want := strings.TrimSpace(strings.Join(strings.Fields("one two three four")[:min(at, 4)], "  ")); !strings.HasPrefix(want, strings.TrimSpace(heard)) {
					t.Errorf("behind %d pieces: heard %q, want what begins %q", at, heard, want)
				}
			})
		}
	}
}

// NewDialectServer starts a Server with the dialect d that gives replies.
func NewDialectServer(d *Dialect, replies ...Reply) *Server {
	s := newServer(replies)
	s.Dialect = d
	return s.start()
}
