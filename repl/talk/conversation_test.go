package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/repl/schematest"
)

// A whimsy is a model that says and calls what comes to its mind, valid text or
// not.
type whimsy struct{ *rand.Rand }

func (w whimsy) text() string {
	const letters = "ab \n\x1b[31m\xff\xc3é\u202e\u009b\"\\"
	b := make([]byte, w.IntN(20))
	for i := range b {
		b[i] = letters[w.IntN(len(letters))]
	}
	return string(b)
}

func (w whimsy) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		for range w.IntN(3) {
			if ctx.Err() != nil || !yield(enginetest.Chunk("", genai.NewPartFromText(w.text()+".")), nil) {
				return
			}
		}
		switch w.IntN(6) {
		case 0:
			yield(nil, errors.New("no server: "+w.text()))
		case 1, 2:
			id := fmt.Sprint(w.IntN(3)) + w.text()
			name := []string{"act", "ask", "nosuch"}[w.IntN(3)]
			yield(enginetest.Chunk(genai.FinishReasonStop, &genai.Part{FunctionCall: enginetest.Call(id, name, "what", w.text())}), nil)
		default:
			yield(enginetest.Chunk(genai.FinishReasonStop, genai.NewPartFromText("Done.")), nil)
		}
	}
}

func (whimsy) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

// whims are the tools of a whimsy: one that is asked about, and one that asks.
func (w whimsy) tools() engine.Tools {
	declare := func(name string) *genai.FunctionDeclaration { return &genai.FunctionDeclaration{Name: name} }
	act := engine.Tool{Declaration: declare("act"), Kind: engine.Execute,
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			what := fmt.Sprint(args["what"])
			in := engine.Intent{Title: "act " + what, Detail: what, Grants: []engine.Grant{{Label: what, Tool: "act", Target: what}}}
			return engine.Call{Intent: in, Run: func(_ context.Context, host engine.Host) (engine.Result, error) {
				host.Emit(engine.Output{Delta: what})
				return engine.Result{Text: what, Display: what}, nil
			}}, nil
		}}
	ask := engine.Tool{Declaration: declare("ask"), Kind: engine.AskUser}
	ask.Prepare = func(_ context.Context, args map[string]any) (engine.Call, error) {
		what := fmt.Sprint(args["what"])
		in := engine.Intent{Title: "ask", Questions: []engine.Question{{Text: what, Kind: engine.QuestionKind(len(what) % 3),
			Options: []engine.Option{{Label: what, Description: what}}}}}
		return engine.Call{Intent: in, Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
			a, err := host.Approve(ctx, engine.Proposal{Tool: ask, Agent: "helper\x1b", Intent: in})
			said, _ := a.(engine.Replied)
			return engine.Result{Text: strings.Join(said.Replies, ",")}, err
		}}, nil
	}
	return engine.Tools{act, ask}
}

// A teller reads what the program says, and answers it as it likes: rightly,
// wrongly, twice, or with rubbish.
type teller struct {
	*rand.Rand
	heard chan string // records, as they are written
	left  int         // lines to be said
	said  []byte
	sent  int // messages
}

// Write takes a record.
func (c *teller) Write(b []byte) (int, error) {
	c.heard <- string(b)
	return len(b), nil
}

// Read says the next line, often before anything was heard.
func (c *teller) Read(b []byte) (int, error) {
	if len(c.said) == 0 {
		if c.left == 0 {
			return 0, io.EOF
		}
		c.left--
		c.said = []byte(c.line() + "\n")
	}
	n := copy(b, c.said[:min(len(c.said), 1+c.IntN(200))])
	c.said = c.said[n:]
	return n, nil
}

func (c *teller) line() string {
	for range c.IntN(200) {
		runtime.Gosched()
	}
	var asked struct{ Type, ID string }
	for len(c.heard) > 0 {
		r := asked
		if json.Unmarshal([]byte(<-c.heard), &r) == nil && (r.Type == "approval_request" || r.Type == "question") {
			asked = r
		}
	}
	id, _ := json.Marshal(asked.ID)
	switch c.IntN(12) {
	case 0, 1, 2:
		c.sent++
		return `{"type":"user","id":"m` + fmt.Sprint(c.IntN(4)) + `","content":"` + []string{"hi", "/tell", "/quiet", "@x"}[c.IntN(4)] + `"}`
	case 3:
		return `{"type":"cancel"}`
	case 4:
		return fmt.Sprintf(`{"type":"cancel","id":"m%d"}`, c.IntN(4))
	case 5:
		return `{"type":"user","content":`
	case 6:
		return fmt.Sprintf(`{"type":"approval","id":%s,"decision":"allow","args":{"what":"else"}}`, id)
	case 7:
		return fmt.Sprintf(`{"type":"approval","id":%s,"decision":"always","grant":%d}`, id, c.IntN(2))
	case 8:
		return fmt.Sprintf(`{"type":"answer","id":%s,"answers":["Yes"]}`, id)
	case 9:
		return fmt.Sprintf(`{"type":"approval","id":%s,"decision":"deny","note":"no"}`, id)
	}
	return fmt.Sprintf(`{"type":"approval","id":%s,"decision":"allow"}`, id)
}

