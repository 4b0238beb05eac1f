package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genai"

	"gemline/engine"
)

const testID = "51c623e0-0000-4000-8000-000000000000"

// clock starts at a fixed time and moves on by a second whenever it is read.
func clock() func() time.Time {
	now := time.Date(2026, 11, 20, 21, 46, 37, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func newFile(t *testing.T, id string) *File {
	t.Helper()
	f := New(Config{Dir: filepath.Join(t.TempDir(), "chats"), ID: id, ProjectHash: "25a63d1f", Now: clock()})
	t.Cleanup(func() { f.Close() })
	return f
}

func user(text string) *genai.Content  { return genai.NewContentFromText(text, genai.RoleUser) }
func model(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleModel) }

func callPart(name, id string, args map[string]any, sig string) *genai.Part {
	p := &genai.Part{FunctionCall: &genai.FunctionCall{Name: name, ID: id, Args: args}}
	if sig != "" {
		p.ThoughtSignature = []byte(sig)
	}
	return p
}

func answerPart(name, id, output string) *genai.Part {
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: name, ID: id, Response: map[string]any{"output": output}}}
}

func put(t *testing.T, f *File, entries ...engine.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := f.Record(e); err != nil {
			t.Fatal(err)
		}
	}
}

func load(t *testing.T, path string) *LoadedSession {
	t.Helper()
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func same(t *testing.T, want, got []*genai.Content) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

// calls returns the entries of a model's message with one call and its answer.
func calls() []engine.Entry {
	said := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		{Text: "looking"}, callPart("read_file", "c1", map[string]any{"file_path": "a<b"}, "sig")}}
	answer := []*genai.Part{answerPart("read_file", "c1", "text of a")}
	return []engine.Entry{
		{Content: said, Model: "m", Thoughts: []string{"**Plan** read it", "no title"},
			Usage: &engine.Usage{Prompt: 10, Output: 1, Total: 11},
			Cited: []engine.Reference{{Title: "A page", URI: "https://example.com/a"}, {URI: "https://example.com/b"}}},
		{Content: genai.NewContentFromParts(answer, genai.RoleUser), Calls: []engine.CallRecord{{
			ID: "read_file__c1", Tool: engine.Tool{Label: "ReadFile"}, Name: "read_file",
			Args: map[string]any{"file_path": "a<b"}, Intent: engine.Intent{Title: "read a<b"}, Answer: answer,
			Result: engine.Result{Text: "text of a", Display: "1 line"}, At: time.Date(2026, 11, 20, 21, 46, 39, 5e6, time.UTC)}}},
	}
}

