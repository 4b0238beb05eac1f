package model_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

func TestRetry(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		for i := range replies { // answers that need no second attempt
			if n := len(replies[i].Chunks); n > 0 && !replies[i].Stall {
				replies[i].Chunks[n-1].Candidates[0].FinishReason = genai.FinishReasonStop
			}
		}
		return model.Retry(et.NewScript(replies...), model.RetryOptions{})
	})
}

func busy() et.Reply {
	return et.Fails(&model.Error{Kind: model.Unavailable, Message: "busy", HTTP: 503})
}

func refused() et.Reply {
	return et.Fails(&model.Error{Kind: model.Unavailable, Message: "refused", Code: model.CodeNobody})
}

func cutOff(text string) et.Reply {
	r := et.Unfinished(text)
	r.Err = &model.Error{Kind: model.Unavailable, Message: "broke off", Answering: true}
	return r
}

// play asks a Retry of replies once, and returns what was said in the attempt
// that counted, the retries as text, and the error.
func play(t *testing.T, o model.RetryOptions, req *engine.Request, replies ...et.Reply) (said string, retries []string, script *et.Script, err error) {
	t.Helper()
	script = et.NewScript(replies...)
	var b strings.Builder
	start := time.Now()
	req.Notify = func(ev engine.Event) {
		if n, ok := ev.(engine.Notice); ok {
			retries = append(retries, n.Text)
			return
		}
		r := ev.(engine.Retry)
		text := fmt.Sprintf("%d/%d %s", r.Attempt, r.MaxAttempts, r.Delay)
		if r.Restart {
			text += " restart"
			b.Reset()
		}
		retries = append(retries, text)
	}
	for chunk, cerr := range model.Retry(script, o).Generate(t.Context(), req) {
		if err = cerr; err != nil {
			break
		}
		for _, p := range chunk.Candidates[0].Content.Parts {
			b.WriteString(p.Text)
		}
	}
	t.Logf("took %s", time.Since(start))
	return b.String(), retries, script, err
}

func TestAnswers(t *testing.T) {
	results := &engine.Request{Model: "m", Contents: []*genai.Content{
		genai.NewContentFromText("q", genai.RoleUser),
		{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: et.Call("1", "f")}}},
		{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f"}}}}}}
	thoughtWithoutEnd := et.Reply{Chunks: []*genai.GenerateContentResponse{et.Chunk("", et.Thought("hm"))}}
	for _, c := range []struct {
		name  string
		reply et.Reply
		code  string // of the error; empty if it is an answer
		after string // the same, as an answer to results
	}{
		{"text", et.Says("hi"), "", ""},
		{"call", et.Says("", et.Call("1", "f")), "", ""},
		{"call without end", et.Reply{Chunks: []*genai.GenerateContentResponse{et.Chunk("", &genai.Part{FunctionCall: et.Call("1", "f")})}}, "", ""},
		{"no end", et.Unfinished("hi"), "NO_FINISH_REASON", "NO_FINISH_REASON"},
		{"nothing", et.Empty(), "NO_FINISH_REASON", "NO_FINISH_REASON"},
		{"malformed call", et.MalformedCall(), "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		{"malformed call after text", et.Ends("hi", genai.FinishReasonMalformedFunctionCall), "MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL"},
		{"unexpected call", et.Ends("", genai.FinishReasonUnexpectedToolCall), "UNEXPECTED_TOOL_CALL", "UNEXPECTED_TOOL_CALL"},
		{"out of tokens", et.Ends("", genai.FinishReasonMaxTokens), "MAX_TOKENS_EXCEEDED", "MAX_TOKENS_EXCEEDED"},
		{"out of tokens after text", et.Ends("hi", genai.FinishReasonMaxTokens), "", ""},
		{"unsafe", et.Ends("", genai.FinishReasonSafety), "SAFETY_BLOCKED", "SAFETY_BLOCKED"},
		{"recited", et.Ends(" \u200b", genai.FinishReasonRecitation), "RECITATION_BLOCKED", "RECITATION_BLOCKED"},
		{"an unsafe image", et.Ends("", genai.FinishReasonImageSafety), "IMAGE_SAFETY_BLOCKED", "IMAGE_SAFETY_BLOCKED"},
		{"no image", et.Ends("", genai.FinishReasonNoImage), "NO_RESPONSE_TEXT", "NO_RESPONSE_TEXT"},
		{"too many calls", et.Ends("hi", genai.FinishReasonTooManyToolCalls), "TOO_MANY_TOOL_CALLS", "TOO_MANY_TOOL_CALLS"},
		{"unsafe after text", et.Ends("hi", genai.FinishReasonSafety), "", ""},
		{"empty", et.Ends("", genai.FinishReasonStop), "NO_RESPONSE_TEXT", ""},
		{"invisible", et.Streams("\ufeff \n", "<!-- a", " b -->", "\u200b"), "NO_RESPONSE_TEXT", ""},
		{"a comment and text", et.Streams("<!-- a -->", "b"), "", ""},
		{"half a comment", et.Streams("<!-- a"), "", ""},
		{"comments in comments", et.Streams("<!-- a <!-- -->"), "NO_RESPONSE_TEXT", ""},
		{"empty for an odd reason", et.Ends("", "NEW_REASON"), "NO_RESPONSE_TEXT", "NO_RESPONSE_TEXT"},
		{"thoughts", et.ThoughtOnly("hm"), "THINKING_ONLY_RESPONSE", "THINKING_ONLY_RESPONSE"},
		{"thoughts without end", thoughtWithoutEnd, "NO_FINISH_REASON", "NO_FINISH_REASON"},
		{"refused", et.Blocked(), "PROHIBITED_CONTENT", "PROHIBITED_CONTENT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, try := range []struct {
					req  *engine.Request
					want string
				}{{ask("q"), c.code}, {results, c.after}} {
					req := *try.req
					_, retries, _, err := play(t, model.RetryOptions{}, &req, c.reply, c.reply, c.reply, c.reply)
					var e *model.Error
					code := ""
					if errors.As(err, &e) {
						code = e.Code
					}
					if code != try.want || (err == nil) != (try.want == "") {
						t.Errorf("error %v, want %q", err, try.want)
					}
					if notice := "the model ended without an answer after its calls, which were carried out"; try.want == "" && len(retries) > 0 &&
						!slices.Equal(retries, []string{"1/2 0s restart", notice}) {
						t.Errorf("told %q", retries)
					}
					if want := 3; try.want != "" && c.name != "refused" && len(retries) != want {
						t.Errorf("%d retries, want %d", len(retries), want)
					}
					if c.name == "refused" && (e.Kind != model.Refused || len(retries) != 0) {
						t.Errorf("error %#v after %d retries", e, len(retries))
					}
				}
			})
		})
	}
}

