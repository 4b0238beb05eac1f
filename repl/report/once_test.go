package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/repl/input"
)

type approver struct{}

func (approver) Approve(context.Context, engine.Proposal) (engine.Answer, error) {
	return engine.Unasked{Advice: "--yolo"}, nil
}

type asks struct{}

func (asks) Offers(engine.Tool) bool { return true }
func (asks) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}
func (asks) Learn(engine.Grant, engine.Scope) error { return nil }

func failing(err error) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "write"}, Prepare: func(context.Context, map[string]any) (engine.Call, error) {
		return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) { return engine.Result{}, err }}, nil
	}}
}

func newOnce(b *bench, script *enginetest.Script, tools ...engine.Tool) *OneShot {
	return &OneShot{
		Model: "m", Ask: engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools(tools), Policy: asks{}, Approver: approver{}}).Run,
		Expand: input.Chain(), Reporter: b.Reporter, Tally: b.tally, Session: "s-2", Now: b.clock,
	}
}

func TestOnce(t *testing.T) {
	media := genai.NewPartFromBytes([]byte{1}, "image/png")
	// A chain that shows what it is given.
	expand := func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		return []*genai.Part{genai.NewPartFromText("<" + parts[0].Text + ">"), genai.NewPartFromText("more")}, nil
	}
	tests := []struct {
		name   string
		prompt Prompt
		want   []*genai.Part
	}{
		{"words", Prompt{Text: "hi"}, []*genai.Part{{Text: "<hi>"}, {Text: "more"}}},
		{"piped alone is the prompt", Prompt{Piped: "hi\n"}, []*genai.Part{{Text: "<hi\n>"}, {Text: "more"}}},
		{"piped beside words is data", Prompt{Piped: "@a\n", Text: "hi"}, []*genai.Part{{Text: "<stdin bytes=\"3\" encoding=\"utf-8\">\n@a\n</stdin>\n\n<hi>"}, {Text: "more"}}},
		{"media", Prompt{Text: "hi", Media: media}, []*genai.Part{{Text: "<hi>"}, {Text: "more"}, media}},
		{"media alone", Prompt{Media: media}, []*genai.Part{media}},
		{"spaces", Prompt{Text: "  ", Piped: "a"}, []*genai.Part{{Text: "<stdin bytes=\"1\" encoding=\"utf-8\">\na\n</stdin>\n\n<  >"}, {Text: "more"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("text", nil)
			script := enginetest.NewScript(enginetest.Says("ok"))
			o := newOnce(b, script)
			o.Expand = expand
			if err := o.Run(t.Context(), test.prompt); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, script.Requests()[0].Contents[0].Parts); diff != "" {
				t.Error(diff)
			}
			if b.Finish(Outcome{}); b.out.String() != "ok\n" {
				t.Errorf("out %q", b.out)
			}
		})
	}
}

// What a slash command tells is the answer, and no model is asked.
func TestOnceCommand(t *testing.T) {
	for format, want := range map[string]string{"text": "help\n", "json": `"response": "help\n"`, "stream-json": `"role":"assistant","content":"help\n"`} {
		b := newBench(format, nil)
		script := enginetest.NewScript()
		o := newOnce(b, script)
		o.Expand = func(context.Context, []*genai.Part) ([]*genai.Part, error) {
			fmt.Fprintln(CommandWriter(b), "help")
			return nil, nil
		}
		if err := o.Run(t.Context(), Prompt{Text: "/help"}); err != nil {
			t.Fatal(err)
		}
		b.Finish(Outcome{})
		if !strings.Contains(b.out.String(), want) || len(script.Requests()) > 0 || len(b.err) > 0 {
			t.Errorf("%s: %s %s", format, b.out, b.err)
		}
	}
}

// A command that ends a session has nothing to end, which is no failure.
func TestOnceQuits(t *testing.T) {
	b := newBench("text", nil)
	o := newOnce(b, enginetest.NewScript())
	o.Expand = func(context.Context, []*genai.Part) ([]*genai.Part, error) { return nil, input.ErrQuit }
	if err := o.Run(t.Context(), Prompt{Text: "/quit"}); err != nil {
		t.Error(err)
	}
}

func TestOnceFails(t *testing.T) {
	full := &engine.CallError{Type: engine.NoSpaceLeft, Message: "no space left on device"}
	boom := errors.New("boom")
	tests := []struct {
		name   string
		prompt Prompt
		script *enginetest.Script
		is     func(error) bool
	}{
		{"nothing but space", Prompt{Text: " \n", Piped: "\n"}, enginetest.NewScript(), func(err error) bool { var e *input.Error; return errors.As(err, &e) }},
		{"no prompt", Prompt{}, enginetest.NewScript(), func(err error) bool { var e *input.Error; return errors.As(err, &e) }},
		{"model", Prompt{Text: "x"}, enginetest.NewScript(enginetest.Fails(boom)), func(err error) bool { return errors.Is(err, boom) }},
		{"full disk", Prompt{Text: "x"}, enginetest.NewScript(enginetest.Says("", enginetest.Call("1", "write")), enginetest.Says("ok")),
			func(err error) bool { return engine.ErrorType(err) == engine.NoSpaceLeft }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench("json", nil)
			o := newOnce(b, test.script, failing(full))
			if err := o.Run(t.Context(), test.prompt); err == nil || !test.is(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// The calls beside one that met a full disk are answered, and the model is not
// asked again.
func TestFullDiskLeavesNoCallOpen(t *testing.T) {
	b := newBench("stream-json", nil)
	script := enginetest.NewScript(enginetest.Says("", enginetest.Call("1", "write"), enginetest.Call("2", "write")), enginetest.Says("ok"))
	o := newOnce(b, script, failing(&engine.CallError{Type: engine.NoSpaceLeft, Message: "no space left on device"}))
	if err := o.Run(t.Context(), Prompt{Text: "x"}); engine.ErrorType(err) != engine.NoSpaceLeft {
		t.Errorf("got %v", err)
	}
	out := strings.Join(b.out, "")
	if used, over := strings.Count(out, `"tool_use"`), strings.Count(out, `"tool_result"`); used != 2 || over != 2 || script.Left() != 1 {
		t.Errorf("%d calls, %d results, %d replies left:\n%s", used, over, script.Left(), out)
	}
}
