package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"gemline/engine"
)

// ErrIdle is wrapped by the error of a request whose server fell silent.
var ErrIdle = errors.New("the server has gone silent")

// A question is what is asked of the API.
type question struct {
	model  string // which it is about, or something else: for the User-Agent, and for errors
	method string // of HTTP
	url    *url.URL
	body   pieces
	notify func(engine.Event)
}

// An exchange is a question and its answer.
type exchange struct {
	question
	caller     context.Context
	ctx        context.Context // ends with the exchange
	stop       context.CancelCauseFunc
	guard      *time.Timer // ends it when the server falls silent
	idle       time.Duration
	heard      func()
	start      time.Time
	credential credential
	project    string // that Code Assist works for
	resp       *http.Response
}

// ask asks q, and has read read what is answered. All that goes wrong becomes an
// [Error] here.
func (g *Genai) ask(ctx context.Context, q question, read func(*exchange) error) error {
	x := &exchange{question: q, caller: ctx, idle: g.idle(q.model), heard: g.opts.Heard, start: time.Now()}
	x.ctx, x.stop = context.WithCancelCause(ctx)
	x.guard = time.AfterFunc(x.idle, func() { x.stop(ErrIdle) })
	defer x.end()
	err := g.send(x)
	if err == nil {
		err = read(x)
	}
	return g.explain(x, err)
}

// end releases what the exchange holds. The connection survives if the answer
// was read to its end.
func (x *exchange) end() {
	x.guard.Stop()
	x.forget()
	x.stop(nil)
}

// forget lets the request be made again.
func (x *exchange) forget() {
	if x.resp != nil {
		x.resp.Body.Close()
		x.resp = nil
	}
}

// send makes the request of x, and returns when the header of a good answer is
// there. A token that is refused may have been taken back, and another is
// fetched, once.
func (g *Genai) send(x *exchange) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if !modelName(x.model) {
		return &Error{Kind: BadRequest, Final: true,
			Message: fmt.Sprintf("%q is not the name of a model", x.model), Advice: hintModel}
	}
	err := g.attempt(x)
	if g.opts.Account != nil && x.unauthorized(err) {
		g.log.DebugContext(x.ctx, "the access token was refused, another is fetched")
		g.tokens.drop(x.credential)
		x.forget()
		err = g.attempt(x)
	}
	if err != nil || x.resp.StatusCode/100 == 2 {
		return err
	}
	const most = 1 << 20
	text, _ := io.ReadAll(io.LimitReader(x, most)) // what did arrive tells more than why the rest did not
	return g.failure(x.resp, text)
}

// attempt makes the request of x with what pays for it.
func (g *Genai) attempt(x *exchange) (err error) {
	x.guard.Reset(x.idle)
	if x.credential, err = g.tokens.take(x.ctx, x); err != nil {
		return err
	}
	if err := g.useProject(x); err != nil {
		return err
	}
	body := x.body
	if g.opts.CodeAssist {
		if body, err = enveloped(x); err != nil {
			return err
		}
	}
	x.resp, err = g.do(x, x.method, x.url, body)
	return err
}

// unauthorized reports whether the server has refused what pays for x. What
// went wrong otherwise is err.
func (x *exchange) unauthorized(err error) bool {
	var f *failure
	if errors.As(err, &f) {
		return f.http == http.StatusUnauthorized
	}
	return err == nil && x.resp.StatusCode == http.StatusUnauthorized
}

// do makes an HTTP request on behalf of x.
func (g *Genai) do(x *exchange, method string, u *url.URL, body pieces) (*http.Response, error) {
	req, err := http.NewRequestWithContext(x.ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if n := body.size(); n > 0 {
		req.ContentLength, req.Body = int64(n), body.reader()
		req.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	g.header(req.Header, x)
	g.log.DebugContext(x.ctx, "request", "method", method, "url", publicAddress(u), "bytes", req.ContentLength)
	x.guard.Reset(x.idle)
	defer x.guard.Stop()
	resp, err := g.client.Do(req)
	if err == nil {
		g.log.DebugContext(x.ctx, "response", "status", resp.StatusCode, "type",
			resp.Header.Get("Content-Type"), "protocol", resp.Proto, "took", time.Since(x.start))
	}
	return resp, err
}

// header fills the header of a request on behalf of x.
func (g *Genai) header(h http.Header, x *exchange) {
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", g.opts.userAgent(x.model))
	h.Set("X-Goog-Api-Client", "gl-go/"+runtime.Version())
	switch {
	case x.credential.secret == "":
	case x.credential.token || g.opts.Bearer:
		h.Set("Authorization", "Bearer "+x.credential.secret)
	default:
		h.Set("X-Goog-Api-Key", x.credential.secret)
	}
	if x.credential.quota != "" {
		h.Set("X-Goog-User-Project", x.credential.quota)
	}
	for k, vs := range g.opts.Header {
		h[http.CanonicalHeaderKey(k)] = vs
	}
}

// url returns the address of what follows the version of the API in its path.
func (g *Genai) url(rest string) *url.URL {
	version := g.opts.APIVersion
	switch {
	case version != "":
	case g.opts.CodeAssist:
		version = "v1internal"
	case g.opts.Vertex:
		version = "v1beta1"
	default:
		version = "v1beta"
	}
	return g.base.JoinPath(version + rest)
}

// modelURL returns the address of an action of a model, such as generateContent.
func (g *Genai) modelURL(model, action string) *url.URL {
	o := g.opts
	has := func(prefix string) bool { return strings.HasPrefix(model, prefix) }
	switch {
	case o.CodeAssist:
		return g.url(":" + action)
	case !o.Vertex && (has("models/") || has("tunedModels/")):
	case !o.Vertex:
		model = "models/" + model
	default:
		if publisher, name, ok := strings.Cut(model, "/"); !ok {
			model = "publishers/google/models/" + model
		} else if !has("projects/") && !has("models/") && !has("publishers/") {
			model = "publishers/" + publisher + "/models/" + name
		}
		if o.Project != "" && o.Location != "" && !has("projects/") {
			model = "projects/" + o.Project + "/locations/" + o.Location + "/" + model
		}
	}
	return g.url("/" + model + ":" + action)
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

// document reads an answer that is a document into v. A web page is a failure,
// and so is a document that is nothing but an error.
func (g *Genai) document(x *exchange, v any) error {
	answer, err := newEventReader(x).all()
	if err != nil {
		return err
	}
	return g.parse(x.resp, answer, v)
}

func (g *Genai) parse(resp *http.Response, answer []byte, v any) error {
	if bytes.HasPrefix(answer, []byte("<")) {
		return g.failure(resp, answer)
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return &malformed{err, answer}
	}
	return nil
}
