package oneshot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
)

// A verdict is what questions in these tests are answered with.
type verdict struct {
	Choice string `json:"choice"`
}

var schema = map[string]any{"type": "object", "properties": map[string]any{"choice": map[string]any{"type": "string"}}}

// told collects what a question tells, a line each.
func told(into *[]string) func(engine.Event) {
	return func(ev engine.Event) {
		switch ev := ev.(type) {
		case engine.Usage:
			line := fmt.Sprintf("%s %s %d", ev.Model, ev.Role, ev.Sum())
			if ev.Err != nil {
				line = ev.Role + " failed"
			}
			*into = append(*into, line)
		case engine.Notice:
			*into = append(*into, ev.Text)
		default:
			*into = append(*into, fmt.Sprintf("%T", ev))
		}
	}
}

func question(purpose string, tell func(engine.Event)) oneshot.Question {
	return oneshot.Question{Purpose: purpose, System: "Judge.", Contents: genai.Text("which?"), Tell: tell}
}

// An answer that is no JSON is asked for again, with delays that are short, and every
// attempt counts in the role of the purpose.
// token returns a reply that goes on in another request.
func token(r et.Reply) et.Reply {
	r.Chunks[0].Candidates[0].ContinuationToken = []byte("token")
	return r
}

func TestJSON(t *testing.T) {
	busy := &model.Error{Kind: model.Unavailable, Message: "busy"}
	for _, c := range []struct {
		name    string
		replies []et.Reply
		want    string // the choice, or the error
		told    string
		took    time.Duration
	}{
		{"plain", []et.Reply{et.Says(`{"choice":"pro"}`).With(2, 3)}, "pro", "gemini-3.8-flash utility_next_speaker 5", 0},
		{"fenced", []et.Reply{et.Says("```json\n{\"choice\":\"pro\"}\n```")}, "pro", "", 0},
		{"at last", []et.Reply{et.Says("I say pro.").With(1, 1), et.Says(""), et.Fails(busy), et.Says(`{"choice":"flash"}`).With(2, 2)}, "flash",
			"gemini-3.8-flash utility_next_speaker 2\nthe model was to answer with JSON, and did not; asked again in 1s\n" +
				"gemini-3.8-flash utility_next_speaker 0\nthe model's answer is empty; asked again in 2s\n" +
				"utility_next_speaker failed\nbusy; asked again in 1s\ngemini-3.8-flash utility_next_speaker 4", 4 * time.Second},
		{"never", []et.Reply{et.Says("x"), et.Says("{"), et.Says("[]"), et.Says("y"), et.Says(`{"choice":"late"}`)},
			"the model was to answer with JSON, and did not (after 3 attempts)", "", 3 * time.Second},
		{"in two requests", []et.Reply{token(et.Ends(`{"choice":`, genai.FinishReasonContinuation).With(1, 1)), et.Says(`"pro"}`).With(1, 1)}, "pro",
			"gemini-3.8-flash utility_next_speaker 2\ngemini-3.8-flash utility_next_speaker 2", 0},
		{"in two requests, the first of them without a word", []et.Reply{token(et.Ends("", genai.FinishReasonContinuation)), et.Says(`{"choice":"pro"}`)}, "pro", "", 0},
		{"refused", []et.Reply{et.Fails(&model.Error{Kind: model.Quota, Final: true, Message: "no quota"})}, "no quota", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := et.NewScript(c.replies...)
				var lines []string
				var v verdict
				start := time.Now()
				err := (&oneshot.Asker{Generator: script}).JSON(t.Context(), question("next-speaker-checker", told(&lines)), schema, &v)
				got := v.Choice
				if err != nil {
					got = err.Error()
				}
				if got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if s := strings.Join(lines, "\n"); c.told != "" && s != c.told {
					t.Errorf("told\n%s\nwant\n%s", s, c.told)
				}
				if took := time.Since(start).Round(time.Second); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				r := script.Requests()[0]
				if !r.OneShot || r.Model != "gemini-3.8-flash" || r.Config.ResponseMIMEType != "application/json" || r.Config.ResponseJsonSchema == nil ||
					r.Config.Temperature != nil || r.Config.SystemInstruction.Parts[0].Text != "Judge." {
					t.Errorf("asked %+v with %+v", r, r.Config)
				}
			})
		})
	}
}

// What takes too long has an error at the purpose's bound, whatever goes on: silence, or
// a server that is busy for ever.
func TestBound(t *testing.T) {
	busy := &model.Error{Kind: model.Unavailable, Message: "busy"}
	for name, replies := range map[string][]et.Reply{
		"silence": {{Stall: true}},
		"busy":    {et.Fails(busy), et.Fails(busy), et.Fails(busy), et.Fails(busy), et.Fails(busy)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := (&oneshot.Asker{Generator: et.NewScript(replies...)}).Text(t.Context(), question("classifier", nil))
				var e *model.Error
				if !errors.As(err, &e) || e.Kind != model.Unavailable || time.Since(start) > 3*time.Second {
					t.Errorf("%v after %s", err, time.Since(start))
				}
			})
		})
	}
}

// The user's cancellation is one, and no failure.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	script := et.NewScript(et.Reply{Stall: true, Inspect: func(context.Context, *engine.Request) { cancel() }})
	if _, err := (&oneshot.Asker{Generator: script}).Text(ctx, question("classifier", nil)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func ExampleAsker() {
	asker := &oneshot.Asker{Generator: et.NewScript(et.Says("```json\n{\"choice\": \"pro\"}\n```").With(40, 2))}
	var v verdict
	err := asker.JSON(context.Background(), oneshot.Question{
		Purpose:  "classifier",
		System:   "Which model should answer?",
		Contents: genai.Text("Design a database."),
		Tell: func(ev engine.Event) {
			if u, ok := ev.(engine.Usage); ok {
				fmt.Println(u.Role, u.Sum())
			}
		},
	}, schema, &v)
	fmt.Println(v.Choice, err)
	// Output:
	// utility_router 42
	// pro <nil>
}

// An answer that calls a tool, of which there are none, says nothing.
func TestAnswerWithoutText(t *testing.T) {
	a := &oneshot.Asker{Generator: et.NewScript(et.Says("", et.Call("1", "read_file")))}
	answer, err := a.Ask(t.Context(), question("web-search", nil))
	if answer != nil || !errors.Is(err, oneshot.ErrEmpty) {
		t.Errorf("got %v, %v", answer, err)
	}
}
