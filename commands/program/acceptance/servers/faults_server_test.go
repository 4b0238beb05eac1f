//go:build unix

package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
	"gemline/repl/schematest"
)

// A trouble is what a server does instead of answering.
type trouble struct {
	name    string
	opening et.Reply // before the first byte of the answer
	midway  et.Reply // after a part of it
	once    codes    // of runs whose server is in trouble once
	always  codes    // of runs whose server stays in trouble, and that ask once
}

// codes are the exit codes of runs whose conversation meets a trouble: before the first
// answer, amid it, and before the one that follows a tool's result.
type codes struct{ first, midway, result int }

const (
	looking = "I look."
	partial = "The ha"
	whole   = "The whole answer."
	silence = "silence"
)

// A run has its answer or its end within five minutes; most take a second or two, which they
// wait between attempts. Where the server stays in trouble it is asked once more at most,
// which is once for another model or with a shorter conversation.
const (
	longest     = 5 * time.Minute
	mostAsked   = 2
	idleSeconds = 3 // without a byte, in silence
)

// troubles are all that a server can be in.
func troubles() []trouble {
	after := func(fault et.Reply) et.Reply { return et.ErrorInStream(et.Unfinished(partial), fault) }
	soon := func(code int, status string) et.Reply {
		r := et.Status(code, status, "An error has occurred.")
		r.Wire.Header = http.Header{"Retry-After": {"0"}}
		return r
	}
	hangUp := et.Reply{Inspect: func(context.Context, *engine.Request) { panic(http.ErrAbortHandler) }}
	broken := et.Event(`{"candidates":[`)
	brokenOff := et.Unfinished(partial)
	brokenOff.Wire = &et.Wire{After: broken}
	overflow := pt.Faults["toolong"]()
	return []trouble{
		{"429 with a delay", et.RateLimited(0), after(et.RateLimited(0)), codes{}, codes{67, 67, 67}},
		{"429 for the day", et.DailyQuota(), after(et.DailyQuota()), codes{67, 67, 67}, codes{67, 67, 67}},
		{"503", soon(503, "UNAVAILABLE"), after(et.Unavailable()), codes{}, codes{68, 68, 68}},
		{"500", soon(500, "INTERNAL"), after(et.Status(500, "INTERNAL", "Oh no.")), codes{}, codes{68, 68, 68}},
		{"reset", hangUp, et.Reset(et.Unfinished(partial)), codes{}, codes{68, 68, 68}},
		{"malformed chunk", et.Reply{Wire: &et.Wire{Pieces: []string{broken}}}, brokenOff, codes{}, codes{66, 66, 66}},
		{"no finish reason", et.Unfinished(""), et.Unfinished(partial), codes{}, codes{66, 66, 66}},
		{"empty answer", et.Says(""), et.ThoughtOnly("Let me see."), codes{}, codes{66, 66, 0}},
		{"safety block", et.Blocked(), et.Ends(partial, genai.FinishReasonSafety), codes{66, 66, 66}, codes{66, 66, 66}},
		{silence, et.Silent(), et.Stalled(et.Unfinished(partial)), codes{}, codes{68, 68, 68}},
		{"context overflow", overflow, after(overflow), codes{42, 42, 0}, codes{42, 42, 42}},
	}
}

// A place is where in a run a server is in trouble.
type place struct {
	name    string
	model   string
	said    []et.Reply // to the conversation before that
	aside   bool       // it is in a question beside the conversation
	beside  et.Reply   // to such questions
	trouble func(trouble) et.Reply
	code    func(codes) int
}

func places() []place {
	read := func(file string) et.Reply { return et.Says(looking, et.Call("", "read_file", "file_path", file)) }
	long := et.Says("", et.Call("", "read_file", "file_path", "long.txt"))
	summary := et.Says("<state_snapshot>All is known.</state_snapshot>")
	opening := func(t trouble) et.Reply { return t.opening }
	midway := func(t trouble) et.Reply { return t.midway }
	never := func(codes) int { return 0 }
	const flash = "gemini-2.5-flash"
	return []place{
		{"first", flash, nil, false, summary, opening, func(c codes) int { return c.first }},
		{"midway", flash, nil, false, summary, midway, func(c codes) int { return c.midway }},
		{"result", flash, []et.Reply{long, read("a.txt")}, false, summary, opening, func(c codes) int { return c.result }},
		{"classifier", "auto", nil, true, et.Says(`{"complexity_reasoning": "easy", "complexity_score": 5}`), opening, never},
		{"summary", flash, []et.Reply{long, read("a.txt").With(600_000, 10)}, true, summary, opening, never},
	}
}

