package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

func message(parts ...*genai.Part) et.Reply {
	return et.Message(&genai.Content{Role: genai.RoleModel, Parts: parts})
}

// The API checks that signatures come back where they were.
func TestSignaturesComeBackWhereTheyWere(t *testing.T) {
	sig := []byte("signature")
	g := et.NewScript(
		message(
			&genai.Part{Text: "**Plan** first", Thought: true},
			&genai.Part{Text: "a"}, &genai.Part{Text: "b"},
			&genai.Part{FunctionCall: et.Call("1", "read"), ThoughtSignature: sig},
			&genai.Part{FunctionCall: et.Call("2", "read")}),
		message(&genai.Part{FunctionCall: et.Call("3", "read")}),
		message(&genai.Part{Text: "done"}, &genai.Part{ThoughtSignature: sig}),
		message(&genai.Part{Text: "again"}))
	journal := &et.Journal{}
	cfg := config(t, g, tool("read", engine.Read, func(context.Context, engine.Host) (engine.Result, error) {
		return engine.Result{Text: "ok"}, nil
	}))
	cfg.Journal = journal
	e := engine.New(cfg)
	et.Record(e.Run(t.Context(), say("go")))
	et.Record(e.Run(t.Context(), say("more")))

	second, third, fourth := g.Requests()[1].Contents, g.Requests()[2].Contents, g.Requests()[3].Contents
	if got := len(second[1].Parts); got != 3 {
		t.Fatalf("the first message comes back with %d parts", got)
	}
	if second[1].Parts[0].Text != "ab" {
		t.Errorf("text comes back as %q", second[1].Parts[0].Text)
	}
	if !bytes.Equal(second[1].Parts[1].ThoughtSignature, sig) || second[1].Parts[2].ThoughtSignature != nil {
		t.Error("the signature is not on its own call, or on another")
	}
	if b, _ := json.Marshal(third[3].Parts[0].ThoughtSignature); !strings.Contains(string(b), "skip/thought/signature/validator") {
		t.Errorf("an unsigned call goes back with %s", b)
	}
	if e.History()[3].Parts[0].ThoughtSignature != nil {
		t.Error("the stand-in for a signature is in the history")
	}
	if !bytes.Equal(fourth[3].Parts[0].ThoughtSignature, third[3].Parts[0].ThoughtSignature) {
		t.Error("what was sent once is sent in other bytes, and no server finds it again")
	}
	if p := fourth[5].Parts; len(p) != 2 || !bytes.Equal(p[1].ThoughtSignature, sig) {
		t.Errorf("the signature at the end comes back as %+v", p)
	}
	if th := journal.Entries()[1].Thoughts; len(th) != 1 || th[0] != "**Plan** first" {
		t.Errorf("recorded thoughts %q", th)
	}
}

func TestThoughtsAreJoinedAndSplitAtTitles(t *testing.T) {
	g := et.NewScript(message(
		&genai.Part{Text: "**One** a", Thought: true}, &genai.Part{Text: "b", Thought: true},
		&genai.Part{Text: "**Two** c", Thought: true}, &genai.Part{Text: "visible"},
		&genai.Part{Text: "d", Thought: true}))
	journal := &et.Journal{}
	cfg := config(t, g)
	cfg.Journal = journal
	et.Record(engine.New(cfg).Run(t.Context(), say("go")))
	if got := fmt.Sprintf("%q", journal.Entries()[1].Thoughts); got != `["**One** ab" "**Two** c" "d"]` {
		t.Errorf("got %s", got)
	}
}

func TestMediaInAnswers(t *testing.T) {
	image := &genai.Part{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("png")}}
	sound := &genai.Part{InlineData: &genai.Blob{MIMEType: "audio/wav", Data: []byte("wav")}}
	for _, test := range []struct {
		name, model string
		media       *genai.Part
		want        string // the parts after the call, by message
	}{
		{"beside the answer", "gemini-2.5-flash", image, "answer+image/png"},
		{"inside the answer", "gemini-3-pro-preview", image, "answer(image/png)"},
		{"inside the answer of the default model", "gemini-3.8-flash", image, "answer(image/png)"},
		{"in a message of its own", "gemini-3-pro-preview", sound, "answer | thought | audio/wav"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := et.NewScript(et.Says("", et.Call("1", "read")), et.Says("bye"))
			cfg := config(t, g, tool("read", engine.Read, func(context.Context, engine.Host) (engine.Result, error) {
				return engine.Result{Media: []*genai.Part{test.media}}, nil
			}))
			cfg.Model = test.model
			e := engine.New(cfg)
			if r := et.Record(e.Run(t.Context(), say("go"))); len(r.Errs) > 0 {
				t.Fatal(r.Errs)
			}
			var messages []string
			for _, c := range g.Requests()[1].Contents[2:] {
				var parts []string
				for _, p := range c.Parts {
					switch {
					case p.FunctionResponse != nil:
						s := "answer"
						for _, fp := range p.FunctionResponse.Parts {
							s += "(" + fp.InlineData.MIMEType + ")"
						}
						parts = append(parts, s)
					case p.InlineData != nil:
						parts = append(parts, p.InlineData.MIMEType)
					case p.Thought:
						parts = append(parts, "thought")
					}
				}
				messages = append(messages, strings.Join(parts, "+"))
			}
			if got := strings.Join(messages, " | "); got != test.want {
				t.Errorf("got %s; want %s", got, test.want)
			}
		})
	}
}

func TestOpeningComesFirstAndOnce(t *testing.T) {
	g := et.NewScript(et.Says("a"), et.Says("b"))
	cfg := config(t, g)
	asked := 0
	cfg.Opening = func(context.Context) *genai.Content {
		asked++
		return genai.NewContentFromText("context", genai.RoleUser)
	}
	cfg.System = func() string { return "be brief" }
	journal := &et.Journal{}
	cfg.Journal = journal
	e := engine.New(cfg, genai.NewContentFromText("old question", genai.RoleUser), genai.NewContentFromText("old answer", genai.RoleModel))
	if asked != 0 {
		t.Error("asked before the first request")
	}
	if err := e.Add(t.Context(), say("I ran ls")); err != nil {
		t.Fatal(err)
	}
	et.Record(e.Run(t.Context(), say("one")))
	et.Record(e.Run(t.Context(), say("two")))
	if asked != 1 || !journal.Entries()[0].Opening {
		t.Errorf("asked %d times", asked)
	}
	first := g.Requests()[0]
	var texts []string
	for _, c := range first.Contents {
		for _, p := range c.Parts {
			texts = append(texts, c.Role+":"+p.Text)
		}
	}
	if got := strings.Join(texts, " "); got != "user:context user:old question model:old answer user:I ran ls user:one" {
		t.Errorf("sent %s", got)
	}
	if first.Config.SystemInstruction.Parts[0].Text != "be brief" {
		t.Error("the system instruction is not sent")
	}
}

func TestEstimate(t *testing.T) {
	g := et.NewScript()
	g.Tokens = 77
	cfg := config(t, g)
	cfg.TokenLimit = func(string) int { return 10 }
	for _, test := range []struct {
		part *genai.Part
		want int
	}{
		{say(strings.Repeat("a", 100)), 25},
		{say(strings.Repeat("ü", 100)), 150},
		{say(strings.Repeat("a", 200_000)), 50_000},
		{&genai.Part{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("x")}}, 77},
	} {
		r := et.Record(engine.New(cfg).Run(t.Context(), test.part))
		if over, ok := r.Errs[0].(*engine.OverflowError); !ok || over.Request != test.want {
			t.Errorf("got %v; want %d", r.Errs, test.want)
		}
	}
}
