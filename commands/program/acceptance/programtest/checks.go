package programtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/repl/output"
)

// A refusedCall is one as the final record lists it.
type refusedCall struct {
	Tool, Title, Why string
	AllowedBy        string `json:"allowed_by"`
}

// DeniedIn answers one prompt without a terminal and returns the final record's
// list of what was denied.
func DeniedIn(t *testing.T, c teletype.Command) []refusedCall {
	t.Helper()
	out := Printed(t, c, "-p", "go on", "--output-format", "json")
	var doc struct{ Denied []refusedCall }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return doc.Denied
}

// CheckWork checks what the conversation left behind.
func CheckWork(t *testing.T, c teletype.Command, s *et.Server) {
	t.Helper()
	if b, _ := os.ReadFile(filepath.Join(c.Dir, "greeting.txt")); string(b) != "Hello, world.\n" {
		t.Errorf("the greeting is %q", b)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
		t.Errorf("the refused command ran: %v", err)
	}
	requests := Streamed(s)
	if len(requests) != 7 {
		t.Fatalf("%d requests", len(requests))
	}
	if !bytes.Contains(requests[2].Body, []byte("I still need them")) {
		t.Error("the reason did not reach the model")
	}
	if !bytes.Contains(requests[4].Body, []byte("count-42")) {
		t.Error("the output of the command did not reach the model")
	}
	if last := requests[6].Body; !bytes.Contains(last, []byte("Content from @notes.txt")) || !bytes.Contains(last, []byte("Remember the milk.")) {
		t.Error("the file did not reach the model")
	}
}

// Lint holds what a terminal was sent to the rules.
func Lint(t *testing.T, transcript []byte, rules teletype.Rules) {
	t.Helper()
	for _, fault := range teletype.Lint(transcript, rules) {
		t.Error(fault)
	}
}

// Succeeds waits for the end of a program, which must have the exit code 0.
func Succeeds(t *testing.T, s *teletype.Session) {
	t.Helper()
	if code := s.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Leave ends a session and checks what its terminal has seen.
func Leave(t *testing.T, s *teletype.Session, rules teletype.Rules) string {
	t.Helper()
	s.Line("/quit")
	Succeeds(t, s)
	Lint(t, s.Transcript(), rules)
	return string(s.Transcript())
}

// AnswerOf returns what the model was told about the call of a tool, in the
// last request.
func AnswerOf(t *testing.T, s *et.Server, tool string) string {
	t.Helper()
	requests := s.Requests()
	history := requests[len(requests)-1].Contents()
	et.CheckHistory(t, history)
	answer := "nothing"
	for _, c := range history {
		for _, p := range c.Parts {
			if fr := p.FunctionResponse; fr != nil && fr.Name == tool {
				b, _ := json.Marshal(fr.Response)
				answer = string(b)
			}
		}
	}
	return answer
}

// LastAsked returns the last thing that the server was sent, as JSON.
func LastAsked(s *et.Server) string {
	all := s.Requests()
	contents := all[len(all)-1].Contents()
	b, _ := json.Marshal(contents[len(contents)-1])
	return string(b)
}

// CheckTurns checks that a conversation holds texts in order, and that calls
// and answers follow each other.
func CheckTurns(t *testing.T, contents []*genai.Content, texts ...string) {
	t.Helper()
	et.CheckHistory(t, contents)
	for _, c := range contents {
		for _, p := range c.Parts {
			if len(texts) > 0 && strings.Contains(p.Text, texts[0]) {
				texts = texts[1:]
			}
		}
	}
	if len(texts) > 0 {
		t.Errorf("missing texts: %q", texts)
	}
}

// CheckEnd checks that the output ends with one record of the end.
func CheckEnd(t *testing.T, format string, out []byte, reason string) {
	t.Helper()
	type record struct {
		Type   string
		Reason string `json:"termination_reason"`
	}
	switch format {
	case "text":
		if bytes.HasPrefix(out, []byte("{")) {
			t.Errorf("stdout: %q", out)
		}
	case "json":
		var r record
		if err := json.Unmarshal(out, &r); err != nil || r.Reason != reason {
			t.Errorf("%v: %s", err, out)
		}
	case "stream-json":
		var last record
		ends := 0
		for in := bufio.NewScanner(bytes.NewReader(out)); in.Scan(); {
			if err := json.Unmarshal(in.Bytes(), &last); err != nil {
				t.Errorf("%v: %s", err, in.Bytes())
			}
			if last.Type == "result" {
				ends++
			}
		}
		if ends != 1 || last.Type != "result" || last.Reason != reason {
			t.Errorf("%d ends: %s", ends, out)
		}
	}
}

// CheckResume goes on with the session and checks what the model is sent.
func CheckResume(t *testing.T, s *et.Server, dir string) {
	t.Helper()
	var errs bytes.Buffer
	again := Headless(t, s, dir, io.Discard, &errs, "-p", "more", "--resume", "latest")
	if err := again.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("resume: %v: %s", err, errs.Bytes())
	}
	requests := s.Requests()
	history := requests[len(requests)-1].Contents()
	et.CheckHistory(t, history)
	if last := history[len(history)-1]; last.Parts[len(last.Parts)-1].Text != "more" {
		t.Errorf("the last message is %v", last)
	}
}

// Own is what the program itself sends to a smart terminal: colours, marks and
// the asking for whole pastes.
var Own = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\]133;[ABCD][^\a\x1b]*\x1b\\|\x1b\[\?2004[hl]`)

// DoneLine is the true one, in smart mode.
const DoneLine = `(\n|\x1b\[1m)done:\x1b\[22m [0-9.]+ s`

// CheckPlain checks a transcript of plain mode.
func CheckPlain(t *testing.T, transcript []byte) {
	t.Helper()
	Lint(t, transcript, teletype.Rules{Quiet: true})
	for _, fault := range teletype.Overprinted(transcript, labels()...) {
		t.Error(fault)
	}
	if t.Failed() {
		t.Logf("%q", transcript)
	}
}

// CheckPaste checks that each of texts was a request of its own, in turn.
func CheckPaste(t *testing.T, s *et.Server, texts ...string) {
	t.Helper()
	requests := Streamed(s)
	if len(requests) != len(texts) {
		t.Fatalf("%d requests, want %d", len(requests), len(texts))
	}
	for i, text := range texts {
		if !bytes.Contains(requests[i].Body, fmt.Appendf(nil, `{"text":%q}`, text)) {
			t.Errorf("request %d does not hold %.80q: %.400s", i, text, requests[i].Body)
		}
	}
}

// labels are what messages of the program begin with.
func labels() (all []string) {
	for _, l := range output.Labels() {
		all = append(all, string(l))
	}
	return all
}