// A writes keeps what was written, write by write.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// newConversation returns one that nobody answers, of a clock that moves a
// millisecond with every look.
func newConversation(in io.Reader, out io.Writer) *Server {
	now, count := time.Date(2026, 11, 20, 20, 40, 23, 0, time.UTC), &tally.Tally{}
	clock := func() time.Time {
		now = now.Add(time.Millisecond)
		return now
	}
	return &Server{Config: Config{
		In: in, Tally: count, Now: clock, Session: func() string { return "s-1" },
		Stream:  report.NewStream(report.Config{Out: out, Err: io.Discard, Session: "s-1", Tally: count, Now: clock}),
		Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} }, Nobody: &question.Headless{},
	}}
}

// random holds a conversation of which all is left to chance, and returns what
// was written and how many messages were sent.
func random(t *testing.T, seed uint64) (records []string, sent int) {
	source := rand.New(rand.NewPCG(seed, 1))
	c := &teller{Rand: rand.New(rand.NewPCG(seed, 2)), heard: make(chan string, 100_000), left: source.IntN(30)}
	w := whimsy{rand.New(rand.NewPCG(seed, 3))}
	out := &writes{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	talk := newConversation(c, io.MultiWriter(out, c))
	p := policy.New(policy.Default)
	e := engine.New(engine.Config{Model: "m", Generator: w, Tools: w.tools(), Policy: p, Approver: talk, MaxTurns: 100})
	talk.Run = e.Run
	talk.Expand = func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		switch parts[0].Text {
		case "/tell":
			talk.Notify("this is told")
			io.WriteString(talk, "and this is said")
			return nil, nil
		case "/quiet":
			return nil, &input.Error{Message: "no such thing"}
		}
		return parts, nil
	}
	if source.IntN(4) == 0 {
		stop := source.IntN(1000)
		time.AfterFunc(time.Duration(stop)*time.Microsecond, cancel)
	}
	err := talk.Serve(ctx, report.Init{Model: "m"})
	talk.Stream.Finish(talk.Outcome(err))
	if ctx.Err() != nil {
		return *out, -1 // nobody knows how much was read
	}
	return *out, c.sent
}

// Whatever a client and a model do, each message has its result, each record is
// one that is described, and the conversation ends.
func TestRandomTalks(t *testing.T) {
	events := schematest.Open(t, "events")
	kinds := map[string]int{}
	wanted := []string{"message", "tool_use", "tool_result", "approval_request", "question", "error"}
	// How far a client comes depends on the machine's other work.
	rare := func() bool { return slices.ContainsFunc(wanted, func(kind string) bool { return kinds[kind] < 20 }) }
	for seed := uint64(0); seed < 200 || seed < 2000 && rare(); seed++ {
		records, sent := random(t, seed)
		results := 0
		for i, line := range records {
			if err := events.Check(line); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, line, err)
			}
			if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				t.Fatalf("seed %d: %q", seed, line)
			}
			var r struct {
				Type string
				Seq  int
			}
			json.Unmarshal([]byte(line), &r)
			kinds[r.Type]++
			if r.Seq != i || (r.Type == "result") != (i == len(records)-1) || (r.Type == "init") != (i == 0) {
				t.Fatalf("seed %d: record %d is %s", seed, i, line)
			}
			if r.Type == "turn_result" {
				results++
			}
		}
		if sent >= 0 && results != sent {
			t.Fatalf("seed %d: %d results of %d messages\n%s", seed, results, sent, strings.Join(records, ""))
		}
	}
	for _, kind := range wanted {
		if kinds[kind] < 20 {
			t.Errorf("%d records of the type %s", kinds[kind], kind)
		}
	}
}

