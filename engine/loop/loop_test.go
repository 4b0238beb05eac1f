package loop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/loop"
	"gemline/engine/policy"
)

// A step of a transcript is a call and its result, or a text of the model.
type step struct {
	call         *engine.CallRequested
	result, text string
}

// transcript reads a file of testdata. A line that begins with "> " is a call, and those
// with "< " below it are its result; with "| " begins what the model says. The first line
// of a loop says "loop: " and what is found.
func transcript(t *testing.T, path string) (steps []step, found string) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		line := in.Text()
		kind, rest := line[:min(2, len(line))], line[min(2, len(line)):]
		switch {
		case strings.HasPrefix(line, "loop: "):
			found = strings.TrimPrefix(line, "loop: ")
		case kind == "> ":
			name, args, _ := strings.Cut(rest, " ")
			c := &engine.CallRequested{ID: fmt.Sprintf("%s__%d", name, len(steps)), Name: name}
			if err := json.Unmarshal([]byte(args), &c.Args); err != nil {
				t.Fatalf("%s: %v in %s", path, err, line)
			}
			steps = append(steps, step{call: c})
		case kind == "< ":
			steps[len(steps)-1].result += rest + "\n"
		case kind == "| " || kind == "|":
			if len(steps) == 0 || steps[len(steps)-1].call != nil {
				steps = append(steps, step{})
			}
			steps[len(steps)-1].text += rest + "\n"
		case line != "":
			t.Fatalf("%s: %q is no line of a transcript", path, line)
		}
	}
	return steps, found
}

// play returns a Run that is a transcript, whatever it is told. Texts come in pieces of
// so many bytes. What was said and done is counted in done.
func play(steps []step, piece int, done *int) engine.Run {
	return func(context.Context, ...*genai.Part) iter.Seq2[engine.Event, error] {
		return func(yield func(engine.Event, error) bool) {
			for _, s := range steps {
				if s.call == nil && !yield(engine.RequestStarted{}, nil) {
					return
				}
				for rest := s.text; rest != ""; {
					n := min(piece, len(rest))
					if !yield(engine.Text{Delta: strings.ToValidUTF8(rest[:n], "")}, nil) {
						return
					}
					rest = rest[n:]
					*done += n
				}
				if s.call == nil {
					continue
				}
				if !yield(engine.RequestStarted{}, nil) || !yield(*s.call, nil) || !yield(engine.CallStateChanged{ID: s.call.ID, Name: s.call.Name, State: engine.Validating}, nil) {
					return
				}
				*done++
				if !yield(engine.CallFinished{ID: s.call.ID, Name: s.call.Name, Result: engine.Result{Text: s.result}}, nil) {
					return
				}
			}
		}
	}
}

// What gets somewhere is no loop, and what does not is one, in pieces of any size.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	honest := 0
	for _, path := range glob(t, "testdata/*.txt") {
		steps, want := transcript(t, path)
		if want == "" {
			honest++
		}
		for _, piece := range []int{1, 7, 40, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(path), piece), func(t *testing.T) {
				done := 0
				r := et.Record(loop.New(loop.Config{}).Run(play(steps, piece, &done))(t.Context(), genai.NewPartFromText("go")))
				got := ""
				var e *loop.Error
				if len(r.Errs) > 0 && errors.As(r.Errs[0], &e) {
					got = e.What
				}
				if got != want {
					t.Errorf("found %q, not %q, after %d", got, want, done)
				}
			})
		}
	}
	if honest < 20 {
		t.Errorf("%d honest transcripts", honest)
	}
}

// Pages of documentation, tables and code in them included, are no loops.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, path := range append(glob(t, "../../docs/*.md"), glob(t, "../*/*.go")...) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		r := et.Record(loop.New(loop.Config{}).Run(play([]step{{text: string(b)}}, 7, &done))(t.Context(), genai.NewPartFromText("go")))
		for _, err := range r.Errs {
			t.Errorf("%s: %v", path, err)
		}
		for _, ev := range r.Events {
			if n, ok := ev.(engine.Notice); ok {
				t.Errorf("%s: %s", path, n.Text)
			}
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %q, %v", pattern, paths, err)
	}
	return paths
}

// conversation returns an engine with a tool that always returns the same.
func conversation(t *testing.T, replies ...et.Reply) (*engine.Engine, *et.Script) {
	script := et.NewScript(replies...)
	look := engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "look"}, Kind: engine.Read,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			return engine.Call{Intent: engine.Intent{Title: fmt.Sprint("look at ", args["at"])}, Run: func(context.Context, engine.Host) (engine.Result, error) {
				return engine.Result{Text: fmt.Sprint("nothing at ", args["at"])}, nil
			}}, nil
		}}
	return engine.New(engine.Config{Model: "m", Generator: script, Tools: engine.Tools{look}, Policy: policy.New(policy.Default)}), script
}

func looks(at string) et.Reply { return et.Says("", et.Call("", "look", "at", at)) }

func times[T any](n int, replies ...T) (all []T) {
	for range n {
		all = append(all, replies...)
	}
	return all
}

