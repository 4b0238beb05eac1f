package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// A session of a newer program is named as newer, also if none of its messages can be read and
// whatever its version is, and no byte of it changes.
func TestNewer(t *testing.T) {
	t.Parallel()
	const known, unknown = `{"id":"a","type":"user","content":"hello"}`, `{"said":"hello"}`
	for format, newer := range map[string]bool{"0": false, "1": false, "null": false, "2": true, `"99"`: true, "1.5": true,
		"-1": true, "99999999999999999999": true, "true": true, "{}": true} {
		for _, message := range []string{known, unknown} {
			dir := t.TempDir()
			path := filepath.Join(dir, "session-2030-01-01T00-00-51c623e0.jsonl")
			first := strings.TrimSuffix(head, "}") + `,"formatVersion":` + format + "}"
			if newer {
				first = strings.Replace(first, `"projectHash":"h",`, "", 1) // which it may do without
			}
			line := first + "\n" + message + "\n"
			if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, load := range map[string]func() error{
				"load":     func() error { _, err := Load(path); return err },
				"messages": func() error { _, _, err := LoadMessages(path); return err },
				"latest":   func() error { return closed(Open(Config{Dir: dir}, OpenOptions{Resume: true})) },
				"named":    func() error { return closed(Open(Config{Dir: dir}, OpenOptions{Resume: true, Selector: "51c623e0-1"})) },
				"session":  func() error { return closed(Open(Config{Dir: dir}, OpenOptions{Session: "51c623e0-1"})) },
				"fork":     func() error { return closed(Open(Config{Dir: dir}, OpenOptions{Resume: true, Fork: true})) },
				"import":   func() error { return closed(Open(Config{Dir: dir}, OpenOptions{Import: path})) },
			} {
				if err := load(); errors.As(err, new(*NewerFormatError)) != newer || newer && err == nil || err != nil && !newer && message == known {
					t.Errorf("%s, format %s: %v", name, format, err)
				}
			}
			if b, err := os.ReadFile(path); string(b) != line || err != nil {
				t.Errorf("format %s: the file is now %s, %v", format, b, err)
			}
		}
	}
}

// closed leaves an opened session to others, and returns the error of its opening.
func closed(o OpenedSession, err error) error {
	if o.File != nil {
		o.File.Close()
	}
	return err
}

const head = `{"sessionId":"51c623e0-1","projectHash":"h","startTime":"2026-11-20T21:46:38.092Z","lastUpdated":"2026-11-20T21:46:38.092Z","kind":"main"}`