// A meeting is a run whose server is in trouble.
type meeting struct {
	trouble trouble
	place   place
	always  bool
	format  string
	code    int

	dir       string
	server    *et.Server
	cmd       *exec.Cmd
	out, errs bytes.Buffer
	asked     map[bool]int // requests, by whether they were beside the conversation
	met       int          // troubles
	took      time.Duration
}

func (m *meeting) String() string {
	name := m.trouble.name + "/" + m.place.name + "/" + m.format
	if m.always {
		name += "/always"
	}
	return name
}

// respond is the server's. It is called for one request at a time.
func (m *meeting) respond(r et.Received) et.Reply {
	aside := r.Action == "generateContent"
	n := m.asked[aside]
	m.asked[aside]++
	said := m.place.said
	if aside {
		said = nil
	}
	switch {
	case n < len(said):
		return said[n]
	case aside == m.place.aside && (m.always || n == len(said)):
		m.met++
		return m.place.trouble(m.trouble)
	case aside:
		return m.place.beside
	}
	return et.Says(whole)
}

// meetings are the runs of the table: of each cell one whose server is in trouble once and
// one whose server stays in it. Their formats differ from cell to cell; with SOAK each cell
// is met in all of them.
func meetings() (all []*meeting) {
	for i, tr := range troubles() {
		for j, p := range places() {
			for k, format := range []string{"text", "json", "stream-json"} {
				chosen := (i+j)%3 == k
				if chosen {
					all = append(all, &meeting{trouble: tr, place: p, format: format, code: p.code(tr.always), always: true})
				}
				if chosen || os.Getenv("SOAK") != "" {
					all = append(all, &meeting{trouble: tr, place: p, format: format, code: p.code(tr.once)})
				}
			}
		}
	}
	return all
}

// Whatever a server does instead of answering, and wherever in a run: either there is the
// answer, once, or the run ends with the code for that. Its record and its session are
// sound.
func TestTroubleOfTheServer(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "a\n", "long.txt": strings.Repeat("a line that is worth being summed up\n", 200)}
	all, dir := meetings(), t.TempDir()
	for i, m := range all {
		m.dir, m.asked = filepath.Join(dir, strconv.Itoa(i)), map[bool]int{}
		pt.Write(t, m.dir, files)
		home := map[string]string{}
		if m.trouble.name == silence {
			home[".gemini/settings.json"] = fmt.Sprintf(`{"model": {"streamIdleTimeoutSeconds": %d}}`, idleSeconds)
		}
		pt.Write(t, filepath.Join(m.dir, "home"), home)
		m.server = et.NewServer()
		t.Cleanup(m.server.Close)
		m.server.Respond = m.respond
		args := []string{"-p", "go", "-o", m.format}
		if m.always {
			args = append(args, "--max-attempts", "1")
		}
		m.cmd = pt.Headless(t, m.server, m.dir, &m.out, &m.errs, args...)
		m.cmd.Args[2] = m.place.model
	}
	var wg sync.WaitGroup
	running := make(chan struct{}, 12) // many of them do nothing but wait
	for _, m := range all {
		running <- struct{}{}
		wg.Go(func() {
			began := time.Now()
			m.cmd.Run()
			m.took = time.Since(began)
			m.server.Close()
			<-running
		})
	}
	wg.Wait()
	reader := schematest.NewReader(t)
	for _, m := range all {
		t.Run(m.String(), func(t *testing.T) {
			m.check(t, reader)
			if t.Failed() {
				t.Logf("%s\n%s", m.out.String(), m.errs.String())
			}
		})
	}
}

