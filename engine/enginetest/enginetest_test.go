package enginetest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
)

func TestScript(t *testing.T) {
	enginetest.Generators(t, func(t testing.TB, replies ...enginetest.Reply) engine.Generator {
		return enginetest.NewScript(replies...)
	})
}

func TestRecorder(t *testing.T) {
	call := engine.CallRequested{ID: "read__1", Name: "read", Args: map[string]any{"a": 1}}
	r := enginetest.Record(func(yield func(engine.Event, error) bool) {
		for _, ev := range []engine.Event{
			engine.RequestStarted{Number: 1, Model: "m"}, engine.Text{Delta: "lost"},
			engine.Retry{Attempt: 1, MaxAttempts: 4, Err: errors.New("cut"), Restart: true},
			engine.Text{Delta: "two\nlines"}, call,
			engine.CallFinished{ID: call.ID, Name: call.Name, Result: engine.Result{Text: "x", Display: "shown"}, Asked: true},
		} {
			if !yield(ev, nil) {
				return
			}
		}
		yield(nil, io.ErrUnexpectedEOF)
	})
	want := `turn 1 m
text lost
retry 1/4 restart: cut
text two\nlines
called read#1 {"a":1}
finished read#1 success: shown (asked)
error: unexpected EOF
`
	if r.String() != want {
		t.Errorf("recorded\n%s\nwant\n%s", r, want)
	}
	if r.Text() != "two\nlines" {
		t.Errorf("text %q", r.Text())
	}
}

// A conversation is a text, and so is what a Run shows of it.
func ExampleParseReplies() {
	replies, err := enginetest.ParseReplies(`
says let me see
 calls nothing of=it
says done
 uses 10 5
`)
	if err != nil {
		panic(err)
	}
	e := engine.New(engine.Config{Model: "m", Generator: enginetest.NewScript(replies...), Tools: engine.Tools{}, Policy: nobody{}})
	fmt.Print(enginetest.Record(e.Run(context.Background(), genai.NewPartFromText("hello"))))
	// Output:
	// turn 1 m
	// text let me see
	// called nothing#1 {"of":"it"}
	// state nothing#1 validating
	// state nothing#1 error
	// finished nothing#1 error: Tool "nothing" not found.
	// turn 2 m
	// text done
	// usage 10+5
}

func TestRun(t *testing.T) {
	script := enginetest.NewScript(enginetest.Says("", enginetest.Call("1", "nothing")), enginetest.Says("done"))
	journal := &enginetest.Journal{}
	e := engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools{}, Policy: nobody{},
		Approver: enginetest.NewApprover(t), Journal: journal})
	enginetest.Record(e.Run(t.Context(), genai.NewPartFromText("hello")))
	enginetest.CheckHistory(t, e.History())
	if n := len(script.Requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	if n := len(journal.Entries()); n != 4 {
		t.Errorf("%d entries in the journal, want 4", n)
	}
}

type nobody struct{}

func (nobody) Offers(engine.Tool) bool { return true }
func (nobody) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Ask, engine.Reason{}
}
func (nobody) Learn(engine.Grant, engine.Scope) error { return nil }

func TestServer(t *testing.T) {
	const stream = "/v1beta/models/m:streamGenerateContent?alt=sse"
	for _, c := range []struct {
		name   string
		reply  enginetest.Reply
		path   string
		status int
		want   string // the beginning of the body
	}{
		{"stream", enginetest.Says("hi"), stream, 200, `data: {"candidates":[{"content":{"parts":[{"text":"hi"}],"role":"model"},"finishReason":"STOP"}]}`},
		{"unary", enginetest.Streams("a", "b"), "/v1beta/models/m:generateContent", 200, `{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}],"role":"model"},"finishReason":"STOP"}]}`},
		{"count", enginetest.Says("unused"), "/v1beta/models/m:countTokens", 200, `{"totalTokens":7}`},
		{"elsewhere", enginetest.Says("unused"), "/favicon.ico", 404, `{"error":{"code":404,`},
		{"quota", enginetest.DailyQuota(), stream, 429, `{"error":{"code":429,`},
		{"array", enginetest.InArray(enginetest.BadKey()), stream, 400, `[{"error":{"code":400,`},
		{"web page", enginetest.WebPage(502, "Bad Gateway"), stream, 502, `<!DOCTYPE html>`},
		{"reset", enginetest.Reset(enginetest.Unfinished("a")), stream, 200, "broken"},
		{"keep-alive", enginetest.KeepAlive(enginetest.Says("hi")), stream, 200, `: keep-alive`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.NewServer(c.reply)
			defer s.Close()
			resp, err := http.Post(s.URL+c.path, "application/json", strings.NewReader(`{"contents":[{"parts":[{"text":"q"}]}]}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(bufio.NewReader(resp.Body))
			got := string(body)
			if err != nil {
				got = "broken"
			}
			if resp.StatusCode != c.status || !strings.Contains(got, c.want) {
				t.Errorf("got %d %.200s, want %d %s", resp.StatusCode, got, c.status, c.want)
			}
			rs := s.Requests()
			if len(rs) != 1 || len(rs[0].Contents()) != 1 || rs[0].JSON() == nil {
				t.Errorf("received %+v", rs)
			}
		})
	}
}
