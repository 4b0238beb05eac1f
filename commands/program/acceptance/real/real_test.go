package real

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

func TestMain(m *testing.M) { pt.Main(m) }

// respond answers as a real server would.
func respond(r et.Received) et.Reply {
	switch {
	case strings.Contains(r.Header.Get("X-Goog-Api-Key"), "no-key"):
		return et.BadKey()
	case r.Model == gone:
		return et.NotFound(gone)
	}
	body := string(r.Body)
	contents := r.Contents()
	asks := func(words string) bool {
		last := contents[len(contents)-1]
		b, _ := json.Marshal(last)
		return strings.Contains(string(b), words)
	}
	answered := len(contents[len(contents)-1].Parts) > 0 && contents[len(contents)-1].Parts[0].FunctionResponse != nil
	has := func(words string) bool { return strings.Contains(body, words) }
	switch {
	case r.Action == "generateContent" && has("googleSearch"):
		return et.Says("It was 2012.")
	case r.Action == "generateContent" && has("urlContext"):
		return et.Says("The heading is Example Domain.")
	case r.Action == "generateContent":
		return et.Says("<state_snapshot>one.txt was read: apple</state_snapshot>")
	case asks("word pong"):
		return et.Says("Pong")
	case asks("1 to 80"):
		return et.Streams("one\ntwo\n", "…\n", "eighty")
	case has("three calls") && answered:
		return et.Says("apple, banana, cherry")
	case asks("three calls"):
		return et.Says("", et.Call("1", "read_file", "file_path", "one.txt"), et.Call("2", "read_file", "file_path", "two.txt"),
			et.Call("3", "read_file", "file_path", "three.txt"))
	case has("Go 1.0") && answered:
		return et.Says("2012")
	case asks("Go 1.0"):
		return et.Says("", et.Call("1", "google_web_search", "query", "Go 1.0"))
	case has("heading of the page") && answered:
		return et.Says("Example Domain")
	case asks("heading of the page"):
		return et.Says("", et.Call("1", "web_fetch", "prompt", "what is the heading of https://example.com?"))
	case asks("Which colour") && has("image/png"):
		return et.Says("Red.")
	case asks("Which file"):
		return et.Says("one.txt")
	case has("Read one.txt") && answered:
		return et.Says("apple")
	case asks("Read one.txt"):
		return et.Message(&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: et.Call("1", "read_file", "file_path", "one.txt"),
			ThoughtSignature: []byte("signed")}}})
	case asks("say ok"), asks("Say ok"):
		return et.Says("ok")
	case asks("n is seven"):
		return et.Says(`{"n": 7}`)
	case asks("17 times 23") && has("thinkingLevel"):
		return et.Says("391")
	case has(`"continuationToken":"dG9rZW4="`):
		return et.Says(numbers(101, 400))
	case asks("1 to 400"):
		reply := et.Streams(numbers(1, 100), numbers(101, 150))
		reply.Chunks[0].Candidates[0].ContinuationToken = []byte("token")
		return reply
	}
	return et.BadRequest("nobody asks that: " + body[:min(300, len(body))])
}

func numbers(from, to int) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, "%d ", n)
	}
	return b.String()
}

func run(t *testing.T, answer func(et.Received) et.Reply) (o Options, passed int, said string) {
	t.Helper()
	s := et.NewServer()
	s.Respond = answer
	t.Cleanup(s.Close)
	dir := t.TempDir()
	var out bytes.Buffer
	o = Options{Gemline: pt.Self(t), Environ: pt.Environment(dir, s), Dir: filepath.Join(dir, "run"), Recording: filepath.Join(dir, "recording"), Out: &out}
	passed, of, err := Run(t.Context(), o)
	if err != nil || of != 15 || !strings.HasSuffix(out.String(), fmt.Sprintf("\n%d of 15\n", passed)) {
		t.Errorf("%d of %d, %v:\n%s", passed, of, err, out.String())
	}
	return o, passed, out.String()
}

// TestRun makes the checks with a server that answers as it should, and plays what was
// recorded.
func TestRun(t *testing.T) {
	o, passed, said := run(t, respond)
	if passed != 15 {
		t.Fatalf("%d passed:\n%s", passed, said)
	}
	for _, c := range []struct{ file, prompt, want string }{
		{"text", "Answer with the one word pong.", "Pong\n"},
		{"calls-in-parallel", "Read one.txt, two.txt and three.txt.", "apple, banana, cherry\n"},
		{"search", "Find out.", "2012\n"}, {"page", "Read it.", "Example Domain\n"}, {"image", "Which colour? @dot.png", "Red.\n"},
		{"thinking", "What is it?", "391\n"}, {"signature-over-a-resume", "Read one.txt.", "apple\n"}, {"compression", "Say ok.", "ok\n"},
	} {
		r := &runner{Options: o, home: filepath.Join(t.TempDir()), work: filepath.Join(o.Dir, "work")}
		got, err := r.program(t.Context(), nil, "-y", "-m", fast, "--fake-responses", filepath.Join(o.Recording, c.file+".jsonl"), "-p", c.prompt)
		if err != nil || got.stdout != c.want {
			t.Errorf("%s plays %q, %v: %s", c.file, got.stdout, err, got.stderr)
		}
	}
	if files, err := os.ReadDir(o.Recording); err != nil || len(files) < 9 {
		t.Errorf("%d recordings, %v", len(files), err)
	}
}

