package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	et "gemline/engine/enginetest"
	"gemline/engine/text"
)

// A task is what a model is to do, and how to see that it was done.
type task struct {
	name, shows string
	parts       map[string]string // by the names in parts
	files       map[string]string // below project/ and home/
	folder      string            // of a task in a container, which has no parts
}

// parts are what a file of a task can have besides files.
var parts = []string{"prompt", "args", "setup", "after", "check", "recording", "broken"}

// tasksDir is where tasks are, and how errors call it.
const tasksDir = "commands/program/testdata/evals/tasks"

// load reads tasks: all if no names are given.
func load(containers string, names []string) (tasks []task, err error) {
	pattern, dir := tasksDir+"/*.txtar", tasksDir
	if containers != "" {
		pattern, dir = filepath.Join(containers, "*/tests"), containers
	}
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 && containers != "" {
		return nil, fmt.Errorf("%s holds no task, which is a folder with a folder tests", dir)
	} else if len(paths) == 0 {
		return nil, fmt.Errorf("there is no %s: run this in the top directory of a clone", dir)
	}
	var there []string
	for _, path := range paths {
		t := task{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), parts: map[string]string{}, files: map[string]string{}}
		if containers != "" {
			t.folder = filepath.Dir(path)
			t.name = filepath.Base(t.folder)
		}
		there = append(there, t.name)
		if len(names) > 0 && !slices.Contains(names, t.name) {
			continue
		}
		if t.folder == "" {
			if err := t.read(path); err != nil {
				return nil, err
			}
		}
		tasks = append(tasks, t)
	}
	for _, name := range names {
		if slices.Contains(there, name) {
			continue
		}
		if nearest := text.Nearest(name, there); nearest != "" {
			return nil, fmt.Errorf("no task in %s is called %s; did you mean %s?", dir, name, nearest)
		}
		return nil, fmt.Errorf("no task in %s is called %s; there are:\n%s", dir, name, strings.Join(there, "\n"))
	}
	return tasks, nil
}

func (t *task) read(path string) error {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return err
	}
	t.shows = strings.TrimSpace(string(a.Comment))
	for _, f := range a.Files {
		switch dir, _, below := strings.Cut(f.Name, "/"); {
		case below && (dir == "project" || dir == "home"):
			t.files[f.Name] = string(f.Data)
		case slices.Contains(parts, f.Name):
			t.parts[f.Name] = string(f.Data)
		default:
			return fmt.Errorf("%s: a task has no %s; it has %s, and files below project/ and home/", path, f.Name, strings.Join(parts, ", "))
		}
	}
	for _, name := range []string{"prompt", "check", "recording", "broken"} {
		if t.parts[name] == "" {
			return fmt.Errorf("%s has no %s", path, name)
		}
	}
	if strings.Contains("\n"+t.parts["check"], "\n!") {
		return fmt.Errorf("%s: the shell does not stop at a line of check that begins with !, but at not COMMAND", path)
	}
	for _, name := range []string{"setup", "after"} {
		if out, err := exec.Command("sh", "-nc", t.parts[name]).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %s is no script: %s", path, name, bytes.TrimSpace(out))
		}
	}
	for line := range strings.Lines(t.parts["check"]) {
		if out, err := exec.Command("sh", "-nc", line).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: a line of check is no script: %s: %s", path, strings.TrimSpace(line), bytes.TrimSpace(out))
		}
	}
	return nil
}

// try has the model do a task, so often. Without a model the recording has to pass, and the
// broken one to fail.
func try(t task, program, model string, runs int) result {
	sum := result{Task: t.name}
	if model == "" {
		sum = t.once(program, "", "recording")
		if broken := t.once(program, "", "broken"); sum.Passed == 1 && broken.Passed == 1 {
			sum.Passed, sum.Failure = 0, "the broken recording passes the check"
		}
		return sum
	}
	var costs []*float64
	for range runs {
		r := t.once(program, model, "")
		sum.Runs++
		sum.Passed += r.Passed
		sum.Tokens += r.Tokens
		sum.Seconds += r.Seconds
		sum.Failure = cmp.Or(sum.Failure, r.Failure)
		costs = append(costs, r.CostUSD)
		if sum.unusable = r.unusable; sum.unusable != "" {
			break
		}
	}
	sum.CostUSD = total(costs)
	return sum
}

