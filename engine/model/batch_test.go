package model_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

func asking(text string) *engine.Request {
	return &engine.Request{Model: "gemini-2.5-flash", Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)},
		Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("be <brief>", genai.RoleUser), MaxOutputTokens: 77}}
}

func newJobs(t *testing.T, s *et.Server) *model.Genai {
	t.Helper()
	t.Cleanup(s.Close)
	g, err := model.NewGenai(model.Options{APIKey: "key-of-the-test", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// A job is taken on, looked at until it is over, and gives each request its
// answer or its own error.
func TestJob(t *testing.T) {
	s := et.NewServer(et.Says("the first"), et.DailyQuota(), et.Unavailable(), et.Blocked())
	s.Polls = 1
	s.Add()
	g := newJobs(t, s)
	name, err := g.Submit(t.Context(), "a title", []*engine.Request{asking("one"), asking("two"), asking("three"), asking("four")})
	if err != nil || name != "batches/job1" {
		t.Fatalf("%q, %v", name, err)
	}
	sent := s.Requests()[0]
	if sent.Path != "/v1beta/models/gemini-2.5-flash:batchGenerateContent" || sent.Header.Get("X-Goog-Api-Key") != "key-of-the-test" {
		t.Errorf("%s %v", sent.Path, sent.Header)
	}
	for _, want := range []string{`"displayName":"a title"`, `"text":"one"`, `"systemInstruction"`, `brief`, `"maxOutputTokens":77`, `"key":"3"`, `"generationConfig"`} {
		if !strings.Contains(string(sent.Body), want) {
			t.Errorf("%s is not in %s", want, sent.Body)
		}
	}
	if found, err := g.FindJob(t.Context(), "a title"); found != name || err != nil {
		t.Errorf("%q, %v", found, err)
	}
	if found, err := g.FindJob(t.Context(), "another"); found != "" || err != nil {
		t.Errorf("%q, %v", found, err)
	}
	j, err := g.JobStatus(t.Context(), name)
	if err != nil || j.Done || j.State != "running" || j.Title != "a title" {
		t.Errorf("%+v, %v", j, err)
	}
	j, err = g.JobStatus(t.Context(), name)
	if err != nil || !j.Done || j.Err != nil || len(j.Replies) != 4 {
		t.Fatalf("%+v, %v", j, err)
	}
	if r := j.Replies["0"]; r.Err != nil || r.Response.Candidates[0].Content.Parts[0].Text != "the first" {
		t.Errorf("%+v", r)
	}
	for key, kind := range map[string]model.Kind{"1": model.Quota, "2": model.Unavailable} {
		var e *model.Error
		if !errors.As(j.Replies[key].Err, &e) || e.Kind != kind {
			t.Errorf("%s: %+v", key, j.Replies[key].Err)
		}
	}
	_, err = heard(t, j.Replies["3"].Generator())
	if e := (*model.Error)(nil); !errors.As(err, &e) || e.Kind != model.Refused {
		t.Errorf("%v", err)
	}
}

// heard asks once and returns the text.
func heard(t *testing.T, g engine.Generator) (text string, err error) {
	t.Helper()
	for chunk, err := range g.Generate(t.Context(), asking("")) {
		if err != nil {
			return text, err
		}
		text += chunk.Text()
	}
	return text, nil
}

// A reply is given once.
func TestReply(t *testing.T) {
	said := et.Says("yes").Chunks
	g := model.Reply{Response: said[len(said)-1]}.Generator()
	if text, err := heard(t, g); text != "yes" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := heard(t, g); text != "" || err == nil || !strings.Contains(err.Error(), "answers once") {
		t.Errorf("%q, %v", text, err)
	}
}

// An answer that would go on in another request is cut short: a job makes none.
func TestReplyContinues(t *testing.T) {
	j, err := rawServer(t, `{"name":"batches/x","done":true,"response":{"inlinedResponses":{"inlinedResponses":[{"metadata":{"key":"0"},"response":`+
		`{"candidates":[{"content":{"parts":[{"text":"half"}]},"finishReason":"CONTINUATION","continuationToken":"dG9rZW4="}]}}]}}}`).JobStatus(t.Context(), "batches/x")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := heard(t, j.Replies["0"].Generator()); text != "half" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// What servers say of jobs that came to nothing, or that makes no sense.
func TestJobsGoneWrong(t *testing.T) {
	const done = `{"name":"batches/x","done":true,`
	for _, c := range []struct{ body, state, err, jobErr string }{
		{`{"name":"batches/x","metadata":{"state":"BATCH_STATE_EXPIRED"}}`, "expired", "", "batches/x has expired, with no replies"},
		{`{"name":"batches/x","metadata":{"state":"BATCH_STATE_FAILED"},"error":{"code":8,"message":"no more"}}`, "failed", "", "no more"},
		{`{"name":"batches/x","metadata":{"state":"BATCH_STATE_SOMETHING_ELSE"}}`, "something else", "", ""},
		{done + `"response":{"inlinedResponses":{"inlinedResponses":[{"response":{"candidates":[]}}]}}}`, "", "", ""},
		{`{"name":"batches/../x"}`, "", "is not the name of a job", ""},
		{`{}`, "", "is not the name of a job", ""},
		{`[]`, "", "makes no sense", ""},
		{`{"name":`, "", "makes no sense", ""},
		{`<html><title>Log in</title></html>`, "", "with a web page: Log in", ""},
	} {
		t.Run(c.body, func(t *testing.T) {
			j, err := rawServer(t, c.body).JobStatus(t.Context(), "batches/x")
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v", err)
			}
			if err == nil && (j.State != c.state || (j.Err == nil) != (c.jobErr == "") || j.Err != nil && !strings.Contains(j.Err.Error(), c.jobErr)) {
				t.Errorf("%+v", j)
			}
		})
	}
	_, err := newJobs(t, et.NewServer(et.BadRequest("too much"))).Submit(t.Context(), "t", []*engine.Request{asking("one")})
	if e := (*model.Error)(nil); !errors.As(err, &e) || e.HTTP != http.StatusBadRequest {
		t.Errorf("%v", err)
	}
}

// Whatever a server says of a job, it is an error or a job, and what that has
// for a request is an answer or an error.
func FuzzJob(f *testing.F) {
	f.Add(`{"name":"batches/x","done":true,"response":{"inlinedResponses":{"inlinedResponses":[{"response":{"candidates":[]},"metadata":{"key":"0"}},{"error":{"code":8}},{}]}}}`)
	f.Add(`{"name":"batches/x","metadata":{"state":"BATCH_STATE_FAILED"},"error":{"code":"x","message":7,"details":[1]}}`)
	f.Add(`{"name":"batches/x","done":true,"error":"no"}`)
	f.Fuzz(func(t *testing.T, body string) {
		j, err := rawServer(t, body).JobStatus(t.Context(), "batches/x")
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		if j.Name == "" || !j.Done && j.Replies != nil {
			t.Fatalf("%+v", j)
		}
		for _, r := range j.Replies {
			if (r.Response == nil) == (r.Err == nil) {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// rawServer answers everything with a body.
func rawServer(t testing.TB, body string) *model.Genai {
	t.Helper()
	g, err := model.NewGenai(model.Options{APIKey: "key", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: readCloser{strings.NewReader(body)}, Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