const circles = "look at x, 5 times with the same result"

// The sixth call of a loop is not made: the model is advised, and if it goes on all the
// same, that is the end, or the user says what is.
func TestGuard(t *testing.T) {
	t.Parallel()
	x := looks("x")
	done := et.Says("Done.")
	tests := []struct {
		name    string
		replies []et.Reply
		answers []engine.Answer // nil where nobody is asked
		runs    int             // calls that are made
		err     string
		said    []string // what is said to the model
		left    int      // replies
	}{
		{name: "five", replies: append(times(5, x), done), runs: 5},
		{name: "advice helps", replies: append(times(6, x), done), runs: 5, said: []string{"Repeated tool call: look with arguments {\"at\":\"x\"}"}},
		{name: "advice does not help", replies: append(times(7, x), done), runs: 5, err: circles, left: 1},
		{name: "something else, and again", replies: append(append(times(6, x), looks("y")), append(times(4, x), done)...), runs: 10},
		{name: "side by side", replies: []et.Reply{et.Says("", times6()...), done}, runs: 0, said: []string{"Repeated tool call"}},
		{name: "a round of two", replies: append(times(5, x, looks("y")), x, x, done), runs: 10, err: "look at x, then look at y, 5 times with the same result", left: 1},
		{name: "a round of five", replies: append(times(5, x, looks("1"), looks("2"), looks("3"), looks("4")), x, x, done), runs: 25,
			err: "look at x, then look at 1, then look at 2, then look at 3, then look at 4, 5 times with the same result", left: 1},
		{name: "a round of six", replies: append(times(8, x, looks("1"), looks("2"), looks("3"), looks("4"), looks("5")), done), runs: 48},
		{name: "the user stops", replies: append(times(7, x), done), answers: []engine.Answer{engine.Refused{}}, runs: 5, err: circles, left: 1},
		{name: "the user goes on", replies: append(times(11, x), done), answers: []engine.Answer{engine.Allowed{}}, runs: 10},
		{name: "the user is asked again", replies: append(times(12, x), done), answers: []engine.Answer{engine.Allowed{}, engine.Refused{}}, runs: 10, err: circles, left: 1},
		{name: "never again", replies: append(times(30, x), done), answers: []engine.Answer{engine.Allowed{Scope: engine.Session}}, runs: 29},
		{name: "words of the user's", replies: append(times(7, x), done), answers: []engine.Answer{engine.Refused{Note: "look at y"}}, runs: 5, said: []string{"Potential loop", "look at y"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, script := conversation(t, test.replies...)
			cfg := loop.Config{Resume: func() string { return "gemline --resume 1" }}
			if test.answers != nil {
				cfg.Approver = et.NewApprover(t, test.answers...)
			}
			r := et.Record(loop.New(cfg).Run(e.Run)(t.Context(), genai.NewPartFromText("go")))
			if n := strings.Count(r.String(), " success: nothing at"); n != test.runs {
				t.Errorf("%d calls, not %d:\n%s", n, test.runs, r)
			}
			switch {
			case test.err == "" && len(r.Errs) == 0:
			case len(r.Errs) != 1 || !strings.HasSuffix(r.Errs[0].Error(), ": "+test.err):
				t.Errorf("ended with %q, not %q", r.Errs, test.err)
			}
			if script.Left() != test.left {
				t.Errorf("%d replies are left, not %d", script.Left(), test.left)
			}
			et.CheckHistory(t, e.History())
			for _, words := range test.said {
				if !strings.Contains(fmt.Sprint(spoken(e)), words) {
					t.Errorf("%q was not said: %q", words, spoken(e))
				}
			}
			if calls, over := strings.Count(r.String(), "called "), strings.Count(r.String(), "finished "); calls != over {
				t.Errorf("%d calls, of which %d are over:\n%s", calls, over, r)
			}
		})
	}
}

func times6() (all []*genai.FunctionCall) {
	for range 6 {
		all = append(all, et.Call("", "look", "at", "x"))
	}
	return all
}

