package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/network"
)

const key = "AIza-very-secret"

// dial returns a Genai that talks to a server that gives replies.
func dial(t testing.TB, replies ...et.Reply) (*model.Genai, *et.Server) {
	t.Helper()
	s := et.NewServer(replies...)
	t.Cleanup(s.Close)
	g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: s.URL, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, s
}

// told returns what the user is told of an error.
func told(e *model.Error) string {
	return strings.TrimSuffix(e.Message+"\nhint: "+e.Hint(), "\nhint: ")
}

func ask(text string) *engine.Request {
	return &engine.Request{Model: "gemini-2.5-pro", Contents: []*genai.Content{genai.NewContentFromText(text, genai.RoleUser)}}
}

// hear returns all text of an answer and how it ended.
func hear(t testing.TB, g engine.Generator, req *engine.Request) (string, error) {
	t.Helper()
	var b strings.Builder
	for chunk, err := range g.Generate(t.Context(), req) {
		if err != nil {
			return b.String(), err
		}
		for _, c := range chunk.Candidates {
			if c.Content != nil {
				for _, p := range c.Content.Parts {
					b.WriteString(p.Text)
				}
			}
		}
	}
	return b.String(), nil
}

func TestGenai(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := dial(t, replies...)
		return g
	})
}

// TestStack puts everything around a Genai that main does.
func TestStack(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := dial(t, replies...)
		r, err := model.Record(g, filepath.Join(t.TempDir(), "out.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return model.Retry(r, model.RetryOptions{Attempts: 1})
	})
}