// show writes a history down, a message a line.
func show(history []*genai.Content) string {
	var b strings.Builder
	for _, c := range history {
		fmt.Fprintf(&b, "%s:", c.Role)
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				fmt.Fprintf(&b, " call(%s %s %v)", p.FunctionCall.Name, p.FunctionCall.ID, p.FunctionCall.Args)
			case p.FunctionResponse != nil:
				fmt.Fprintf(&b, " answer(%s %s %v)", p.FunctionResponse.Name, p.FunctionResponse.ID, p.FunctionResponse.Response)
			case p.InlineData != nil:
				fmt.Fprintf(&b, " media(%s)", p.InlineData.MIMEType)
			default:
				fmt.Fprintf(&b, " %s", p.Text)
			}
			if len(p.ThoughtSignature) > 0 {
				b.WriteString(" signed")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestLoad reads what other programs write, and what accidents leave.
func TestLoad(t *testing.T) {
	const (
		q     = `{"id":"q","type":"user","content":[{"text":"hi"}]}`
		calls = `{"id":"g","type":"gemini","content":"","toolCalls":[` +
			`{"id":"ls__1","name":"ls","args":{"p":"a"},"result":[{"functionResponse":{"id":"ls__1","name":"ls","response":{"output":"beside a"}}}]},` +
			`{"id":"ls__2","name":"ls","args":{"p":"b"},"result":null}]}`
		call1    = "model: call(ls 1 map[p:a]) call(ls 2 map[p:b])\n"
		answers  = `{"id":"a","type":"user","content":[{"functionResponse":{"id":"ls__2","name":"ls","response":{"output":"b"}}},{"functionResponse":{"id":"ls__1","name":"ls","response":{"output":"a"}}},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}`
		answered = "user: answer(ls 1 map[output:a]) media(image/png) answer(ls 2 map[output:b])\n"
		end      = `{"id":"e","type":"gemini","content":"done"}`
	)
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"plain", []string{head, q, end}, "user: hi\nmodel: done\n"},
		{"content of other shapes", []string{head, `{"id":"q","type":"user","content":"hi"}`, `{"id":"r","type":"user","content":["a",{"text":"b"},{},null,{"text":5}]}`,
			`{"id":"e","type":"gemini","content":[{"text":"thinking","thought":true},{"text":"done"}]}`}, "user: hi\nuser: a b\nmodel: done\n"},
		{"both places", []string{head, q, calls, answers, end}, "user: hi\n" + call1 + answered + "model: done\n"},
		{"beside the call only", []string{head, q, calls, end}, "user: hi\n" + call1 +
			"user: answer(ls 1 map[output:beside a]) answer(ls 2 map[error:" + unanswered + "])\nmodel: done\n"},
		{"answered twice", []string{head, q, calls, answers, strings.Replace(answers, `"a"`, `"a2"`, 1), end}, "user: hi\n" + call1 + answered + "model: done\n"},
		{"answer without a call", []string{head, q, answers, end}, "user: hi\nmodel: done\n"},
		{"answer and speech", []string{head, q, calls, `{"id":"a","type":"user","content":[{"text":"hint"},{"functionResponse":{"id":"1","response":{"output":"a"}}}]}`, end},
			"user: hi\n" + call1 + "user: answer(ls 1 map[output:a]) answer(ls 2 map[error:" + unanswered + "]) hint\nmodel: done\n"},
		{"interrupted", []string{head, q, calls, answers, `{"id":"n","type":"user","content":"next"}`}, "user: hi\n" + call1 + answered + "model: [The previous response was interrupted before it completed.]\nuser: next\n"},
		{"parts", []string{head, q, `{"id":"g","type":"gemini","content":"x","toolCalls":[{"id":"ls__1","name":"ls","args":{"p":"a"},"result":null}],"parts":[{"text":"x"},{"functionCall":{"id":"ls__1","name":"ls"},"thoughtSignature":"AAAA"}]}`},
			"user: hi\nmodel: x call(ls 1 map[p:a]) signed\nuser: answer(ls 1 map[error:" + unanswered + "])\n"},
		{"how one of two calls ended", []string{head, q, `{"id":"g","type":"gemini","content":"","parts":[{"functionCall":{"id":"ls__1","name":"ls","args":{"p":"a"}}},{"functionCall":{"id":"ls__2","name":"ls","args":{"p":"b"}}}]}`,
			`{"$result":{"message":"g","id":"ls__2","name":"ls","args":{"p":"c"},"result":[{"functionResponse":{"id":"ls__2","name":"ls","response":{"output":"c"}}}]}}`,
			`{"$result":{"message":"z","id":"ls__1","name":"ls","result":[{"functionResponse":{"id":"ls__1","name":"ls","response":{"output":"no"}}}]}}`},
			"user: hi\nmodel: call(ls 1 map[p:a]) call(ls 2 map[p:c])\nuser: answer(ls 1 map[error:" + unanswered + "]) answer(ls 2 map[output:c])\n"},
		{"calls in the content", []string{head, `{"$set":{"messages":[` + q + `,{"id":"g","type":"gemini","content":[{"text":"x"},{"text":"hm","thought":true},{"functionCall":{"id":"ls__1","name":"ls","args":{"p":"a"}},"thoughtSignature":"AAAA"},{"functionCall":{"name":"ls","args":{"p":"b"}}}]},` + answers + `]}}`, end},
			"user: hi\nmodel: x call(ls 1 map[p:a]) signed call(ls  map[p:b])\nuser: answer(ls 1 map[output:a]) media(image/png) answer(ls  map[error:" + unanswered + "])\nmodel: done\n"},
		{"calls in the content and beside it", []string{head, `{"$set":{"messages":[` + q + `,` + strings.Replace(calls, `"content":""`, `"content":[{"functionCall":{"id":"1","name":"ls","args":{"p":"a"}}},{"functionCall":{"name":"ls","args":{"p":"b"}}}]`, 1) + `,` + answers + `,` + strings.Replace(answers, `"a"`, `"a2"`, 1) + `]}}`, end},
			"user: hi\n" + call1 + answered + "model: done\n"},
		{"replaced", []string{head, q, `{"id":"e","type":"gemini","content":"draft"}`, end}, "user: hi\nmodel: done\n"},
		{"rewound", []string{head, q, end, `{"id":"n","type":"user","content":"no"}`, `{"id":"m","type":"gemini","content":"no"}`, `{"$rewindTo":"n"}`}, "user: hi\nmodel: done\n"},
		{"rewound to nowhere", []string{head, q, end, `{"$rewindTo":"x"}`, `{"id":"n","type":"user","content":"on"}`}, "user: on\n"},
		{"all set", []string{head, q, end, `{"$set":{"messages":[` + q + `,null,5,{"id":"z"}]}}`}, "user: hi\n"},
		{"not for the model", []string{head, `{"id":"d04923d38bb0f6017037e74183378ef4","type":"user","content":"here"}`, `{"id":"c","type":"user","content":"<session_context>x"}`,
			`{"id":"i","type":"info","content":"i"}`, `{"id":"w","type":"warning","content":"i"}`, `{"id":"s","type":"user","content":"/stats"}`, `{"id":"h","type":"user","content":"?"}`, q, end}, "user: hi\nmodel: done\n"},
		{"a question like a command", []string{head, `{"id":"s","type":"user","content":"/etc/hosts?"}`, `{"id":"i","type":"info","content":"i"}`, end}, "user: /etc/hosts?\nmodel: done\n"},
		{"data that is no base64", []string{head, `{"id":"q","type":"user","content":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"%"}}]}`,
			`{"id":"e","type":"gemini","content":[{"text":"done"},{"text":"hm","thoughtSignature":"skip_it"}],"toolCalls":[{"id":"ls__1","name":"ls","args":{"p":"a"}}]}`},
			"user: hi\nmodel: done call(ls 1 map[p:a])\nuser: answer(ls 1 map[error:" + unanswered + "])\n"},
		{"broken lines", []string{"", "{", "\xff\xfe", `"text"`, `[1]`, head, `{"id":"q","type":"user","content":[{"text":"h`, q, "null", `{"id":1,"type":2}`, "{}", end, `{"id":"t","type":"us`}, "user: hi\nmodel: done\n"},
		{"invalid UTF-8", []string{head, "{\"id\":\"q\",\"type\":\"user\",\"content\":\"a\xffb\"}"}, "user: a\ufffdb\n"},
		{"empty messages", []string{head, `{"id":"q","type":"user","content":[]}`, `{"id":"r","type":"user"}`, `{"id":"e","type":"gemini","content":""}`}, ""},
		{"calls of nothing", []string{head, `{"id":"g","type":"gemini","toolCalls":[{},{"args":5},"x",{"result":"done"}]}`},
			"model: call(generic_tool  map[]) call(generic_tool  map[]) call(generic_tool  map[])\nuser:" + strings.Repeat(" answer(generic_tool  map[error:"+unanswered+"])", 3) + "\n"},
		{"metadata later", []string{q, head, end}, "user: hi\nmodel: done\n"},
		{"CRLF", []string{head + "\r", q + "\r", end + "\r"}, "user: hi\nmodel: done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, t.TempDir(), "session-x.jsonl", c.lines...)
			if d := cmp.Diff(c.want, show(load(t, path).History)); d != "" {
				t.Errorf("history (-want +got):\n%s", d)
			}
		})
	}
}