// TestEachFails has one answer be wrong at a time: the check that it is for fails.
func TestEachFails(t *testing.T) {
	none := func(et.Received) (et.Reply, bool) { return et.Reply{}, false }
	says := func(text string) et.Reply { return et.Says(text) }
	last := func(r et.Received) string {
		b, _ := json.Marshal(r.Contents()[len(r.Contents())-1])
		return string(b)
	}
	wrong := map[string]func(et.Received) (et.Reply, bool){
		"models": none, // which are not answered here
		"count":  none,
		"text":   func(r et.Received) (et.Reply, bool) { return says("Ping."), r.Action == "streamGenerateContent" },
		"stream": func(r et.Received) (et.Reply, bool) {
			return says("one\ntwo\neighty"), r.Action == "streamGenerateContent"
		}, // in one piece
		"calls in parallel": func(r et.Received) (et.Reply, bool) { // one by one
			for i, name := range []string{"one.txt", "two.txt", "three.txt"} {
				if !strings.Contains(string(r.Body), `"file_path":"`+name) {
					return et.Says("", et.Call(fmt.Sprint(i), "read_file", "file_path", name)), true
				}
			}
			return et.Reply{}, false
		},
		"search": func(r et.Received) (et.Reply, bool) { return says("2012"), r.Action == "streamGenerateContent" }, // from memory
		"page": func(r et.Received) (et.Reply, bool) {
			return says("Another"), strings.Contains(last(r), "functionResponse")
		},
		"image": func(r et.Received) (et.Reply, bool) { return says("Blue."), true },
		"signature over a resume": func(r et.Received) (et.Reply, bool) {
			return et.BadRequest("Corrupted thought signature."), strings.Contains(string(r.Body), "c2lnbmVk")
		},
		"compression": func(r et.Received) (et.Reply, bool) { // which is longer than what it sums up
			return says(strings.Repeat("A long story. ", 5000)), r.Action == "generateContent"
		},
		"schema":     func(r et.Received) (et.Reply, bool) { return says(`{"n": 8}`), true },
		"wrong key":  func(r et.Received) (et.Reply, bool) { return says("Hello."), true },
		"dead model": func(r et.Received) (et.Reply, bool) { return et.BadRequest("something else"), r.Model == gone },
		"thinking":   func(r et.Received) (et.Reply, bool) { return says("392"), true },
		"continuation": func(r et.Received) (et.Reply, bool) { // which begins too early
			return says(numbers(90, 400)), strings.Contains(string(r.Body), `"continuationToken"`)
		},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if wrong[c.name] == nil {
				t.Fatal("no answer to it is wrong")
			}
			for _, right := range []bool{true, false} {
				s := et.NewServer()
				s.Respond = func(r et.Received) et.Reply {
					if reply, ok := wrong[c.name](r); ok && !right {
						return reply
					}
					return respond(r)
				}
				if !right {
					s.ListReplies, s.CountReplies = []et.Reply{et.Whole(`{"models":[{"name":"models/other"}]}`)}, []et.Reply{et.Whole(`{"totalTokens":0}`)}
				}
				dir := t.TempDir()
				r := &runner{check: c.name, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"),
					Options: Options{Gemline: pt.Self(t), Environ: pt.Environment(dir, s), Dir: dir, Recording: filepath.Join(dir, "recording")}}
				if err := r.prepare(); err != nil {
					t.Fatal(err)
				}
				if err := c.run(t.Context(), r); (err == nil) != right {
					t.Errorf("right: %t, and it says %v", right, err)
				} else if err != nil {
					t.Log(err)
				}
				s.Close()
			}
		})
	}
}

// TestRunFails has a server that answers nothing as it should: no check may pass but those
// of refusals.
func TestRunFails(t *testing.T) {
	_, passed, said := run(t, func(et.Received) et.Reply { return et.BadRequest("no") })
	if strings.Count(said, "failed ") != 15-passed || passed > 3 {
		t.Errorf("%d passed:\n%s", passed, said)
	}
	for _, name := range []string{"text", "stream", "search", "image", "schema", "wrong key", "continuation"} {
		if !strings.Contains(said, fmt.Sprintf("failed  %-28s", name)) {
			t.Errorf("%s passes:\n%s", name, said)
		}
	}
	if _, _, err := Run(t.Context(), Options{Dir: t.TempDir()}); err == nil {
		t.Error("no key is needed")
	}
}