func TestWire(t *testing.T) {
	three := et.Streams("one ", "two ", "three")
	huge := 20 << 20
	if et.Raced {
		huge = 2 << 20 // one goroutine reads all of it
	}
	for _, c := range []struct {
		name  string
		reply et.Reply
		want  string
		err   string // a part of it
	}{
		{"plain", three, "one two three", ""},
		{"keep-alive", et.KeepAlive(three), "one two three", ""},
		{"named", et.Named(three), "one two three", ""},
		{"many lines", et.ManyLines(three), "one two three", ""},
		{"byte order mark", et.WithBOM(three), "one two three", ""},
		{"done", et.WithDone(three), "one two three", ""},
		{"done and stalled", et.Stalled(et.WithDone(three)), "one two three", ""},
		{"mixed line ends", et.MixedEnds(et.Streams("a", "b", "c", "d", "e", "f", "g")), "abcdefg", ""},
		{"bare", et.Bare(three), "one two three", ""},
		{"bytewise", et.Bytewise(et.Streams("ä", "ö")), "äö", ""},
		{"empty", et.Empty(), "", ""},
		{"one document", et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"}]}}]}`), "all", ""},
		{"a list", et.Whole(`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"candidates":[{"content":{"parts":[{"text":"b"}]}}]}]`), "ab", ""},
		{"null", et.Reply{Wire: &et.Wire{Pieces: []string{et.Event("null")}}}, "", ""},
		{"a list cut off", et.Whole(`[{"candidates":[{"content"`), "", "makes no sense"},
		{"a strange document", et.Whole(`{"hello":"world"}`), "", "not part of an answer"},
		{"a web page", et.WebPage(200, "Log in"), "", "with a web page: Log in"},
		{"a web page without a title", et.WebPage(200, ""), "", "answered 200 with a web page"},
		{"an error document", et.Whole(et.Unavailable().Wire.Body), "", "overloaded"},
		{"an error in the stream", et.ErrorInStream(three, et.RateLimited(time.Second)), "one two three", "exceeded your current quota"},
		{"invalid JSON", et.InvalidJSON(), "one", "makes no sense"},
		{"truncated", et.Truncated(), "one", "broke off"},
		{"reset", et.Reset(et.Unfinished("one")), "one", "broke off"},
		{"reset behind the end", et.Reset(three), "one two three", ""},
		{"reset behind a document", et.Reset(et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"}]},"finishReason":"STOP"}]}`)), "all", ""},
		{"reset in a document", et.Reset(et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"}]},"finish`)), "", "broke off"},
		{"reset where it goes on", et.Reset(et.Ends("one", genai.FinishReasonContinuation)), "one", "broke off"},
		{"a wrong type", et.Reply{Wire: &et.Wire{Pieces: []string{et.Event(`{"candidates":[{"content":{"parts":[{"text":5}]}}]}`)}}}, "", "makes no sense: unexpected number at candidates.content.parts.text in"},
		{"a rating that is no number", et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"}]},"finishReason":"STOP","avgLogprobs":"NaN"}]}`), "all", ""},
		{"a time that is none, before the answer", et.Whole(`{"createTime":5,"candidates":[{"citationMetadata":{"citations":[{"publicationDate":"x"}]},"content":{"parts":[{"text":"all"}]},"finishReason":"STOP"}]}`), "all", ""},
		{"a time that is none, before an error", et.Whole(`{"createTime":5,"error":{"code":500,"message":"out of order"}}`), "", "out of order"},
		{"tokens in quotes", et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"}]}}],"usageMetadata":{"promptTokenCount":"5","candidatesTokenCount":99999999999},"responseId":5}`), "all", ""},
		{"arguments in a text", et.Whole(`{"candidates":[{"content":{"parts":[{"text":"all"},{"functionCall":{"name":"f","args":"{\"a\":1}"}},{"functionCall":{"name":"g","args":{"b":"{}"}}}]},"finishReason":"STOP"}]}`), "all", ""},
		{"arguments in a text, and a wrong type", et.Whole(`{"candidates":[{"content":{"parts":[{"text":5},{"functionCall":{"name":"f","args":"{}"}}]}}]}`), "", "makes no sense"},
		{"huge", et.Huge(huge), et.Text(huge), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := dial(t, c.reply)
			got, err := hear(t, g, ask("hello"))
			if got != c.want {
				t.Errorf("heard %.100q, want %.100q", got, c.want)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			var e *model.Error
			if err != nil && (!errors.As(err, &e) || e.Answering == e.Final || strings.Contains(told(e), key)) {
				t.Errorf("error %#v", err)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply et.Reply
		want  model.Error
	}{
		{"bad key", et.BadKey(), model.Error{Kind: model.Auth, HTTP: 400, Code: "INVALID_ARGUMENT", Final: true,
			Message: "the API key was refused: API key not valid. Please pass a valid API key. (400 INVALID_ARGUMENT)"}},
		{"in a list", et.InArray(et.BadKey()), model.Error{Kind: model.Auth, HTTP: 400, Code: "INVALID_ARGUMENT", Final: true,
			Message: "the API key was refused: API key not valid. Please pass a valid API key. (400 INVALID_ARGUMENT)"}},
		{"unauthenticated", et.Unauthenticated(), model.Error{Kind: model.Auth, HTTP: 401, Code: "UNAUTHENTICATED", Final: true,
			Message: "the API key was refused: Request had invalid authentication credentials. (401 UNAUTHENTICATED)"}},
		{"forbidden", et.Forbidden(), model.Error{Kind: model.Auth, HTTP: 403, Code: "PERMISSION_DENIED", Final: true,
			Message: "access denied: Your API key was reported as leaked. Please use another API key. (403 PERMISSION_DENIED)"}},
		{"not found", et.NotFound("gemini-2.5-pro"), model.Error{Kind: model.NotFound, HTTP: 404, Code: "NOT_FOUND", Final: true,
			Message: "model gemini-2.5-pro: models/gemini-2.5-pro is not found for API version v1beta. (404 NOT_FOUND)"}},
		{"bad request", et.BadRequest("no such field"), model.Error{Kind: model.BadRequest, HTTP: 400, Code: "INVALID_ARGUMENT", Final: true,
			Message: "the request was refused: no such field (400 INVALID_ARGUMENT)"}},
		{"too long", et.BadRequest("The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
			model.Error{Kind: model.Overflow, HTTP: 400, Code: "INVALID_ARGUMENT", Final: true,
				Message: "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576). (400 INVALID_ARGUMENT)"}},
		{"rate", et.RateLimited(1500 * time.Millisecond), model.Error{Kind: model.Quota, HTTP: 429, Code: "RESOURCE_EXHAUSTED",
			RetryAfter: 1500 * time.Millisecond, Hinted: true, Message: "the server refused: You exceeded your current quota (429 RESOURCE_EXHAUSTED)"}},
		{"far off", et.RateLimited(time.Hour), model.Error{Kind: model.Quota, HTTP: 429, Code: "RESOURCE_EXHAUSTED", Final: true,
			RetryAfter: time.Hour, Hinted: true, Message: "the server refused: You exceeded your current quota (429 RESOURCE_EXHAUSTED)"}},
		{"daily", et.DailyQuota(), model.Error{Kind: model.Quota, HTTP: 429, Code: "RESOURCE_EXHAUSTED", Final: true, RetryAfter: 34070 * time.Millisecond, Hinted: true,
			Message: "the quota of requests per day is used up (429 RESOURCE_EXHAUSTED)"}},
		{"overloaded", et.Unavailable(), model.Error{Kind: model.Unavailable, HTTP: 503, Code: model.CodeCapacity,
			Message: "the server refused: The model is overloaded (503 UNAVAILABLE)"}},
		{"gateway", et.WebPage(502, "Bad Gateway"), model.Error{Kind: model.Unavailable, HTTP: 502,
			Message: "the server answered 502 with a web page: Bad Gateway"}},
		{"no such page", et.WebPage(404, "Not Found"), model.Error{Kind: model.Config, HTTP: 404, Final: true,
			Message: "there is nothing at HOST/v1beta/models/gemini-2.5-pro:streamGenerateContent: the server answered 404 with a web page: Not Found"}},
		{"nothing", et.Reply{Wire: &et.Wire{Status: 500, Pieces: []string{}}}, model.Error{Kind: model.Unavailable, HTTP: 500,
			Message: "the server answered 500 Internal Server Error"}},
		{"redirect", et.Reply{Wire: &et.Wire{Status: 307, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}, Pieces: []string{}}},
			model.Error{Kind: model.Config, HTTP: 307, Final: true, Message: "the server answered with a redirect (307), which is not followed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, c.reply)
			_, err := hear(t, g, ask("hello"))
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %#v", err)
			}
			got := *e
			if got.Advice == "" && got.Kind != model.BadRequest {
				t.Error("no hint")
			}
			got.Advice, got.Err, got.Message = "", nil, strings.Replace(got.Message, s.URL, "HOST", 1)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	s := et.NewServer()
	s.Close()
	g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	_, err = hear(t, g, ask("hello"))
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.Unavailable || e.Final || e.Answering {
		t.Fatalf("error %#v", err)
	}
	if !strings.Contains(told(e), "no answer from 127.0.0.1:") || !strings.Contains(told(e), "\nhint: start it, or set GOOGLE_GEMINI_BASE_URL to ") {
		t.Errorf("text %q", told(e))
	}
}

func TestIdle(t *testing.T) {
	for name, reply := range map[string]et.Reply{
		"before the answer": et.Slow(et.Says("late"), time.Hour),
		"in the answer":     et.Stalled(et.Streams("a")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := et.NewServer(reply)
			defer s.Close()
			// Seconds, since the request has to arrive in that time, also on a slow machine.
			g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: s.URL, Idle: 3 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			_, err = hear(t, g, ask("hello"))
			var e *model.Error
			if !errors.Is(err, model.ErrIdle) || !errors.As(err, &e) || e.Kind != model.Unavailable || e.Final {
				t.Errorf("error %#v", err)
			}
			<-s.Ended()
		})
	}
}

func TestRequest(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   model.Options
		path   string
		header map[string]string
	}{
		{"plain", model.Options{}, "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
			map[string]string{"X-Goog-Api-Key": key, "Authorization": "", "X-Server-Timeout": ""}},
		{"bearer", model.Options{Google: model.Google{Bearer: true, APIVersion: "v1"}}, "/v1/models/gemini-2.5-pro:streamGenerateContent",
			map[string]string{"X-Goog-Api-Key": "", "Authorization": "Bearer " + key}},
		{"version in the address", model.Options{BaseURL: "/gem/v1beta/"}, "/gem/v1beta/models/gemini-2.5-pro:streamGenerateContent", nil},
		{"path and header", model.Options{BaseURL: "/proxy/gem/", Header: http.Header{"X-Team": {"blue"}, "X-Goog-Api-Key": {"other"}}},
			"/proxy/gem/v1beta/models/gemini-2.5-pro:streamGenerateContent",
			map[string]string{"X-Goog-Api-Key": "other", "X-Team": "blue"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := et.NewServer(et.Says("hi"))
			defer s.Close()
			c.opts.APIKey, c.opts.BaseURL, c.opts.Version = key, s.URL+c.opts.BaseURL, "1.2.3"
			g, err := model.NewGenai(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if _, err := hear(t, g, ask("why <&>?")); err != nil {
				t.Fatal(err)
			}
			r := s.Requests()[0]
			if r.Path != c.path || r.Query != "alt=sse" || r.Method != "POST" {
				t.Errorf("%s %s?%s", r.Method, r.Path, r.Query)
			}
			for k, want := range c.header {
				if got := r.Header.Get(k); got != want {
					t.Errorf("%s: %q, want %q", k, got, want)
				}
			}
			if ua := r.Header.Get("User-Agent"); !strings.HasPrefix(ua, "gemline/1.2.3/gemini-2.5-pro (") || !strings.HasSuffix(ua, "; terminal)") {
				t.Errorf("User-Agent: %q", ua)
			}
			want := `{"contents":[{"parts":[{"text":"why <&>?"}],"role":"user"}],` +
				`"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`
			if string(r.Body) != want {
				t.Errorf("body\n%s\nwant\n%s", r.Body, want)
			}
		})
	}
}

func TestBody(t *testing.T) {
	g, s := dial(t, et.Says("hi"))
	req := &engine.Request{Model: "gemini-3.8-flash",
		Contents: []*genai.Content{
			{Role: "user", Parts: []*genai.Part{{Text: "q"}, nil}},
			nil,
			{Role: "model", Parts: []*genai.Part{
				{ThoughtSignature: []byte{1, 2, 3}},
				{FunctionCall: et.Call("c", "f", "n", 1), ThoughtSignature: []byte{4}}}},
			{Role: "user", Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: "f", Response: map[string]any{}}}}},
		},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "be <brief>"}}},
			Temperature:       genai.Ptr[float32](0),
			MaxOutputTokens:   9,
			ResponseMIMEType:  "application/json",
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", Description: "d",
				ParametersJsonSchema: json.RawMessage(`{"type": ["object","null"], "x-y": 1}`)}}}, {GoogleSearch: &genai.GoogleSearch{}}},
		}}
	if _, err := hear(t, g, req); err != nil {
		t.Fatal(err)
	}
	want := `{"contents":[` +
		`{"parts":[{"text":"q"}],"role":"user"},` +
		`{"parts":[{"text":"","thoughtSignature":"AQID"},{"functionCall":{"id":"c","args":{"n":1},"name":"f"},"thoughtSignature":"BA=="}],"role":"model"},` +
		`{"parts":[{"functionResponse":{"id":"c","name":"f","response":{}}}],"role":"user"}],` +
		`"systemInstruction":{"parts":[{"text":"be <brief>"}],"role":"user"},` +
		`"tools":[{"functionDeclarations":[{"description":"d","name":"f","parametersJsonSchema":{"type":["object","null"],"x-y":1}}]},{"googleSearch":{}}],` +
		`"generationConfig":{"temperature":0,"maxOutputTokens":9,"responseMimeType":"application/json","thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}}`
	if got := string(s.Requests()[0].Body); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	if req.Config.SystemInstruction.Role != "" || req.Config.Tools == nil {
		t.Error("the request was changed")
	}
}