func TestNoSession(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty.jsonl":     "",
		"foreign.jsonl":   `{"role":"user"}`,
		"hostile.jsonl":   strings.Replace(head, "51c623e0-1", "../../x", 1),
		"zeros.jsonl":     strings.Repeat("\x00", 1000),
		"headless.jsonl":  `{"id":"q","type":"user","content":"hi"}`,
		"broken.json":     `{"sessionId":"a","projectHash":"b","messages":[`,
		"another.json":    `[]`,
		"directory.jsonl": "/",
	} {
		path := filepath.Join(dir, name)
		if content == "/" {
			os.Mkdir(path, 0o700)
		} else {
			os.WriteFile(path, []byte(content), 0o600)
		}
		if c, err := Load(path); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if _, err := Load(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing file was loaded")
	}
}

const oldForm = `{
  "sessionId": "51c623e0-1", "projectHash": "h", "startTime": "2026-11-20T21:46:38.092Z", "lastUpdated": "2026-11-20T21:46:00Z",
  "messages": [
    {"id": "q", "timestamp": "", "type": "user", "content": "hi"},
    {"id": "e", "type": "gemini", "content": "done"}
  ]
}`

func TestOneObject(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "session-2026-11-20T21-46-51c623e0.json", oldForm)
	c := load(t, path)
	if want := "user: hi\nmodel: done\n"; show(c.History) != want {
		t.Errorf("history %s", show(c.History))
	}
	f, err := c.resume(clock())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put(t, f, calls()...)
	if got := show(load(t, f.Path()).History); !strings.HasPrefix(got, "user: hi\nmodel: done\nmodel: looking") {
		t.Errorf("history %s", got)
	}
	if b, _ := os.ReadFile(path); string(b) != oldForm+"\n" {
		t.Error("the file that was there has changed")
	}
	ss, err := List(dir)
	if err != nil || len(ss) != 1 || ss[0].Path != f.Path() {
		t.Errorf("listed %+v, %v", ss, err)
	}
}