// once does a task once, in a fresh project and a fresh home.
func (t task) once(program, model, recording string) (r result) {
	r = result{Task: t.name, Runs: 1}
	begun := time.Now()
	defer func() { r.Seconds = time.Since(begun).Seconds() }()
	failed := func(err error, out []byte) result {
		r.Failure = fmt.Sprintf("%v\n%s", err, out[max(0, len(out)-2000):])
		return r
	}
	dir, err := os.MkdirTemp("", "gemline-eval-")
	if err != nil {
		return failed(err, nil)
	}
	defer os.RemoveAll(dir)
	if t.folder != "" {
		return t.contained(r, dir, program, model, recording == "broken")
	}
	project := filepath.Join(dir, "project")
	if err := t.lay(dir, recording); err != nil {
		return failed(err, nil)
	}
	env := append(os.Environ(), "GEMINI_CLI_HOME="+filepath.Join(dir, "home"), "GEMINI_CLI_TRUST_WORKSPACE=true", "CI=",
		"GIT_CONFIG_GLOBAL=/dev/null", "ANSWER="+filepath.Join(dir, "answer"), "CALLS="+filepath.Join(dir, "calls"), "RECORD="+filepath.Join(dir, "record"))
	if out, err := inShell(project, env, t.parts["setup"]+"\n"+commit+"\n"+t.parts["after"]); err != nil {
		return failed(fmt.Errorf("setup: %w", err), out)
	}
	args := append([]string{"-o", "stream-json", "-p", strings.TrimSpace(t.parts["prompt"])}, strings.Fields(t.parts["args"])...)
	if model != "" {
		args = append(args, "-m", model)
	} else {
		env = append(env, "GEMINI_API_KEY=", "GOOGLE_API_KEY=")
		args = append(args, "-m", "gemini-3.8-flash", "--fake-responses", filepath.Join(dir, "recording"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // a task that takes longer is not done
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = project, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	record, runErr := cmd.Output()
	r.unusable = unusable(runErr, stderr.Bytes())
	if err := r.take(dir, record); err != nil {
		return failed(errors.Join(err, runErr), stderr.Bytes())
	}
	if failed := unmet(project, env, t.parts["check"]); failed != "" {
		r.Failure = afterRun(failed, runErr, stderr.Bytes())
		return r
	}
	r.Passed = 1
	return r
}

// unusable returns what gemline says of a model that no run can use, for want of a key or of
// such a provider; "" if it ended otherwise.
func unusable(ended error, messages []byte) string {
	if exit := (*exec.ExitError)(nil); errors.As(ended, &exit) && (exit.ExitCode() == 41 || exit.ExitCode() == 52) {
		return cmp.Or(strings.TrimSpace(last(string(messages), 1000)), ended.Error())
	}
	return ""
}

// not runs a command that has to fail.
const not = `not() { ! "$@"; }` + "\n"

// unmet runs each line of a check in a shell of its own. It returns the first line that fails
// with what that line printed, "" if all lines succeed.
func unmet(dir string, env []string, check string) string {
	for line := range strings.Lines(check) {
		line = strings.TrimSpace(line)
		if out, err := inShell(dir, env, not+line); err != nil {
			return strings.TrimSpace("the check failed at: " + line + "\n" + last(string(out), 1000))
		}
	}
	return ""
}

// afterRun adds to a failure how gemline ended and its last messages.
func afterRun(failure string, ended error, messages []byte) string {
	said := []string{failure}
	if ended != nil {
		said = append(said, "gemline ended with "+ended.Error())
	}
	if m := strings.TrimSpace(string(messages)); m != "" {
		said = append(said, "gemline's last messages:", last(m, 500))
	}
	return strings.Join(said, "\n")
}

// last returns the end of a text of lines.
func last(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[len(s)-most:]
	return "..." + strings.ToValidUTF8(s[strings.IndexByte(s, '\n')+1:], "")
}

// commit makes the project a repository, so that checks can ask what has changed.
const commit = `git init -q && git add -A && git -c user.name=e -c user.email=e@example.com commit -qm begin --allow-empty`

// lay writes the files of a task, and what a recording says.
func (t task) lay(dir, recording string) error {
	for _, name := range []string{"project", "home/.gemini"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	for name, text := range t.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			return err
		}
	}
	if recording == "" {
		return nil
	}
	replies, err := et.ParseReplies(t.parts[recording])
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, reply := range replies {
		if err := json.NewEncoder(&b).Encode(map[string]any{"method": "generateContentStream", "response": reply.Chunks}); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "recording"), b.Bytes(), 0o600)
}

// take writes what the record says of the answer and the calls where checks find it, and notes
// what the run cost.
func (r *result) take(dir string, record []byte) error {
	var answer, calls strings.Builder
	ended := false
	for line := range bytes.Lines(record) {
		var ev struct {
			Type, Role, Content string
			Tool                string          `json:"tool_name"`
			Parameters          json.RawMessage `json:"parameters"`
			Stats               struct {
				Tokens int      `json:"total_tokens"`
				Cost   *float64 `json:"cost_usd"`
			}
		}
		if err := json.Unmarshal(line, &ev); err != nil {
			return err
		}
		switch {
		case ev.Type == "message" && ev.Role == "assistant":
			answer.WriteString(ev.Content)
		case ev.Type == "tool_use":
			fmt.Fprintf(&calls, "%s %s\n", ev.Tool, ev.Parameters)
		case ev.Type == "result":
			ended, r.Tokens, r.CostUSD = true, ev.Stats.Tokens, ev.Stats.Cost
		}
	}
	if !ended {
		return errors.New("the run left no result")
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "answer"), []byte(answer.String()+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "calls"), []byte(calls.String()), 0o600), os.WriteFile(filepath.Join(dir, "record"), record, 0o600))
}

func inShell(dir string, env []string, script string) ([]byte, error) {
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir, cmd.Env = dir, env
	return cmd.CombinedOutput()
}
