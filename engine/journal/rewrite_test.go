package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// A moody model says something different every time, or fails.
type moody struct{ *rand.Rand }

func (m moody) Count(context.Context, *engine.Request) (int, error) { return 0, nil }
func (m moody) Generate(context.Context, *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if m.IntN(6) == 0 {
			yield(nil, errors.New("out of order"))
			return
		}
		var parts []*genai.Part
		if m.IntN(3) > 0 {
			parts = append(parts, genai.NewPartFromText(fmt.Sprintf("answer <%d> \u2028", m.IntN(3))))
		}
		if m.IntN(4) == 0 {
			parts = append(parts, &genai.Part{Text: "**Why** not", Thought: true}, &genai.Part{ThoughtSignature: []byte("sig")})
		}
		for range m.IntN(3) {
			media := []string{"", "", "image", "audio"}[m.IntN(4)]
			parts = append(parts, callPart([]string{"look", "fail", "gone"}[m.IntN(3)], "", map[string]any{"media": media}, ""))
		}
		yield(&genai.GenerateContentResponse{Candidates: []*genai.Candidate{{
			Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, FinishReason: genai.FinishReasonStop}}}, nil)
	}
}

// rewrite returns a conversation that may follow said: without its end, with a
// summary in the place of its beginning, with an answer in other words, or none.
func (m moody) rewrite(said []*genai.Content) []*genai.Content {
	begins := []int{len(said)} // of questions, and the end
	for i, c := range said {
		if c.Role == genai.RoleUser && c.Parts[0].FunctionResponse == nil && (i == 0 || said[i-1].Parts[0].FunctionResponse == nil) && c.Parts[0].InlineData == nil {
			begins = append(begins, i)
		}
	}
	at := begins[m.IntN(len(begins))]
	switch m.IntN(4) {
	case 0:
		return said[:at]
	case 1:
		return slices.Concat([]*genai.Content{user("summary"), model("Got it.")}, said[at:])
	case 2:
		said = slices.Clone(said)
		for i, c := range said {
			if fr := c.Parts[0].FunctionResponse; fr != nil {
				said[i] = genai.NewContentFromParts(slices.Clone(c.Parts), genai.RoleUser)
				said[i].Parts[0] = answerPart(fr.Name, fr.ID, "masked")
			}
		}
		return said
	}
	return nil
}

