package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"runtime"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/preset"
	"gemline/engine/network"
	"gemline/engine/redact"
)

// Options are the settings of a [Genai].
type Options struct {
	// APIKey is sent in the header x-goog-api-key, or as Google.Bearer says.
	APIKey string

	// FindKey, if not nil, returns the key when the first request needs it. The Hint of its
	// error, if any, is shown to the user.
	FindKey func(ctx context.Context) (string, error)

	// Google has the options for Google's servers.
	Google Google

	// Keyless says that requests need no key, perhaps because of a field of Header.
	Keyless bool

	// BaseURL is the address of the API, with https, or with http on this machine; Google's if
	// empty. Its path is kept.
	BaseURL string

	// Header is sent with every request and overrides all other fields.
	Header http.Header

	// Version and Surface are sent in the User-Agent: the program's version, and its environment,
	// "terminal" if empty.
	Version, Surface string

	// Network configures connections to servers.
	Network network.Network

	// Connect is the connect timeout, 30 seconds if 0. Idle is the idle timeout: 5 minutes if 0,
	// or longer for models that think longer; none if negative.
	Connect, Idle time.Duration

	// OnReceive, if not nil, is called when data arrive from the server.
	OnReceive func()

	// Secrets, if not nil, removes secrets from requests, errors and logs. The credentials are
	// added to it.
	Secrets *redact.Redactor

	// Logger, if not nil, logs requests and responses.
	Logger *slog.Logger

	// Transport, if not nil, replaces the network. Network and Connect are then ignored.
	Transport http.RoundTripper
}

// Google has the options for Google's servers; clients of other providers ignore it. The zero
// Google is for the Gemini API with a key.
type Google struct {
	Bearer bool // the key is sent as a bearer token

	// Vertex asks Vertex AI instead of the Gemini API: with a key, or with
	// Account for Project and Location.
	Vertex            bool
	Project, Location string

	// CodeAssist asks Gemini Code Assist, with Account, for Project or else for the account's
	// project. The account is set up if necessary.
	CodeAssist bool

	// Account returns the credentials of a Google account, in the JSON of Google's tools, and
	// their origin. It is called when a token is needed. If it returns none, the token is from
	// the metadata server: the host Metadata, or Google's usual address.
	Account  func() (data []byte, from string, err error)
	Metadata string

	// Quota is the project for the quota, if not the project of Account.
	Quota string

	// Presets are the default settings of conversations; nil has the built-in presets.
	Presets *preset.Table

	// APIVersion is the first element of the path; v1beta if empty, v1beta1
	// for Vertex AI, v1internal for Code Assist.
	APIVersion string
}

// A Genai is a Generator that asks the Gemini API, Vertex AI or Code Assist. It
// makes no connection, and looks for no credential, before it is first used.
type Genai struct {
	opts   Options
	client *Client
	tokens *tokenSource
	assist *codeAssist // nil for other APIs
	cache  cache
}

// NewGenai returns a Genai. The error, if any, is a [Config] or [Auth] error.
func NewGenai(o Options) (*Genai, error) {
	if err := o.checkAccount(); err != nil {
		return nil, err
	}
	base, err := parseBase(o)
	if err != nil {
		return nil, err
	}
	g := &Genai{opts: o}
	g.tokens = newTokenSource(g.credential)
	variable, _ := o.address()
	g.client, err = newClient(o, base, dialect{address: variable, pay: g.pay, forget: g.forget,
		header: g.header, advise: g.advise})
	if o.Google.CodeAssist {
		g.assist = &codeAssist{wanted: o.Google.Project, client: g.client, url: g.url, project: make(chan string, 1)}
		g.assist.project <- ""
	}
	return g, err
}

// pay finds the credential for x, and returns the body.
func (g *Genai) pay(x *exchange) (body buffers, err error) {
	if !modelName(x.model) {
		return nil, &Error{Kind: BadRequest, Final: true,
			Message: fmt.Sprintf("%q is not the name of a model", x.model), Advice: hintModel}
	}
	if x.credential, err = g.tokens.take(x.ctx, x); err != nil {
		return nil, err
	}
	if g.assist == nil {
		return x.body, nil
	}
	if err := g.assist.use(x); err != nil {
		return nil, err
	}
	return enveloped(x)
}

// forget drops a refused token, which may have been revoked.
func (g *Genai) forget(x *exchange) bool {
	if g.opts.Google.Account == nil {
		return false
	}
	g.tokens.drop(x.credential)
	return true
}

// dontFollow refuses redirects.
func dontFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close drops the connections that are kept for the next request.
func (g *Genai) Close() error { return g.client.Close() }

// userAgent returns the User-Agent, in the form that the server expects of a command line client.
func (o Options) userAgent(model string) string {
	version, surface := cmp.Or(o.Version, "0"), cmp.Or(o.Surface, "terminal")
	return fmt.Sprintf("gemline/%s/%s (%s; %s; %s)", version, model, runtime.GOOS, runtime.GOARCH, surface)
}

// header fills the header of a request on behalf of x.
func (g *Genai) header(h http.Header, x *exchange) {
	h.Set("X-Goog-Api-Client", "gl-go/"+runtime.Version())
	switch {
	case x.credential.secret == "":
	case x.credential.token || g.opts.Google.Bearer:
		h.Set("Authorization", "Bearer "+x.credential.secret)
	default:
		h.Set("X-Goog-Api-Key", x.credential.secret)
	}
	if x.credential.quota != "" {
		h.Set("X-Goog-User-Project", x.credential.quota)
	}
}