func TestAttempts(t *testing.T) {
	final := et.Fails(&model.Error{Kind: model.Auth, Message: "no", Final: true})
	other := et.Fails(errors.New("odd"))
	for _, c := range []struct {
		name    string
		opts    model.RetryOptions
		replies []et.Reply
		said    string
		retries []string // a delay of - is any
		err     string
	}{
		{"at once", model.RetryOptions{}, []et.Reply{et.Says("hi")}, "hi", nil, ""},
		{"busy once", model.RetryOptions{}, []et.Reply{busy(), et.Says("hi")}, "hi", []string{"1/10 -"}, ""},
		{"nobody listens", model.RetryOptions{}, []et.Reply{refused(), refused(), refused(), et.Says("no")}, "", []string{"1/3 2s", "2/3 2s"}, "refused (after 3 attempts)"},
		{"nobody listens at first", model.RetryOptions{}, []et.Reply{refused(), et.Says("hi")}, "hi", []string{"1/3 2s"}, ""},
		{"nobody listens, asked once", model.RetryOptions{Attempts: 1}, []et.Reply{refused(), et.Says("no")}, "", nil, "refused"},
		{"busy, then broken, then busy", model.RetryOptions{}, []et.Reply{busy(), cutOff("lost "), busy(), et.Says("hi")},
			"hi", []string{"1/10 -", "1/4 1s restart", "1/10 -"}, ""},
		{"always busy", model.RetryOptions{Attempts: 3}, []et.Reply{busy(), busy(), busy(), busy()}, "",
			[]string{"1/3 -", "2/3 -"}, "busy (after 3 attempts)"},
		{"always broken", model.RetryOptions{}, []et.Reply{cutOff("a"), cutOff("b"), cutOff("c"), cutOff("d"), et.Says("no")}, "d",
			[]string{"1/4 1s restart", "2/4 2s restart", "3/4 4s restart"}, "broke off (after 4 attempts)"},
		{"once only", model.RetryOptions{Attempts: 1}, []et.Reply{cutOff("a"), et.Says("no")}, "a", nil, "broke off"},
		{"an empty answer is no restart", model.RetryOptions{}, []et.Reply{et.Empty(), et.Says("hi")}, "hi", []string{"1/4 1s"}, ""},
		{"final", model.RetryOptions{}, []et.Reply{final, et.Says("no")}, "", nil, "no"},
		{"not from the model", model.RetryOptions{}, []et.Reply{other, et.Says("no")}, "", nil, "odd"},
		{"budget", model.RetryOptions{Budget: 2 * time.Second}, []et.Reply{cutOff("a"), cutOff("b"), et.Says("no")}, "b",
			[]string{"1/4 1s restart"}, "broke off (after 2 attempts)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				said, retries, _, err := play(t, c.opts, ask("q"), c.replies...)
				for i, r := range retries {
					if i < len(c.retries) && strings.HasSuffix(c.retries[i], " -") {
						retries[i] = strings.Fields(r)[0] + " -"
					}
				}
				if said != c.said || !slices.Equal(retries, c.retries) {
					t.Errorf("said %q after %q, want %q after %q", said, retries, c.said, c.retries)
				}
				if got := fmt.Sprint(err); got != c.err && !(err == nil && c.err == "") {
					t.Errorf("error %v, want %q", err, c.err)
				}
			})
		})
	}
}

