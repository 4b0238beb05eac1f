package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
	"gemline/tools/web"
)

// A Server is an agent on another server, as a definition has it. It has one of CardURL
// and Card.
type Server struct {
	CardURL string
	Card    string
	Auth    Auth
}

// A Config says which agent is asked, and how it is reached.
type Config struct {
	Server Server
	Limit  time.Duration // of a call, 0 is DefaultTime
	Most   int64         // bytes of a call that the server may send, 0 is 64 MB

	// Own says that the definition is the user's own, so that it may name an address of
	// this machine. Private are hosts with ports that may be private, whoever names them.
	Own     bool
	Private []string

	// Direct makes the requests to these, and Web says how all others are reached.
	Direct http.RoundTripper
	Web    web.Config

	// Value returns what $NAME and !COMMAND stand for, and Google a token for an address.
	Value  func(ctx context.Context, said string) (string, error)
	Google func(ctx context.Context, at *url.URL, scopes []string) (token string, until time.Time, err error)

	Know func(secret string) // is told each secret; may be nil

	// From is where the conversation with the agent was left, and Moved is told where it
	// is behind each question. Moved may be nil.
	From  Place
	Moved func(Place)
}

// DefaultTime is how long a call may take, if nothing else is said.
const DefaultTime = 30 * time.Minute

// The limits of what servers may take.
const (
	mostSent = 64 << 20 // bytes of a call, if nothing else is said
	mostKept = 1 << 20  // bytes of an answer
	mostCard = 1 << 20  // bytes of a card
	cardTime = 20 * time.Second
	farewell = 2 * time.Second // for cancelling a task
	early    = time.Minute     // before a token ends, another one is made

	mostRedirects = 3
	mostRetries   = 2 // of a request that is refused
)

// A Client asks one agent, and goes on with what was said before. It is safe for
// concurrent use: questions are asked one after the other.
type Client struct {
	cfg   Config
	reach *reach
	turn  chan struct{} // holds what follows while nobody uses it

	card *card // nil before it was read
	held identity
	at   Place
	left int64 // bytes that the server may still send
}

// A Place is where in its conversation with an agent a client is. The zero Place is before
// the beginning.
type Place struct{ Context, Task string }

// New returns a Client, which connects to nobody yet.
func New(cfg Config) *Client {
	c := &Client{cfg: cfg, reach: newReach(cfg), turn: make(chan struct{}, 1), at: cfg.From}
	c.turn <- struct{}{}
	return c
}

var errLate = errors.New("its time is up")

// Ask asks the agent, and tells what it says while it works. Beside an error there is what
// it has said before.
func (c *Client) Ask(ctx context.Context, words string, tell func(string)) (Answer, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	limit := cmp.Or(c.cfg.Limit, DefaultTime)
	ctx, stop := context.WithTimeoutCause(ctx, limit, errLate)
	defer stop()
	c.left = cmp.Or(c.cfg.Most, mostSent)
	a := &collected{tell: tell}
	err := c.converse(ctx, words, a)
	if ctx.Err() != nil {
		c.leave(ctx, a)
		if err = context.Cause(ctx); err == errLate {
			err = fmt.Errorf("it has not answered within %g minutes", limit.Minutes())
		}
	}
	if a.task != "" && over(a.state) || a.task != "" && err != nil {
		c.at.Task = ""
	}
	if c.cfg.Moved != nil {
		c.cfg.Moved(c.at)
	}
	return a.answer(), err
}

// Describe returns what the agent's card says that it is for.
func (c *Client) Describe(ctx context.Context) (string, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	c.left = cmp.Or(c.cfg.Most, mostSent)
	_, _, err := c.find(ctx)
	if err != nil {
		return "", err
	}
	return c.card.Description, nil
}

// converse says something to the agent, and takes in what it says until it is done.
func (c *Client) converse(ctx context.Context, words string, a *collected) error {
	to, d, err := c.find(ctx)
	if err != nil {
		return err
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	method := send
	if c.card.Capabilities.Streaming {
		method = stream
	}
	err = c.take(a, c.call(ctx, to, d, method, d.saying(id.String(), words, c.at), ""))
	if f := (*fault)(nil); errors.As(err, &f) && f.Code == taskNotFound {
		c.at = Place{}
	}
	if b := (*brokenError)(nil); errors.As(err, &b) && a.busy() {
		err = nil // it goes on without the stream
	}
	for wait := 250 * time.Millisecond; err == nil && a.task != "" && a.busy(); wait = min(2*wait, 10*time.Second) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		err = c.take(a, c.call(ctx, to, d, get, map[string]any{"id": a.task}, a.task))
	}
	return err
}

