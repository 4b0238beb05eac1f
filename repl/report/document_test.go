package report

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/repl/question"
)

func nan() float64 { return math.NaN() }

func TestJSON(t *testing.T) {
	b := newBench("json", nil)
	b.Begin(Init{Session: "s-2", Model: "m", Prompt: "hi"})
	b.see(run...)
	if len(b.out) > 0 {
		t.Error("something was written before the end")
	}
	b.Finish(Outcome{Err: errors.New("quota is used up\nfor today"), ExitCode: 67, Reason: "quota", ErrorType: "quota",
		Hint: "wait", HTTP: 429, RetryAfter: 3 * time.Second})
	got := b.out.String()
	stats, err := json.MarshalIndent(b.tally, "  ", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "session_id": "s-2",
  "response": "Done.\n\n",
  "stats": ` + string(stats) + `,
  "error": {
    "type": "quota",
    "message": "quota is used up\nfor today",
    "code": 67,
    "http_status": 429,
    "hint": "wait",
    "retry_after_ms": 3000
  },
  "warnings": [
    "the answer was cut short"
  ],
  "schema_version": 1,
  "status": "error",
  "exit_code": 67,
  "termination_reason": "quota",
  "denied": [
    {
      "tool": "replace",
      "tool_id": "replace__2",
      "title": "edit a.txt",
      "why": "nobody could be asked",
      "allowed_by": "--approval-mode auto_edit"
    }
  ],
  "timestamp": "2026-11-20T20:40:23.003Z",
  "elapsed_ms": 1
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(b.err.String(), "\nerror: quota is used up\nfor today\nhint: wait\n") {
		t.Errorf("stderr %q", b.err)
	}
}

// A run that never began has a document, too.
func TestJSONBeforeTheRun(t *testing.T) {
	b := newBench("json", nil)
	b.Finish(Outcome{Err: errors.New("no key"), ExitCode: 41, Reason: "auth", ErrorType: "auth"})
	var doc struct {
		Session string `json:"session_id"`
		Error   struct{ Code int }
		Exit    int `json:"exit_code"`
		Denied  []any
	}
	if err := json.Unmarshal([]byte(b.out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Session != "s-1" || doc.Error.Code != 41 || doc.Exit != 41 || doc.Denied == nil {
		t.Errorf("%+v", doc)
	}
	if b.err.String() != "error: no key\n" {
		t.Errorf("stderr %q", b.err)
	}
}

func TestJSONPolicyDenial(t *testing.T) {
	b := newBench("json", func(r *Config) { r.Quiet = true })
	b.see(engine.CallFinished{ID: "w__1", Name: "w", Err: &engine.CallError{Type: engine.PolicyViolation, Message: "m", Display: "denied: plan mode"}})
	b.Finish(Outcome{})
	if !strings.Contains(b.out.String(), `"why": "denied: plan mode"`) || len(b.err) > 0 {
		t.Errorf("%s %s", b.out, b.err)
	}
}

// What an agent says is no part of the answer; what was denied it counts.
func TestJSONOfAnAgent(t *testing.T) {
	b := newBench("json", nil)
	b.see(engine.Text{Delta: "I ask."}, inside(engine.RequestStarted{Model: "m"}), inside(engine.Text{Delta: "Wrong."}), inside(engine.Notice{Text: "half of it"}),
		inside(engine.Usage{Model: "m", Total: 7}), inside(denied), engine.AnswerFinished{})
	b.Finish(Outcome{})
	for _, want := range []string{`"response": "I ask."`, `"helper: half of it"`, `"title": "edit a.txt"`, `"total": 7`} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("no %s in\n%s", want, b.out.String())
		}
	}
	if err := question.DeniedError(inside(engine.CallFinished{Err: &engine.CallError{Type: engine.PolicyViolation}})); err == nil {
		t.Error("a rule has denied nothing")
	}
}

// hostile reports what is wrong with b as a part of a machine's input.
func hostile(s string) string {
	if !utf8.ValidString(s) {
		return "not UTF-8"
	}
	for _, r := range s {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 {
			return "a raw control character"
		}
	}
	return ""
}

// Whatever happens and however often the end is told, there is one document.
func TestJSONAnything(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBench("json", nil)
		if r.IntN(5) > 0 {
			b.Begin(Init{Session: "s", Model: "\xff", Prompt: "p\x1b[1m"})
		}
		for range r.IntN(30) {
			b.see(event(r))
		}
		for range 1 + r.IntN(3) {
			b.Finish(outcome(r))
			b.see(event(r))
		}
		got := b.out.String()
		var doc map[string]any
		d := json.NewDecoder(strings.NewReader(got))
		if err := d.Decode(&doc); err != nil || d.More() || len(b.out) != 1 || !strings.HasSuffix(got, "}\n") {
			t.Fatalf("seed %d: %v\n%s", seed, err, got)
		}
		if wrong := hostile(got); wrong != "" {
			t.Fatalf("seed %d: %s: %q", seed, wrong, got)
		}
	}
}

func outcome(r *rand.Rand) Outcome {
	return []Outcome{{}, {Err: errors.New("x\xff")}, {ExitCode: 130, Reason: "SIGINT"}, {Err: engine.ErrMaxTurns, ExitCode: 53, Reason: "max_turns"}}[r.IntN(4)]
}

// Of an answer that failed for good, a document has nothing.
func TestJSONOfAFailedAnswer(t *testing.T) {
	for _, c := range []struct {
		events []engine.Event
		want   string
	}{
		{[]engine.Event{engine.Text{Delta: "half"}}, ""},
		{[]engine.Event{engine.Text{Delta: "half"}, engine.AnswerFinished{}}, "half"}, // of a cancelled one, what came
		{[]engine.Event{engine.Text{Delta: "I look."}, engine.AnswerFinished{}, engine.RequestStarted{}, engine.Text{Delta: "half"}}, ""},
	} {
		b := newBench("json", nil)
		b.see(c.events...)
		b.Finish(Outcome{Err: errors.New("broke off")})
		var got struct{ Response string }
		if err := json.Unmarshal([]byte(b.out.String()), &got); err != nil || got.Response != c.want {
			t.Errorf("response %q, want %q: %v", got.Response, c.want, err)
		}
	}
}
