//go:build unix

package pipes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// The shell test that anybody can run against any agent.
func TestPipes(t *testing.T) {
	t.Parallel()
	s := et.NewEcho()
	t.Cleanup(s.Close)
	cmd := exec.Command("sh", filepath.Join("commands/program/acceptance/testdata/pipes/pipes.sh"))
	cmd.Env = []string{pt.AsProgram + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(),
		"GEMINI_API_KEY=key-of-the-test", "GOOGLE_GEMINI_BASE_URL=" + s.URL, "GEMINI_MODEL=" + pt.Model, "AGENT=" + pt.Self(t)}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	all := 14
	if os.Getenv("GEMLINE_TEST_ALL") != "" {
		all = 15 // strace is there
	}
	if checks := strings.Count(string(out), "ok "); checks < all {
		t.Errorf("%d checks\n%s", checks, out)
	}
}

// The shell test finds out what is wrong with an agent that is not made for
// pipelines.
func TestPipesFindFaults(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "agent")
	script := "#!/bin/sh\nread -r line\necho 'warning: starting'\necho hello\n"
	if err := os.WriteFile(bad, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", filepath.Join("commands/program/acceptance/testdata/pipes/pipes.sh"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "AGENT=" + bad}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("code %d", code)
	}
	for line := range strings.Lines(string(out)) {
		for _, check := range []string{"the answer and a newline", "a slow writer", "an idle pipe", "a loop of 3", "10 MB", "SIGINT", "SIGTERM", "SIGHUP"} {
			if strings.HasPrefix(line, "ok") && strings.Contains(line, check) {
				t.Errorf("passed: %s", line)
			}
		}
	}
	if checks := strings.Count(string(out), "ok "); checks < 14 {
		t.Errorf("%d checks\n%s", checks, out)
	}
}