// take takes in what is said.
func (c *Client) take(a *collected, all iter.Seq2[said, error]) error {
	some := false
	for s, err := range all {
		if err != nil {
			return err
		}
		a.add(s)
		some = true
		c.at = Place{cmp.Or(a.context, c.at.Context), cmp.Or(a.task, c.at.Task)}
	}
	if !some {
		return errors.New("its answer is empty")
	}
	return nil
}

// leave cancels what the agent is at, without waiting for long.
func (c *Client) leave(ctx context.Context, a *collected) {
	if a.task == "" || over(a.state) {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer stop()
	to, d, err := c.find(ctx)
	if err != nil {
		return
	}
	for range c.call(ctx, to, d, cancel, map[string]any{"id": a.task}, a.task) {
		break // whatever it says to that
	}
}

// find returns where the agent is, by its card.
func (c *Client) find(ctx context.Context) (to *url.URL, d dialect, err error) {
	if c.card == nil {
		b := []byte(c.cfg.Server.Card)
		if len(b) == 0 {
			if b, err = c.fetch(ctx); err != nil {
				return nil, d, fmt.Errorf("the agent's card: %w", err)
			}
		}
		if c.card, err = parseCard(b); err != nil {
			return nil, d, err
		}
	}
	if to, d, err = c.card.face(); err != nil {
		return nil, d, err
	}
	if err = c.reach.check(to); err == nil && c.cfg.Server.Auth.Type != "" && !c.trusted(to) {
		err = fmt.Errorf("its card names another server, %s, and what the definition has for %s is not shown to that; "+
			"if it is meant, have agent_card_url name that server, or write the card into agent_card_json", text.OneLine(to.Host, longestSaid), c.host())
	}
	return to, d, err
}

// trusted reports whether a server may be shown the credentials: one that the definition
// names.
func (c *Client) trusted(to *url.URL) bool {
	return slices.ContainsFunc(c.cfg.Server.places(), func(u *url.URL) bool {
		return origin(u) == origin(to) || strings.EqualFold(u.Hostname(), to.Hostname()) && to.Scheme == "https"
	})
}

// Host returns the server that a definition names, for people.
func (s Server) Host() string {
	for _, u := range s.places() {
		return text.OneLine(u.Host, longestSaid)
	}
	return "a server"
}

func (c *Client) host() string { return c.cfg.Server.Host() }

// fetch reads the agent's card: like anybody first, and then with who asks.
func (c *Client) fetch(ctx context.Context) ([]byte, error) {
	ctx, stop := context.WithTimeoutCause(ctx, cardTime, fmt.Errorf("no answer within %s", cardTime))
	defer stop()
	at, err := url.Parse(c.cfg.Server.CardURL)
	if err != nil {
		return nil, err
	}
	req := func() (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	}
	resp, err := c.do(req, at, false)
	if err == nil && refused(resp) && c.cfg.Server.Auth.Type != "" {
		resp.Body.Close()
		resp, err = c.do(req, at, true)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, failure(resp)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostCard+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > mostCard:
		return nil, fmt.Errorf("it has more than %d MB", mostCard>>20)
	}
	return b, nil
}

func refused(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// do makes a request. One that is refused is made again with what it is shown now, if that
// may be something else.
func (c *Client) do(request func() (*http.Request, error), at *url.URL, shown bool) (*http.Response, error) {
	client := http.Client{Transport: c.reach, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case via[0].Method != http.MethodGet:
			return http.ErrUseLastResponse
		case !strings.EqualFold(next.URL.Hostname(), at.Hostname()):
			return fmt.Errorf("it redirects to %s, which is asked only if agent_card_url names it", text.OneLine(next.URL.Host, longestSaid))
		case len(via) > mostRedirects:
			return fmt.Errorf("more than %d redirects", mostRedirects)
		}
		return nil
	}}
	for tries := 0; ; tries++ {
		req, err := request()
		if err != nil {
			return nil, err
		}
		req.Close = true // so that every connection is looked at, and none is left
		req.Header.Set("User-Agent", c.cfg.Web.UserAgent)
		if shown && c.cfg.Server.Auth.Type != "" {
			if c.held.header == "" || !c.held.until.IsZero() && time.Until(c.held.until) < early {
				if c.held, err = c.cfg.identity(req.Context(), at); err != nil {
					return nil, err
				}
			}
			c.held.show(req)
		}
		resp, err := client.Do(req)
		if err != nil {
			if outer := (*url.Error)(nil); errors.As(err, &outer) {
				err = outer.Err
			}
			return nil, err
		}
		if !shown || !refused(resp) || tries == mostRetries || !c.cfg.Server.Auth.changes() {
			return resp, nil
		}
		resp.Body.Close()
		c.held = identity{}
	}
}

