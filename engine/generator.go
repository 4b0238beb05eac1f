package engine

import (
	"context"
	"iter"

	"google.golang.org/genai"
)

// A Generator produces the model's next message, chunk by chunk. Agents share
// it, so it must be safe for concurrent use. The first error is the last thing
// yielded. Ranging twice makes two requests.
type Generator interface {
	Generate(ctx context.Context, req *Request) iter.Seq2[*genai.GenerateContentResponse, error]

	// Count returns how many tokens the contents of req take.
	Count(ctx context.Context, req *Request) (int, error)
}

// A Request is one question to a Generator, which must not change what the
// fields point to. Nobody else changes a message either, once a request that is no
// OneShot has said it: another one takes its place.
type Request struct {
	Model    string
	Contents []*genai.Content
	Config   *genai.GenerateContentConfig

	// OneShot says that the request is a question of its own, beside any
	// conversation: it is answered in one piece, and with the settings of
	// Config alone.
	OneShot bool

	// Role is what the request counts for, such as "utility_router"; "" is the
	// conversation with the user.
	Role string

	// Again says that the request was answered before, and the answer was none.
	Again bool

	// Notify, if not nil, tells the user about a [Retry] or passes on a
	// [Notice]. It must be called on the goroutine that calls Generate.
	// After a Retry with Restart, the chunks yielded so far do not count.
	Notify func(Event)
}
