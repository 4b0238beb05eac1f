package loop_test

import (
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
	"gemline/engine/loop"
	"gemline/engine/model"
	"gemline/engine/model/oneshot"
)

// opinions returns who is asked beside a conversation; where the model's server has
// nothing more to say it refuses.
func opinions(replies ...et.Reply) (*oneshot.Asker, *et.Script) {
	s := et.NewScript(replies...)
	return &oneshot.Asker{Generator: s, Attempts: 1}, s
}

func thinks(confidence float64) et.Reply {
	return et.Says(fmt.Sprintf(`{"unproductive_state_analysis":"it reads on and on","unproductive_state_confidence":%v}`, confidence))
}

// wandering is a turn of n requests that no rule takes for a loop.
func wandering(n int) (replies []et.Reply) {
	for i := range n - 1 {
		replies = append(replies, looks(fmt.Sprint("page ", i)))
	}
	return append(replies, et.Says("Done."))
}

// A model is asked about long turns, another one before it counts, and sooner again the
// less certain it is that all is well.
func TestJudge(t *testing.T) {
	refused := et.Fails(&model.Error{Kind: model.Refused, Message: "no"})
	tests := []struct {
		name     string
		requests int
		replies  []et.Reply // to the questions
		err      string
		advised  bool
	}{
		{name: "short", requests: 29},
		{name: "once", requests: 39, replies: []et.Reply{thinks(0.5)}},
		{name: "every ten", requests: 50, replies: []et.Reply{thinks(0.5), thinks(0.5), thinks(0.5)}},
		{name: "every fifteen", requests: 59, replies: []et.Reply{thinks(0), thinks(0)}},
		{name: "every six", requests: 43, replies: []et.Reply{thinks(0.89), thinks(0.89), thinks(0.89)}},
		{name: "no answer", requests: 90, replies: []et.Reply{refused, refused}},
		{name: "no answer for once", requests: 65, replies: []et.Reply{refused, thinks(0.5), refused, thinks(0.5)}},
		{name: "nonsense", requests: 45, replies: []et.Reply{et.Says("well"), thinks(-7)}},
		{name: "another opinion", requests: 44, replies: []et.Reply{thinks(1), thinks(0)}},
		{name: "a loop", requests: 35, replies: []et.Reply{thinks(1), thinks(0.95)}, advised: true},
		{name: "the other is not there", requests: 35, replies: []et.Reply{thinks(1), refused}, advised: true},
		{name: "still", requests: 60, replies: []et.Reply{thinks(1), thinks(1), thinks(1), thinks(1)}, advised: true, err: "it reads on and on"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, _ := conversation(t, wandering(test.requests)...)
				asker, questions := opinions(test.replies...)
				g := loop.New(loop.Config{Asker: asker, History: e.History})
				r := et.Record(g.Run(e.Run)(t.Context(), genai.NewPartFromText("read the book")))
				if questions.Left() > 0 || len(questions.Requests()) != len(test.replies) {
					t.Errorf("asked %d times, not %d", len(questions.Requests()), len(test.replies))
				}
				if advised := strings.Contains(fmt.Sprint(spoken(e)), "System: Potential loop detected. Details: it reads on and on."); advised != test.advised {
					t.Errorf("advised: %v", advised)
				}
				var stopped *loop.Error
				if len(r.Errs) > 0 && !errors.As(r.Errs[0], &stopped) || (stopped != nil) != (test.err != "") || stopped != nil && stopped.What != test.err {
					t.Errorf("ended with %v, not %q", r.Errs, test.err)
				}
				et.CheckHistory(t, e.History())
				for _, q := range questions.Requests() {
					first := q.Contents[0] // a call may not stand there
					if len(q.Contents) > 22 || first.Role != genai.RoleUser || !strings.HasPrefix(first.Parts[0].Text, "<original_user_request>\nread the book\n</original_user_request>") {
						t.Errorf("%d messages, the first is %q", len(q.Contents), first.Parts[0].Text)
					}
				}
			})
		})
	}
}

// A server that hangs holds up a session for half a minute in all, however long it is.
func TestJudgeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _ := conversation(t, slices.Concat(wandering(200), wandering(200))...)
		hang := et.Reply{Stall: true}
		asker := &oneshot.Asker{Generator: et.NewScript(times(20, hang)...)}
		g, start := loop.New(loop.Config{Asker: asker, History: e.History}), time.Now()
		said := ""
		for range 2 {
			said += et.Record(g.Run(e.Run)(t.Context(), genai.NewPartFromText("read the book"))).String()
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
		if n := strings.Count(said, "no model is asked any more"); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

// The model goes on where it says that it is not through, and not without end.
func TestContinue(t *testing.T) {
	speaker := func(who string) et.Reply {
		return et.Says(fmt.Sprintf(`{"reasoning":"so it says","next_speaker":%q}`, who))
	}
	tests := []struct {
		name    string
		replies []et.Reply
		answers []et.Reply
		said    []string
	}{
		{"the user", []et.Reply{et.Says("Done.")}, []et.Reply{speaker("user")}, []string{"go"}},
		{"the model", []et.Reply{et.Says("Now I look."), looks("x"), et.Says("Done.")}, []et.Reply{speaker("model"), speaker("user")}, []string{"go", engine.MidTurnNote("Please continue.")}},
		{"nobody knows", []et.Reply{et.Says("Done.")}, []et.Reply{et.Says("who?")}, []string{"go"}},
		{"without end", times(101, et.Says("Now I look.")), times(101, speaker("model")), slices.Concat([]string{"go"}, times(100, engine.MidTurnNote("Please continue.")))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, script := conversation(t, test.replies...)
				asker, questions := opinions(test.answers...)
				r := et.Record(loop.Continue(e.Run, asker, e.History)(t.Context(), genai.NewPartFromText("go")))
				if len(r.Errs) > 0 || script.Left() > 0 || questions.Left() > 0 {
					t.Errorf("%v, %d replies and %d answers are left", r.Errs, script.Left(), questions.Left())
				}
				if got := spoken(e); !slices.Equal(got, test.said) {
					t.Errorf("said %q", got)
				}
				et.CheckHistory(t, e.History())
			})
		})
	}
	e, _ := conversation(t, et.Fails(&model.Error{Kind: model.Refused, Message: "no"}))
	asker, questions := opinions(speaker("model"))
	r := et.Record(loop.Continue(e.Run, asker, func() []*genai.Content { return []*genai.Content{} })(t.Context(), genai.NewPartFromText("go")))
	if len(r.Errs) != 1 || questions.Left() != 1 {
		t.Errorf("after a failure: %v", r.Errs)
	}
}