// TestForm compares a whole file with what the other program writes and reads.
func TestForm(t *testing.T) {
	f := newFile(t, testID)
	put(t, f, engine.Entry{Content: user("<session_context>\nhere"), Opening: true})
	if _, err := os.Stat(filepath.Dir(f.Path())); err == nil {
		t.Error("the directory was made before anything was said")
	}
	put(t, f, engine.Entry{Content: user("what is a?")})
	put(t, f, calls()...)
	put(t, f, engine.Entry{Content: model("It is text."), Model: "m"}, engine.Entry{Content: user("never answered")})
	e := calls()
	said := []*genai.Content{user("what is a?"), e[0].Content, e[1].Content, model("It is text.")}
	for range 2 { // there is nothing to do the second time
		if err := f.Rewrite(said); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	ids := map[string]string{}
	got = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}`).ReplaceAllStringFunc(got, func(id string) string {
		if id != testID && ids[id] == "" {
			ids[id] = fmt.Sprintf("id-%d", len(ids)+1)
		}
		if id == testID {
			return id
		}
		return ids[id]
	})
	want := `{"sessionId":"51c623e0-0000-4000-8000-000000000000","projectHash":"25a63d1f","startTime":"2026-11-20T21:46:38.000Z","lastUpdated":"2026-11-20T21:46:38.000Z","kind":"main","formatVersion":1}
{"$set":{"lastUpdated":"2026-11-20T21:46:39.000Z","messages":[{"id":"d04923d38bb0f6017037e74183378ef4","timestamp":"2026-11-20T21:46:39.000Z","type":"user","content":[{"text":"<session_context>\nhere"}]}]}}
{"id":"id-1","timestamp":"2026-11-20T21:46:40.000Z","type":"user","content":[{"text":"what is a?"}]}
{"$set":{"lastUpdated":"2026-11-20T21:46:40.000Z"}}
{"id":"id-2","timestamp":"2026-11-20T21:46:41.000Z","type":"gemini","content":"looking","thoughts":[{"subject":"Plan","description":"read it","timestamp":"2026-11-20T21:46:41.000Z"},{"subject":"","description":"no title","timestamp":"2026-11-20T21:46:41.000Z"}],"tokens":{"input":10,"output":1,"cached":0,"thoughts":0,"tool":0,"total":11},"model":"m","citations":[{"title":"A page","uri":"https://example.com/a"},{"uri":"https://example.com/b"}],"parts":[{"text":"looking"},{"functionCall":{"id":"read_file__c1","args":{"file_path":"a<b"},"name":"read_file"},"thoughtSignature":"c2ln"}]}
{"$set":{"lastUpdated":"2026-11-20T21:46:41.000Z"}}
{"id":"id-2","timestamp":"2026-11-20T21:46:41.000Z","type":"gemini","content":"looking","thoughts":[{"subject":"Plan","description":"read it","timestamp":"2026-11-20T21:46:41.000Z"},{"subject":"","description":"no title","timestamp":"2026-11-20T21:46:41.000Z"}],"tokens":{"input":10,"output":1,"cached":0,"thoughts":0,"tool":0,"total":11},"model":"m","toolCalls":[{"id":"read_file__c1","name":"read_file","args":{"file_path":"a<b"},"result":[{"functionResponse":{"id":"read_file__c1","name":"read_file","response":{"output":"text of a"}}}],"status":"success","timestamp":"2026-11-20T21:46:39.005Z","displayName":"ReadFile","description":"read a<b","resultDisplay":"1 line","renderOutputAsMarkdown":false}],"citations":[{"title":"A page","uri":"https://example.com/a"},{"uri":"https://example.com/b"}],"parts":[{"text":"looking"},{"functionCall":{"id":"read_file__c1","name":"read_file"},"thoughtSignature":"c2ln"}]}
{"id":"id-3","timestamp":"2026-11-20T21:46:42.000Z","type":"user","content":[{"functionResponse":{"id":"read_file__c1","name":"read_file","response":{"output":"text of a"}}}]}
{"$set":{"lastUpdated":"2026-11-20T21:46:42.000Z"}}
{"id":"id-4","timestamp":"2026-11-20T21:46:43.000Z","type":"gemini","content":"It is text.","thoughts":[],"model":"m"}
{"$set":{"lastUpdated":"2026-11-20T21:46:43.000Z"}}
{"id":"id-5","timestamp":"2026-11-20T21:46:44.000Z","type":"user","content":[{"text":"never answered"}]}
{"$set":{"lastUpdated":"2026-11-20T21:46:44.000Z"}}
{"$rewindTo":"id-5"}
{"$set":{"lastUpdated":"2026-11-20T21:46:45.000Z"}}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	if name := filepath.Base(f.Path()); name != "session-2026-11-20T21-46-51c623e0.jsonl" {
		t.Errorf("name %s", name)
	}
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{f.Path(): 0o600, filepath.Dir(f.Path()): 0o700} {
			if info, _ := os.Stat(path); info.Mode().Perm() != mode {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
	}
	c := load(t, f.Path())
	same(t, said, c.History)
}

// A talker is a Generator that says one message after the other.
type talker [][]*genai.Part

func (s *talker) Generate(context.Context, *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if len(*s) == 0 {
			yield(nil, errors.New("nothing to say"))
			return
		}
		parts := (*s)[0]
		*s = (*s)[1:]
		yield(&genai.GenerateContentResponse{Candidates: []*genai.Candidate{{
			Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, FinishReason: genai.FinishReasonStop}}}, nil)
	}
}

func (s *talker) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

type allow struct{}

