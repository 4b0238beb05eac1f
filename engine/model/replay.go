package model

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"gemline/engine"
)

// A replay is the Generator of one reply.
type replay struct {
	reply Reply
	given bool
}

// Generate implements [engine.Generator].
func (r *replay) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		switch {
		case ctx.Err() != nil:
			yield(nil, ctx.Err())
		case r.given:
			yield(nil, &Error{Kind: Invalid, Code: "SECOND_REQUEST", Final: true,
				Message: "the model wants to go on, and a job of the server answers once", Advice: "leave out --batch-api for this item"})
		default:
			r.given = true
			yield(r.reply.Response, r.reply.Err)
		}
	}
}

// Count implements [engine.Generator].
func (r *replay) Count(context.Context, *engine.Request) (int, error) { return 0, nil }
