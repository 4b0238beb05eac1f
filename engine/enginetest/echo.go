package enginetest

import (
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// NewEcho starts a Server for tests of whole pipelines. It answers a prompt
// with the prompt, one that ends with "ten megabytes" with as much text, in
// lines, and one that ends with "take your time" with a word and then nothing
// more, not even an end.
func NewEcho() *Server {
	s := newServer(nil)
	s.Respond, s.Forget = echo, true
	return s.start()
}

// echo answers one request.
func echo(r Received) Reply {
	said := ""
	for _, c := range r.Contents() {
		if c.Role != genai.RoleModel && len(c.Parts) > 0 && c.Parts[len(c.Parts)-1].Text != "" {
			said = strings.TrimSpace(c.Parts[len(c.Parts)-1].Text)
		}
	}
	switch {
	case strings.HasSuffix(said, "take your time"):
		return Stalled(Streams("Well, "))
	case strings.HasSuffix(said, "ten megabytes"):
		const size = 10 << 20
		var chunks []string
		line, n := 0, 0
		for n <= size {
			var b strings.Builder
			for b.Len() < 64<<10 {
				line++
				fmt.Fprintf(&b, "line %d of a long answer, which goes on and on\n", line)
			}
			n += b.Len()
			chunks = append(chunks, b.String())
		}
		return Streams(chunks...)
	}
	return Streams(said)
}
