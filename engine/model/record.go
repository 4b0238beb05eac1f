package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Recorder is a Generator that records the answers of another, for a [Fake] to play back. An
// answer is recorded when it is complete; a failed or abandoned answer is not recorded.
type Recorder struct {
	engine.Generator

	mu     sync.Mutex
	w      io.WriteCloser
	failed bool
}

// Record returns a Recorder of g that appends to the named file, which only
// the user may read.
func Record(g engine.Generator, name string) (*Recorder, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Recorder{Generator: g, w: f}, nil
}

// Close closes the file. It does not close the Generator behind.
func (r *Recorder) Close() error { return r.w.Close() }

// Generate implements [engine.Generator].
func (r *Recorder) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		chunks := []json.RawMessage{}
		for chunk, err := range r.Generator.Generate(ctx, req) {
			if err != nil {
				yield(nil, err)
				return
			}
			chunks = append(chunks, kept(chunk)) // encoded now, since the receiver may change it
			if !yield(chunk, nil) {
				return
			}
		}
		switch {
		case !req.OneShot:
			r.write(req, methodStream, chunks)
		case len(chunks) > 0: // the answer came in one piece
			r.write(req, methodWhole, chunks[0])
		}
	}
}

// Count implements [engine.Generator].
func (r *Recorder) Count(ctx context.Context, req *engine.Request) (int, error) {
	n, err := r.Generator.Count(ctx, req)
	if err == nil {
		r.write(req, methodCount, map[string]int{"totalTokens": n})
	}
	return n, err
}

// kept returns chunk in the form for recordings.
func kept(chunk *genai.GenerateContentResponse) json.RawMessage {
	b, err := text.JSON(struct {
		Candidates    []*genai.Candidate                          `json:"candidates,omitempty"`
		UsageMetadata *genai.GenerateContentResponseUsageMetadata `json:"usageMetadata,omitempty"`
	}{chunk.Candidates, chunk.UsageMetadata}, "")
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// write appends a line. If that fails, the user is told and the recording ends, but the
// conversation continues.
func (r *Recorder) write(req *engine.Request, method string, response any) {
	line, err := text.JSON(map[string]any{"method": method, "response": response}, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed {
		return
	}
	if err == nil {
		_, err = r.w.Write(append(line, '\n'))
	}
	if err != nil {
		r.failed = true
		if req.Notify != nil {
			req.Notify(engine.Notice{Text: fmt.Sprintf("the answers are no longer recorded: %v", err)})
		}
	}
}
