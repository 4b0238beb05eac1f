package wrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/redact"
)

// shower is a host that keeps what it is shown.
type shower struct {
	engine.Host
	said []string
}

func (s *shower) Emit(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.Output:
		s.said = append(s.said, ev.Delta)
	case engine.Notice:
		s.said = append(s.said, ev.Text)
	}
}

func TestTools(t *testing.T) {
	const secret, mark = "correct-horse-battery", "[redacted: API key]"
	r := &redact.Redactor{}
	r.Add("API key", secret)
	tool := func(kind engine.Kind) engine.Tool {
		return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "t"}, Kind: kind,
			Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
				if args["fail"] == true {
					return engine.Call{}, errors.New("no " + secret)
				}
				detail, _ := args["detail"].(string)
				return engine.Call{Intent: engine.Intent{Detail: detail}, Run: func(_ context.Context, host engine.Host) (engine.Result, error) {
					for piece := range strings.SplitAfterSeq("a "+secret+" b cor", "r") {
						host.Emit(engine.Output{Delta: piece})
					}
					host.Emit(engine.Notice{Text: "by the way, " + secret})
					return engine.Result{Text: secret, Display: "shown " + secret, Media: []*genai.Part{{Text: secret}}},
						&engine.CallError{Type: "x", Message: "failed " + secret, Display: "bad " + secret}
				}}, nil
			}}
	}
	ts := Tools(engine.Tools{tool(engine.Read), tool(engine.Edit)}, r).Tools()
	read, edit := ts[0], ts[1]
	if _, err := edit.Prepare(t.Context(), map[string]any{"content": "talk of " + mark}); err != nil {
		t.Errorf("a mark that nobody has made: %v", err)
	}
	if _, err := read.Prepare(t.Context(), map[string]any{"fail": true}); err == nil || err.Error() != "no "+mark {
		t.Errorf("got %v", err)
	}
	call, err := read.Prepare(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	host := &shower{}
	res, err := call.Run(t.Context(), host)
	if got := strings.Join(host.said, ""); got != "a "+mark+" b by the way, "+mark+"cor" {
		t.Errorf("shown %q", host.said)
	}
	if res.Text != mark || res.Display != "shown "+mark || res.Media[0].Text != mark {
		t.Errorf("got %+v", res)
	}
	if engine.ErrorType(err) != "x" || err.Error() != "failed "+mark || engine.DisplayError(err) != "bad "+mark {
		t.Errorf("got %v", err)
	}
	// The model has read the mark, the file has the secret.
	if _, err = edit.Prepare(t.Context(), map[string]any{"content": mark, "detail": "--- a\n+++ a\n-a " + mark + "\n+b " + mark + "\n"}); err != nil {
		t.Errorf("a mark that the file has: %v", err)
	}
	_, err = edit.Prepare(t.Context(), map[string]any{"content": "key = " + mark, "detail": "--- a\n+++ a\n-key = x\n+key = " + mark + "\n"})
	if engine.ErrorType(err) != engine.InvalidToolParams {
		t.Errorf("got %v", err)
	}
	_, err = edit.Prepare(t.Context(), map[string]any{"content": "key = " + mark, "fail": true})
	if engine.ErrorType(err) != engine.InvalidToolParams || !strings.Contains(err.Error(), "Nothing was changed") {
		t.Errorf("got %v", err)
	}
	if _, err = read.Prepare(t.Context(), map[string]any{"path": mark}); err != nil {
		t.Errorf("a call that writes nothing: %v", err)
	}
}

// What a conversation inside a call shows is without the secrets, too.
func TestNested(t *testing.T) {
	clean := func(s string) string { return strings.ReplaceAll(s, "secret", "***") }
	for _, ev := range []engine.Event{
		engine.Text{Delta: "a secret"}, engine.Output{ID: "1", Delta: "secret"}, engine.Notice{Text: "secret"},
		engine.CallStarted{Name: "run", Intent: engine.Intent{Title: "run: secret"}},
		engine.CallFinished{Name: "run", Result: engine.Result{Text: "secret", Display: "secret"}, Err: errors.New("no secret")},
	} {
		inside := func(ev engine.Event) engine.Event {
			return engine.NestedEvent{ID: "1", Agent: "a", Event: engine.NestedEvent{ID: "2", Agent: "b", Event: ev}}
		}
		if _, ok := ev.(engine.CallFinished); !ok && fmt.Sprint(nested(inside(ev), clean)) != clean(fmt.Sprint(inside(ev))) {
			t.Errorf("%#v is shown as %#v", ev, nested(ev, clean))
		}
		if f, ok := nested(ev, clean).(engine.CallFinished); ok && (f.Result.Text+f.Result.Display != "******" || engine.DisplayError(f.Err) != "no ***") {
			t.Errorf("%#v", f)
		}
	}
}
