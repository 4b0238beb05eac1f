package commands_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/repl/input"
)

// The commands about a session's screen, with one.
func TestScreenCommands(t *testing.T) {
	say := func(what string) func(string) (string, error) {
		return func(word string) (string, error) {
			if word == "bad" {
				return "", errors.New("no such " + what)
			}
			return what + "=" + word, nil
		}
	}
	var entered []string
	for i := range 30 {
		entered = append(entered, fmt.Sprintf("input %d", i+1))
	}
	entered = append(entered, "two\nLines")
	for _, test := range []struct {
		line, want, err string
	}{
		{"/accessible on", "reader=on\n", ""},
		{"/accessible bad", "", "no such reader"},
		{"/stream", "pace=\n", ""},
		{"/detail full", "detail=full\n", ""},
		{"/vim", "vi=toggle\n", ""},
		{"/vim off", "vi=off\n", ""},
		{"/show", "3: run: seq 2, 2 lines\n4: read a b, 1 line\n", ""},
		{"/show 3", "1\n2\n", ""},
		{"/show 5", "", "there is no output 5"},
		{"/show all", "", "there is no output all"},
		{"/again", "shown again: the | A | b |\n", ""},
		{"/history", "asked: go\nshown again: ", ""},
		{"/history 20", "12: input 12\n", ""},
		{"/history 1", "31: two\n  Lines\n", ""},
		{"/history INPUT 3", "3: input 3\n30: input 30\n", ""},
		{"/history nothing", "", `none of your inputs contains "nothing"`},
		{"/last csv", "A,b\n\"1,5\",\n", ""},
	} {
		t.Run(test.line, func(t *testing.T) {
			app, out := session(t)
			app.Conversation.Engine = engine.New(engine.Config{Model: "m", Policy: app.Conversation.Policy, Tools: engine.Tools{}, Generator: et.NewScript(et.Says("the | A | b |\n\n| A | b |\n|---|---|\n| 1,5 |\n"))})
			et.Record(app.Conversation.Engine.Run(t.Context(), genai.NewPartFromText("go")))
			app.Terminal.Screen = &commands.Screen{Accessible: say("reader"), Stream: say("pace"), Detail: say("detail"), Vi: say("vi"),
				Answer: func(text string) {
					first, _, _ := strings.Cut(text, "\n")
					fmt.Fprintln(out, "shown again: "+first)
				},
				Asked:   func(text string) { fmt.Fprintln(out, "asked: "+text) },
				Kept:    func() []commands.Output { return []commands.Output{{3, "run: seq 2", "1\n2\n"}, {4, "read a\nb", "x"}} },
				Entered: func() []string { return slices.Clone(entered) },
			}
			_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(test.line)})
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got error %v; want %q", err, test.err)
			}
			if !strings.HasPrefix(out.String(), test.want) {
				t.Errorf("got %q; want %q", out, test.want)
			}
		})
	}
}

// A summary is the model's to give.
func TestBrief(t *testing.T) {
	app, _ := session(t)
	et.Record(app.Conversation.Engine.Run(t.Context(), genai.NewPartFromText("go")))
	parts, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText("/brief")})
	if err != nil || len(parts) != 1 || !strings.Contains(parts[0].Text, "Sum up") {
		t.Errorf("%v, %v", parts, err)
	}
}