func (allow) Offers(engine.Tool) bool { return true }
func (allow) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return engine.Allow, engine.Reason{}
}
func (allow) Learn(engine.Grant, engine.Scope) error { return nil }
func (allow) Tools() (ts []engine.Tool) {
	return []engine.Tool{tool("look", nil), tool("fail", errors.New("no"))}
}
func tool(name string, err error) engine.Tool {
	return engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
		r := engine.Result{Text: "seen"}
		switch args["media"] {
		case "image":
			r.Media = []*genai.Part{genai.NewPartFromBytes([]byte("png"), "image/png")}
		case "audio":
			r.Media = []*genai.Part{genai.NewPartFromBytes([]byte("ogg"), "audio/ogg")}
		}
		return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) { return r, err }}, nil
	}}
}

// converse asks an engine that records into f and returns its history without
// the opening message.
func converse(t *testing.T, f *File, past []*genai.Content, says talker, questions ...string) []*genai.Content {
	t.Helper()
	e := engine.New(engine.Config{Model: "gemini-2.5-flash", Generator: &says, Tools: allow{}, Policy: allow{}, Journal: f,
		Opening: func(context.Context) *genai.Content { return user("<session_context>now</session_context>") }}, past...)
	for _, q := range questions {
		for ev, err := range e.Run(t.Context(), genai.NewPartFromText(q)) {
			if n, ok := ev.(engine.Notice); ok {
				t.Error(n.Text)
			}
			if err != nil && err.Error() != "nothing to say" {
				t.Fatal(err)
			}
		}
	}
	return e.History()[1:]
}

// TestContinue has a conversation, loads it, and goes on in the same file. What
// is loaded must always be what the engine had.
func TestContinue(t *testing.T) {
	f := newFile(t, testID)
	had := converse(t, f, nil, talker{
		{{Text: "hm", Thought: true}, {Text: "I look. "}, callPart("look", "1", map[string]any{"at": "x", "n": 1.5}, "s1"), callPart("look", "2", nil, "")},
		{callPart("look", "3", map[string]any{"media": "image"}, "s2"), callPart("fail", "4", nil, ""), callPart("nosuch", "5", nil, "")},
		{callPart("look", "6", map[string]any{"media": "audio"}, ""), callPart("look", "7__look__7", nil, "")},
		{{Text: "Done."}, {ThoughtSignature: []byte("end")}},
		{{Text: "so", Thought: true, ThoughtSignature: engine.Sign("x", []byte("s"))}, {Text: "Again."}},
	}, "first", "/etc/hosts: what is it?")
	if len(had) != 12 {
		t.Fatalf("%d messages", len(had))
	}
	f.Close()
	c := load(t, f.Path())
	same(t, had, c.History)
	if c.ID != testID || c.Title != "first" || c.ProjectHash != "25a63d1f" {
		t.Errorf("session %+v", c.Session)
	}

	g, err := c.resume(clock())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	// The failed question is taken back; a call id that was used is replaced.
	had = converse(t, g, c.History, talker{{callPart("look", "1", nil, "s")}, {{Text: "ok"}}}, "second", "fails")
	if g.Path() != f.Path() || g.ID() != testID {
		t.Errorf("resumed in %s as %s", g.Path(), g.ID())
	}
	c = load(t, f.Path())
	same(t, had, c.History)
	b, _ := os.ReadFile(f.Path())
	if n := strings.Count(string(b), "<session_context>"); n != 2 {
		t.Errorf("the opening message was recorded %d times, want 2", n)
	}
	if r := fold(b, false); r.messages[0].ID != openingID || r.index[openingID] != 0 {
		t.Error("the opening message is not the first")
	}
}

