// Bench-listener measures what somebody who listens to gemline hears of eleven
// usual tasks: lines, characters and, if espeak-ng is installed, seconds of speech.
//
//	go run ./commands/program/testdata/bench-listener ./gemline [DIR]
//
// With DIR the transcript of each task is written there. WAIT sets how long the
// slow server waits (75s), and RATE how many words a minute are spoken (300).
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A task is a prompt and what its user answers, in order, to each line that ends in ": ".
type task struct {
	name    string
	prompts []string
	answers []string
	replies []et.Reply
}

// store is the file that the tasks change.
const store = `package store

import "errors"

// ErrMissing says that a key is not there.
var ErrMissing = errors.New("missing")

// Put stores a value below a key.
func (s *Store) Put(key, value string) error {
	if key == "" {
		return ErrMissing
	}
	s.values[key] = value
	s.changed = true
	return nil
}

// Get returns the value below a key.
func (s *Store) Get(key string) (string, error) {
	v, ok := s.values[key]
	if !ok {
		return "", nil
	}
	return v, nil
}
`

// page is an answer with everything that Markdown has.
const page = "# Caching\n\nThe cache has **two levels**: memory and disk.\n\n## When it is used\n\n" +
	"- On each `Get`\n- On each `Put`, *if* the key is new\n\n1. Look in memory\n2. Look on the disk\n\n" +
	"| level | size | age |\n|---|---|---|\n| memory | 64 MB | 5 min |\n| disk | 2 GB | 1 day |\n\n" +
	"```go\nc := cache.New(64 << 20)\nc.Put(\"a\", 1)\n```\n\nSee [the notes](https://example.com/notes) for more.\n"

// tasks are the eleven.
func tasks(wait time.Duration) []task {
	edit := et.Says("", et.Call("1", "replace", "file_path", "store.go", "instruction", "report missing keys",
		"old_string", "\t\treturn \"\", nil\n", "new_string", "\t\treturn \"\", ErrMissing\n"))
	run := func(command string) et.Reply {
		return et.Says("", et.Call("1", "run_shell_command", "command", command))
	}
	return []task{
		{"edit", []string{"report missing keys"}, []string{"y"}, []et.Reply{edit, et.Says("Get now returns ErrMissing.")}},
		{"test", []string{"run the tests"}, []string{"y"}, []et.Reply{run("sh test.sh"), et.Says("All tests pass.")}},
		{"rm", []string{"remove the log"}, []string{"y"}, []et.Reply{run("rm build.log"), et.Says("It is gone.")}},
		{"question", []string{"what does Put do?"}, nil, []et.Reply{et.Says("It stores a value below a key, and fails if the key is empty.")}},
		{"Markdown page", []string{"explain the cache"}, nil, []et.Reply{et.Says(page)}},
		{"agent", []string{"how does the store work?"}, nil, []et.Reply{
			et.Says("", et.Call("1", "invoke_agent", "agent_name", "codebase_investigator", "prompt", "find out how the store works")),
			et.Says("The store is a map."),
		}},
		{"slow server", []string{"are you there?"}, nil, []et.Reply{et.Slow(et.Says("Yes."), wait)}},
		{"400 lines", []string{"count"}, []string{"y"}, []et.Reply{run("seq 400"), et.Says("It counts to 400.")}},
		{"/diff", []string{"report missing keys", "/diff"}, []string{"y"}, []et.Reply{edit, et.Says("Done.")}},
		{"undo", []string{"report missing keys", "/undo"}, []string{"y", "y"}, []et.Reply{edit, et.Says("Done.")}},
		{"refused network", []string{"fetch the page"}, []string{"y", "n"}, []et.Reply{run("sh fetch.sh"), et.Says("I could not fetch it.")}},
	}
}

// investigated is what the agent's model says.
var investigated = []et.Reply{
	et.Says("", et.Call("1", "read_file", "file_path", "store.go")),
	et.Says("", et.Call("2", "grep_search", "pattern", "Store")),
	et.Says("", et.Call("3", "complete_task", "report", map[string]any{
		"SummaryOfFindings": "The store keeps its values in a map.", "ExplorationTrace": []any{"read store.go"},
		"RelevantLocations": []any{},
	})),
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: bench-listener PROGRAM [DIR]")
		os.Exit(2)
	}
	bin, err := filepath.Abs(os.Args[1])
	check(err)
	keep := ""
	if len(os.Args) > 2 {
		keep, err = filepath.Abs(os.Args[2])
		check(err)
		check(os.MkdirAll(keep, 0o700))
	}
	wait := 75 * time.Second
	if d, err := time.ParseDuration(os.Getenv("WAIT")); err == nil {
		wait = d
	}
	fmt.Print("| task | lines | characters | seconds of speech |\n|---|---|---|---|\n")
	var lines, chars int
	var seconds float64
	for _, t := range tasks(wait) {
		heard := t.run(bin, wait)
		if keep != "" {
			check(os.WriteFile(filepath.Join(keep, strings.ReplaceAll(strings.TrimPrefix(t.name, "/"), " ", "-")), []byte(heard), 0o600))
		}
		s := speech(heard)
		n := strings.Count(heard, "\n")
		fmt.Printf("| %s | %d | %d | %.0f |\n", t.name, n, len(heard), s)
		lines, chars, seconds = lines+n, chars+len(heard), seconds+s
	}
	fmt.Printf("| all | %d | %d | %.0f |\n", lines, chars, seconds)
}

