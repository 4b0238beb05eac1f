package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/genai"

	"gemline/engine"
)

// Generators checks that the Generators that open returns keep the contract of
// [engine.Generator].
//
// A Generator must give replies in order and fail when they are used up, without a retry. If it
// can't give a certain reply (some can't stall), open returns nil and the case is skipped.
// Resources of the Generator are released by t.Cleanup; a Generator that is an [io.Closer] is
// closed first.
func Generators(t *testing.T, open func(t testing.TB, replies ...Reply) engine.Generator) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, opener)
	}{
		{"a request is made when ranged over", testLazy},
		{"break ends the request", testBreak},
		{"break ends a stalled request", testBreakStalled},
		{"cancelled before", testCancelledBefore},
		{"cancelled between chunks", testCancelledBetween},
		{"cancelled while stalled", testCancelledStalled},
		{"the first error is the last", testErrorLast},
		{"an error after chunks", testErrorAfterChunks},
		{"many at once", testConcurrent},
		{"chunks belong to the receiver", testOwned},
		{"a request stays as it is", testRequestKept},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() {
				if err := goleak.Find(before); err != nil {
					t.Error(err)
				}
			})
			c.run(t, func(replies ...Reply) engine.Generator {
				g := open(t, replies...)
				if g == nil {
					t.Skip("can't give such replies")
				}
				if c, ok := g.(io.Closer); ok {
					t.Cleanup(func() { c.Close() })
				}
				return g
			})
		})
	}
}

type (
	opener func(replies ...Reply) engine.Generator
	stream = iter.Seq2[*genai.GenerateContentResponse, error]
)

// question returns a request with every kind of content of conversations.
func question() *engine.Request {
	return &engine.Request{
		Model: "gemini-2.5-pro",
		Contents: []*genai.Content{
			{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "why <&> how?"}}},
			{Role: genai.RoleModel, Parts: []*genai.Part{
				{Text: "", ThoughtSignature: []byte{1, 2, 3}},
				{FunctionCall: Call("c1", "read_file", "file_path", "a.go", "limit", 3)}}},
			{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: "c1", Name: "read_file", Response: map[string]any{"output": "package a"}}}}},
		},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser),
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read_file",
				ParametersJsonSchema: json.RawMessage(`{"type":"object"}`)}}}},
		},
	}
}

// hear ranges over s and returns the texts, joined by spaces.
func hear(s stream) (string, error) {
	var texts []string
	for chunk, err := range s {
		if err != nil {
			return strings.Join(texts, " "), err
		}
		if t := said(chunk); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, " "), nil
}

func said(chunk *genai.GenerateContentResponse) string {
	if len(chunk.Candidates) == 0 || chunk.Candidates[0].Content == nil || len(chunk.Candidates[0].Content.Parts) == 0 {
		return ""
	}
	return chunk.Candidates[0].Content.Parts[0].Text
}

