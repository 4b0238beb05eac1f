package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	enginetext "gemline/engine/text"
)

// A Reply is the model's answer to one request.
type Reply struct {
	// Chunks are the pieces of the answer, in order.
	Chunks []*genai.GenerateContentResponse

	// Err, if not nil, follows the chunks. A [Server] can't send an error
	// value and breaks the connection instead.
	Err error

	// Stall keeps the answer open after the chunks until the request is cancelled.
	Stall bool

	// Inspect, if not nil, is called with a request before it is answered,
	// and may block. A [Server] leaves the model's parameters that have no
	// counterpart in the body empty.
	Inspect func(ctx context.Context, req *engine.Request)

	// Ended, if not nil, is called when the answer is complete or cancelled.
	Ended func()

	// Wire is for a [Server] only.
	Wire *Wire
}

// A Wire describes the HTTP response, if it matters.
type Wire struct {
	Status int           // 200 if 0
	Header http.Header   // on top of the usual ones
	Delay  time.Duration // before the first byte
	Body   string        // the whole body, instead of chunks
	Pieces []string      // the body piece by piece, each flushed, instead of chunks
	Reset  bool          // break the connection when everything is sent

	// Frame, if not nil, encodes the JSON of a chunk for the stream; the default is an event with
	// one data line.
	Frame func(json string) string

	// Before and After enclose the stream.
	Before, After string
}

// Says returns an answer of text, if any, and calls.
func Says(text string, calls ...*genai.FunctionCall) Reply {
	c := &genai.Content{Role: genai.RoleModel}
	if text != "" {
		c.Parts = append(c.Parts, &genai.Part{Text: text})
	}
	for _, fc := range calls {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: fc})
	}
	return Message(c)
}

// Message returns an answer in one piece.
func Message(c *genai.Content) Reply {
	return Reply{Chunks: []*genai.GenerateContentResponse{Chunk(genai.FinishReasonStop, c.Parts...)}}
}

// Streams returns an answer that comes in one chunk for each text.
func Streams(texts ...string) Reply {
	var r Reply
	for i, s := range texts {
		reason := genai.FinishReasonUnspecified
		if i == len(texts)-1 {
			reason = genai.FinishReasonStop
		}
		r.Chunks = append(r.Chunks, Chunk(reason, &genai.Part{Text: s}))
	}
	return r
}

// Fails returns an answer that is an error.
func Fails(err error) Reply { return Reply{Err: err} }

// Chunk returns a piece of an answer. The reason is empty except in the last piece.
func Chunk(reason genai.FinishReason, parts ...*genai.Part) *genai.GenerateContentResponse {
	if reason == genai.FinishReasonUnspecified {
		reason = ""
	}
	return &genai.GenerateContentResponse{Candidates: []*genai.Candidate{{
		Content:      &genai.Content{Role: genai.RoleModel, Parts: parts},
		FinishReason: reason,
	}}}
}

// Thought returns a piece of reasoning.
func Thought(text string) *genai.Part { return &genai.Part{Text: text, Thought: true} }

// Call returns a function call with arguments given as names and values in
// turn. It panics if a name lacks its value or is no string.
func Call(id, name string, kv ...any) *genai.FunctionCall {
	args := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		args[kv[i].(string)] = kv[i+1]
	}
	return &genai.FunctionCall{ID: id, Name: name, Args: args}
}

// With returns r with the tokens that the last chunk reports.
func (r Reply) With(prompt, output int32) Reply {
	chunks := copiedChunks(r.Chunks)
	if len(chunks) == 0 {
		chunks = []*genai.GenerateContentResponse{{}}
	}
	chunks[len(chunks)-1].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: prompt, CandidatesTokenCount: output, TotalTokenCount: prompt + output}
	r.Chunks = chunks
	return r
}

// copiedChunks returns a deep copy of chunks, without the library's decoder, which changes numbers.
func copiedChunks(chunks []*genai.GenerateContentResponse) (all []*genai.GenerateContentResponse) {
	type plain genai.GenerateContentResponse
	for _, c := range chunks {
		all = append(all, (*genai.GenerateContentResponse)(copied((*plain)(c))))
	}
	return all
}

// copied returns a deep copy of v, in which numbers inside maps have the types that those of
// an answer have.
func copied[T any](v T) T {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("enginetest: a value that is not JSON: %v", err))
	}
	var c T
	if err := enginetext.Unmarshal(b, &c); err != nil {
		panic(fmt.Sprintf("enginetest: a value that is not JSON: %v", err))
	}
	return c
}