// run returns what the terminal shows of the task, from the greeting to the prompt behind the last answer.
func (t task) run(bin string, wait time.Duration) string {
	server := et.NewServer()
	defer server.Close()
	replies := t.replies
	server.Respond = func(r et.Received) et.Reply {
		if strings.Contains(string(r.Body), "You find out how a codebase works") {
			return investigated[strings.Count(string(r.Body), `"role":"model"`)]
		}
		if len(replies) == 0 {
			return et.Says("A conversation.")
		}
		reply := replies[0]
		replies = replies[1:]
		return reply
	}
	dir, err := os.MkdirTemp("", "gemline-bench-")
	check(err)
	defer os.RemoveAll(dir)
	home, project := dir, filepath.Join(dir, "project")
	check(os.MkdirAll(project, 0o700))
	for name, text := range map[string]string{
		"store.go": store, "build.log": "ok\n",
		"test.sh":  "for i in a b c d e f; do echo \"ok   example.com/store/$i 0.01s\"; done\n",
		"fetch.sh": "curl -sS https://example.com/ || exit 6\n",
	} {
		check(os.WriteFile(filepath.Join(project, name), []byte(text), 0o600))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = project
		check(cmd.Run())
	}
	st := &stage{}
	defer st.end()
	s := teletype.Start(st, teletype.Command{Path: bin, Args: []string{"-m", "gemini-3.8-flash"}, Dir: project,
		Term: "xterm", Wait: wait + time.Minute, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ACCESSIBLE=1",
			"GEMINI_API_KEY=key-of-the-bench", "GOOGLE_GEMINI_BASE_URL=" + server.URL, "GEMINI_CLI_TRUST_WORKSPACE=true",
			"LC_ALL=C.UTF-8"}})
	s.Expect("> ")
	answers := t.answers
	for _, p := range t.prompts {
		s.Line(p)
		s.Expect(p + "\r\n")
		for {
			if until := s.Match(`(?:^|\n)(> |y[ ,][^\n]*: )$`); strings.HasSuffix(until, "\n> ") || until == "> " {
				break
			}
			if len(answers) == 0 {
				st.Fatalf("%s: nothing is left to answer:\n%s", t.name, s.Transcript())
			}
			s.Line(answers[0])
			s.Expect(answers[0] + "\r\n")
			answers = answers[1:]
		}
	}
	heard := strings.ReplaceAll(string(s.Transcript()), "\r", "")
	s.Line("/quit")
	s.Exit()
	return heard
}

// speech returns how long it takes to say text, 0 if nothing here can say it.
func speech(text string) float64 {
	path, err := exec.LookPath("espeak-ng")
	if err != nil {
		return 0
	}
	cmd := exec.Command(path, "-s", cmp.Or(os.Getenv("RATE"), "300"), "--stdout")
	cmd.Stdin = strings.NewReader(text)
	var wave bytes.Buffer
	cmd.Stdout = &wave
	check(cmd.Run())
	const header, rate = 44, 22050 * 2 // bytes, of one channel of 16 bits
	return float64(wave.Len()-header) / rate
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A stage stands in for a test: what fails ends the program.
type stage struct {
	testing.TB // what is not used here
	ends       []func()
}

func (s *stage) Helper()          {}
func (s *stage) Failed() bool     { return false }
func (s *stage) Cleanup(f func()) { s.ends = append(s.ends, f) }
func (s *stage) end() {
	for _, f := range s.ends {
		f()
	}
}

func (s *stage) Fatal(args ...any)            { s.Fatalf("%s", fmt.Sprint(args...)) }
func (s *stage) Fatalf(f string, args ...any) { fmt.Fprintf(os.Stderr, f+"\n", args...); os.Exit(1) }
func (s *stage) Skip(args ...any)             { s.Fatal(args...) }
