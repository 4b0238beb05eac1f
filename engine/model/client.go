package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/catalog"
	"gemline/engine/redact"
	"gemline/engine/text"
)

// A Client makes requests to a model's server, with the common proxy, certificates, idle timeout
// and classes of errors. Generators of other protocols than Gemini's begin with [NewClient].
type Client struct {
	opts    Options
	base    *url.URL
	redact  *redact.Redactor
	log     *slog.Logger
	http    *http.Client
	roots   *roots // nil for the system's
	dialect dialect
}

// A dialect has the differences of a protocol's servers from others.
type dialect struct {
	address string                             // the variable or setting with the server's address
	start   string                             // how the user starts it, or ""
	path    bool                               // the address may have a wrong path
	pay     func(x *exchange) (buffers, error) // finds the credential for x, and returns the body
	forget  func(x *exchange) bool             // drops the refused credential; false if there is no other
	header  func(h http.Header, x *exchange)
	advise  func(e *Error) // adapts the advice of an error to the provider
}

// newClient returns a Client of the server at base. It makes no connection.
func newClient(o Options, base *url.URL, d dialect) (*Client, error) {
	if err := o.Network.Allow(base.Hostname()); err != nil {
		return nil, &Error{Kind: Config, Final: true, Message: err.Error(), Err: err,
			Advice: "-m PROVIDER/MODEL asks a model on this machine, such as ollama/qwen3-coder"}
	}
	if err := checkProxy(o.Network.Proxy); err != nil {
		return nil, err
	}
	if o.OnReceive == nil {
		o.OnReceive = func() {}
	}
	c := &Client{opts: o, base: base, redact: cmp.Or(o.Secrets, &redact.Redactor{}), dialect: d,
		log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
	c.http = &http.Client{Transport: o.Transport, CheckRedirect: dontFollow}
	if o.Transport == nil {
		c.http.Transport, c.roots = transport(o)
	}
	c.redact.Add("API key", o.APIKey)
	if p, ok := base.User.Password(); ok {
		c.redact.Add("password", p)
	}
	for _, vs := range o.Header {
		for _, v := range vs {
			if len(v) > 15 { // a short value is no secret
				c.redact.Add("header", v)
			}
		}
	}
	return c, nil
}

// idle returns the idle timeout of the server for a model.
func (c *Client) idle(model string) time.Duration {
	const usual = 5 * time.Minute
	switch {
	case c.opts.Idle < 0:
		return math.MaxInt64
	case c.opts.Idle > 0:
		return c.opts.Idle
	}
	return max(usual, time.Duration(catalog.Lookup(model).Wait))
}

// Close drops the connections that are kept for the next request.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Redact returns s without the secrets that are known.
func (c *Client) Redact(s string) string { return c.redact.RedactKnown(s) }

// A Vendor has the differences of a provider's servers from others.
type Vendor struct {
	Advice  string // advice about a missing or refused key
	Missing string // advice about a missing model; "" is to choose another
	Start   string // how the user starts the server, such as " with ollama serve"; may be empty

	provider Provider
}

// header adds a key, which may be "", to the header h of a request.
func (v Vendor) header(h http.Header, key string) {
	anthropic := v.provider.Protocol == Anthropic
	if anthropic {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	switch field := v.provider.KeyHeader; {
	case key == "":
	case field != "":
		h.Set(field, key)
	case anthropic:
		h.Set("X-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

// NewClient returns a Client of the server at o.BaseURL. The error, if any, is a [Config] error:
// a key is sent only over https, or on this machine.
func NewClient(o Options, v Vendor) (*Client, error) {
	open := o.Keyless && o.APIKey == "" && o.FindKey == nil && len(o.Header) == 0
	base, err := checkedBase(o.BaseURL, v.provider.Address(), exampleBase, open)
	if err != nil {
		return nil, err
	}
	var c *Client
	tokens := newTokenSource(func(ctx context.Context, x *exchange) (credential, error) { return c.findKey(ctx, v) })
	c, err = newClient(o, base, dialect{
		address: v.provider.Address(), start: v.Start, path: true,
		pay: func(x *exchange) (body buffers, err error) {
			x.credential, err = tokens.take(x.ctx, x)
			return x.body, err
		},
		forget: func(*exchange) bool { return false },
		header: func(h http.Header, x *exchange) { v.header(h, x.credential.secret) },
		advise: v.advise,
	})
	return c, err
}

// findKey fetches the key for requests.
func (c *Client) findKey(ctx context.Context, v Vendor) (credential, error) {
	key := c.opts.APIKey
	if key == "" && c.opts.FindKey != nil {
		found, err := c.opts.FindKey(ctx)
		if err != nil {
			return credential{}, noCredential(ctx, err)
		}
		key = found
		c.redact.Add("API key", key)
	}
	switch {
	case key == "" && !c.opts.Keyless:
		return credential{}, &Error{Kind: Auth, Final: true, Message: "no API key of " + v.provider.Name, Advice: v.Advice}
	case !headerValue(key):
		return credential{}, &Error{Kind: Auth, Final: true, Message: "the API key of " + v.provider.Name +
			" holds characters that no key has", Advice: v.Advice}
	}
	return credential{secret: key}, nil
}

// advise replaces advice about Google in e by advice about the provider.
func (v Vendor) advise(e *Error) {
	switch {
	case e.Advice == hintShorter:
	case e.Kind == Quota && e.Final && e.RetryAfter > 0:
		e.Advice = later(e.RetryAfter)
	case e.Advice == hintLocation:
		e.Advice = hintModel
	case e.Kind == Auth && e.Code == CodeNoCredit, e.Kind == Quota && e.Final:
		e.Advice = "see what the account at " + v.provider.Name + " has left, or choose another model with -m or /model"
	case e.Kind == Auth:
		e.Advice = v.Advice
	case e.Kind == NotFound && v.Missing != "":
		e.Advice = v.Missing
	case e.Kind == BadRequest && e.Code != CodeSignature && v.refusedParameter(e.Message) != "":
		what := v.refusedParameter(e.Message)
		all := slices.DeleteFunc(slices.Clone(v.provider.Lacking), func(s string) bool { return s == what })
		lacks, _ := json.Marshal(append(all, what)) // no error for strings
		e.Advice = fmt.Sprintf(`if the server does not take it, put "lacks": %s into providers.%s`, lacks, v.provider.Name)
	case e.Kind == BadRequest && v.provider.Protocol == OpenAI && v.provider.Thoughts == "" && strings.Contains(e.Message, ReasoningContent):
		e.Advice = fmt.Sprintf(`if the server wants thoughts back, put "thoughts": %q into providers.%s`, ReasoningContent, v.provider.Name)
	case e.Kind == Config && strings.HasPrefix(e.Advice, "set GOOGLE_GEMINI_BASE_URL"):
		e.Advice = "set " + v.provider.Address() + " to where the API really is"
	}
}

// isUnknownPath reports whether e says that a server has no such path, and not that it has no
// such model.
func isUnknownPath(e *Error) bool {
	return e.Kind == NotFound && hasAny(e.Message, "page not found", "file not found", ": not found (", "with a web page",
		"unknown request url", "invalid url", "resource not found (", "the server answered 404") ||
		hasAny(e.Message, "unexpected endpoint or method") // of LM Studio, with 200
}

// parameters are the features that a server may lack, by protocol, with their names in requests.
var parameters = map[string][][2]string{
	OpenAI: {{"stream_options", StreamOptions}, {"max_completion_tokens", MaxCompletionTokens}, {"reasoning_effort", Effort},
		{"json_schema", JSONSchema}, {"response_format", JSONSchema}, {"temperature", Temperature}, {"top_p", Temperature}},
	Anthropic: {{"output_config", Effort}, {"temperature", Temperature}, {"top_p", Temperature}, {"top_k", Temperature},
		{"adaptive", Adaptive}, {"thinking", Thinking}},
}

// refusedParameter returns the missing feature of a server whose error names a parameter of a
// request.
func (v Vendor) refusedParameter(message string) string {
	for _, p := range parameters[v.provider.Protocol] {
		if strings.Contains(message, p[0]) {
			return p[1]
		}
	}
	return ""
}

// An Answer is the response to a request of a [Client].
type Answer struct {
	c     *Client
	x     *exchange
	whole bool // not a stream
	over  bool // complete
}

// Over marks the answer as complete. Later errors of the connection don't count, and the server
// has little time to close it.
func (a *Answer) Over() {
	a.over = true
	a.x.idle = min(a.x.idle, 10*time.Second)
}

// Ask makes a request and calls read with the answer. The model is only for errors. The path is
// appended to the server's address. If said is nil, Ask makes a GET request, else it posts said
// as JSON. Each error is an [*Error].
func (c *Client) Ask(ctx context.Context, req *engine.Request, path string, said any, read func(*Answer) error) error {
	path, query, _ := strings.Cut(path, "?")
	q := question{model: req.Model, method: http.MethodGet, url: c.base.JoinPath(path), notify: req.Notify}
	q.url.RawQuery = query
	if said != nil {
		b, err := text.JSON(said, "")
		if err != nil {
			return err
		}
		q.method, q.body = http.MethodPost, buffers{b}
	}
	return c.ask(ctx, q, read)
}

// Get reads the document at a path, which may end in a query, into v.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	return c.Ask(ctx, &engine.Request{Model: path}, path, nil, func(a *Answer) error { return a.Document(v) })
}

// Chunks returns the sequence of the chunks that generate emits. Generate must return at the
// first error of emit, with this error.
func Chunks(ctx context.Context, generate func(emit func(*genai.GenerateContentResponse) error) error) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		err := generate(func(chunk *genai.GenerateContentResponse) error {
			if !yield(chunk, nil) {
				return errLeft
			}
			return ctx.Err()
		})
		if err != nil && err != errLeft {
			yield(nil, err)
		}
	}
}

// Stream reads server-sent events and calls each with their data, until the end or the mark
// [DONE], which it reports. A JSON document in the place of a stream is one event, and a list of
// documents several; a web page is an error.
func (a *Answer) Stream(each func(data []byte) error) (done bool, err error) {
	return a.read((*eventReader).next, true, each)
}

// Lines reads a stream with a JSON document per line.
func (a *Answer) Lines(each func(data []byte) error) error {
	_, err := a.read(func(e *eventReader) ([]byte, error) {
		for {
			line, err := e.line()
			if err != nil || len(strings.TrimSpace(string(line))) > 0 {
				if err == nil && e.torn && !json.Valid(line) {
					return nil, io.ErrUnexpectedEOF
				}
				return line, err
			}
		}
	}, false, each)
	return err
}

// read reads a stream by next or, if allowed, documents in its place.
func (a *Answer) read(next func(*eventReader) ([]byte, error), documents bool, each func([]byte) error) (done bool, err error) {
	events, n := newEventReader(a.x), 0
	defer func() { a.c.log.DebugContext(a.x.ctx, "answer over", "events", n, "took", time.Since(a.x.start)) }()
	switch first, err := events.peek(); {
	case err == io.EOF:
		return false, nil
	case err != nil:
		return false, err
	case first == '<':
		page, err := events.all()
		if err != nil {
			return false, err
		}
		return false, a.c.failure(a.x.resp, page)
	case documents && (first == '{' || first == '['):
		b, err := events.all()
		if err != nil {
			return false, err
		}
		all := []json.RawMessage{b}
		if first == '[' {
			err = json.Unmarshal(b, &all)
		}
		if a.whole = true; err != nil {
			return false, a.Unreadable(err, b)
		}
		for _, document := range all {
			if err := each(document); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	for {
		data, err := next(events)
		switch {
		case err == io.EOF, err != nil && a.over:
			return false, nil
		case err != nil:
			return false, err
		case string(bytes.TrimSpace(data)) == endOfStream:
			return true, nil
		}
		n++
		if err := each(data); err != nil {
			return false, err
		}
	}
}

// Document reads an answer that is a document into v. A web page, or a document with only an
// error, is a failure.
func (a *Answer) Document(v any) error {
	b, err := newEventReader(a.x).all()
	if err != nil {
		return err
	}
	return a.c.parse(a.x.resp, b, v)
}

// Fault returns the error for an error in an answer, which is a text or an object.
func (a *Answer) Fault(said json.RawMessage) error { return a.c.fault(a.x.resp, said) }

// Unreadable returns the error of an invalid answer.
func (a *Answer) Unreadable(err error, data []byte) error { return &malformed{err, data} }

// Broken returns the error of an answer that breaks off.
func (a *Answer) Broken() error { return io.ErrUnexpectedEOF }