func write(t *testing.T, dir, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wellFormed checks that every call has one answer, right after its message.
func wellFormed(t *testing.T, history []*genai.Content) {
	t.Helper()
	for i, c := range history {
		if len(c.Parts) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		var asked, answered []string
		for _, p := range c.Parts {
			if p.FunctionCall != nil && c.Role == genai.RoleModel {
				asked = append(asked, p.FunctionCall.Name+p.FunctionCall.ID)
			}
			if p.FunctionResponse != nil && (i == 0 || c.Role != genai.RoleUser) {
				t.Fatalf("message %d answers nothing", i)
			}
		}
		if i+1 < len(history) {
			for _, p := range history[i+1].Parts {
				if p.FunctionResponse != nil {
					answered = append(answered, p.FunctionResponse.Name+p.FunctionResponse.ID)
				}
			}
		}
		if strings.Join(asked, "\x00") != strings.Join(answered, "\x00") {
			t.Fatalf("message %d asks %q, and the next answers %q", i, asked, answered)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(head+"\n"+`{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"ls__1","name":"ls","args":{"p":"a"},"result":[{"functionResponse":{"id":"ls__1","response":{}}}]}]}`), false)
	f.Add([]byte(head+"\n"+`{"id":"a","type":"user","content":[{"functionResponse":{"id":"ls__2","name":"ls","parts":[null]}},{"functionCall":null}]}`), false)
	f.Add([]byte(`{"$set":{"messages":[{"id":"q","type":"user","content":"hi"}]}}`+"\n"+`{"$rewindTo":"q"}`), false)
	f.Add([]byte(head+"\n"+`{"id":"g","type":"gemini","content":[{"functionResponse":{"name":"ls"}},{"text":"a","thought":true},{"functionCall":{"name":"ls"}},{"text":"b"}]}`), false)
	f.Add([]byte(head+"\n"+`{"id":"u","type":"user","content":"q"}`+"\n"+`{"id":"g","type":"gemini","content":"","parts":[{"functionResponse":{"name":"ls"}},{"text":"a","thought":true},{"functionCall":{"name":"ls"}},{"text":"b"}]}`), false)
	f.Add([]byte(`{"": `), true)
	f.Add([]byte(`{"sessionId":0,"projectHash":0,"startTime":0,"":[]}`), true)
	f.Add([]byte(oldForm), true)
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		r := fold(b, whole)
		past := r.history()
		wellFormed(t, past)
		if d := cmp.Diff(past, r.history()); d != "" {
			t.Errorf("said again (-first +second):\n%s", d)
		}
		title := r.summary().Title
		if strings.ContainsAny(title, "\n\r\x1b\x00") || len([]rune(title)) > 100 {
			t.Errorf("title %q", title)
		}
	})
}

// fold returns the record of a session file's content.
func fold(b []byte, whole bool) *record {
	r := &record{keep: true}
	if whole {
		r.line(b)
	} else if err := r.lines(bytes.NewReader(b), 0); err != nil {
		panic(err)
	}
	return r
}

