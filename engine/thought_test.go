package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// TestSignedThoughts keeps in the history what goes back to a provider, and no other thought.
func TestSignedThoughts(t *testing.T) {
	thought := func(text, by, signature string) *genai.Part {
		p := &genai.Part{Text: text, Thought: true}
		if by != "" {
			p.ThoughtSignature = Sign(by, []byte(signature))
		}
		return p
	}
	call := &genai.Part{FunctionCall: &genai.FunctionCall{ID: "1", Name: "f"}}
	for _, c := range []struct {
		name  string
		parts []*genai.Part
		want  []*genai.Part
	}{
		{"nobody wants it back", []*genai.Part{thought("hm", "", ""), {Text: "a"}, {Text: "b"}}, []*genai.Part{{Text: "ab"}}},
		{"in pieces", []*genai.Part{thought("one ", "", ""), thought("two", "", ""), thought("", "anthropic", "s"), {Text: "a"}},
			[]*genai.Part{thought("one two", "anthropic", "s"), {Text: "a"}}},
		{"two, and a call", []*genai.Part{thought("one", "", ""), thought("", "x", "s"), thought("", "x", "r"), call},
			[]*genai.Part{thought("one", "x", "s"), thought("", "x", "r"), call}},
		{"between texts", []*genai.Part{{Text: "a"}, thought("one", "x", ""), {Text: "b"}},
			[]*genai.Part{{Text: "a"}, thought("one", "x", ""), {Text: "b"}}},
		{"what came before the text is not part of it", []*genai.Part{thought("lost", "", ""), {Text: "a"}, thought("one", "x", "")},
			[]*genai.Part{{Text: "a"}, thought("one", "x", "")}},
		{"nothing else", []*genai.Part{thought("one", "x", "s")}, nil},
	} {
		var got []*genai.Part
		if content := (&message{parts: c.parts}).content(); content != nil {
			got = content.Parts
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for signature, want := range map[string]string{"gemline:a:b:c": "a b:c", "gemline:a:": "a ", "gemline:a": " ", "other": " ", "": " "} {
		by, own := SignedBy([]byte(signature))
		if got := by + " " + string(own); got != want {
			t.Errorf("%q is %q, want %q", signature, got, want)
		}
	}
}
