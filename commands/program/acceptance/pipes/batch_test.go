//go:build unix

package pipes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
	"gemline/repl/schema"
)

// A batchItem is a line that a batch prints.
type batchItem struct {
	Type     string
	Index    int
	ID       string
	Status   string
	Response string
	Session  string `json:"session_id"`
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"termination_reason"`
	Attempt  int
	Error    struct{ Message string }
}

func batchItems(t *testing.T, out []byte) (all []batchItem) {
	t.Helper()
	for l := range bytes.Lines(out) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(l))
		if err == nil {
			err = batchSchema().Validate(v)
		}
		if err != nil {
			t.Errorf("%v in %q", err, l)
		}
		var it batchItem
		if err := json.Unmarshal(l, &it); err != nil {
			t.Fatalf("%v in %q", err, l)
		}
		all = append(all, it)
	}
	return all
}

var batchSchema = sync.OnceValue(func() *jsonschema.Schema {
	text, _ := schema.Text("batch")
	c := jsonschema.NewCompiler()
	if doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)); err == nil {
		c.AddResource("batch", doc) // which MustCompile finds, or not
	}
	return c.MustCompile("batch")
})

var question = regexp.MustCompile(`question \d+`)

// asks returns which question a request asks.
func asks(r et.Received) string {
	for _, c := range slices.Backward(r.Contents()) {
		for _, p := range c.Parts {
			if q := question.FindString(p.Text); q != "" {
				return q
			}
		}
	}
	return ""
}

// Two hundred prompts, eight at a time, on a server of which one answer in
// twenty is a fault. The program is killed when the server has seen half of
// them, and started again: every item is answered or has failed with a reason,
// in order, and what was done before the kill is not asked again.
func TestBatchKilled(t *testing.T) {
	t.Parallel()
	const items, half, jobs = 200, 100, 8
	dir := t.TempDir()
	var prompts strings.Builder
	for i := range items {
		fmt.Fprintf(&prompts, "question %03d\n", i)
	}
	pt.Write(t, dir, map[string]string{"prompts": prompts.String()})
	broken := []et.Reply{et.Unavailable(), et.Reset(et.Unfinished("half an ans")), et.InvalidJSON(), et.DailyQuota()}
	reasons := []string{"unavailable", "unavailable", "invalid_stream", "quota"}
	asked := map[string]int{}
	fault := func(i int) int { return (i / 20) % len(broken) }
	seen, reached := 0, make(chan struct{}, items)
	killed := false
	s := et.NewServer()
	s.Respond = func(r et.Received) et.Reply { // the server calls it once at a time
		q := asks(r)
		asked[q]++
		if seen++; seen >= half && !killed {
			reached <- struct{}{}
			return et.Silent()
		}
		var i int
		fmt.Sscanf(q, "question %d", &i)
		if i%20 == 7 {
			return broken[fault(i)]
		}
		return et.Says("answer to " + q)
	}
	s.Add() // from here on Respond is the server's
	t.Cleanup(s.Close)
	args := []string{"--batch", "prompts", "--jobs", fmt.Sprint(jobs), "--max-attempts", "1"}
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, args...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for range jobs { // all are waiting now
		<-reached
	}
	run.Process.Kill()
	run.Wait()
	before := batchItems(t, out.Bytes()[:bytes.LastIndexByte(out.Bytes(), '\n')+1])
	done := map[string]bool{}
	for _, l := range stateOf(t, dir) {
		done[fmt.Sprintf("question %03d", l.Index)] = true
	}
	if len(done) != half-1 || len(before) > len(done) {
		t.Errorf("before the kill %d items were done and %d told", len(done), len(before))
	}

	killed = true // nobody asks at the moment
	s.Add()
	out.Reset()
	errs.Reset()
	run = pt.Headless(t, s, dir, &out, &errs, args...)
	run.Run()
	if code := run.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, stderr %s", code, errs.Bytes())
	}
	all := batchItems(t, out.Bytes())
	if len(all) != items {
		t.Fatalf("%d lines", len(all))
	}
	sessions := map[string]bool{}
	for i, it := range all {
		q := fmt.Sprintf("question %03d", i)
		if it.Type != "item" || it.Index != i || it.ID != fmt.Sprint(i) || it.Attempt != 1 {
			t.Errorf("line %d is %+v", i, it)
		}
		sessions[it.Session] = true
		if i%20 == 7 {
			if it.Status != "error" || it.Reason != reasons[fault(i)] || it.Error.Message == "" || it.ExitCode == 0 {
				t.Errorf("the fault of item %d is told as %+v", i, it)
			}
		} else if it.Status != "success" || it.Response != "answer to "+q || it.ExitCode != 0 {
			t.Errorf("item %d: %+v", i, it)
		}
		if n := asked[q]; n < 1 || n > 2 || n > 1 && done[q] {
			t.Errorf("%s was asked %d times; done before the kill: %v", q, n, done[q])
		}
	}
	if len(sessions) != items {
		t.Errorf("%d sessions", len(sessions))
	}
	for i, it := range before {
		if it != all[i] {
			t.Errorf("told again, item %d differs: %+v, then %+v", i, it, all[i])
		}
	}
	for _, want := range []string{"batch: continuing a batch: 99 items done before", "batch: 200 items: 190 answered, 10 failed ("} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, errs.Bytes())
		}
	}
	if left := states(t, dir); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// states returns the files that keep what is done of batches.
func states(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "home/.gemini/tmp/*/batches/*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// stateOf returns the whole lines of the only state.
func stateOf(t *testing.T, dir string) (lines []struct{ Index int }) {
	t.Helper()
	for _, path := range states(t, dir) {
		if strings.HasSuffix(path, ".lock") {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for l := range bytes.Lines(b) {
			var v struct{ Index int }
			if json.Unmarshal(l, &v) == nil {
				lines = append(lines, v)
			}
		}
	}
	return lines
}

// Items that run side by side write, read and run commands in one directory,
// and do not meet.
func TestBatchTools(t *testing.T) {
	t.Parallel()
	const items = 24
	dir := t.TempDir()
	var prompts strings.Builder
	for i := range items {
		fmt.Fprintf(&prompts, "question %d\n", i)
	}
	pt.Write(t, dir, map[string]string{"prompts": prompts.String()})
	s := et.NewServer()
	s.Respond = func(r et.Received) et.Reply {
		q := asks(r)
		name := strings.ReplaceAll(q, " ", "-")
		answers := 0
		for _, c := range r.Contents() {
			for _, p := range c.Parts {
				if p.FunctionResponse != nil {
					answers++
				}
			}
		}
		switch answers {
		case 0:
			return et.Says("", et.Call("1", "write_file", "file_path", name, "content", q))
		case 1:
			return et.Says("", et.Call("2", "read_file", "file_path", name), et.Call("3", "write_todos", "todos", []any{}))
		case 3:
			return et.Says("", et.Call("4", "run_shell_command", "command", "cat "+name+" >"+name+".copy"))
		}
		return et.Says("done with " + q)
	}
	s.Add() // from here on Respond is the server's
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, "-y", "--batch", "prompts", "-j", "8")
	if err := run.Run(); err != nil {
		t.Errorf("%v: %s", err, errs.Bytes())
	}
	for i, it := range batchItems(t, out.Bytes()) {
		q := fmt.Sprintf("question %d", i)
		if it.Response != "done with "+q {
			t.Errorf("item %d: %+v", i, it)
		}
		b, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(q, " ", "-")+".copy"))
		if strings.TrimSpace(string(b)) != q {
			t.Errorf("%q, %v", b, err)
		}
	}
}

// A signal ends a batch cleanly: what is done is told and kept, what is going
// on is given up and done by the next run.
func TestBatchSignalled(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(pt.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			dir, reached, stalled := t.TempDir(), make(chan struct{}, 10), true
			pt.Write(t, dir, map[string]string{"prompts": "question 1\nquestion 2\nquestion 3\nquestion 4\n"})
			s := et.NewServer()
			s.Respond = func(r et.Received) et.Reply {
				if q := asks(r); stalled && (q == "question 2" || q == "question 4") {
					reached <- struct{}{}
					return et.Silent()
				}
				return et.Says("yes")
			}
			s.Add() // from here on Respond is the server's
			t.Cleanup(s.Close)
			var out, errs bytes.Buffer
			run := pt.Headless(t, s, dir, &out, &errs, "--batch", "prompts", "-j", "2")
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			<-reached
			run.Process.Signal(sig)
			run.Wait()
			if code := run.ProcessState.ExitCode(); code != 128+int(sig) {
				t.Errorf("exit code %d", code)
			}
			all := batchItems(t, out.Bytes())
			if len(all) != 3 || all[0].Index != 0 || all[1].Index != 2 || all[2].Type != "result" || all[2].ExitCode != 128+int(sig) {
				t.Errorf("stdout: %s", out.Bytes())
			}
			if want := "batch: 4 items: 2 answered, 2 stopped\nbatch: run the same command again to continue\nerror: stopped by " + pt.SignalName(sig) + "\n"; errs.String() != want {
				t.Errorf("stderr: %s", errs.Bytes())
			}
			stalled = false
			s.Add()
			out.Reset()
			run = pt.Headless(t, s, dir, &out, &errs, "--batch", "prompts", "-j", "2")
			if err := run.Run(); err != nil {
				t.Error(err)
			}
			if all := batchItems(t, out.Bytes()); len(all) != 4 || len(s.Requests()) != 6 {
				t.Errorf("%d requests; stdout: %s", len(s.Requests()), out.Bytes())
			}
		})
	}
}

// Nobody reads the records any more: the batch ends quietly and can be gone on
// with.
func TestBatchUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"prompts": strings.Repeat("question 1\n", 50)})
	s := et.NewServer()
	s.Respond = func(et.Received) et.Reply { return et.Says("yes") }
	s.Add() // from here on Respond is the server's
	t.Cleanup(s.Close)
	var errs bytes.Buffer
	run := pt.Headless(t, s, dir, nil, &errs, "--batch", "prompts")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	run.Stdout = write
	run.Run()
	if code := run.ProcessState.ExitCode(); code != 141 || errs.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, errs.Bytes())
	}
	if n := len(stateOf(t, dir)); n == 0 || n > 5 {
		t.Errorf("%d items are kept", n)
	}
}

// Two runs of the same batch at once would do everything twice.
func TestBatchTwice(t *testing.T) {
	t.Parallel()
	dir, reached := t.TempDir(), make(chan pt.Ended, 10)
	pt.Write(t, dir, map[string]string{"prompts": "question 1\n"})
	s := et.NewServer(pt.Telling(reached, et.Silent()))
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	first := pt.Headless(t, s, dir, nil, nil, "--batch", "prompts")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	defer first.Wait()
	defer first.Process.Kill()
	<-reached
	second := pt.Headless(t, s, dir, &out, &errs, "--batch", "prompts")
	err := second.Run()
	all := batchItems(t, out.Bytes())
	if second.ProcessState.ExitCode() != 42 || len(all) != 1 || all[0].Type != "result" || !strings.Contains(errs.String(), "another run of this batch is in progress") {
		t.Errorf("%v, stdout %q, stderr %q", err, out.Bytes(), errs.Bytes())
	}
	if errors.Is(first.Process.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		t.Error("the first run is gone")
	}
}

// What the server's batch service has is not given to it twice, whenever the
// program is killed: here while it waits to hear that the job was taken, and
// while it waits for the answers.
func TestBatchServiceKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"prompts": "question 1\nquestion 2\n", "GEMINI.md": "be kind"})
	s := et.NewServer()
	s.Unanswered, s.Polls = 1, 1000 // there is no answer before it is killed
	s.Respond = func(r et.Received) et.Reply { return et.Says("answer to " + asks(r)) }
	s.Add() // from here on the fields are the server's
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	args := []string{"--batch", "prompts", "--batch-api", "--skip-trust"}
	for _, requests := range []int{1, 2} { // the submission; what is there of that title, and a look
		run := pt.Headless(t, s, dir, &out, &errs, args...)
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		for range requests {
			<-s.Arrived()
		}
		run.Process.Kill()
		run.Wait()
	}
	if out.Len() > 0 {
		t.Errorf("stdout %q", out.Bytes())
	}
	errs.Reset()
	s.Requests() // none is under way
	s.Polls = 0
	s.Add()
	run := pt.Headless(t, s, dir, &out, &errs, args...)
	if err := run.Run(); err != nil {
		t.Error(err)
	}
	all := batchItems(t, out.Bytes())
	if len(all) != 2 || all[0].Response != "answer to question 1" || all[1].Response != "answer to question 2" || all[0].Session == "" {
		t.Errorf("stdout %q, stderr %q", out.Bytes(), errs.Bytes())
	}
	submitted := 0
	for _, r := range s.Requests() {
		if r.Action != "batchGenerateContent" {
			continue
		}
		submitted++
		for _, want := range []string{"question 1", "question 2", "be kind", "systemInstruction"} {
			if !bytes.Contains(r.Body, []byte(want)) {
				t.Errorf("%q is not in the job: %s", want, r.Body)
			}
		}
		if bytes.Contains(r.Body, []byte(`"tools"`)) || bytes.Contains(r.Body, []byte("run_shell_command")) {
			t.Errorf("there are tools in the job: %s", r.Body)
		}
	}
	if submitted != 1 {
		t.Errorf("submitted %d times", submitted)
	}
	if left := states(t, dir); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// A signal leaves the job to the server and says so.
func TestBatchServiceSignalled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, dir, map[string]string{"prompts": "question 1\n"})
	s := et.NewServer()
	s.Polls = 1000 // there is no answer before the signal
	s.Respond = func(r et.Received) et.Reply { return et.Says("yes") }
	s.Add() // from here on the fields are the server's
	t.Cleanup(s.Close)
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, "--batch", "prompts", "--batch-api")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the submission, and a look
		<-s.Arrived()
	}
	run.Process.Signal(syscall.SIGTERM)
	run.Wait()
	if code := run.ProcessState.ExitCode(); code != 143 || !strings.Contains(errs.String(), "the server continues its jobs; run the same command again to fetch the answers") {
		t.Errorf("exit code %d, stderr %q", code, errs.Bytes())
	}
	out.Reset()
	before := len(s.Requests()) // none is under way
	s.Polls = 0
	s.Add()
	run = pt.Headless(t, s, dir, &out, &errs, "--batch", "prompts", "--batch-api")
	if err := run.Run(); err != nil || len(batchItems(t, out.Bytes())) != 1 || len(s.Requests()) != before+1 {
		t.Errorf("%v, %d requests, stdout %q", err, len(s.Requests()), out.Bytes())
	}
}

// The commands of docs/scale.md do what the page says: every prompt is
// answered once, and what failed is asked again.
func TestBatchScale(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	_, parallel, _ := strings.Cut(string(page), "```sh\n")
	parallel, _, _ = strings.Cut(parallel, "```")
	_, pod, _ := strings.Cut(string(page), "            - |\n")
	pod, _, _ = strings.Cut(pod, "          env:\n")
	for name, script := range map[string]string{
		"parallel":   parallel,
		"kubernetes": "for JOB_COMPLETION_INDEX in 0 1 2 3 4 5 6 7; do (" + pod + ") || (" + pod + "); done",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "parallel" {
				pt.Need(t, "parallel")
			}
			dir, flaky := t.TempDir(), map[string]bool{}
			script = strings.NewReplacer("/answers/", "", "/prompts/", "").Replace(script)
			script += "\ncat part-*.answers"
			var prompts strings.Builder
			for i := range 40 {
				fmt.Fprintf(&prompts, `{"id":"%02d","prompt":"question %d"}`+"\n", i, i)
			}
			pt.Write(t, dir, map[string]string{"prompts.jsonl": prompts.String()})
			s := et.NewServer()
			s.Respond = func(r et.Received) et.Reply {
				if q := asks(r); strings.HasSuffix(q, "7") && !flaky[q] {
					flaky[q] = true
					return et.DailyQuota()
				}
				return et.Says("answer to " + asks(r))
			}
			s.Add() // from here on Respond is the server's
			t.Cleanup(s.Close)
			var out, errs bytes.Buffer
			run := pt.Headless(t, s, dir, &out, &errs)
			self := run.Path
			if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, filepath.Join(dir, "bin", "gemline")); err != nil {
				t.Fatal(err)
			}
			env := append(run.Env, "GEMINI_MODEL="+pt.Model, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
			run = exec.Command("bash", "-ec", script)
			run.Dir, run.Env, run.Stdout, run.Stderr = dir, env, &out, &errs
			if err := run.Run(); err != nil {
				t.Errorf("%v: %s", err, errs.Bytes())
			}
			answered := map[string]bool{}
			for _, it := range batchItems(t, out.Bytes()) {
				n, _ := strconv.Atoi(it.ID)
				if answered[it.ID] || it.Status != "success" || it.Response != fmt.Sprintf("answer to question %d", n) {
					t.Errorf("%+v", it)
				}
				answered[it.ID] = true
			}
			if len(answered) != 40 || len(s.Requests()) != 44 {
				t.Errorf("%d answers, %d requests, stderr %s", len(answered), len(s.Requests()), errs.Bytes())
			}
		})
	}
}