// url returns an address; rest follows the version of the API in its path.
func (g *Genai) url(rest string) *url.URL {
	o := g.opts.Google
	version := o.APIVersion
	switch {
	case version != "":
	case o.CodeAssist:
		version = "v1internal"
	case o.Vertex:
		version = "v1beta1"
	default:
		version = "v1beta"
	}
	base := *g.client.base
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/"+version) // many users write the version into the address
	return base.JoinPath(version + rest)
}

// modelURL returns the address of an action of a model, such as generateContent.
func (g *Genai) modelURL(model, action string) *url.URL {
	o := g.opts.Google
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

// advise rewords an error of the credentials if they are an account's, and has advice for a model
// that can't think.
func (g *Genai) advise(e *Error) {
	if e.Kind == BadRequest && hasAny(e.Message, "thinking is not", "thinking level is not", "support thinking") {
		e.Advice = hintThinking
	}
	if e.Kind != Auth || g.opts.Google.Account == nil && !g.opts.Google.CodeAssist {
		return
	}
	e.Message = strings.Replace(e.Message, "the API key was refused", "the credentials were refused", 1)
	switch {
	case e.Advice != hintKey && e.Advice != hintAccess:
	case g.opts.Google.Account == nil:
		e.Advice = hintToken
	default:
		e.Advice = hintAccount
	}
}

// Generate implements [engine.Generator]. If req belongs to a conversation, [Google.Presets] are
// the defaults of its settings.
func (g *Genai) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return Chunks(ctx, func(emit func(*genai.GenerateContentResponse) error) error { return g.generate(ctx, req, emit) })
}

func (g *Genai) generate(ctx context.Context, req *engine.Request,
	emit func(*genai.GenerateContentResponse) error) error {
	name, said := g.body(req)
	known := &g.cache
	if req.OneShot { // not cached: its messages may change, and are not sent again
		known = nil
	}
	body, err := said.encode(known)
	if err != nil {
		return fmt.Errorf("the request can't be written as JSON: %w", err)
	}
	q := question{model: name, method: http.MethodPost, body: body, notify: req.Notify}
	if q.url = g.modelURL(name, "generateContent"); !req.OneShot {
		q.url = g.modelURL(name, "streamGenerateContent")
		q.url.RawQuery = "alt=sse"
	}
	return g.client.ask(ctx, q, func(a *Answer) error { return g.receive(a, emit) })
}

// body returns the requested model and the body of req, which redacts the known secrets.
func (g *Genai) body(req *engine.Request) (model string, b body) {
	model, config := req.Model, &genai.GenerateContentConfig{}
	if !req.OneShot {
		p := g.opts.Google.Presets.Chat(req.Model, req.Again)
		model, config = p.Model, p.Config
	}
	config = Merge(config, req.Config)
	config.ThinkingConfig = preset.FitThinking(model, config.ThinkingConfig)
	return model, body{req.Contents, config, g.client.redact}
}

// receive reads an answer.
func (g *Genai) receive(a *Answer, emit func(*genai.GenerateContentResponse) error) error {
	d := decoder{wrapped: g.opts.Google.CodeAssist}
	_, err := a.Stream(func(data []byte) error {
		chunk, fault, err := d.decode(data)
		if a.whole && chunk != nil && chunk.Candidates == nil && chunk.PromptFeedback == nil && chunk.UsageMetadata == nil {
			err = fmt.Errorf("%s is not part of an answer", oneLine(string(data[:min(len(data), 100)])))
		}
		switch {
		case err != nil:
			return a.Unreadable(err, data)
		case fault != nil:
			return a.Fault(fault)
		case len(chunk.Candidates) > 0 && chunk.Candidates[0] != nil && !resumable(chunk.Candidates[0].FinishReason):
			a.Over()
		}
		return emit(chunk)
	})
	return err
}

// Count implements [engine.Generator]. The API counts contents only.
func (g *Genai) Count(ctx context.Context, req *engine.Request) (int, error) {
	body, err := body{contents: req.Contents, redact: g.client.redact}.encode(nil)
	if err != nil {
		return 0, fmt.Errorf("the request can't be written as JSON: %w", err)
	}
	name := g.opts.Google.Presets.Chat(req.Model, false).Model
	q := question{model: name, method: http.MethodPost, url: g.modelURL(name, "countTokens"), body: body, notify: req.Notify}
	var count struct {
		TotalTokens *int
		Error       json.RawMessage
	}
	err = g.client.ask(ctx, q, func(a *Answer) error {
		switch err := a.Document(&count); {
		case err != nil:
			return err
		case isPresent(count.Error):
			return a.Fault(count.Error)
		case count.TotalTokens == nil || *count.TotalTokens < 0:
			return a.Unreadable(errors.New("no totalTokens"), nil)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return *count.TotalTokens, nil
}

// Merge returns a copy of over with the values of base where over has none. Either may be nil.
func Merge(base, over *genai.GenerateContentConfig) *genai.GenerateContentConfig {
	base, over = cmp.Or(base, &genai.GenerateContentConfig{}), cmp.Or(over, &genai.GenerateContentConfig{})
	c := *over
	is, was := reflect.ValueOf(&c).Elem(), reflect.ValueOf(base).Elem()
	for i := range is.NumField() {
		if f := is.Field(i); f.IsZero() {
			f.Set(was.Field(i))
		}
	}
	return &c
}