const eventStream = "text/event-stream"

// call makes a request of the protocol, and yields what is said to it.
func (c *Client) call(ctx context.Context, to *url.URL, d dialect, method string, params any, id string) iter.Seq2[said, error] {
	return func(yield func(said, error) bool) {
		resp, err := c.do(func() (*http.Request, error) { return d.request(ctx, to, method, params, id) }, to, true)
		if err != nil {
			yield(said{}, err)
			return
		}
		defer resp.Body.Close()
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != eventStream {
			s, err := c.single(resp, d)
			yield(s, err)
			return
		}
		events := rpc.NewEvents(&limited{resp.Body, &c.left})
		for {
			ev, err := events.Next()
			if err == io.EOF {
				return
			}
			var s said
			switch err {
			case nil:
				s, err = d.read(ev.Data, ev.Name == "error")
			case rpc.ErrTooLong, errTooMuch:
			default:
				err = &brokenError{err}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// single reads an answer that is all in one.
func (c *Client) single(resp *http.Response, d dialect) (s said, err error) {
	if resp.StatusCode >= 300 {
		return s, failure(resp)
	}
	b, err := io.ReadAll(io.LimitReader(&limited{resp.Body, &c.left}, rpc.MaxMessage+1))
	switch {
	case err != nil:
		return s, fmt.Errorf("its answer breaks off: %w", err)
	case len(b) > rpc.MaxMessage:
		return s, rpc.ErrTooLong
	}
	return d.read(b, false)
}

// A brokenError is the error of a stream that ends too early.
type brokenError struct{ error }

// Unwrap returns the error of the stream.
func (b *brokenError) Unwrap() error { return b.error }

var errTooMuch = errors.New("it has sent too much for one call")

// A limited reader reads until too much was sent.
type limited struct {
	r    io.Reader
	left *int64
}

// Read implements [io.Reader].
func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if *l.left -= int64(n); *l.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// request makes a request.
func (d dialect) request(ctx context.Context, to *url.URL, method string, params any, id string) (*http.Request, error) {
	verb, address := http.MethodPost, to.String()
	body := params
	if d.rest {
		path := ""
		verb, path = d.path(method, url.PathEscape(id))
		if address += path; id != "" {
			body = nil
		}
	} else {
		body = map[string]any{"jsonrpc": "2.0", "id": 1, "method": d.method(method), "params": params}
	}
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, verb, address, sent)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if method == stream {
		req.Header.Set("Accept", eventStream+", application/json")
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.second {
		req.Header.Set("A2A-Version", "1.0")
	}
	return req, nil
}

// read reads what is said in a message of the transport.
func (d dialect) read(b []byte, wrong bool) (s said, err error) {
	if wrong {
		return s, faultIn(b)
	}
	if d.rest {
		return decode(b)
	}
	var m struct {
		Result json.RawMessage
		Error  *fault
	}
	switch err := json.Unmarshal(b, &m); {
	case err != nil:
		return s, fmt.Errorf("what it sends is no JSON-RPC: %w", err)
	case m.Error != nil:
		return s, m.Error
	case m.Result == nil:
		return s, errForeign
	}
	return decode(m.Result)
}

// A fault is an error that a server tells.
type fault struct {
	Code    int
	Message string
	status  int // of HTTP, 0 if there was none
}

const taskNotFound = -32001

// Error says what the server says.
func (f *fault) Error() string {
	said := text.OneLine(f.Message, longestSaid)
	switch {
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return strings.TrimSuffix(fmt.Sprintf("the server refuses what it is shown (HTTP %d): %s", f.status, said), ": ")
	case f.status != 0:
		return strings.TrimSuffix(fmt.Sprintf("the server answered HTTP %d %s: %s", f.status, http.StatusText(f.status), said), ": ")
	case said == "":
		return fmt.Sprintf("the server tells of an error, %d", f.Code)
	}
	return said
}

// faultIn reads the error that a server tells.
func faultIn(b []byte) *fault {
	var outer struct {
		fault
		Error json.RawMessage
	}
	if json.Unmarshal(b, &outer) != nil {
		return &fault{Message: string(b)}
	}
	f := outer.fault
	if json.Unmarshal(outer.Error, &f) != nil {
		var words string
		json.Unmarshal(outer.Error, &words)
		f.Message = cmp.Or(f.Message, words)
	}
	return &f
}

// failure returns the error of a response that is none.
func failure(resp *http.Response) error {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return fmt.Errorf("it redirects to %s, which what is said does not follow", text.OneLine(to, longestSaid))
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	f := faultIn(b)
	f.status = resp.StatusCode
	return f
}