func TestCrash(t *testing.T) {
	f := newFile(t, testID)
	e := calls()
	put(t, f, engine.Entry{Content: user("q")}, e[0])
	f.Close()
	full, _ := os.ReadFile(f.Path())

	t.Run("before the answer", func(t *testing.T) {
		c := load(t, f.Path())
		answer := &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
			ID: "c1", Name: "read_file", Response: map[string]any{"error": unanswered}}}}}
		same(t, []*genai.Content{user("q"), e[0].Content, answer}, c.History)
	})
	t.Run("after the result", func(t *testing.T) {
		f := newFile(t, testID)
		put(t, f, engine.Entry{Content: user("q")}, e[0])
		if err := f.Result(e[1].Calls[0]); err != nil {
			t.Fatal(err)
		}
		c := load(t, f.Path())
		same(t, []*genai.Content{user("q"), e[0].Content, e[1].Content}, c.History)
		if len(c.Interrupted) > 0 {
			t.Errorf("interrupted: %v", c.Interrupted)
		}
	})
	t.Run("between results", func(t *testing.T) {
		f := newFile(t, testID)
		said := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{callPart("look", "1", nil, "s"), callPart("look", "2", nil, ""), callPart("look", "3", nil, "")}}
		record := func(id string) engine.CallRecord {
			return engine.CallRecord{ID: "look__" + id, Name: "look", Answer: []*genai.Part{answerPart("look", id, "seen "+id)}}
		}
		put(t, f, engine.Entry{Content: user("q")}, engine.Entry{Content: said})
		for _, id := range []string{"3", "1"} { // in the order in which they end
			if err := f.Result(record(id)); err != nil {
				t.Fatal(err)
			}
		}
		c := load(t, f.Path())
		lost := answerPart("look", "2", "")
		lost.FunctionResponse.Response = map[string]any{"error": unanswered}
		same(t, []*genai.Content{user("q"), said, {Role: genai.RoleUser, Parts: []*genai.Part{answerPart("look", "1", "seen 1"), lost, answerPart("look", "3", "seen 3")}}}, c.History)
		if len(c.Interrupted) != 1 || c.Interrupted[0].ID != "2" {
			t.Errorf("interrupted: %v", c.Interrupted)
		}
		all := []engine.CallRecord{record("1"), record("2"), record("3")}
		answer := &genai.Content{Role: genai.RoleUser}
		for _, r := range all {
			answer.Parts = append(answer.Parts, r.Answer...)
		}
		put(t, f, engine.Entry{Content: answer, Calls: all})
		same(t, []*genai.Content{user("q"), said, answer}, load(t, f.Path()).History)
	})
	t.Run("within a line", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session-x.jsonl")
		os.WriteFile(path, full[:len(full)-200], 0o600)
		c := load(t, path)
		g, err := c.resume(clock())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		put(t, g, engine.Entry{Content: user("and?")}, engine.Entry{Content: model("so")})
		same(t, []*genai.Content{user("q"), user("and?"), model("so")}, load(t, path).History)
	})
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	for name, dir := range map[string]string{"no directory": "", "a file in the way": filepath.Join(file, "chats")} {
		t.Run(name, func(t *testing.T) {
			f := New(Config{Dir: dir, ID: testID})
			put(t, f, engine.Entry{Content: user("<session_context>"), Opening: true})
			if err := f.Record(engine.Entry{Content: user("q")}); err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("disk full", func(t *testing.T) {
		out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no /dev/full:", err)
		}
		f := New(Config{Dir: t.TempDir(), ID: testID})
		f.disk.out = out
		if err := f.Record(engine.Entry{Content: user("q")}); err == nil || !f.disk.torn {
			t.Errorf("err %v, torn %v", err, f.disk.torn)
		}
		out.Close()
	})
	t.Run("value that is not JSON", func(t *testing.T) {
		f := newFile(t, testID)
		c := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{callPart("x", "1", map[string]any{"c": make(chan int)}, "")}}
		if err := f.Record(engine.Entry{Content: c}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("link in the place of the file", func(t *testing.T) {
		f := newFile(t, testID)
		put(t, f, engine.Entry{Content: user("q")})
		f.Close()
		os.Rename(f.Path(), f.Path()+".away")
		if err := os.Symlink(f.Path()+".away", f.Path()); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		if err := f.Record(engine.Entry{Content: user("q")}); err == nil {
			t.Error("written through a link")
		}
	})
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"abcdefgh-1", "abcdefgh-2", "../../../etc/x", "é"} {
		f := New(Config{Dir: dir, ID: id, Now: clock()})
		put(t, f, engine.Entry{Content: user("q")})
		f.Close()
		if filepath.Dir(f.Path()) != dir {
			t.Errorf("%q went to %s", id, f.Path())
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "session-2026-11-20T21-46-*.jsonl")); len(names) != 4 {
		t.Errorf("files: %v", names)
	}
	agent := New(Config{Dir: dir, ID: "own", Parent: "parent", Now: clock()})
	put(t, agent, engine.Entry{Content: user("q")})
	defer agent.Close()
	if want := filepath.Join(dir, "parent", "own.jsonl"); agent.Path() != want {
		t.Errorf("agent's file %s, want %s", agent.Path(), want)
	}
	if c := load(t, agent.Path()); c.Kind != "subagent" {
		t.Errorf("kind %q", c.Kind)
	}
}

func TestDirectories(t *testing.T) {
	f := New(Config{Dir: t.TempDir(), ID: testID, Directories: []string{"/a"}, Now: clock()})
	defer f.Close()
	put(t, f, engine.Entry{Content: user("q")})
	if d := cmp.Diff([]string{"/a"}, load(t, f.Path()).Directories); d != "" {
		t.Error(d)
	}
	if err := f.SetDirectories([]string{"/a", "/b"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"/a", "/b"}, load(t, f.Path()).Directories); d != "" {
		t.Error(d)
	}
}

// FuzzRecord records a conversation made of the fuzzer's texts and expects it
// back as it was.
func FuzzRecord(f *testing.F) {
	f.Add("question", "answer", "look", "id", `{"a":1}`, []byte("sig"))
	f.Add("a\nb", "\u2028\"\\", "x__y", "x__y__1", `{"deep":[{"a":"\ud83d\ude00"}]}`, []byte{0, 255})
	f.Fuzz(func(t *testing.T, ask, say, name, id, args string, sig []byte) {
		ask, say, name, id = strings.ToValidUTF8(ask, "?"), strings.ToValidUTF8(say, "?"), strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(id, "?")
		if name = strings.TrimSpace(name); name == "" {
			name = "n"
		}
		fc := callPart(name, id, nil, string(sig))
		json.Unmarshal([]byte(args), &fc.FunctionCall.Args)
		said := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "I: " + say}, fc, {Text: "more"}}}
		answer := []*genai.Part{answerPart(name, id, say)}
		history := []*genai.Content{user("Q " + ask), said, genai.NewContentFromParts(answer, genai.RoleUser), model("A " + say)}
		file := New(Config{Dir: t.TempDir(), ID: testID, Now: clock()})
		defer file.Close()
		for i, c := range history {
			e := engine.Entry{Content: c}
			if i == 2 {
				e.Calls = []engine.CallRecord{{ID: engine.CallID(fc.FunctionCall), Name: name, Args: fc.FunctionCall.Args, Answer: answer}}
			}
			if err := file.Record(e); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Load(file.Path())
		if err != nil {
			t.Fatal(err)
		}
		same(t, history, c.History)
		ss, err := List(filepath.Dir(file.Path()))
		if err != nil || len(ss) != 1 || !cmp.Equal(ss[0], c.Session) {
			t.Errorf("listed %+v, %v; loaded %+v", ss, err, c.Session)
		}
	})
}

// A long result has its beginning and its end in the file: lists read the whole file.
func TestLongResult(t *testing.T) {
	l := toolCalls([]engine.CallRecord{{Result: engine.Result{Display: "a" + strings.Repeat("é", 50_000) + "z",
		Tails: []engine.TailCall{{Display: strings.Repeat("x", 50_000)}}}}})[0]
	got, begin := l.ResultDisplay, "a"+strings.Repeat("é", 19_999)+"\n... [10,002 characters omitted] ...\né"
	if !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, "éz") || utf8.RuneCountInString(got) > 40_100 || len(l.TailCalls[0].ResultDisplay) > 40_100 {
		t.Errorf("%d and %d bytes: %.200s", len(got), len(l.TailCalls[0].ResultDisplay), got)
	}
}