// spoken returns what the user has said in a conversation.
func spoken(e *engine.Engine) (texts []string) {
	for _, c := range e.History() {
		for _, p := range c.Parts {
			if c.Role == genai.RoleUser && p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
	}
	return texts
}

// An answer that repeats itself is left in the middle; the history has what was said.
func TestChant(t *testing.T) {
	t.Parallel()
	endless := et.Streams(times(200, "I will now look at the file again, and then decide. ")...)
	e, script := conversation(t, endless, endless, et.Says("Never said."))
	r := et.Record(loop.New(loop.Config{}).Run(e.Run)(t.Context(), genai.NewPartFromText("go")))
	if len(r.Errs) != 1 || !strings.Contains(r.Errs[0].Error(), "says again and again") || script.Left() != 1 {
		t.Errorf("%v, %d left", r.Errs, script.Left())
	}
	et.CheckHistory(t, e.History())
	if n := len(e.History()[1].Parts[0].Text); n > 1200 {
		t.Errorf("%d bytes were listened to", n)
	}
	if said := spoken(e); len(said) != 2 || !strings.Contains(said[1], "Repeating content detected") {
		t.Errorf("%q", said)
	}
}

// Rows of numbers, equal statements and refrains may be what was asked for; nobody asks for
// them without end.
func TestHonestRepetition(t *testing.T) {
	t.Parallel()
	const refrain = "Row, row, row your boat, gently down the stream,\nmerrily, merrily, merrily, merrily, life is but a dream.\n\n"
	for name, row := range map[string]string{
		"zeros":     "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		"one row":   "0, 0, 0, 0, ",
		"csv":       "2026-01-01,0.00,0.00,0.00,N/A,0.00,0.00,0.00\n",
		"inserts":   "INSERT INTO items (name, price) VALUES ('widget', 9.99);\n",
		"refrain":   refrain,
		"hex":       "00 ff 00 ff 00 ff 00 ff 00 ff 00 ff 00 ff 00 ff ",
		"paragraph": "All work and no play makes Jack a dull boy.\n",
	} {
		for size, errs := range map[int]int{15_000: 0, 60_000: 1} {
			pieces := et.Streams(times(size/len(row), row)...)
			e, _ := conversation(t, pieces, pieces, et.Says("Never said."))
			r := et.Record(loop.New(loop.Config{}).Run(e.Run)(t.Context(), genai.NewPartFromText("go")))
			if len(r.Errs) != errs {
				t.Errorf("%s, %d characters: %v", name, size, r.Errs)
			}
			et.CheckHistory(t, e.History())
		}
	}
	// What repeats for a while, is left and comes back, begins anew.
	texts := times(150, refrain)
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("Verse %d is about the number %d and what follows it.\n", i, i*i))
	}
	texts = append(texts, times(150, refrain)...)
	e, _ := conversation(t, et.Streams(texts...), et.Says("Done."))
	if r := et.Record(loop.New(loop.Config{}).Run(e.Run)(t.Context(), genai.NewPartFromText("go"))); len(r.Errs) != 0 {
		t.Error(r.Errs)
	}
}

// What hooks and checks have the model do about its answer belongs to the same prompt, and
// the user's next one does not.
func TestRounds(t *testing.T) {
	t.Parallel()
	replies := append(times(3, looks("x")), et.Says("Done."))
	replies = append(append(replies, times(3, looks("x"))...), et.Says("Done again."))
	for again, want := range map[bool]int{true: 5, false: 6} {
		e, _ := conversation(t, replies...)
		guard := loop.New(loop.Config{})
		run, calls := guard.Run(e.Run), 0
		for range 2 {
			r := et.Record(run(t.Context(), genai.NewPartFromText("go")))
			calls += strings.Count(r.String(), " success: nothing at")
			if !again {
				run = guard.Run(e.Run)
			}
		}
		if calls != want {
			t.Errorf("of one prompt: %v: %d calls, not %d", again, calls, want)
		}
		et.CheckHistory(t, e.History())
	}
}

// Whoever leaves is followed, at every event.
func TestLeave(t *testing.T) {
	t.Parallel()
	for at := range 60 {
		e, _ := conversation(t, append(times(6, looks("x")), et.Says("", times6()...), et.Says("Done."))...)
		n := 0
		for range loop.New(loop.Config{}).Run(e.Run)(t.Context(), genai.NewPartFromText("go")) {
			if n++; n > at {
				break
			}
		}
		et.CheckHistory(t, e.History())
	}
}

// The price of watching an answer.
func BenchmarkText(b *testing.B) {
	page, err := os.ReadFile("../../docs/internals/tour.md")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	g := loop.New(loop.Config{})
	for b.Loop() {
		done := 0
		for range g.Run(play([]step{{text: string(page)}}, 40, &done))(context.Background(), nil) {
		}
	}
}

// How a text is cut into pieces says nothing about it.
func FuzzPieces(f *testing.F) {
	for _, path := range []string{"testdata/loop_sentence.txt", "testdata/lists.txt"} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), uint8(3))
	}
	f.Add("```\n"+strings.Repeat("fmt.Println() \n", 100)+"```\nno "+strings.Repeat("more and ", 300), uint8(1))
	f.Fuzz(func(t *testing.T, text string, piece uint8) {
		text = strings.ToValidUTF8(text, "?")
		listened := func(n int) string {
			r := et.Record(loop.New(loop.Config{}).Run(func(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
				return pieces(text, n)
			})(t.Context(), genai.NewPartFromText("go")))
			return fmt.Sprint(r.Errs)
		}
		if whole, cut := listened(len(text)+1), listened(1+int(piece)); whole != cut {
			t.Errorf("%s in one piece, %s in pieces of %d", whole, cut, piece)
		}
	})
}

// pieces yields a text, in pieces of so many characters.
func pieces(text string, n int) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for rest := []rune(text); len(rest) > 0; {
			m := min(n, len(rest))
			if !yield(engine.Text{Delta: string(rest[:m])}, nil) {
				return
			}
			rest = rest[m:]
		}
	}
}
