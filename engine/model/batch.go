package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Job is a batch of requests that the server works on by itself, for as long
// as a day.
type Job struct {
	Name  string // the server's for it, such as batches/abc123
	Title string // ours
	State string // such as pending, running or succeeded

	// Over says that nothing more will come. Err is why there are no
	// replies, an [*Error], or nil.
	Over bool
	Err  error

	// Replies are the answers to the requests of a job that is over, by key.
	Replies map[string]Reply
}

// A Reply is the answer to a request of a [Job], or an [*Error].
type Reply struct {
	Response *genai.GenerateContentResponse
	Err      error
}

// Submit has the server work on requests to one model, which are known by
// their place as [Key] has it. It returns the name of the job. Where the error
// does not come from the server, the server may have taken the job all the
// same; [Genai.Find] tells.
func (g *Genai) Submit(ctx context.Context, title string, requests []*engine.Request) (name string, err error) {
	src := &genai.BatchJobSource{}
	for i, req := range requests {
		config := Merge(Preset(req.Model), req.Config)
		config.HTTPOptions = nil
		if config.SystemInstruction != nil {
			config.SystemInstruction = g.redacted(config.SystemInstruction)[0]
		}
		src.InlinedRequests = append(src.InlinedRequests, &genai.InlinedRequest{Contents: g.redacted(req.Contents...), Config: config,
			Metadata: map[string]string{"key": Key(i)}})
	}
	if len(requests) == 0 {
		return "", errors.New("a job without requests")
	}
	model := requests[0].Model
	b, x, err := g.operate(ctx, model, func(ctx context.Context, client *genai.Client) error {
		_, err := client.Batches.Create(ctx, model, src, &genai.CreateBatchJobConfig{DisplayName: title})
		return err
	})
	if err != nil {
		return "", err
	}
	j, err := g.job(x, b)
	return j.Name, err
}

// Key names the request at a place of a job.
func Key(i int) string { return strconv.Itoa(i) }

// Look returns how far a job is.
func (g *Genai) Look(ctx context.Context, name string) (Job, error) {
	b, x, err := g.operate(ctx, name, func(ctx context.Context, client *genai.Client) error {
		_, err := client.Batches.Get(ctx, name, nil)
		return err
	})
	if err != nil {
		return Job{}, err
	}
	return g.job(x, b)
}

// Find returns the name of the job with a title of ours, "" if there is none
// among the recent ones.
func (g *Genai) Find(ctx context.Context, title string) (name string, err error) {
	const pages, size = 20, 100
	token := ""
	for range pages {
		b, x, err := g.operate(ctx, "batches", func(ctx context.Context, client *genai.Client) error {
			_, err := client.Batches.List(ctx, &genai.ListBatchJobsConfig{PageSize: size, PageToken: token})
			return err
		})
		if err != nil {
			return "", err
		}
		var list struct {
			Operations []jobOperation
			Next       string `json:"nextPageToken"`
		}
		if err := json.Unmarshal(b, &list); err != nil {
			return "", g.garbled(err, b)
		}
		for _, o := range list.Operations {
			if o.Metadata.DisplayName == title {
				j, err := g.read(x, o)
				return j.Name, err
			}
		}
		if token = list.Next; token == "" {
			break
		}
	}
	return "", nil
}

// operate has call make a request about jobs, and returns the answer.
func (g *Genai) operate(ctx context.Context, about string, call func(context.Context, *genai.Client) error) ([]byte, *exchange, error) {
	x := &exchange{model: about, whole: true}
	defer x.end()
	if err := g.send(ctx, x, call); err != nil {
		return nil, nil, err
	}
	b, err := newEventReader(x).all()
	if err != nil {
		return nil, nil, g.lost(ctx, x, err)
	}
	if len(b) > 0 && b[0] == '<' {
		return nil, nil, g.failed(g.failure(x.resp.StatusCode, x.resp.Header, b), x)
	}
	return b, x, nil
}

// A jobOperation is a job as the server tells of it. What came of it is in the
// metadata or in the response, or in both.
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

// job reads an answer that tells of a job.
func (g *Genai) job(x *exchange, b []byte) (Job, error) {
	var o jobOperation
	if err := json.Unmarshal(b, &o); err != nil {
		return Job{}, g.garbled(err, b)
	}
	return g.read(x, o)
}

func (g *Genai) read(x *exchange, o jobOperation) (Job, error) {
	j := Job{Name: cmp.Or(o.Name, o.Metadata.Name), Title: o.Metadata.DisplayName}
	if id, ok := strings.CutPrefix(j.Name, "batches/"); !ok || !pathWord(id) {
		return Job{}, g.garbled(fmt.Errorf("%q is not the name of a job", brief60(j.Name)), []byte(j.Name))
	}
	j.State = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(o.Metadata.State, "BATCH_STATE_"), "JOB_STATE_"))
	j.State = strings.ReplaceAll(oneLine(j.State), "_", " ")
	switch j.State {
	case "succeeded", "failed", "cancelled", "expired", "partially succeeded":
		j.Over = true
	}
	if j.Over = j.Over || o.Done; !j.Over {
		return j, nil
	}
	out := o.Metadata.Output.InlinedResponses.InlinedResponses
	if len(out) == 0 {
		out = o.Response.InlinedResponses.InlinedResponses
	}
	switch {
	case given(o.Error):
		j.Err = g.failed(g.status(o.Error), x)
	case len(out) == 0:
		j.Err = &Error{Kind: Unavailable, Code: strings.ToUpper(j.State), Final: true, Message: fmt.Sprintf("the server's job %s has %s, with no replies", j.Name, cmp.Or(j.State, "ended")),
			Hint: "--batch-fresh begins anew"}
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
	switch {
	case given(fault):
		return Reply{Err: g.failed(g.status(fault), x)}
	case !given(response):
		return Reply{Err: &Error{Kind: Invalid, Code: "NO_RESPONSE", Message: "the server's job has no answer to this request"}}
	}
	chunk, wrong, err := (&decoder{}).decode(response)
	switch {
	case err != nil:
		return Reply{Err: g.garbled(err, response)}
	case wrong != nil:
		return Reply{Err: g.failed(g.status(wrong), x)}
	}
	return Reply{Response: chunk}
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// status reads the error of a job or of one of its requests. Its code is one
// of gRPC, other than that of an answer's header.
func (g *Genai) status(raw json.RawMessage) failure {
	raw = []byte(g.redact.Known(string(raw)))
	f := failure{}
	var s struct{ Code int }
	json.Unmarshal(raw, &s) // read finds out more
	f.read(raw)
	if http, ok := httpOf[s.Code]; ok {
		f.code = http
	}
	if f.code == 0 {
		f.code = http.StatusInternalServerError
	}
	return f
}

// httpOf are the codes of gRPC in those of HTTP, as Google's APIs have them.
var httpOf = map[int]int{1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501,
	13: 500, 14: 503, 15: 500, 16: 401}

func brief60(s string) string { return s[:min(len(s), 60)] }

// whole returns the body that the library has made for a request.
func whole(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// Once returns a Generator that gives a reply to the first request, and refuses
// any other: a job answers each request once.
func (r Reply) Once() engine.Generator { return Retry(&replay{reply: r}, RetryOptions{Attempts: 1}) }