// What stays of a conversation keeps what stands beside it, and the opening message
// stays first.
func TestRewriteKeeps(t *testing.T) {
	f := newFile(t, testID)
	put(t, f, engine.Entry{Content: user("<session_context>\nhere"), Opening: true}, engine.Entry{Content: user("what is a?")})
	put(t, f, calls()...)
	put(t, f, engine.Entry{Content: model("It is text."), Model: "m"})
	e := calls()
	said := []*genai.Content{user("summary"), e[0].Content, e[1].Content, model("It is text.")}
	if err := f.Rewrite(said); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var line struct {
		Set struct {
			Messages []messageLine `json:"messages"`
		} `json:"$set"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-2]), &line); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, m := range line.Set.Messages {
		got += fmt.Sprintf("%s %s %d tokens, %d calls\n", m.Type, m.Model, *cmp.Or(m.Tokens, &tokens{}), len(m.ToolCalls))
	}
	if want := "user  {0 0 0 0 0 0} tokens, 0 calls\nuser  {0 0 0 0 0 0} tokens, 0 calls\ngemini m {10 1 0 0 0 11} tokens, 1 calls\n" +
		"user  {0 0 0 0 0 0} tokens, 0 calls\ngemini m {0 0 0 0 0 0} tokens, 0 calls\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	if line.Set.Messages[0].ID != openingID {
		t.Errorf("the first message is %s", line.Set.Messages[0].ID)
	}
	same(t, said, load(t, f.Path()).History)
}

// Whatever is said and rewritten, taken up again or broken off, what is loaded is
// the conversation as the engine has it. A rewrite that is broken off within leaves
// the conversation before it; one of answers alone may leave some as they were.
func TestRewrites(t *testing.T) {
	for seed := range uint64(40) {
		m := moody{rand.New(rand.NewPCG(seed, 1))}
		dir := t.TempDir()
		f := New(Config{Dir: dir, ID: testID, ProjectHash: "25a63d1f", Now: clock()})
		opening := user("<session_context>\nhere")
		begin := func(past []*genai.Content) *engine.Engine {
			return engine.New(engine.Config{Model: "m", Generator: m, Tools: allow{}, Policy: allow{}, Journal: f, MaxTurns: 40,
				Opening: func(context.Context) *genai.Content { return opening }}, past...)
		}
		e := begin(nil)
		said := func() []*genai.Content {
			return slices.DeleteFunc(slices.Clone(e.History()), func(c *genai.Content) bool { return c == opening })
		}
		step := ""
		for n := range 12 {
			before, _ := os.ReadFile(f.Path())
			old := said()
			switch m.IntN(6) {
			case 0, 1:
				step = "rewrite"
				if err := e.Rewrite(m.rewrite(old)); err != nil {
					t.Fatal(err)
				}
				after, _ := os.ReadFile(f.Path())
				for cut := len(before); cut < len(after); cut += 1 + (len(after)-len(before))/7 {
					path := filepath.Join(dir, "cut.jsonl")
					if err := os.WriteFile(path, after[:cut], 0o600); err != nil {
						t.Fatal(err)
					}
					if c, err := Load(path); err == nil && !equal(c.History, old) && !between(c.History, old, said()) {
						t.Fatalf("seed %d, step %d: half a rewrite is loaded as %s", seed, n, encoded(c.History))
					}
				}
			case 2:
				if f.exists {
					step = "resume"
					f.Close()
					c := load(t, f.Path())
					var err error
					if f, err = c.resume(clock()); err != nil {
						t.Fatal(err)
					}
					e = begin(c.History)
				}
			default:
				step = "say"
				left := m.IntN(30)
				for range e.Run(t.Context(), genai.NewPartFromText(fmt.Sprintf("question %d", m.IntN(3)))) {
					if left--; left < 0 {
						break
					}
				}
			}
			if !f.exists {
				continue
			}
			if c := load(t, f.Path()); !equal(c.History, said()) {
				t.Fatalf("seed %d, step %d: after %s the engine has\n%s\nand this is loaded:\n%s", seed, n, step, encoded(said()), encoded(c.History))
			}
		}
		f.Close()
	}
}

// between reports whether said has one conversation's messages in the place of another's,
// from the first to any.
func between(said, from, to []*genai.Content) bool {
	for i := len(to); i >= 0; i-- {
		if i == len(to) && equal(said, to) || len(from) == len(to) && equal(said, slices.Concat(to[:i], from[i:])) {
			return true
		}
	}
	return false
}

// Outputs that are put elsewhere cost the file what stands in their place, however long the
// conversation is.
func TestRewriteOfAnswers(t *testing.T) {
	f := newFile(t, testID)
	put(t, f, engine.Entry{Content: user("what is a?")})
	var said []*genai.Content
	said = append(said, user("what is a?"))
	for i := range 50 {
		id := fmt.Sprint("c", i)
		call := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{callPart("read_file", id, nil, ""),
			callPart("read_file", id+"b", nil, "")}}
		answer := genai.NewContentFromParts([]*genai.Part{answerPart("read_file", id, strings.Repeat("long ", 2000)),
			answerPart("read_file", id+"b", "short")}, genai.RoleUser)
		put(t, f, engine.Entry{Content: call}, engine.Entry{Content: answer,
			Calls: []engine.CallRecord{{ID: "read_file__" + id, Name: "read_file", Answer: answer.Parts[:1]}}})
		said = append(said, call, answer)
	}
	for _, i := range []int{2, 40, 100} {
		said[i] = genai.NewContentFromParts([]*genai.Part{answerPart("read_file", fmt.Sprint("c", i/2-1), "elsewhere"),
			said[i].Parts[1]}, genai.RoleUser)
	}
	before, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	var was, is runtime.MemStats
	runtime.ReadMemStats(&was)
	if err := f.Rewrite(said); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&is)
	if read := is.TotalAlloc - was.TotalAlloc; read > uint64(before.Size())/4 {
		t.Errorf("it took %d bytes of memory to rewrite a file of %d", read, before.Size())
	}
	after, err := os.Stat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if grown := after.Size() - before.Size(); grown > 2000 {
		t.Errorf("the file has grown by %d bytes", grown)
	}
	same(t, said, load(t, f.Path()).History)
}

func encoded(cs []*genai.Content) (s string) {
	for _, c := range cs {
		s += canonical(c) + "\n"
	}
	return s
}

// However often a conversation is compressed, people read each message once, in the order in
// which it was said; a message that is taken back is gone.
func TestSaid(t *testing.T) {
	t.Parallel()
	f := newFile(t, testID)
	snapshot := []*genai.Content{user(summedUp + " <state_snapshot>x</state_snapshot>"), model("Got it. Thanks for the additional context!")}
	call := func(id string) *genai.Content {
		return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{callPart("look", id, nil, "")}}
	}
	answer := func(id, output string) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{answerPart("look", id, output)}}
	}
	record := func(list ...*genai.Content) (entries []engine.Entry) {
		for _, c := range list {
			entries = append(entries, engine.Entry{Content: c})
		}
		return entries
	}
	first := []*genai.Content{user("one"), model("first"), user("two"), call("1"), answer("1", "long"), call("2"), answer("2", "longer")}
	put(t, f, record(first...)...)
	pinned := []*genai.Content{snapshot[0], call("1"), answer("1", "long"), snapshot[1]}
	short := append(slices.Clone(pinned), first[2], first[5], answer("2", "cut")) // within a turn
	if err := f.Rewrite(short); err != nil {
		t.Fatal(err)
	}
	put(t, f, record(model("second"))...)
	want := append(slices.Clone(first), model("second"))
	c := load(t, f.Path())
	same(t, append(short, model("second")), c.History)
	same(t, want, c.Transcript)
	if err := f.Rewrite(append(slices.Clone(snapshot), first[2], model("second"))); err != nil {
		t.Fatal(err)
	}
	put(t, f, record(user("three"), model("third"))...)
	same(t, append(want, user("three"), model("third")), load(t, f.Path()).Transcript)
	f.Close()
	o, err := Open(Config{Dir: filepath.Dir(f.Path())}, OpenOptions{Resume: true, Selector: testID, Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	put(t, o.File, record(user("four"), model("fourth"))...)
	same(t, append(want, user("three"), model("third"), user("four"), model("fourth")), Transcript(o.File, nil))
	if err := o.File.Rewrite([]*genai.Content{user("<state_snapshot>y"), snapshot[1]}); err != nil {
		t.Fatal(err)
	}
	if got := Turns(Transcript(o.File, nil)); len(got) != 4 || got[3].Answer != "fourth" {
		t.Errorf("compressed anew: %+v", got)
	}
	if err := o.File.Rewrite([]*genai.Content{user("another")}); err != nil {
		t.Fatal(err)
	}
	same(t, []*genai.Content{user("another")}, Transcript(o.File, nil))
	o.File.Close()
}
