package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// ErrIdle is wrapped by the error of a request whose server fell silent.
var ErrIdle = errors.New("the server has gone silent")

// An opened is what a Genai needs to make requests.
type opened struct {
	client *genai.Client
	base   http.RoundTripper
	roots  *roots // nil for those of the system
}

// open returns what g needs to make requests, made when first asked for.
func (g *Genai) open() (*opened, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		return g.opened, nil
	}
	o := &opened{base: g.opts.Transport}
	if o.base == nil {
		o.base, o.roots = network(g.opts)
	}
	client, err := genai.NewClient(context.Background(), g.clientConfig(&http.Client{Transport: &transport{g: g, base: o.base}}))
	if err != nil {
		return nil, &Error{Kind: Config, Final: true, Message: "the API client refuses its settings: " + oneLine(g.redact.Text(err.Error()))}
	}
	o.client = client
	g.opened = o
	return o, nil
}

// clientConfig returns the settings of the library. What pays for a request is
// added on the way: the library only learns that there is something.
func (g *Genai) clientConfig(client *http.Client) *genai.ClientConfig {
	cc := &genai.ClientConfig{
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  client,
		HTTPOptions: genai.HTTPOptions{BaseURL: g.base.String(), APIVersion: g.opts.APIVersion},
	}
	if g.opts.Vertex {
		cc.Backend = genai.BackendVertexAI
	}
	if g.opts.Vertex && g.opts.Project != "" && g.opts.Location != "" {
		cc.Project, cc.Location = g.opts.Project, g.opts.Location
	} else {
		cc.APIKey = "unused"
	}
	return cc
}

// An exchange is one request and its answer, on its way past the library: the
// library makes the URL, the header and the settings and sends them; what is
// said goes by directly.
type exchange struct {
	model   string
	body    body
	whole   bool // the library's body is sent as it is, instead of that one
	start   time.Time
	pay     payment
	project string // that Code Assist works for
	notify  func(engine.Event)

	rest  map[string]any // the settings, as the library encodes them
	resp  *http.Response
	guard *time.Timer // ends the request when the server falls silent
	heard func()
	idle  time.Duration
	stop  context.CancelCauseFunc
	via   *opened
	ctx   context.Context // ends with the request
}

// exchangeKey finds the exchange of a request in its context: the library
// hands nothing else on to its transport.
type exchangeKey struct{}

// take keeps the library's encoding of the settings and lets it send nothing.
//
// A schema has gone through maps there, and lost the order of its properties,
// in which the model is to write them.
func (x *exchange) take(rest map[string]any) map[string]any {
	if c, ok := rest["generationConfig"].(map[string]any); ok && x.body.schema != nil {
		c["responseJsonSchema"] = x.body.schema
	}
	x.rest = rest
	return nil
}

// Read reads the answer. Only here does the server's silence count: how long
// the reader takes is its own affair.
func (x *exchange) Read(p []byte) (int, error) {
	x.guard.Reset(x.idle)
	n, err := x.resp.Body.Read(p)
	x.guard.Stop()
	if n > 0 {
		x.heard()
	}
	return n, err
}

// end releases what the exchange holds. The connection survives if the answer
// was read to its end.
func (x *exchange) end() {
	if x.guard != nil {
		x.guard.Stop()
	}
	if x.resp != nil {
		x.resp.Body.Close()
	}
	if x.stop != nil {
		x.stop(nil)
	}
}

// send has call make the request of x, and returns when the header of a good
// answer is there.
func (g *Genai) send(ctx context.Context, x *exchange, call func(context.Context, *genai.Client) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !modelName(x.model) {
		return &Error{Kind: BadRequest, Final: true, Message: fmt.Sprintf("%q is not the name of a model", x.model), Hint: hintModel}
	}
	o, err := g.open()
	if err != nil {
		return err
	}
	x.via, x.start, x.idle, x.heard = o, time.Now(), g.opts.Idle, g.opts.Heard
	x.ctx, x.stop = context.WithCancelCause(context.WithValue(ctx, exchangeKey{}, x))
	x.guard = time.AfterFunc(x.idle, func() { x.stop(ErrIdle) })
	if err := g.pay(ctx, x, call); err != nil {
		return err
	}
	if x.resp.StatusCode/100 == 2 {
		return nil
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(x, most))
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	} // else what did arrive tells more than why the rest did not
	return g.failed(g.failure(x.resp.StatusCode, x.resp.Header, text), x)
}

