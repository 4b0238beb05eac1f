package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Script is a Generator that gives its replies in order, one for each
// request. It is safe for concurrent use.
type Script struct {
	// Tokens is what Count returns.
	Tokens int

	mu       sync.Mutex
	replies  []Reply
	requests []*engine.Request
	sent     map[*genai.Content]string
}

// NewScript returns a Script of replies.
func NewScript(replies ...Reply) *Script { return &Script{replies: replies} }

// Add appends replies.
func (s *Script) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// Requests returns copies of the requests so far.
func (s *Script) Requests() []*engine.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*engine.Request(nil), s.requests...)
}

// Left returns how many replies have not been given.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.replies)
}

func (s *Script) next(req *engine.Request) (Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, &engine.Request{Model: req.Model, OneShot: req.OneShot,
		Contents: copied(req.Contents), Config: copied(req.Config)})
	if err := s.unchanged(req); err != nil {
		return Reply{}, err
	}
	if len(s.replies) == 0 {
		return Reply{}, fmt.Errorf("the script has no reply to request %d", len(s.requests))
	}
	r := s.replies[0]
	s.replies = s.replies[1:]
	if r.Wire != nil {
		return r, fmt.Errorf("request %d: a script can't give a reply that needs a wire", len(s.requests))
	}
	r.Chunks = copiedChunks(r.Chunks)
	return r, nil
}

// unchanged checks that earlier messages of a conversation have not changed, on which Generators
// rely.
func (s *Script) unchanged(req *engine.Request) error {
	if req.OneShot {
		return nil
	}
	if s.sent == nil {
		s.sent = map[*genai.Content]string{}
	}
	for _, c := range req.Contents {
		b, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if was, ok := s.sent[c]; ok && was != string(b) {
			return fmt.Errorf("a message was changed after it was sent, from %s to %s", was, b)
		}
		s.sent[c] = string(b)
	}
	return nil
}

// Generate implements [engine.Generator].
func (s *Script) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		r, err := s.next(req)
		if err != nil {
			yield(nil, err)
			return
		}
		if r.Ended != nil {
			defer r.Ended()
		}
		if r.Inspect != nil {
			r.Inspect(ctx, req)
		}
		for _, chunk := range r.Chunks {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(chunk, nil) {
				return
			}
		}
		switch {
		case r.Stall:
			<-ctx.Done()
			yield(nil, ctx.Err())
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case r.Err != nil:
			yield(nil, r.Err)
		}
	}
}

// Count implements [engine.Generator].
func (s *Script) Count(ctx context.Context, req *engine.Request) (int, error) {
	return s.Tokens, ctx.Err()
}
