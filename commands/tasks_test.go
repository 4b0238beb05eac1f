package commands_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/repl/input"
	"gemline/tools/shell"
)

// What runs in the background is listed with how it goes, read and ended.
func TestTasks(t *testing.T) {
	app, out := session(t)
	dir := t.TempDir()
	app.Conversation.Jobs = shell.NewJobs(dir)
	t.Cleanup(app.Conversation.Jobs.Close)
	start := func(command string) string {
		t.Helper()
		pid, err := app.Conversation.Jobs.Start(shell.Command{Text: command, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(pid)
	}
	say := func(line string) string {
		t.Helper()
		out.Reset()
		_, err := input.Chain(commands.Step(app))(t.Context(), []*genai.Part{genai.NewPartFromText(line)})
		if err != nil {
			return "error: " + err.Error()
		}
		return out.String()
	}
	if got := say("/tasks"); got != "nothing runs in the background\n" {
		t.Errorf("at first: %q", got)
	}
	failed, long := start("seq 30; exit 3"), start("exec\tsleep 600")
	n, _ := strconv.Atoi(failed)
	if _, err := app.Conversation.Jobs.Wait(t.Context(), n, 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := say("/tasks"); !regexp.MustCompile(`^` + failed + ` failed with 3: seq 30; exit 3\n` + long + ` running for \d+s: exec sleep 600\n$`).MatchString(got) {
		t.Errorf("listed: %q", got)
	}
	for line, want := range map[string]string{
		"/tasks show " + failed:         "the last 20 of 30 lines:\n11\n12\n",
		"/bg show " + failed + " 1":     "the last 1 of 30 lines:\n30\n",
		"/tasks show " + failed + " 99": "1\n2\n",
		"/tasks show " + long:           long + " has printed nothing\n",
		"/tasks show":                   "error: which one? /tasks lists them by their process ids",
		"/tasks show x":                 `error: "x" is no process id; /tasks lists them`,
		"/tasks show " + failed + " 0":  `error: "0" is no number of lines: /tasks show PID [LINES]`,
		"/tasks show 1":                 "error: no background command has the process id 1; /tasks lists them",
		"/tasks stop 1":                 "error: no background command has the process id 1; /tasks lists them",
	} {
		if got := say(line); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := say("/tasks stop " + long); got != long+" is ended\n" {
		t.Errorf("stopped: %q", got)
	}
	if got := say("/tasks"); !strings.Contains(got, long+" ended by ") {
		t.Errorf("then: %q", got)
	}
}