// pay makes the request of x with what pays for it. A token that is refused
// may have been taken back, and another is fetched, once.
func (g *Genai) pay(ctx context.Context, x *exchange, call func(context.Context, *genai.Client) error) (err error) {
	for attempt := 1; ; attempt++ {
		x.guard.Reset(x.idle)
		if x.pay, err = g.wallet.take(x.ctx, x); err != nil {
			return g.lost(ctx, x, err)
		}
		if err = g.enlist(x); err == nil {
			x.guard.Reset(x.idle)
			err = call(x.ctx, x.via.client)
			x.guard.Stop()
		}
		switch {
		case g.opts.Account != nil && attempt == 1 && x.unauthorized(err):
			g.log.DebugContext(ctx, "the access token was refused, another is fetched")
			g.wallet.drop(x.pay)
			x.forget()
		case err != nil:
			return g.lost(ctx, x, err)
		case x.resp == nil:
			return &Error{Kind: Unknown, Message: "the API client made no request"}
		default:
			return nil
		}
	}
}

// unauthorized reports whether the server has refused what pays for x. What
// went wrong otherwise is err.
func (x *exchange) unauthorized(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.HTTP == http.StatusUnauthorized
	}
	return err == nil && x.resp != nil && x.resp.StatusCode == http.StatusUnauthorized
}

// forget lets the request of x be made again.
func (x *exchange) forget() {
	if x.resp != nil {
		x.resp.Body.Close()
		x.resp = nil
	}
}

// A transport sends the requests of a Genai.
type transport struct {
	g    *Genai
	base http.RoundTripper
}

// RoundTrip implements [http.RoundTripper]. It keeps the answer in the
// exchange and returns an empty one.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("a request that is not ours")
	}
	var data []byte
	var err error
	switch {
	case req.Method == http.MethodGet:
	case x.whole:
		data, err = whole(req)
	default:
		data, err = x.body.encode(x.rest, &t.g.cache)
	}
	if err != nil {
		return nil, fmt.Errorf("the request can't be written as JSON: %w", err)
	}
	req = req.Clone(req.Context())
	if t.g.opts.CodeAssist {
		if data, err = t.g.enveloped(req, x, data); err != nil {
			return nil, fmt.Errorf("the request can't be written as JSON: %w", err)
		}
	}
	t.g.header(req.Header, x.model, x.pay)
	req.ContentLength = int64(len(data))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	req.Body, _ = req.GetBody()
	log := t.g.log
	log.DebugContext(req.Context(), "request", "url", shown(req.URL), "bytes", len(data))
	x.resp, err = t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	log.DebugContext(req.Context(), "response", "status", x.resp.StatusCode, "type", x.resp.Header.Get("Content-Type"),
		"protocol", x.resp.Proto, "took", time.Since(x.start))
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// header completes the header of a request to model that pay pays for.
func (g *Genai) header(h http.Header, model string, pay payment) {
	h.Set("User-Agent", g.opts.userAgent(model))
	h.Del("X-Server-Timeout") // how long we wait is not the server's concern
	h.Del("X-Goog-Api-Key")
	switch {
	case pay.secret == "":
	case pay.token || g.opts.Bearer:
		h.Set("Authorization", "Bearer "+pay.secret)
	default:
		h.Set("X-Goog-Api-Key", pay.secret)
	}
	if pay.quota != "" {
		h.Set("X-Goog-User-Project", pay.quota)
	}
	for k, vs := range g.opts.Header {
		h[http.CanonicalHeaderKey(k)] = vs
	}
}
