package model_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

func recording(t testing.TB, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFake(t *testing.T) {
	for _, strict := range []bool{true, false} {
		t.Run(fmt.Sprintf("strict=%v", strict), func(t *testing.T) {
			et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
				var lines []string
				for _, r := range replies {
					if r.Stall || r.Err != nil {
						return nil
					}
					b, err := json.Marshal(map[string]any{"method": "generateContentStream", "response": r.Chunks})
					if err != nil {
						t.Fatal(err)
					}
					lines = append(lines, string(b), "")
				}
				f, err := model.OpenFake(recording(t, lines...), strict)
				if err != nil {
					t.Fatal(err)
				}
				return f
			})
		})
	}
}

const (
	sayHi   = `{"method":"generateContentStream","response":[{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}]}`
	sayHo   = `{"response":[{"candidates":[{"content":{"parts":[{"text":"ho"}]}}]}],"method":"generateContentStream"}`
	whole   = `{"method":"generateContent","response":{}}`
	counted = `{"method":"countTokens","response":{"totalTokens":5}}`
	embed   = `{"method":"embedContent","response":{"embeddings":[]}}`
)

// TestPlayback makes the calls that a script of letters names: g generates, c
// counts.
func TestPlayback(t *testing.T) {
	const noMore = "No more mock responses for %s, got request:\n" + `{"model":"gemini-2.5-pro","contents":[{"parts":[{"text":"why <&>?"}],"role":"user"}]}`
	const mismatch = "Unexpected response type, next response was for %s but expected %s"
	for _, c := range []struct {
		name   string
		lines  []string
		strict bool
		calls  string
		want   []string
	}{
		{"in order", []string{sayHi, "", "  ", sayHo}, true, "gg", []string{"hi", "ho"}},
		{"used up", []string{sayHi}, true, "ggc", []string{"hi", fmt.Sprintf(noMore, "generateContentStream"), fmt.Sprintf(noMore, "countTokens")}},
		{"a mismatch takes a line", []string{whole, sayHi}, true, "gg", []string{fmt.Sprintf(mismatch, "generateContent", "generateContentStream"), "hi"}},
		{"a count takes a line", []string{sayHi, counted, embed}, true, "cccc",
			[]string{fmt.Sprintf(mismatch, "generateContentStream", "countTokens"), "5", fmt.Sprintf(mismatch, "embedContent", "countTokens"), fmt.Sprintf(noMore, "countTokens")}},
		{"by method", []string{whole, sayHi, counted, sayHo}, false, "cggg", []string{"5", "hi", "ho", fmt.Sprintf(noMore, "generateContentStream")}},
		{"by method, later", []string{embed, counted, counted, sayHi}, false, "gccc", []string{"hi", "5", "5", fmt.Sprintf(noMore, "countTokens")}},
		{"no JSON", []string{sayHi, "", "{oops}"}, true, "gg", []string{"hi", "FILE:3:2: invalid character 'o' looking for beginning of object key string"}},
		{"no method", []string{`{"response":{}}`}, true, "g", []string{`FILE:1: the method is "", not generateContentStream, generateContent, countTokens or embedContent`}},
		{"no list", []string{`{"method":"generateContentStream","response":{}}`}, true, "g", []string{"FILE:1: the response of generateContentStream is no list"}},
		{"no response", []string{`{"method":"generateContentStream"}`}, true, "g", []string{"FILE:1: the response of generateContentStream is no list"}},
		{"wrong type", []string{`{"method":"generateContentStream","response":[{"candidates":5}]}`}, true, "g", []string{"FILE:1: json: cannot unmarshal number"}},
		{"an error", []string{`{"method":"generateContentStream","response":[{"error":{}}]}`}, true, "g", []string{"FILE:1: an error stands where a response should"}},
		{"byte order mark", []string{"\ufeff" + sayHi}, true, "g", []string{"hi"}},
		{"Windows", []string{sayHi + "\r", "\r", sayHo + "\r"}, true, "gg", []string{"hi", "ho"}},
		{"empty", nil, true, "g", []string{fmt.Sprintf(noMore, "generateContentStream")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := recording(t, c.lines...)
			f, err := model.OpenFake(name, c.strict)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for i, call := range c.calls {
				var got string
				var err error
				if call == 'g' {
					got, err = hear(t, f, ask("why <&>?"))
				} else {
					var n int
					n, err = f.Count(t.Context(), ask("why <&>?"))
					got = fmt.Sprint(n)
				}
				if err != nil {
					got = strings.Replace(err.Error(), name, "FILE", 1)
				}
				if !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("call %d: %s\nwant %s", i+1, got, c.want[i])
				}
			}
		})
	}
}

func TestFakeMissing(t *testing.T) {
	if _, err := model.OpenFake(filepath.Join(t.TempDir(), "none"), true); err == nil {
		t.Error("no error")
	}
}

// TestRecord plays back what it has recorded.
func TestRecord(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		r, err := model.Record(et.NewScript(replies...), filepath.Join(t.TempDir(), "out.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return r
	})
	name := filepath.Join(t.TempDir(), "out.jsonl")
	script := et.NewScript(et.Says("a <b>", et.Call("1", "f", "x", 1)).With(3, 4), et.Streams("left", "over"),
		cutOff("lost"), et.Streams("c", "d"))
	script.Tokens = 9
	r, err := model.Record(script, name)
	if err != nil {
		t.Fatal(err)
	}
	hear(t, r, ask("q"))
	r.Count(t.Context(), ask("q"))
	for range r.Generate(t.Context(), ask("q")) {
		break
	}
	hear(t, r, ask("q"))
	for chunk := range r.Generate(t.Context(), ask("q")) {
		chunk.Candidates[0].Content.Parts[0].Text = "changed"
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"method":"generateContentStream","response":[{"candidates":[{"content":{"parts":[{"text":"a <b>"},{"functionCall":{"id":"1","args":{"x":1},"name":"f"}}],"role":"model"},"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":4,"promptTokenCount":3,"totalTokenCount":7}}]}
{"method":"countTokens","response":{"totalTokens":9}}
{"method":"generateContentStream","response":[{"candidates":[{"content":{"parts":[{"text":"c"}],"role":"model"}}]},{"candidates":[{"content":{"parts":[{"text":"d"}],"role":"model"},"finishReason":"STOP"}]}]}
`
	if string(got) != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("mode %v, want %v", info.Mode(), fs.FileMode(0o600))
	}
	f, err := model.OpenFake(name, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Count(t.Context(), ask("q")); n != 9 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if s, err := hear(t, f, ask("q")); s != "a <b>" || err != nil {
		t.Errorf("heard %q, %v", s, err)
	}
}

func TestRecordFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	r, err := model.Record(et.NewScript(et.Says("a"), et.Says("b")), "/dev/full")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var notices []string
	for range 2 {
		req := ask("q")
		req.Notify = func(ev engine.Event) { notices = append(notices, ev.(engine.Notice).Text) }
		if _, err := hear(t, r, req); err != nil {
			t.Error(err)
		}
	}
	if len(notices) != 1 || !strings.HasPrefix(notices[0], "the answers are no longer recorded: ") {
		t.Errorf("told %q", notices)
	}
}
