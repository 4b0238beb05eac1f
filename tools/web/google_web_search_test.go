package web

import (
	"errors"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/tools/toolstest"
)

// The server searches and answers in words; the marks of the sources stand after
// the words they belong to, by bytes.
func TestGoogleWebSearch(t *testing.T) {
	const answer = `{"content":{"parts":[{"text":"Grün, says A. Red, says B."}]},
		"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.test","title":"A"}},{"web":{"uri":"https://b.test","title":"B"}}],
			"groundingSupports":[{"segment":{"endIndex":14},"groundingChunkIndices":[0]},{"segment":{"endIndex":27},"groundingChunkIndices":[1]}]}}`
	for _, test := range []struct {
		name, query   string
		reply         et.Reply
		text, display string
	}{
		{"with sources", " which colour ", grounded(t, answer).With(11, 5),
			"Web search results for \"which colour\":\n\n<untrusted_context>\nGrün, says A.[1] Red, says B.[2]\n\nSources:\n[1] A (https://a.test)\n[2] B (https://b.test)\n</untrusted_context>", "answered from 2 sources"},
		{"without", "x", grounded(t, `{"content":{"parts":[{"text":"I know it."}]}}`),
			"Web search results for \"x\":\n\n<untrusted_context>\nI know it.\n</untrusted_context>", "answered from 0 sources"},
		{"no words", "x", grounded(t, `{"content":{"parts":[{"text":" "}]}}`), `No search results or information found for query: "x"`, "found nothing"},
		{"no message", "x", grounded(t, `{}`), `No search results or information found for query: "x"`, "found nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ts, script, _ := newTools(t, noPages, test.reply)
			call, err := ts.googleWebSearch().Prepare(t.Context(), map[string]any{"query": test.query})
			if err != nil {
				t.Fatal(err)
			}
			r, err := call.Run(t.Context(), &toolstest.Desk{})
			if err != nil || r.Text != test.text || r.Display != test.display {
				t.Errorf("got %q, shown %q, %v", r.Text, r.Display, err)
			}
			req := script.Requests()[0]
			if len(req.Config.Tools) != 1 || req.Config.Tools[0].GoogleSearch == nil {
				t.Errorf("the server is not asked to search: %+v", req.Config.Tools)
			}
			if got := req.Contents[0].Parts[0].Text; got != strings.TrimSpace(test.query) {
				t.Errorf("asked is %q", got)
			}
		})
	}
}

// What goes wrong is told with the query; nothing is searched for no words.
func TestGoogleWebSearchFails(t *testing.T) {
	ts, _, _ := newTools(t, noPages, et.Reply{Err: errors.New("no quota")})
	if _, err := ts.googleWebSearch().Prepare(t.Context(), map[string]any{"query": " \n"}); err == nil || err.Error() != "The 'query' parameter cannot be empty." {
		t.Errorf("no words: %v", err)
	}
	call, err := ts.googleWebSearch().Prepare(t.Context(), map[string]any{"query": "x"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.Run(t.Context(), &toolstest.Desk{})
	var ce *engine.CallError
	if !errors.As(err, &ce) || ce.Type != searchFailed || ce.Message != `Error: Error during web search for query "x": no quota` {
		t.Errorf("a failed search: %#v", err)
	}
}
