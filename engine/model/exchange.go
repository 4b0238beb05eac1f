package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"gemline/engine"
	"gemline/engine/text"
)

// ErrIdle is wrapped by the error of a request that exceeded the idle timeout.
var ErrIdle = errors.New("the server has gone silent")

// A question is a request to the API.
type question struct {
	model  string // the model, or another subject: for the User-Agent, and for errors
	method string // of HTTP
	url    *url.URL
	body   buffers
	notify func(engine.Event)
}

// An exchange is a question and its answer.
type exchange struct {
	question
	caller     context.Context
	ctx        context.Context // ends with the exchange
	stop       context.CancelCauseFunc
	guard      *time.Timer // ends the exchange at the idle timeout
	idle       time.Duration
	heard      func()
	start      time.Time
	credential credential
	project    string // the project for Code Assist
	resp       *http.Response
}

// ask makes the request q, and calls read with the answer. It returns each failure as an [Error].
func (c *Client) ask(ctx context.Context, q question, read func(*Answer) error) error {
	x := &exchange{question: q, caller: ctx, idle: c.idle(q.model), heard: c.opts.OnReceive, start: time.Now()}
	x.ctx, x.stop = context.WithCancelCause(ctx)
	x.guard = time.AfterFunc(x.idle, func() { x.stop(ErrIdle) })
	defer x.end()
	err := c.send(x)
	if err == nil {
		err = read(&Answer{c: c, x: x})
	}
	return c.explain(x, err)
}

// end releases what the exchange holds. The connection survives if the answer
// was read to its end.
func (x *exchange) end() {
	x.guard.Stop()
	x.forget()
	x.stop(nil)
}

// forget resets x for another attempt.
func (x *exchange) forget() {
	if x.resp != nil {
		x.resp.Body.Close()
		x.resp = nil
	}
}

// send makes the request of x, and returns after the header of a successful response. A refused
// token may have been revoked, so another token is fetched once.
func (c *Client) send(x *exchange) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	err := c.attempt(x)
	if x.unauthorized(err) && c.dialect.forget(x) {
		c.log.DebugContext(x.ctx, "the access token was refused, another is fetched")
		x.forget()
		err = c.attempt(x)
	}
	if err != nil || x.resp.StatusCode/100 == 2 {
		return err
	}
	const most = 1 << 20
	text, _ := io.ReadAll(io.LimitReader(x, most)) // the read part is more useful than a read error
	return c.failure(x.resp, text)
}

// attempt sends the request of x with its credentials.
func (c *Client) attempt(x *exchange) error {
	x.guard.Reset(x.idle)
	body, err := c.dialect.pay(x)
	if err != nil {
		return err
	}
	x.resp, err = c.do(x, x.method, x.url, body)
	return err
}

// unauthorized reports whether the server has refused the credentials of x. The error of the
// attempt is err.
func (x *exchange) unauthorized(err error) bool {
	var f *failure
	if errors.As(err, &f) {
		return f.http == http.StatusUnauthorized
	}
	return err == nil && x.resp.StatusCode == http.StatusUnauthorized
}

// do makes an HTTP request on behalf of x.
func (c *Client) do(x *exchange, method string, u *url.URL, body buffers) (*http.Response, error) {
	req, err := http.NewRequestWithContext(x.ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if n := body.size(); n > 0 {
		req.ContentLength, req.Body = int64(n), body.reader()
		req.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", c.opts.userAgent(x.model))
	c.dialect.header(req.Header, x)
	for k, vs := range c.opts.Header {
		req.Header[http.CanonicalHeaderKey(k)] = vs
	}
	c.log.DebugContext(x.ctx, "request", "method", method, "url", text.PublicAddress(u), "bytes", req.ContentLength)
	x.guard.Reset(x.idle)
	defer x.guard.Stop()
	resp, err := c.http.Do(req)
	if err == nil {
		c.log.DebugContext(x.ctx, "response", "status", resp.StatusCode, "type",
			resp.Header.Get("Content-Type"), "protocol", resp.Proto, "took", time.Since(x.start))
	}
	return resp, err
}

// Read reads the answer. The idle timeout applies only during Read, not to the reader's own time.
func (x *exchange) Read(p []byte) (int, error) {
	x.guard.Reset(x.idle)
	n, err := x.resp.Body.Read(p)
	x.guard.Stop()
	if n > 0 {
		x.heard()
	}
	return n, err
}

// parse reads a document into v.
func (c *Client) parse(resp *http.Response, document []byte, v any) error {
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(document, v); {
	case bytes.HasPrefix(document, []byte("<")):
		return c.failure(resp, document)
	case json.Unmarshal(document, &fields) == nil && len(fields) == 1 && isPresent(fields["error"]):
		return c.fault(resp, fields["error"])
	case err != nil:
		return &malformed{err, document}
	}
	return nil
}
