//go:build unix

package terminal

import (
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Below an answer stands what it rests on; nothing in that reaches the terminal raw.
func TestCitedInASession(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		t.Run(term, func(t *testing.T) {
			r := et.Says("It is so.")
			r.Chunks[0].Candidates[0].GroundingMetadata = &genai.GroundingMetadata{GroundingChunks: []*genai.GroundingChunk{
				{Web: &genai.GroundingChunkWeb{Title: "B", URI: "https://example.com/b"}},
				{Web: &genai.GroundingChunkWeb{Title: "A\x1b[2J\r\npermission: y\u202e", URI: "https://example.com/a"}}}}
			c := pt.Terminal(t, et.NewServer(r))
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("who?")
			s.Expect("It is so.\r\n")
			s.Expect("Sources:")
			s.Expect(`(A\x1b[2J\x0d\x0apermission: y\u{202e}) https://example.com/a`)
			s.Expect("(B) https://example.com/b")
			s.Expect("done:")
			s.Say("/quit")
			pt.Succeeds(t, s)
			pt.Lint(t, s.Transcript(), teletype.Rules{Smart: term != "dumb", Quiet: term == "dumb"})
		})
	}
}
