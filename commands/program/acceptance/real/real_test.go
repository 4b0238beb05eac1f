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

	et "gemline/engine/enginetest"

	pt "gemline/commands/program/acceptance/programtest"
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
