//go:build unix

package protocol

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// The clients that the documentation points to are short, and work.
func TestTalkScripts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script, interpreter, tool string
		first                     []string // arguments of the interpreter: expect breaks off where it looks for a file in a home with a long name
		allow, deny               []string // in the environment
		yes, no                   string   // on standard input
	}{
		{script: "say.sh", interpreter: "sh", tool: "jq", allow: []string{"DECISION=allow"}},
		{script: "say.py", interpreter: "python3", tool: "python3", yes: "y\n", no: "\n"},
		{script: "say.go", interpreter: "go", tool: "go", allow: []string{"DECISION=allow"}},
		{script: "say.exp", interpreter: "expect", first: []string{"-n"}, tool: "expect"},
	} {
		t.Run(test.script, func(t *testing.T) {
			pt.Need(t, test.tool)
			path, err := filepath.Abs(filepath.Join("docs", "examples", "protocol", test.script))
			if err != nil {
				t.Fatal(err)
			}
			script, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(script, []byte("\n")); n >= 60 {
				t.Errorf("%d lines", n)
			}
			for _, allowed := range []bool{true, false} {
				env, in := test.allow, test.yes
				if !allowed {
					env, in = test.deny, test.no
				}
				if test.script == "say.exp" && !allowed {
					continue // it says yes to everything
				}
				dir := t.TempDir()
				s := et.NewServer(et.Says("Hello."), pt.Runs("1", "echo one >>log"), et.Says("Done, with \"quotes\" and C:\\temp"))
				t.Cleanup(s.Close)
				c := pt.Headless(t, s, dir, nil, nil)
				argv := append(append([]string{pt.Need(t, test.interpreter)}, test.first...), path)
				if test.interpreter == "go" {
					argv = []string{built(t, path)}
				}
				cmd := exec.Command(argv[0], append(argv[1:], "hi", "do \"it\"")...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
				cmd.Env = append(append(c.Env, "GEMLINE="+c.Path, "GEMINI_MODEL="+pt.Model, "TMPDIR="+t.TempDir()), env...)
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s%s", err, out.Bytes(), errs.Bytes())
				}
				if got := out.String(); !strings.Contains(got, "Hello.") || !strings.Contains(got, `Done, with "quotes" and C:\temp`) {
					t.Errorf("%s%s", got, errs.Bytes())
				}
				if _, err := os.Stat(filepath.Join(dir, "log")); (err == nil) != allowed {
					t.Errorf("allowed %v: %v\n%s%s", allowed, err, out.Bytes(), errs.Bytes())
				}
				if got := errs.String(); test.script != "say.exp" && !strings.Contains(got, "run: echo one >>log?") && !strings.Contains(got, "run: echo one >>log, w with the network?") {
					t.Errorf("what was asked is not told: %s", got)
				}
				if n := len(s.Requests()); n != 3 {
					t.Errorf("%d requests", n)
				}
			}
		})
	}
}

// built builds a program of a file or folder and returns where it is.
func built(t *testing.T, path string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(pt.Need(t, "go"), "build", "-trimpath", "-o", bin, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