func TestCount(t *testing.T) {
	g, s := dial(t)
	s.Tokens = 31
	s.CountReplies = []et.Reply{et.Whole(`{"totalTokens":31}`), et.Unavailable(), et.WebPage(200, "Log in"),
		et.Whole(`{}`), et.Whole(``), et.Whole(`{"totalTokens":`), et.Whole(et.BadKey().Wire.Body)}
	req := ask("hello")
	req.Config = &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("x", "user")}
	if n, err := g.Count(t.Context(), req); n != 31 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	r := s.Requests()[0]
	if r.Path != "/v1beta/models/gemini-2.5-pro:countTokens" || string(r.Body) != `{"contents":[{"parts":[{"text":"hello"}],"role":"user"}]}` {
		t.Errorf("%s %s", r.Path, r.Body)
	}
	s.CountReplies = append(s.CountReplies, et.Whole(`{"error":{"code":400,"message":"not you"},"id":7}`))
	var last error
	for range 7 {
		var n int
		if n, last = g.Count(t.Context(), req); !errors.As(last, new(*model.Error)) {
			t.Errorf("counted %d, %v, want an error", n, last)
		}
	}
	if last == nil || !strings.Contains(last.Error(), "not you") {
		t.Error(last)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		opts model.Options
		want string
	}{
		{"no key", model.Options{}, "no API key"},
		{"key with newline", model.Options{APIKey: "a\nb"}, "holds characters"},
		{"http elsewhere", model.Options{APIKey: key, BaseURL: "http://example.com"}, "http is for this machine only"},
		{"no scheme", model.Options{APIKey: key, BaseURL: "localhost:8080"}, "must begin with https://"},
		{"no host", model.Options{APIKey: key, BaseURL: "https:///x"}, "names no server"},
		{"query", model.Options{APIKey: key, BaseURL: "https://s3cret:s3cret@example.com/?key=s3cret#s3cret"}, "must end with its path"},
		{"a user that is a key", model.Options{APIKey: key, BaseURL: "http://s3cret@example.com/"}, "http is for this machine only"},
		{"no URL", model.Options{APIKey: key, BaseURL: "https://u:p@[bad"}, "is not a URL"},
		{"loopback", model.Options{APIKey: key, BaseURL: "http://[::1]:80/x/"}, ""},
		{"localhost", model.Options{APIKey: key, BaseURL: " http://LOCALHOST:1 "}, ""},
		{"bad proxy", model.Options{APIKey: key, Network: network.From(func(string) string { return "http://[" })}, "proxy is not a URL"},
		{"odd proxy", model.Options{APIKey: key, Network: network.From(func(string) string { return "ftp://x" })}, "ftp://"},
		{"bare proxy", model.Options{APIKey: key, Network: network.From(func(string) string { return "localhost:3128" })}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := model.NewGenai(c.opts)
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestChunk(t *testing.T) {
	const doc = `{"candidates":[{"content":{"role":"model","parts":[` +
		`{"functionCall":{"id":"fc-1","name":"f","args":{"n":1.5,"html":"<a&b>"},"unknown":1},"thoughtSignature":"AQID","newField":{"x":1}},` +
		`{"text":"","thoughtSignature":"BAUG"}]},"finishReason":"STOP","citationMetadata":{"citationSources":[{"uri":"https://a","startIndex":1}]},` +
		`"groundingMetadata":{"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"https://a","title":"A"}}]}}],` +
		`"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":64,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":112},` +
		`"modelVersion":"m","responseId":"r","createTime":"2026-01-02T03:04:05Z"}`
	g, _ := dial(t, et.Reply{Wire: &et.Wire{Pieces: []string{et.Event(doc)}}})
	want := &genai.GenerateContentResponse{
		Candidates: []*genai.Candidate{{
			Content: &genai.Content{Role: "model", Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{ID: "fc-1", Name: "f", Args: map[string]any{"n": 1.5, "html": "<a&b>"}}, ThoughtSignature: []byte{1, 2, 3}},
				{ThoughtSignature: []byte{4, 5, 6}}}},
			FinishReason:      genai.FinishReasonStop,
			CitationMetadata:  &genai.CitationMetadata{Citations: []*genai.Citation{{URI: "https://a", StartIndex: 1}}},
			GroundingMetadata: &genai.GroundingMetadata{WebSearchQueries: []string{"q"}, GroundingChunks: []*genai.GroundingChunk{{Web: &genai.GroundingChunkWeb{URI: "https://a", Title: "A"}}}},
		}},
		UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100, CachedContentTokenCount: 64,
			CandidatesTokenCount: 5, ThoughtsTokenCount: 7, TotalTokenCount: 112},
		ModelVersion: "m", ResponseID: "r", CreateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for chunk, err := range g.Generate(t.Context(), ask("q")) {
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, chunk); d != "" {
			t.Error(d)
		}
	}
}

