package protocol

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// example runs a program of docs/examples against a server, in a directory, and returns what
// it prints to both outputs.
func example(t *testing.T, s *et.Server, dir, program string, args ...string) (said, told string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, pt.Environment(dir, s)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs.Bytes())
	}
	return string(out), errs.String()
}

// The programs of the page on the library do what it says.
func TestLibrary(t *testing.T) {
	t.Parallel()
	t.Run("tool", func(t *testing.T) {
		t.Parallel()
		s := et.NewServer(et.Says("", et.Call("1", "stock", "thing", "nuts"), et.Call("2", "stock", "thing", "bolts"), et.Call("3", "stock")), et.Says("There are 20."))
		defer s.Close()
		out, errs := example(t, s, t.TempDir(), built(t, "./docs/examples/tool"), "How many bolts?")
		told := strings.SplitAfter(errs, "\n")
		slices.Sort(told) // they run side by side
		if want := "count bolts: 20\nstock: There is no \"nuts\". There are bolts, legs and tops.\nstock: params lacks \"thing\"\n"; out != "There are 20.\n" || strings.Join(told, "") != want {
			t.Errorf("%q, %q", out, errs)
		}
		answer := pt.AnswerOf(t, s, "stock")
		body := string(s.Requests()[len(s.Requests())-1].Body)
		if !strings.Contains(body, `"output":"20"`) || !strings.Contains(body, "There are bolts, legs and tops.") {
			t.Errorf("%s, %s", answer, body)
		}
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		s := et.NewServer(et.Says("Hello, Ada."), et.Streams("It ", "is Ada."))
		defer s.Close()
		program, dir := built(t, "./docs/examples/session"), t.TempDir()
		if out, _ := example(t, s, dir, program, "chats", "My name is Ada."); out != "Hello, Ada.\n" {
			t.Errorf("%q", out)
		}
		if out, _ := example(t, s, dir, program, "chats", "What is my name?"); out != "It is Ada.\n" {
			t.Errorf("%q", out)
		}
		if n := len(s.Requests()[1].Contents()); n != 3 {
			t.Errorf("%d messages", n)
		}
	})
	t.Run("webhook", func(t *testing.T) {
		t.Parallel()
		s := et.NewServer(et.Says("", et.Call("1", "remember", "line", "milk")), et.Says("Noted."),
			et.Says("", et.Call("1", "remember", "line", "a secret")), et.Says("I may not."), et.Says("", et.Call("1", "remember", "line", "tea")), et.Says("Nobody answers."))
		defer s.Close()
		judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q struct{ Tool, Title string }
			json.NewDecoder(r.Body).Decode(&q)
			json.NewEncoder(w).Encode(map[string]any{"allow": q.Title == "remember milk", "reason": "secrets are not written down"})
		}))
		program, dir := built(t, "./docs/examples/webhook"), t.TempDir()
		for _, want := range []string{"Noted.\n", "I may not.\n", "Nobody answers.\n"} {
			if out, _ := example(t, s, dir, program, judge.URL, "Remember it."); out != want {
				t.Errorf("%q", out)
			}
			if strings.HasPrefix(want, "I may") {
				if told := pt.AnswerOf(t, s, "remember"); !strings.Contains(told, "secrets are not written down") {
					t.Error(told)
				}
				judge.Close()
			}
		}
		if told := pt.AnswerOf(t, s, "remember"); !strings.Contains(told, "nobody could be asked") {
			t.Error(told)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, "notes.txt")); string(b) != "milk\n" {
			t.Errorf("%q", b)
		}
	})
}
