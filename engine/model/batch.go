package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Job is a batch of requests that the server processes asynchronously, for up to a day.
type Job struct {
	Name  string // the server's name, such as batches/abc123
	Title string // the program's title
	State string // such as pending, running or succeeded

	// Done says that the job is over. Err says why there are no replies: an [*Error], or nil.
	Done bool
	Err  error

	// Replies are the answers to the requests of a finished job, by key.
	Replies map[string]Reply
}

// A Reply is the answer to a request of a [Job], or an [*Error].
type Reply struct {
	Response *genai.GenerateContentResponse
	Err      error
}

// Submit submits requests to one model as a job, and returns its name. [Key] returns the key of a
// request by its index. After an error that does not come from the server, the job may exist
// nevertheless: see [Genai.FindJob].
func (g *Genai) Submit(ctx context.Context, title string, requests []*engine.Request) (name string, err error) {
	if len(requests) == 0 {
		return "", errors.New("a job without requests")
	}
	type inlined struct {
		Request  json.RawMessage   `json:"request"`
		Metadata map[string]string `json:"metadata"`
	}
	var all []inlined
	model := ""
	for i, req := range requests {
		name, said := g.body(req)
		model = name
		b, err := said.encode(nil)
		if err != nil {
			return "", fmt.Errorf("the request can't be written as JSON: %w", err)
		}
		all = append(all, inlined{b.text(), map[string]string{"key": Key(i)}})
	}
	body, err := text.JSON(map[string]any{"batch": map[string]any{"displayName": title,
		"inputConfig": map[string]any{"requests": map[string]any{"requests": all}}}}, "")
	if err != nil {
		return "", err
	}
	j, err := g.job(ctx, question{model: model, method: http.MethodPost,
		url: g.modelURL(model, "batchGenerateContent"), body: buffers{body}})
	return j.Name, err
}

// Key returns the key of the request at an index of a job.
func Key(i int) string { return strconv.Itoa(i) }

// JobStatus returns the state of a job.
func (g *Genai) JobStatus(ctx context.Context, name string) (Job, error) {
	return g.job(ctx, question{model: name, method: http.MethodGet, url: g.url("/" + name)})
}

// job makes a request whose answer is a job.
func (g *Genai) job(ctx context.Context, q question) (j Job, err error) {
	err = g.client.ask(ctx, q, func(a *Answer) error {
		var o jobOperation
		if err := a.Document(&o); err != nil {
			return err
		}
		j, err = g.read(a.x, o)
		return err
	})
	return j, err
}

// FindJob returns the name of the recent job with a title, "" if there is none.
func (g *Genai) FindJob(ctx context.Context, title string) (name string, err error) {
	const pages, size = 20, 100
	token := ""
	for range pages {
		var list struct {
			Operations []jobOperation
			Next       string `json:"nextPageToken"`
		}
		q := question{model: "batches", method: http.MethodGet, url: g.url("/batches")}
		q.url.RawQuery = pageQuery(size, token)
		err := g.client.ask(ctx, q, func(a *Answer) error {
			if err := a.Document(&list); err != nil {
				return err
			}
			for _, o := range list.Operations {
				if o.Metadata.DisplayName == title {
					j, err := g.read(a.x, o)
					name, list.Next = j.Name, ""
					return err
				}
			}
			return nil
		})
		if token = list.Next; err != nil || token == "" {
			return name, err
		}
	}
	return "", nil
}

// A jobOperation is the server's description of a job. The results are in the metadata, in the
// response, or in both.
type jobOperation struct {
	Name     string
	Done     bool
	Error    json.RawMessage
	Response jobOutput
	Metadata struct {
		Name, DisplayName string
		State             string
		Output            jobOutput
	}
}

type jobOutput struct {
	InlinedResponses struct {
		InlinedResponses []struct {
			Response json.RawMessage
			Error    json.RawMessage
			Metadata map[string]any
		}
	}
}

// read returns the Job in an answer.
func (g *Genai) read(x *exchange, o jobOperation) (Job, error) {
	j := Job{Name: cmp.Or(o.Name, o.Metadata.Name), Title: o.Metadata.DisplayName}
	if id, ok := strings.CutPrefix(j.Name, "batches/"); !ok || !pathWord(id) {
		return Job{}, &malformed{fmt.Errorf("%.60q is not the name of a job", j.Name), []byte(j.Name)}
	}
	j.State = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(o.Metadata.State, "BATCH_STATE_"), "JOB_STATE_"))
	j.State = strings.ReplaceAll(oneLine(j.State), "_", " ")
	switch j.State {
	case "succeeded", "failed", "cancelled", "expired", "partially succeeded":
		j.Done = true
	}
	if j.Done = j.Done || o.Done; !j.Done {
		return j, nil
	}
	out := o.Metadata.Output.InlinedResponses.InlinedResponses
	if len(out) == 0 {
		out = o.Response.InlinedResponses.InlinedResponses
	}
	switch {
	case isPresent(o.Error):
		j.Err = g.client.explain(x, g.status(o.Error))
	case len(out) == 0:
		j.Err = &Error{Kind: Unavailable, Code: strings.ToUpper(j.State), Final: true,
			Message: fmt.Sprintf("the server's job %s has %s, with no replies", j.Name, cmp.Or(j.State, "ended")),
			Advice:  "--batch-fresh begins anew"}
	}
	j.Replies = map[string]Reply{}
	for i, r := range out {
		key, ok := r.Metadata["key"].(string)
		if !ok {
			key = Key(i)
		}
		j.Replies[key] = g.reply(x, r.Response, r.Error)
	}
	return j, nil
}

func (g *Genai) reply(x *exchange, response, fault json.RawMessage) Reply {
	var r Reply
	var err error
	switch {
	case isPresent(fault):
	case !isPresent(response):
		err = &Error{Kind: Invalid, Code: "NO_RESPONSE", Message: "the server's job has no answer to this request"}
	default:
		if r.Response, fault, err = (&decoder{}).decode(response); err != nil {
			err = &malformed{err, response}
		}
	}
	if isPresent(fault) {
		err = g.status(fault)
	}
	if err != nil {
		return Reply{Err: g.client.explain(x, err)}
	}
	for _, c := range r.Response.Candidates {
		if c != nil {
			c.ContinuationToken = nil // a job can't continue an answer, so it counts as cut off
		}
	}
	return r
}

func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// status reads the error of a job or of a request in the job. The code in it is a gRPC code,
// not the HTTP status of an answer's header.
func (g *Genai) status(raw json.RawMessage) *failure {
	f := &failure{}
	var s struct{ Code int }
	json.Unmarshal(raw, &s) // f.read reads the rest
	f.read([]byte(g.client.redact.RedactKnown(string(raw))))
	if code, ok := httpOf[s.Code]; ok {
		f.code = code
	}
	f.code = cmp.Or(f.code, http.StatusInternalServerError)
	return f
}

// httpOf maps gRPC codes to HTTP statuses, as Google's APIs do.
var httpOf = map[int]int{1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400,
	10: 409, 11: 400, 12: 501,
	13: 500, 14: 503, 15: 500, 16: 401}

// Generator returns a Generator that answers the first request with the reply, and refuses
// further requests: a job answers each request once.
func (r Reply) Generator() engine.Generator {
	return Retry(&replay{reply: r}, RetryOptions{Attempts: 1})
}