// TestSecrets looks for the key in whatever can go wrong.
func TestSecrets(t *testing.T) {
	var logged bytes.Buffer
	s := et.NewServer(et.BadRequest("bad key "+key), et.WebPage(500, key), et.Whole("{"+key),
		et.Reply{Wire: &et.Wire{Status: 500, Body: key}}, et.ErrorInStream(et.Says(""), et.BadRequest(key)))
	defer s.Close()
	g, err := model.NewGenai(model.Options{APIKey: key, BaseURL: strings.Replace(s.URL, "://", "://user:pass-word@", 1),
		Header: http.Header{"X-Token": {"0123456789-token-0123"}},
		Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 6 {
		_, err := hear(t, g, ask("hello"))
		var e *model.Error
		if !errors.As(err, &e) {
			t.Fatalf("error %#v", err)
		}
		for _, secret := range []string{key, "pass-word"} {
			if strings.Contains(told(e), secret) || strings.Contains(logged.String(), secret) {
				t.Errorf("%s is in\n%s\n%s", secret, told(e), &logged)
			}
		}
	}
	if logged.Len() == 0 {
		t.Error("nothing was logged")
	}
}

// TestQuiet sees that the library keeps off the standard logger, which would
// write into the conversation.
func TestQuiet(t *testing.T) {
	var out bytes.Buffer
	before := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(before)
	g, _ := dial(t, et.Streams("a", "b"), et.Stalled(et.Streams("a")), et.Truncated(), et.InvalidJSON(), et.Unavailable(), et.Reset(et.Streams("a")))
	for i := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		for range g.Generate(ctx, ask("q")) {
			if i < 2 {
				cancel()
			}
		}
		cancel()
	}
	if out.Len() > 0 {
		t.Errorf("logged %s", &out)
	}
}

func TestModelNames(t *testing.T) {
	g, s := dial(t)
	for _, name := range []string{"a b", "a?b", "a#b", "../x", "a%2fb", "/a", "a\nb"} {
		req := ask("hello")
		req.Model = name
		var e *model.Error
		if _, err := hear(t, g, req); !errors.As(err, &e) || e.Kind != model.BadRequest {
			t.Errorf("model %q: %v", name, err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// TestConnections sees that requests share a connection.
func TestConnections(t *testing.T) {
	var replies []et.Reply
	for range 20 {
		replies = append(replies, et.Streams("a", "b"))
	}
	seen := map[string]bool{}
	g, s := dial(t, replies...)
	_ = s
	for range 20 {
		if _, err := hear(t, g, ask("hello")); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.Requests() {
		seen[r.From] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d connections for 20 requests, want 1", len(seen))
	}
}

func TestMerge(t *testing.T) {
	base := &genai.GenerateContentConfig{TopP: genai.Ptr[float32](0.95), TopK: genai.Ptr[float32](64), MaxOutputTokens: 7,
		Seed: genai.Ptr[int32](5), MediaResolution: genai.MediaResolutionLow, StopSequences: []string{"y"}}
	over := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), ThinkingConfig: &genai.ThinkingConfig{}, StopSequences: []string{"x"}}
	want := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), TopP: base.TopP, TopK: base.TopK,
		MaxOutputTokens: 7, ThinkingConfig: &genai.ThinkingConfig{}, StopSequences: []string{"x"},
		Seed: base.Seed, MediaResolution: genai.MediaResolutionLow}
	if d := cmp.Diff(want, model.Merge(base, over)); d != "" {
		t.Error(d)
	}
	if over.TopP != nil {
		t.Error("the settings were changed")
	}
	if d := cmp.Diff(base, model.Merge(base, nil)); d != "" {
		t.Error(d)
	}
}

// A server that refuses thinking has the user say that the model can't think.
func TestThinkingRefused(t *testing.T) {
	for said, want := range map[string]bool{
		"Thinking is not enabled for models/tuned": true, "Thinking level is not supported for this model.": true,
		"Unable to submit request because Thinking is not supported by this model.": true, "This model does not support thinking.": true,
		"The thinking budget 9 is invalid.": false,
	} {
		s := et.NewServer(et.Status(400, "INVALID_ARGUMENT", said))
		g, err := model.NewGenai(model.Options{APIKey: "k", BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = hear(t, g, ask("hello"))
		if e := (*model.Error)(nil); !errors.As(err, &e) || strings.Contains(e.Hint(), `"features": {"thinking": false}`) != want {
			t.Errorf("%s: %v", said, err)
		}
		g.Close()
		s.Close()
	}
}