// What the server asks for counts, be it nothing: only a little is added.
func TestHintedDelays(t *testing.T) {
	for _, c := range []struct {
		name        string
		e           model.Error
		least, most time.Duration
	}{
		{"at once", model.Error{Kind: model.Quota, Hinted: true}, 0, 200 * time.Millisecond},
		{"a second", model.Error{Kind: model.Quota, Hinted: true, RetryAfter: time.Second}, time.Second, 1200 * time.Millisecond},
		{"two", model.Error{Kind: model.Unavailable, Hinted: true, RetryAfter: 2 * time.Second}, 2 * time.Second, 2400 * time.Millisecond},
		{"in an answer", model.Error{Kind: model.Quota, Hinted: true, Answering: true}, 0, 200 * time.Millisecond},
		{"nothing said", model.Error{Kind: model.Quota}, 3500 * time.Millisecond, 6500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				if _, _, _, err := play(t, model.RetryOptions{}, ask("q"), et.Fails(&c.e), et.Says("hi")); err != nil {
					t.Fatal(err)
				}
				if d := time.Since(start); d < c.least || d > c.most {
					t.Errorf("waited %s, want %s to %s", d, c.least, c.most)
				}
			})
		})
	}
}

// A model that has nothing to say after calls that succeeded is asked once for
// a closing sentence. What becomes of that changes nothing of the success. After
// a call that failed, saying nothing is a failure.
func TestWordless(t *testing.T) {
	const told = "the model ended without an answer after its calls, which were carried out"
	empty := et.Ends("", genai.FinishReasonStop)
	for _, c := range []struct {
		name     string
		response map[string]any
		opts     model.RetryOptions
		replies  []et.Reply
		said     string
		told     []string
		err      string
		requests int
	}{
		{"a sentence", nil, model.RetryOptions{}, []et.Reply{empty, et.Says("done")}, "done", []string{"1/2 0s restart"}, "", 2},
		{"none", nil, model.RetryOptions{}, []et.Reply{empty, empty, et.Says("no")}, "", []string{"1/2 0s restart", told}, "", 2},
		{"half of one", nil, model.RetryOptions{}, []et.Reply{empty, cutOff("do"), et.Says("no")}, "",
			[]string{"1/2 0s restart", told + "; asking for a closing sentence failed: broke off"}, "", 2},
		{"nobody there", nil, model.RetryOptions{}, []et.Reply{empty, busy(), et.Says("no")}, "",
			[]string{"1/2 0s restart", told + "; asking for a closing sentence failed: busy"}, "", 2},
		{"one attempt only", nil, model.RetryOptions{Attempts: 1}, []et.Reply{empty, et.Says("no")}, "", []string{told}, "", 1},
		{"after trouble", nil, model.RetryOptions{}, []et.Reply{cutOff("a"), empty, et.Says("done")}, "done", []string{"1/4 1s restart", "1/2 0s restart"}, "", 3},
		{"after a failed call", map[string]any{"error": "no"}, model.RetryOptions{}, []et.Reply{empty, empty, empty, empty, et.Says("no")}, "",
			[]string{"1/4 1s restart", "2/4 2s restart", "3/4 4s restart"}, "the model's answer is empty (after 4 attempts)", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				req := &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("q", genai.RoleUser),
					{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f", Response: c.response}}}}}}
				said, told, script, err := play(t, c.opts, req, c.replies...)
				if said != c.said || !slices.Equal(told, c.told) || fmt.Sprint(err) != cmp.Or(c.err, "<nil>") {
					t.Errorf("said %q, told %q, error %v\nwant %q, %q, %q", said, told, err, c.said, c.told, c.err)
				}
				requests := script.Requests()
				if len(requests) != c.requests {
					t.Fatalf("%d requests, want %d", len(requests), c.requests)
				}
				last := transcript(requests[len(requests)-1].Contents)
				if asked := strings.Contains(last, "say in one sentence what you did"); asked != (c.requests > 1 && c.err == "") {
					t.Errorf("the last request was %s", last)
				}
			})
		})
	}
}