func wantHeard(t *testing.T, s stream, want string) {
	t.Helper()
	got, err := hear(s)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func testLazy(t *testing.T, open opener) {
	g := open(Says("first"), Says("second"), Says("third"))
	a := g.Generate(t.Context(), question())
	b := g.Generate(t.Context(), question())
	wantHeard(t, b, "first")
	wantHeard(t, a, "second")
	wantHeard(t, b, "third")
}

func testBreak(t *testing.T, open opener) {
	g := open(Streams("a", "b", "c"), Says("second"))
	for chunk, err := range g.Generate(t.Context(), question()) {
		if err != nil {
			t.Fatal(err)
		}
		if said(chunk) != "a" {
			t.Errorf("first chunk %q", said(chunk))
		}
		break
	}
	wantHeard(t, g.Generate(t.Context(), question()), "second")
}

func testBreakStalled(t *testing.T, open opener) {
	ended := make(chan struct{})
	r := Stalled(Streams("a"))
	r.Ended = func() { close(ended) }
	g := open(r)
	for _, err := range g.Generate(t.Context(), question()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	<-ended
}

func testCancelledBefore(t *testing.T, open opener) {
	g := open(Says("first"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := hear(g.Generate(ctx, question())); !errors.Is(err, context.Canceled) || got != "" {
		t.Errorf("heard %q and %v, want only %v", got, err, context.Canceled)
	}
	if _, err := g.Count(ctx, question()); !errors.Is(err, context.Canceled) {
		t.Errorf("Count: %v, want %v", err, context.Canceled)
	}
	wantHeard(t, g.Generate(t.Context(), question()), "first")
}

func testCancelledBetween(t *testing.T, open opener) {
	g := open(Long(100, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, errs := 0, 0
	for _, err := range g.Generate(ctx, question()) {
		n++
		cancel()
		if err != nil {
			errs++
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
		}
	}
	if n != 2 || errs != 1 {
		t.Errorf("yielded %d times, %d of them errors; want a chunk, then an error", n, errs)
	}
}

func testCancelledStalled(t *testing.T, open opener) {
	ended := make(chan struct{})
	r := Stalled(Streams("a"))
	r.Ended = func() { close(ended) }
	g := open(r)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := error(nil)
	for _, err := range g.Generate(ctx, question()) {
		last = err
		if err == nil {
			cancel() // nothing more would come
		}
	}
	if !errors.Is(last, context.Canceled) { // the request may have been cancelled earlier
		t.Fatalf("last error %v, want %v", last, context.Canceled)
	}
	<-ended
}

func testErrorLast(t *testing.T, open opener) {
	g := open()
	n := 0
	for chunk, err := range g.Generate(t.Context(), question()) {
		if n++; err == nil || chunk != nil {
			t.Errorf("yielded %v, %v; want an error alone", chunk, err)
		}
	}
	if n != 1 {
		t.Errorf("yielded %d times, want once", n)
	}
}

func testErrorAfterChunks(t *testing.T, open opener) {
	r := Reply{Chunks: Long(4, "x").Chunks[:3]}
	r.Err = errors.New("lightning")
	g := open(r)
	var got []string
	for chunk, err := range g.Generate(t.Context(), question()) {
		if err != nil {
			got = append(got, "error")
			continue
		}
		got = append(got, said(chunk))
	}
	if len(got) == 0 || slices.Index(got, "error") != len(got)-1 {
		t.Errorf("yielded %q, want one error at the end", got)
	}
}

func testConcurrent(t *testing.T, open opener) {
	const n, length = 16, 20
	var replies []Reply
	for i := range n {
		replies = append(replies, Long(length, fmt.Sprintf("r%02d", i)))
	}
	g := open(replies...)
	heard := make([]string, n)
	req := question()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s, err := hear(g.Generate(t.Context(), req))
			if err != nil {
				t.Error(err)
			}
			heard[i] = s
		})
	}
	wg.Wait()
	slices.Sort(heard)
	for i := range n {
		want := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("r%02d ", i), length), " ")
		if heard[i] != want {
			t.Errorf("answer %d is %q, want %q", i, heard[i], want)
		}
	}
}

func testOwned(t *testing.T, open opener) {
	r := Streams("a", "b")
	call := Message(&genai.Content{Parts: []*genai.Part{{FunctionCall: Call("1", "f", "x", "y")}}})
	g := open(r, r, call, call)
	for range 2 {
		want := []string{"a", "b"}
		for chunk, err := range g.Generate(t.Context(), question()) {
			if err != nil {
				t.Fatal(err)
			}
			if len(chunk.Candidates[0].Content.Parts) == 0 { // the end
				continue
			}
			p := chunk.Candidates[0].Content.Parts[0]
			if p.Text != want[0] {
				t.Errorf("heard %q, want %q", p.Text, want[0])
			}
			want = want[1:]
			p.Text = "changed"
			chunk.Candidates[0].Content.Parts = nil
		}
	}
	for range 2 {
		for chunk, err := range g.Generate(t.Context(), question()) {
			if err != nil {
				t.Fatal(err)
			}
			fc := chunk.Candidates[0].Content.Parts[0].FunctionCall
			if fc.Name != "f" || fc.Args["x"] != "y" {
				t.Errorf("heard %v %v", fc.Name, fc.Args)
			}
			fc.Name = "changed"
			fc.Args["x"] = "changed"
		}
	}
}

func testRequestKept(t *testing.T, open opener) {
	g := open(Says("first"))
	req := question()
	config, contents, tools := req.Config, slices.Clone(req.Contents), req.Config.Tools[0]
	want, err := json.Marshal(req.Contents)
	if err != nil {
		t.Fatal(err)
	}
	wantHeard(t, g.Generate(t.Context(), req), "first")
	got, err := json.Marshal(req.Contents)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("contents became\n%s\nfrom\n%s", got, want)
	}
	if !slices.Equal(req.Contents, contents) || req.Config != config || req.Config.Tools[0] != tools {
		t.Error("the request points elsewhere than before")
	}
	c := req.Config
	if c.HTTPOptions != nil || c.Temperature != nil || c.ThinkingConfig != nil || c.AutomaticContinuation != nil {
		t.Error("the request was given settings")
	}
}