// check checks what a run has left.
func (m *meeting) check(t *testing.T, reader *schematest.Reader) {
	t.Helper()
	if m.cmd.ProcessState == nil {
		t.Fatal("it did not start")
	}
	if code := m.cmd.ProcessState.ExitCode(); code != m.code {
		t.Errorf("exit code %d, want %d", code, m.code)
	}
	if m.met == 0 || m.met > 1 && !m.always || m.met > mostAsked {
		t.Errorf("the server was in trouble %d times", m.met)
	}
	if m.took > longest {
		t.Errorf("it took %v, want less than %v", m.took, longest)
	}
	if n := strings.Count("\n"+m.errs.String(), "\nerror: "); n != min(1, m.code) {
		t.Errorf("%d errors on standard error", n)
	}
	out := m.out.String()
	want := m.said()
	switch m.format {
	case "text":
		if text := strings.Join(append(want, ""), "\n"); out != text {
			t.Errorf("standard output %q, want %q", out, text)
		}
	default:
		end, err := reader.Read(m.format, out)
		if err != nil || end.ExitCode != m.code {
			t.Errorf("a record with the exit code %d: %v", end.ExitCode, err)
		}
		if m.format == "json" && end.Response != m.answer() {
			t.Errorf("the response is %q, want %q", end.Response, m.answer())
		}
		if m.format == "stream-json" && !slices.Equal(counted(t, out, m.answer() == ""), want) {
			t.Errorf("the stream says %q, want %q", counted(t, out, m.answer() == ""), want)
		}
	}
	m.checkSession(t, want)
}

// answer returns what the run says at last, "" if it has no answer.
func (m *meeting) answer() string {
	switch r := m.place.trouble(m.trouble); {
	case m.code == 0 && (m.place.aside || !m.always):
		return whole
	case len(r.Chunks) == 1 && len(r.Chunks[0].Candidates) == 1 &&
		r.Chunks[0].Candidates[0].FinishReason == genai.FinishReasonSafety:
		return partial // which is kept, since there will be no other
	}
	return ""
}

// said returns all that the model says in the run.
func (m *meeting) said() (all []string) {
	if len(m.place.said) > 0 {
		all = append(all, looking)
	}
	if answer := m.answer(); answer != "" {
		all = append(all, answer)
	}
	return all
}

// counted returns what the model has said in a stream of records, less what does not
// count since an answer began again, or since the run failed.
func counted(t *testing.T, out string, failed bool) (all []string) {
	t.Helper()
	said := ""
	take := func() {
		if said != "" {
			all = append(all, said)
		}
		said = ""
	}
	for line := range strings.Lines(out) {
		var r struct {
			Type, Role, Content string
			Restart             bool
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Type == "message" && r.Role == "assistant":
			said += r.Content
		case r.Type == "retry" && r.Restart:
			said = ""
		case r.Type == "tool_result", r.Type == "result" && !failed:
			take()
		}
	}
	return all
}

// checkSession checks that the session can be gone on with: the question, each call with
// its own answer, and what the model has said, once.
func (m *meeting) checkSession(t *testing.T, want []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dir, "home/.gemini/tmp/*/chats/*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("sessions: %v, %v", files, err)
	}
	kept, err := journal.Load(files[0])
	if err != nil {
		t.Fatal(err)
	}
	et.CheckHistory(t, kept.History)
	var said []string
	asked, answers := false, 0
	for _, c := range kept.History {
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil && p.FunctionResponse.Response["output"] != nil:
				answers++
			case c.Role == genai.RoleModel && p.FunctionCall == nil && !strings.HasPrefix(p.Text, "Got it. Thanks"):
				said = append(said, p.Text)
			}
			asked = asked || p.Text == "go"
		}
	}
	if !slices.Equal(said, want) {
		t.Errorf("in the session the model says %q, want %q", said, want)
	}
	if asked != (len(want) > 0) || (answers > 0) != (len(m.place.said) > 0) || len(kept.Interrupted) > 0 {
		t.Errorf("the session has the question: %v; %d answers; calls without an end: %v", asked, answers, kept.Interrupted)
	}
}