// TestRestart sees that only the attempt that counted stays in a conversation.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := et.NewScript(cutOff("lost "), busy(), et.Says("kept"))
		e := engine.New(engine.Config{Model: "m", Generator: model.Retry(script, model.RetryOptions{}), Tools: engine.Tools{}})
		r := et.Record(e.Run(t.Context(), genai.NewPartFromText("q")))
		want := "turn 1 m\ntext lost \nretry 1/4 restart: broke off\nretry 1/10: busy\ntext kept\n"
		if r.String() != want {
			t.Errorf("recorded\n%s\nwant\n%s", r, want)
		}
		if got := transcript(e.History()); got != "user: q | model: kept" || r.Text() != "kept" {
			t.Errorf("history %q, text %q", got, r.Text())
		}
	})
}

func TestDelays(t *testing.T) {
	wait := func(d time.Duration) et.Reply {
		return et.Fails(&model.Error{Kind: model.Quota, Message: "slow down", RetryAfter: d, Hinted: true})
	}
	synctest.Test(t, func(t *testing.T) {
		replies := []et.Reply{busy(), busy(), busy(), busy(), wait(time.Second), wait(time.Minute), wait(0), wait(0)}
		script := et.NewScript(append(replies, et.Says("hi"))...)
		var delays []time.Duration
		req := ask("q")
		last := time.Now()
		req.Notify = func(ev engine.Event) {
			delays = append(delays, ev.(engine.Retry).Delay)
			last = time.Now()
		}
		if _, err := hear(t, model.Retry(script, model.RetryOptions{}), req); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(last); got != delays[len(delays)-1] {
			t.Errorf("waited %s, announced %s", got, delays[len(delays)-1])
		}
		for i, want := range []struct{ least, most float64 }{
			{3.5, 6.5}, {7, 13}, {14, 26}, {21, 39}, {1, 2}, {60, 72}, {0, 1}, {3.5, 6.5}} {
			if got := delays[i].Seconds(); got < want.least || got > want.most {
				t.Errorf("delay %d is %g s, want %g to %g", i+1, got, want.least, want.most)
			}
		}
	})
}

func TestCancelledWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		script := et.NewScript(busy(), et.Says("no"))
		for _, err := range model.Retry(script, model.RetryOptions{}).Generate(ctx, ask("q")) {
			var e *model.Error
			if !errors.As(err, &e) || e.Message != "busy" { // a wait beyond the deadline is not begun
				t.Errorf("error %v", err)
			}
		}
		ctx, cancel = context.WithCancel(t.Context())
		req := ask("q")
		req.Notify = func(engine.Event) { cancel() }
		start := time.Now()
		for _, err := range model.Retry(et.NewScript(busy(), et.Says("no")), model.RetryOptions{}).Generate(ctx, req) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("waited %s", d)
		}
	})
}

func TestNudge(t *testing.T) {
	user := genai.NewContentFromText("q", genai.RoleUser)
	result := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f"}}}}
	said := genai.NewContentFromText("a", genai.RoleModel)
	for _, c := range []struct {
		name     string
		contents []*genai.Content
		first    et.Reply
		want     string // roles and texts of the second request
	}{
		{"thoughts", []*genai.Content{user}, et.ThoughtOnly("hm"), "user: q \n[System: Your last turn held thoughts"},
		{"empty", []*genai.Content{user}, et.Ends("", genai.FinishReasonStop), "user: q \n[System: Your last turn was empty."},
		{"results", []*genai.Content{user, result}, et.ThoughtOnly("hm"),
			"user: q | user: () | model: [Tool execution completed.] | user: [System: Your last turn held thoughts"},
		{"after the model", []*genai.Content{user, said}, et.ThoughtOnly("hm"), "user: q | model: a | user: [System: Your last turn held"},
		{"no end", []*genai.Content{user}, et.Unfinished("x"), "user: q"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				req := &engine.Request{Model: "m", Contents: c.contents}
				_, _, script, err := play(t, model.RetryOptions{}, req, c.first, et.Unfinished("x"), et.Says("hi"))
				if err != nil && len(c.contents) > 0 && c.contents[len(c.contents)-1] != result {
					t.Fatal(err)
				}
				requests := script.Requests()
				if got := transcript(requests[1].Contents); !strings.HasPrefix(got, c.want) || c.want == "user: q" && got != c.want {
					t.Errorf("asked again with\n%s\nwant\n%s", got, c.want)
				}
				if len(requests) > 2 {
					if got, want := transcript(requests[2].Contents), transcript(c.contents); got != want {
						t.Errorf("asked a third time with\n%s\nwant\n%s", got, want)
					}
				}
				if transcript([]*genai.Content{user}) != "user: q" {
					t.Error("the question was changed")
				}
			})
		})
	}
}

func transcript(cs []*genai.Content) string {
	var all []string
	for _, c := range cs {
		var texts []string
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				texts = append(texts, "()")
				continue
			}
			texts = append(texts, p.Text)
		}
		all = append(all, c.Role+": "+strings.Join(texts, " "))
	}
	return strings.Join(all, " | ")
}
