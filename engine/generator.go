package engine

import (
	"context"
	"iter"

	"google.golang.org/genai"
)

// A Generator produces the model's next message, chunk by chunk. It must be safe for
// concurrent use, since agents share it. The first error is the last thing yielded. Ranging
// twice makes two requests.
type Generator interface {
	Generate(ctx context.Context, req *Request) iter.Seq2[*genai.GenerateContentResponse, error]

	// Count returns how many tokens the contents of req take.
	Count(ctx context.Context, req *Request) (int, error)
}

// A Request is a question to a Generator, which must not change the values behind the fields. A
// message never changes after a request other than a OneShot has contained it: a new message
// replaces it.
type Request struct {
	Model    string
	Contents []*genai.Content
	Config   *genai.GenerateContentConfig

	// OneShot says that the request belongs to no conversation: the answer comes in one piece,
	// and only the settings of Config apply.
	OneShot bool

	// Role is the purpose that the request is counted under, such as "utility_router"; "" is the
	// conversation with the user.
	Role string

	// Again says that the request is a retry after an unusable answer.
	Again bool

	// Notify, if not nil, tells the user about a [Retry] or passes on a
	// [Notice]. It must be called on the goroutine that calls Generate.
	// After a Retry with Restart, the chunks yielded so far do not count.
	Notify func(Event)
}
