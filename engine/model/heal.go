package model

import (
	"context"
	"errors"
	"iter"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
)

// CodeSignature is the code of a request whose thought signatures the server refuses.
const CodeSignature = "THOUGHT_SIGNATURE"

// Heal returns a Generator that asks g once more if the server refuses the thought signatures of
// a request. A signature is bound to the account, the route and the model that made it: after a
// change of one of these, the server refuses the conversation's signatures. The refused
// signatures are dropped from then on, and the user is told.
func Heal(g engine.Generator) engine.Generator {
	return &healer{Generator: g, refused: map[string]bool{}}
}

type healer struct {
	engine.Generator
	mu      sync.Mutex
	refused map[string]bool                   // signatures
	healed  map[*genai.Content]*genai.Content // of the last request, so that equal messages stay the same pointers
}

// Generate implements [engine.Generator].
func (h *healer) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		asked := h.request(req)
		refused := func(err error) bool { return h.noteRefused(asked, err) }
		if !attempt(h.Generator.Generate(ctx, asked), refused, yield) {
			return
		}
		if req.Notify != nil {
			req.Notify(engine.Notice{Text: "the model's server refused the conversation's thought signatures, " +
				"which another key, project or model has made; asking again without them"})
		}
		h.Generator.Generate(ctx, h.request(req))(yield)
	}
}

// attempt yields an answer. If the answer begins with a refusal, it yields nothing and returns
// true.
func attempt(answer iter.Seq2[*genai.GenerateContentResponse, error], refusal func(error) bool,
	yield func(*genai.GenerateContentResponse, error) bool) (refused bool) {
	begun := false
	for chunk, err := range answer {
		if !begun && refusal(err) {
			return true
		}
		begun = true
		if !yield(chunk, err) {
			break
		}
	}
	return false
}

// Count implements [engine.Generator].
func (h *healer) Count(ctx context.Context, req *engine.Request) (int, error) {
	return h.Generator.Count(ctx, h.request(req))
}

// noteRefused stores the signatures for which asked was refused, and reports whether there are
// any.
func (h *healer) noteRefused(asked *engine.Request, err error) (found bool) {
	if e := (*Error)(nil); !errors.As(err, &e) || e.Code != CodeSignature {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.healed = nil
	for _, c := range asked.Contents {
		engine.WithoutSignatures(c, func(signature []byte) bool {
			h.refused[string(signature)], found = true, true
			return false
		})
	}
	return found
}

// request returns req without refused signatures.
func (h *healer) request(req *engine.Request) *engine.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refused) == 0 {
		return req
	}
	asked, known := *req, h.healed
	asked.Contents, h.healed = make([]*genai.Content, len(req.Contents)), map[*genai.Content]*genai.Content{}
	for i, c := range req.Contents {
		healed := known[c]
		if healed == nil {
			healed = engine.WithoutSignatures(c, func(signature []byte) bool { return h.refused[string(signature)] })
		}
		asked.Contents[i], h.healed[c] = healed, healed
	}
	return &asked
}
