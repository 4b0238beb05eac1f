// Package real asks a server of the Gemini API, with a key, for what the program relies on,
// and judges what it answers. [Run] is all there is; make real runs it.
//
// The program itself is run, in a home directory of its own. What the server answers is
// recorded, check by check, in files that --fake-responses plays; they hold no key.
package real

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options say what is asked, and where the answers go.
type Options struct {
	Gemline   string   // the program
	Environ   []string // with the key, and the address of the server if it is another
	Dir       string   // an empty directory to work in
	Recording string   // a directory, "" for none
	Out       io.Writer
}

// longest is how long a check may take.
const longest = 90 * time.Second

// Run makes the checks, prints a line for each and "N of M", and returns how many passed.
func Run(ctx context.Context, o Options) (passed, of int, err error) {
	r := &runner{Options: o, home: filepath.Join(o.Dir, "home"), work: filepath.Join(o.Dir, "work")}
	if err := r.prepare(); err != nil {
		return 0, 0, err
	}
	for _, c := range checks {
		r.check = c.name
		start := time.Now()
		bounded, cancel := context.WithTimeout(ctx, longest)
		err := c.run(bounded, r)
		cancel()
		took := time.Since(start).Round(100 * time.Millisecond)
		if err != nil {
			fmt.Fprintf(o.Out, "failed  %-28s %s: %s\n", c.name, took, firstLine(err.Error()))
			continue
		}
		passed++
		fmt.Fprintf(o.Out, "ok      %-28s %s\n", c.name, took)
	}
	fmt.Fprintf(o.Out, "%d of %d\n", passed, len(checks))
	return passed, len(checks), r.withoutKey()
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// reason returns the line of standard error that says why a run failed.
func reason(stderr string) string {
	if _, after, ok := strings.Cut("\n"+stderr, "\nerror: "); ok {
		return firstLine(after)
	}
	return firstLine(stderr)
}

type runner struct {
	Options
	home, work string
	check      string // the name of the one that runs
}

// prepare makes the files that the checks are about.
func (r *runner) prepare() error {
	if r.variable("GEMINI_API_KEY")+r.variable("GOOGLE_API_KEY") == "" {
		return fmt.Errorf("no key: export GEMINI_API_KEY=..., which pays for what is asked (a few cents)")
	}
	for _, dir := range []string{filepath.Join(r.home, ".gemini"), r.work, r.Recording} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, c := range checks {
		if err := os.Remove(r.record(c.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // answers are appended
		}
	}
	for name, text := range map[string][]byte{"one.txt": []byte("apple\n"), "two.txt": []byte("banana\n"),
		"three.txt": []byte("cherry\n"), "dot.png": dot(), "story.txt": story()} {
		if err := os.WriteFile(filepath.Join(r.work, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// variable returns the value of a variable of the environment.
func (r *runner) variable(name string) (value string) {
	for _, v := range r.Environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}

// An outcome is what a run of the program printed, and how it ended.
type outcome struct {
	Response   string
	Structured map[string]any `json:"structured_output"`
	Models     []struct{ Name string }
	Stats      struct {
		Tools struct {
			ByName map[string]struct{ Success int }
		}
	}
	code           int
	stdout, stderr string
}

// program runs gemline with arguments. Variables stand before those of the environment.
func (r *runner) program(ctx context.Context, variables []string, args ...string) (o outcome, err error) {
	cmd := exec.CommandContext(ctx, r.Gemline, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = r.work, &out, &errs, time.Second
	cmd.Env = append(append(r.Environ[:len(r.Environ):len(r.Environ)], "HOME="+r.home, "GEMINI_CLI_HOME="+r.home,
		"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_FORCE_FILE_STORAGE=true"), variables...)
	err = cmd.Run()
	if o.code = cmd.ProcessState.ExitCode(); o.code >= 0 {
		err = nil
	}
	o.stdout, o.stderr = out.String(), errs.String()
	json.Unmarshal(out.Bytes(), &o) // what is no document has no answer
	return o, err
}

// ask runs gemline with a prompt, which must succeed, and records what is answered.
func (r *runner) ask(ctx context.Context, args ...string) (outcome, error) {
	if r.Recording != "" {
		args = append(args, "--record-responses", r.record(r.check))
	}
	o, err := r.program(ctx, nil, args...)
	if err == nil && o.code != 0 {
		err = fmt.Errorf("exit code %d: %s", o.code, reason(o.stderr))
	}
	return o, err
}

// record returns the file that the answers of a check go to.
func (r *runner) record(check string) string {
	return filepath.Join(r.Recording, strings.ReplaceAll(check, " ", "-")+".jsonl")
}

// withoutKey sees that no recording holds a key.
func (r *runner) withoutKey() error {
	files, err := filepath.Glob(filepath.Join(r.Recording, "*.jsonl"))
	if r.Recording == "" || err != nil {
		return err
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, variable := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
			if key := r.variable(variable); key != "" && bytes.Contains(b, []byte(key)) {
				os.Remove(name)
				return fmt.Errorf("the recording %s held the key and is removed", name)
			}
		}
	}
	return nil
}