// What there is no room for is refused, in one piece, and room that was made is
// used.
func TestInboxBounds(t *testing.T) {
	var b inbox
	var held []line
	add := func(n int, size int, m message) {
		held = b.add(held, line{Number: n, Size: size, Message: m})
	}
	for n := range mostWaiting {
		add(n+1, 1, userMessage{})
	}
	add(1001, 1, userMessage{ID: "late"})
	add(1002, 1, cancelMessage{})
	add(1003, 1, userMessage{ID: "later"})
	add(1004, 1, userMessage{ID: "last"})
	add(1005, 2*mostHeld, approvalMessage{})
	add(1006, 1, endMessage{})
	got := held[mostWaiting:]
	if len(got) != 4 || got[0].Err != errFull || got[0].ID != "late" || got[1].Message != (cancelMessage{}) ||
		got[2].Number != 1003 || got[2].Through != 1005 || got[2].ID != "" || got[3].Message != (endMessage{}) {
		t.Fatalf("%v", got)
	}
	b.done(held[0])
	add(1007, 1, userMessage{})
	if last := held[len(held)-1]; last.Err != nil {
		t.Errorf("%v", last)
	}
	for _, l := range held[1:] {
		b.done(l)
	}
	if b.bytes.Load() != 0 || b.messages.Load() != 0 {
		t.Errorf("%d bytes, %d messages are left", b.bytes.Load(), b.messages.Load())
	}
}

// fallsBehind reads what it has, and then panics.
type fallsBehind struct{ io.Reader }

func (f fallsBehind) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err == io.EOF {
		panic("oh no")
	}
	return n, err
}

// A panic of whoever reads comes to whoever called Run, who can write the last
// record, behind the results of all messages that were read.
func TestReaderFalls(t *testing.T) {
	for _, sent := range []int{0, 1, 3} {
		out := &writes{}
		in := strings.Repeat(`{"type":"user","content":"hi"}`+"\n", sent)
		talk := newConversation(fallsBehind{strings.NewReader(in)}, out)
		talk.Expand = func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) { return parts, nil }
		replies := slices.Repeat([]enginetest.Reply{enginetest.Says("Hello.")}, sent)
		talk.Run = engine.New(engine.Config{Model: "m", Generator: enginetest.NewScript(replies...), Tools: engine.Tools{}, Policy: policy.New(policy.Default), Approver: talk}).Run
		fallen := func() (v any) {
			defer func() { v = recover() }()
			t.Errorf("it returns %v", talk.Serve(t.Context(), report.Init{Model: "m"}))
			return nil
		}()
		if text, _ := fallen.(string); !strings.HasPrefix(text, "oh no\n") || !strings.Contains(text, "fallsBehind") {
			t.Errorf("the panic is %v", fallen)
		}
		if all := strings.Join(*out, ""); strings.Count(all, `"type":"turn_result"`) != sent || strings.Contains(all, `"type":"result"`) {
			t.Errorf("of %d messages: %s", sent, all)
		}
	}
}

// A message that is cancelled while another one has its turn takes nothing from that one's
// records.
func TestCancelledMeanwhile(t *testing.T) {
	in, said := io.Pipe()
	heard, out := io.Pipe()
	talk := newConversation(in, out)
	open := make(chan struct{})
	talk.Expand = func(_ context.Context, parts []*genai.Part) ([]*genai.Part, error) {
		<-open // it looks for files
		return parts, nil
	}
	talk.Run = engine.New(engine.Config{Model: "m", Generator: enginetest.NewScript(enginetest.Says("Hello.")), Policy: policy.New(policy.Default)}).Run
	go func() {
		defer out.Close()
		talk.Serve(t.Context(), report.Init{Model: "m"})
	}()
	go func() {
		for _, l := range []string{`{"type":"user","id":"a","content":"hi"}`, `{"type":"user","id":"b","content":"and"}`, `{"type":"cancel","id":"b"}`} {
			io.WriteString(said, l+"\n")
		}
	}()
	var told []string
	for records := json.NewDecoder(heard); ; {
		var r struct{ Type, Role, ID, Status string }
		if records.Decode(&r) != nil {
			break
		}
		told = append(told, strings.TrimSpace(strings.Join([]string{r.Type, r.Role, r.ID, r.Status}, " ")))
		if r.ID == "b" {
			close(open)
			said.Close()
		}
	}
	if want := []string{"init", "turn_result  b cancelled", "message user a", "message assistant", "turn_result  a success"}; !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}
