package batch

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gemline/repl/input"
)

func read1(t *testing.T, format Format, text string) []Item {
	t.Helper()
	r := newReader(strings.NewReader(text), format)
	var all []Item
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, it)
	}
}

func TestPrompts(t *testing.T) {
	type prompts = []string
	for _, c := range []struct {
		name   string
		format Format
		text   string
		want   prompts
		lines  []int
	}{
		{"nothing", Lines, "", nil, nil},
		{"empty lines", Lines, "\n  \n\t\n\r\n", nil, nil},
		{"one", Lines, "one", prompts{"one"}, []int{1}},
		{"the last without an end", Lines, "one\n\ntwo", prompts{"one", "two"}, []int{1, 3}},
		{"ends of DOS", Lines, "one\r\ntwo\r\n", prompts{"one", "two"}, []int{1, 2}},
		{"blanks stay", Lines, "  one \n", prompts{"  one "}, []int{1}},
		{"a byte order mark", Lines, "\ufeffone\n\ufefftwo", prompts{"one", "\ufefftwo"}, []int{1, 2}},
		{"NUL", NUL, "one\nand a line\x00\x00two\x00\n", prompts{"one\nand a line", "two"}, []int{1, 3}},
		{"objects", JSONL, `{"prompt":"one"}` + "\n\n" + ` { "prompt" : "t\nwo" } `, prompts{"one", "t\nwo"}, []int{1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got prompts
			var lines []int
			for i, it := range read1(t, c.format, c.text) {
				if it.Err != nil || it.Index != i {
					t.Errorf("%+v", it)
				}
				got, lines = append(got, it.Prompt), append(lines, it.Line)
			}
			if d := cmp.Diff(c.want, got) + cmp.Diff(c.lines, lines); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	all := read1(t, JSONL, `{"id":"a","prompt":"p","model":"pro","system":"be brief","files":["a b.txt","ü@x"],"json_schema":{"type":"object"},"max_turns":3,"max_tool_calls":4,"max_tokens":5,"timeout":"1m30s"}
{"id":17,"prompt":"p","timeout":0.5}
{"id":null,"prompt":"p"}
{"files":["x"]}`)
	want := []Item{
		{Line: 1, ID: "a", Prompt: "p", Options: Options{Model: "pro", System: "be brief", Files: []string{"a b.txt", "ü@x"},
			Schema: []byte(`{"type":"object"}`), MaxTurns: 3, MaxToolCalls: 4, MaxTokens: 5, Timeout: 90 * time.Second}},
		{Index: 1, Line: 2, ID: "17", Prompt: "p", Options: Options{Timeout: time.Second / 2}},
		{Index: 2, Line: 3, ID: "2", Prompt: "p"},
		{Index: 3, Line: 4, ID: "3", Options: Options{Files: []string{"x"}}},
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	if got := all[0].Text(); got != "p\n\n@a\\ b.txt @ü\\@x" {
		t.Errorf("%q", got)
	}
	if got := all[3].Text(); got != "@x" {
		t.Errorf("%q", got)
	}
}

// What is wrong with an item is its own matter: it says why and where, and the
// next one is as it would be.
func TestBrokenItems(t *testing.T) {
	for _, c := range []struct{ line, id, want string }{
		{`{"id":"a","prompt":"p","yolo":true}`, "a", `line 1: unknown option "yolo"; there are id, prompt,`},
		{`{"id":"a","prompt":"p","approval_mode":"yolo"}`, "a", `unknown option "approval_mode"`},
		{`{"prompt":"p"`, "0", "line 1: not a JSON object: it ends too soon"},
		{`{"prompt":p}`, "0", "not a JSON object: invalid character 'p'"},
		{`{"id":"a","prompt":"p"} {}`, "a", "there is more text after the JSON object"},
		{`["p"]`, "0", "not a JSON object such as"},
		{`"p"`, "0", "not a JSON object such as"},
		{`p`, "0", "not a JSON object: invalid character 'p'"},
		{`{}`, "0", `there is no "prompt"`},
		{`{"prompt":" "}`, "0", `there is no "prompt"`},
		{`{"prompt":null}`, "0", `"prompt" must be a text`},
		{`{"prompt":["p"]}`, "0", `"prompt" must be a text`},
		{`{"prompt":"p","prompt":"q"}`, "0", `"prompt" is given twice`},
		{`{"prompt":"p","id":""}`, "0", `"id" must have between 1 and 1000 bytes`},
		{`{"prompt":"p","id":"a\u001bb"}`, "0", `no control characters`},
		{`{"prompt":"p","id":true}`, "0", `"id" must be a text or a number`},
		{`{"prompt":"p","max_turns":0}`, "0", `"max_turns" must be a whole number above zero`},
		{`{"prompt":"p","max_tokens":1.5}`, "0", `"max_tokens" must be a whole number above zero`},
		{`{"prompt":"p","timeout":"soon"}`, "0", `"timeout" must be a number of seconds or a time`},
		{`{"prompt":"p","timeout":-1}`, "0", `"timeout" must be`},
		{`{"prompt":"p","files":"x"}`, "0", `"files" must be a list of paths`},
		{"{\"prompt\":\"\xff\"}", "0", "not UTF-8 text"},
		{`{"prompt":"` + strings.Repeat("x", maxItem) + `"}`, "0", "longer than 16 MiB"},
	} {
		t.Run(c.want, func(t *testing.T) {
			all := read1(t, JSONL, c.line+"\n"+`{"id":"b","prompt":"q"}`)
			var in *input.Error
			if len(all) != 2 || !errors.As(all[0].Err, &in) || !strings.Contains(all[0].Err.Error(), c.want) || all[0].ID != c.id {
				t.Fatalf("%+v", all[0].Err)
			}
			if all[1].Err != nil || all[1].ID != "b" || all[1].Index != 1 || all[1].Line != 2 {
				t.Errorf("the next one: %+v", all[1])
			}
		})
	}
	if all := read1(t, Lines, "a\x00b\nc\xff\n"); all[0].Err == nil || all[1].Err == nil {
		t.Errorf("%+v", all)
	}
}

// An unreadable batch ends with what was read of it.
func TestUnreadable(t *testing.T) {
	r := newReader(io.MultiReader(strings.NewReader("one\ntwo\nthr"), broken{}), Lines)
	r.Next()
	r.Next()
	for range 2 {
		if _, err := r.Next(); err == nil || err.Error() != "the batch can't be read after line 2: it is gone" {
			t.Errorf("%v", err)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("it is gone") }

// Another item, or the same one under other settings, has another hash.
func TestHash(t *testing.T) {
	seen := map[string]bool{}
	for _, it := range read1(t, JSONL, `{"prompt":"p"}
{"prompt":"q","id":"x"}
{"prompt":"p","id":"x"}
{"prompt":"p","id":"x","model":"pro"}
{"prompt":"p","id":"x","timeout":1}
{"prompt":"p","id":"x","files":["pro"]}
{"prompt":"p","id":"x","system":"pro"}
{"prompt":"p","id":"x","nothing":1}`) {
		for _, key := range []string{"", "1"} {
			h := it.hash(key)
			if seen[h] || h != it.hash(key) {
				t.Errorf("%+v has the hash of another", it)
			}
			seen[h] = true
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"one\ntwo\r\n", "{\"prompt\":\"p\"}\n{", "a\x00b\x00", "\xff\xfe", `{"id":1e9,"prompt":"p","timeout":"1h"}`, `{"files":["` + "\u202e" + `"]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{Lines, NUL, JSONL} {
			last := 0
			for i, it := range read1(t, format, text) {
				if it.Index != i || it.Line <= last || it.ID == "" {
					t.Fatalf("%+v", it)
				}
				last = it.Line
				if it.Err == nil && strings.TrimSpace(it.Text()) == "" || !utf8.ValidString(it.Text()) || it.hash("") == "" {
					t.Fatalf("%+v", it)
				}
			}
		}
	})
}
