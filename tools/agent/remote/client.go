package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"gemline/engine/parallel"
	"gemline/tools/web"
)

// A Server is a remote agent from a definition. Either CardURL or Card is set.
type Server struct {
	CardURL string
	Card    string
	Auth    Auth
}

// A Config says which agent is asked, and how it is reached.
type Config struct {
	Server   Server
	Limit    time.Duration // of a call, 0 is DefaultTime
	MaxBytes int64         // bytes of a call that the server may send, 0 is 64 MB

	// UserDefined marks a definition of the user, which may name an address of this machine.
	// Private are hosts with ports that every definition may name, although they are
	// private.
	UserDefined bool
	Private     []string

	// Direct makes the requests to these hosts; Web configures all others.
	Direct http.RoundTripper
	Web    web.Config

	// Value resolves $NAME and !COMMAND; Google returns a token for an address.
	Value  func(ctx context.Context, said string) (string, error)
	Google func(ctx context.Context, at *url.URL, scopes []string) (token string, err error)

	AddSecret func(secret string) // receives each secret; may be nil

	// From is where to resume the conversation with the agent. Moved, if not nil, is called
	// with the new TaskRef after each question.
	From  TaskRef
	Moved func(TaskRef)
}

// DefaultTime is the default time limit of a call.
const DefaultTime = 30 * time.Minute

// Limits on servers.
const (
	mostSent = 64 << 20 // bytes of a call, by default
	mostKept = 1 << 20  // bytes of an answer
	mostCard = 1 << 20  // bytes of a card
	cardTime = 20 * time.Second
	farewell = 2 * time.Second // for cancelling a task

	mostRedirects = 3
	mostRetries   = 2 // of a refused request
)

// A Client asks one agent, and resumes the earlier conversation. It is safe for concurrent
// use: questions are asked one after the other.
type Client struct {
	cfg       Config
	transport *guardedTransport
	http      http.Client
	turn      chan struct{} // full while a question uses the fields below

	card      *card // nil until it is read
	held      identity
	at        TaskRef
	remaining int64 // bytes that the server may still send
}

// A TaskRef is a position in the conversation with an agent. The zero TaskRef starts a
// conversation.
type TaskRef struct{ Context, Task string }

// New returns a Client. It makes no connection yet.
func New(cfg Config) *Client {
	cfg.Limit, cfg.MaxBytes = cmp.Or(cfg.Limit, DefaultTime), cmp.Or(cfg.MaxBytes, mostSent)
	c := &Client{cfg: cfg, transport: newGuardedTransport(cfg), turn: make(chan struct{}, 1), at: cfg.From}
	c.http = http.Client{Transport: c.transport, CheckRedirect: checkRedirect}
	return c
}

// begin waits until no other question is active. The caller calls end after its own
// question.
func (c *Client) begin(ctx context.Context) (end func(), err error) {
	select {
	case c.turn <- struct{}{}:
		c.remaining = c.cfg.MaxBytes
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errLate = errors.New("its time is up")

// Ask asks the agent and passes its words to tell while it works. With an error, the Answer
// holds the words before the error.
func (c *Client) Ask(ctx context.Context, words string, tell func(string)) (Answer, error) {
	end, err := c.begin(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer end()
	ctx, stop := context.WithTimeoutCause(ctx, c.cfg.Limit, errLate)
	defer stop()
	a := &transcript{tell: tell}
	err = c.converse(ctx, words, a)
	if ctx.Err() != nil {
		c.leave(ctx, a)
		if err = context.Cause(ctx); err == errLate {
			err = fmt.Errorf("it has not answered within %g minutes", c.cfg.Limit.Minutes())
		}
	}
	if a.task != "" && (a.state.Terminal() || err != nil) {
		c.at.Task = ""
	}
	if c.cfg.Moved != nil {
		c.cfg.Moved(c.at)
	}
	return a.answer(), err
}

// Describe returns the description on the agent's card.
func (c *Client) Describe(ctx context.Context) (string, error) {
	end, err := c.begin(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	if err = c.find(ctx); err != nil {
		return "", err
	}
	return c.card.Description, nil
}

// converse sends a message to the agent, and reads its answers until the agent is done.
func (c *Client) converse(ctx context.Context, words string, a *transcript) error {
	err := c.find(ctx)
	if err != nil {
		return err
	}
	m := send
	if c.card.Capabilities.Streaming {
		m = stream
	}
	err = c.call(ctx, a, m, c.card.version.messageParams(uuid.NewString(), words, c.at))
	if f := (*fault)(nil); errors.As(err, &f) && f.Code == taskNotFound {
		c.at = TaskRef{}
	}
	if errors.Is(err, errBroken) && a.busy() {
		err = nil // continue without the stream
	}
	for wait := 250 * time.Millisecond; err == nil && a.task != "" && a.busy(); wait = min(2*wait, 10*time.Second) {
		if err = parallel.Sleep(ctx, wait); err == nil {
			err = c.call(ctx, a, get, map[string]any{"id": a.task})
		}
	}
	return err
}

// take adds a received message to the transcript.
func (c *Client) take(a *transcript, b []byte) error {
	s, err := decode(b)
	if err == nil {
		a.add(s)
		c.at = TaskRef{cmp.Or(a.context, c.at.Context), cmp.Or(a.task, c.at.Task)}
	}
	return err
}

// leave cancels the agent's task, and waits only briefly.
func (c *Client) leave(ctx context.Context, a *transcript) {
	if a.task == "" || a.state.Terminal() {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	unheard := &transcript{tell: func(string) {}}
	c.call(ctx, unheard, cancel, map[string]any{"id": a.task})
}