// A list reads the ends of a long file, and in between what changes the name, the title or
// which messages there are.
func TestListOfLong(t *testing.T) {
	dir := t.TempDir()
	long := string(bigSession(3 << 20))
	at := strings.Index(long[len(long)/2:], "\n") + len(long)/2 + 1
	for name, c := range map[string]struct{ mid, end, title string }{
		"plain": {title: "first"}, "named": {mid: `{"$set":{"name":"Fruit"}}`, title: "Fruit"},
		"replaced":              {mid: `{"$set":{"messages":[` + ask("second") + `]}}`, title: "second"},
		"asked anew":            {mid: `{"$rewindTo":"first"}` + "\n" + ask("second") + "\n" + reply, title: "second"},
		"rewound":               {end: `{"$rewindTo":"2"}`, title: "first"},
		"rewound to the middle": {end: fmt.Sprintf(`{"$rewindTo":"a%d"}`, strings.Count(long, `"type":"user"`)/2), title: "first"},
	} {
		path := write(t, dir, "session-long.jsonl", strings.Replace(long[:at], "\n", "\n"+ask("first")+"\n", 1)+c.mid+"\n"+long[at:]+c.end)
		ss, err := List(dir)
		if err != nil || len(ss) != 1 {
			t.Fatal(ss, err)
		}
		whole := load(t, path)
		if ss[0].Title != c.title || whole.Title != c.title {
			t.Errorf("%s: the title is %q in the list, and %q", name, ss[0].Title, whole.Title)
		}
		if n := ss[0].Messages; n > whole.Messages || n < whole.Messages && !ss[0].Partial {
			t.Errorf("%s: %d messages of %d", name, n, whole.Messages)
		}
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	dir := t.TempDir()
	path := write(t, dir, "session-long.jsonl", head, `{"id":"q","type":"user","content":"`+long+`\""}`, `{"id":"e","type":"gemini","content":"`+long+`"}`)
	if c := load(t, path); len(c.History) != 2 || len(c.History[0].Parts[0].Text) != len(long)+1 {
		t.Error("a long message was not loaded")
	}
	if ss, err := List(dir); err != nil || len(ss) != 1 || ss[0].Messages != 1 || !ss[0].Partial || !strings.HasPrefix(ss[0].Title, "xxx") {
		t.Errorf("listed %+v, %v", ss, err)
	}
}

// bigSession makes a session of about n bytes, half of them answers of tools.
func bigSession(n int) []byte {
	var b bytes.Buffer
	b.WriteString(head + "\n")
	code := strings.Repeat(`if x == \"y\" {\n\treturn nil\n}\n`, 200)
	for i := 0; b.Len() < n; i++ {
		fc := fmt.Sprintf(`{"id":"%d","type":"gemini","content":"I look.","thoughts":[],"model":"m"`, i)
		response := fmt.Sprintf(`[{"functionResponse":{"id":"ls__%d","name":"ls","response":{"output":"%s"}}}]`, i, code)
		fmt.Fprintf(&b, "%s,\"parts\":[{\"text\":\"I look.\"},{\"functionCall\":{\"id\":\"ls__%d\",\"name\":\"ls\",\"args\":{\"p\":\"a\"}}}]}\n", fc, i)
		fmt.Fprintf(&b, "%s,\"toolCalls\":[{\"id\":\"ls__%d\",\"name\":\"ls\",\"args\":{\"p\":\"a\"},\"result\":%s,\"resultDisplay\":\"1 line\"}],\"parts\":[{\"text\":\"I look.\"},{\"functionCall\":{\"id\":\"ls__%d\",\"name\":\"ls\"}}]}\n", fc, i, response, i)
		fmt.Fprintf(&b, "{\"id\":\"a%d\",\"type\":\"user\",\"content\":%s}\n", i, response)
	}
	return b.Bytes()
}

func BenchmarkResume(b *testing.B) {
	dir := b.TempDir()
	big := bigSession(50 << 20)
	path := filepath.Join(dir, "session-big.jsonl")
	if err := os.WriteFile(path, big, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(big)))
	for b.Loop() {
		ss, err := List(dir)
		if err != nil || len(ss) != 1 {
			b.Fatal(ss, err)
		}
		c, err := Load(path)
		if err != nil || len(c.History) < 100 {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	big := bytes.Replace(bigSession(50<<20), []byte("\n"), []byte("\n"+ask("first")+"\n"), 1)
	b.SetBytes(int64(len(big)))
	for b.Loop() {
		r := record{glance: true}
		if err := r.lines(bytes.NewReader(big), int64(len(big))); err != nil || firstQuestionOf(r.messages) != "first" {
			b.Fatal(err)
		}
	}
}
