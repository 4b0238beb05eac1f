//go:build linux

package pipes

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// othersWords matches what nohup and the race detector say there.
var othersWords = regexp.MustCompile(`(?m)^(nohup: ignoring input|==\d+==WARNING: reading executable name failed.*)\n`)

// unconfined is the warning where commands can't be confined. They run all the
// same, since nobody has asked for more.
var unconfined = regexp.MustCompile(`(?m)^warning: commands are (not confined|confined in part) .*\n`)

// Where something is missing that programs take for granted, work is done all
// the same, and at most a warning says what can't be kept.
func TestMissingSurroundings(t *testing.T) {
	t.Parallel()
	mounted := func(script string) []string {
		return []string{"unshare", "-rm", "sh", "-c", script + ` && exec "$@"`, "sh"}
	}
	long := "true " + strings.Repeat("x", 200<<10) + "; "
	for name, c := range map[string]struct {
		inside  []string
		env     []string // all there is, beside where the server is
		command string   // before the one that is always run
		stderr  string   // holds this; empty if it is
	}{
		"cron":                      {env: []string{"HOME=$DIR/home", "LOGNAME=nobody", "SHELL=/bin/sh", "PATH=/usr/bin:/bin"}},
		"no environment":            {stderr: "warning: no home directory"},
		"no process file system":    {inside: mounted("mount -t tmpfs none /proc"), env: []string{"HOME=$DIR/home", "PATH=/usr/bin:/bin"}, stderr: "warning: commands are not confined"},
		"a home of root's":          {inside: mounted("mount -t tmpfs -o ro none home"), env: []string{"HOME=$DIR/home", "PATH=/usr/bin:/bin"}, stderr: "read-only file system"},
		"nothing runs from /tmp":    {inside: mounted("mount -t tmpfs -o noexec none home"), env: []string{"HOME=$DIR/home", "TMPDIR=$DIR/home", "PATH=/usr/bin:/bin"}, command: long},
		"no temporary files":        {env: []string{"HOME=$DIR/home", "TMPDIR=/nowhere", "PATH=/usr/bin:/bin"}},
		"an unknown terminal":       {env: []string{"HOME=$DIR/home", "TERM=of-the-future", "TERMINFO=/nowhere", "TERMINFO_DIRS=/nowhere", "PATH=/usr/bin:/bin"}},
		"no signals":                {inside: []string{"nohup"}, env: []string{"HOME=$DIR/home", "PATH=/usr/bin:/bin"}},
		"a session of its own":      {inside: []string{"setsid", "-w"}, env: []string{"HOME=$DIR/home", "PATH=/usr/bin:/bin"}},
		"a language of other words": {env: []string{"HOME=$DIR/home", "LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Chatham", "PATH=/usr/bin:/bin"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, d := range []string{"home", "work"} {
				if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			s := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", c.command+"echo made >file; echo count-$((6*7))")), et.Says("Done."))
			t.Cleanup(s.Close)
			var out, errs bytes.Buffer
			run := pt.Headless(t, s, filepath.Join(dir, "work"), &out, &errs, "-y", "-p", "go")
			run.Env = []string{pt.AsProgram + "=1", "GEMINI_API_KEY=key-of-the-test", "GOOGLE_GEMINI_BASE_URL=" + s.URL}
			for _, kv := range c.env {
				run.Env = append(run.Env, strings.ReplaceAll(kv, "$DIR", dir))
			}
			if c.inside != nil {
				c.inside = append([]string{"sh", "-c", `cd .. && exec "$@"`, "sh"}, c.inside...)
				c.inside = append(c.inside, "sh", "-c", `cd work && exec "$@"`, "sh")
				pt.Enter(t, run, c.inside)
			}
			if err := run.Run(); err != nil || out.String() != "Done.\n" {
				t.Errorf("%v: %q\n%s", err, out.Bytes(), errs.Bytes())
			}
			said := othersWords.ReplaceAllString(errs.String(), "")
			if c.stderr == "" && !pt.Confined() {
				said = unconfined.ReplaceAllString(said, "")
			}
			if got := strings.TrimSpace(said); got != "" && c.stderr == "" || !strings.Contains(got, c.stderr) {
				t.Errorf("standard error: %s", got)
			}
			if got := pt.AnswerOf(t, s, "run_shell_command"); !strings.Contains(got, "count-42") {
				t.Errorf("the model was told %.300s", got)
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "work", "file")); string(b) != "made\n" {
				t.Errorf("the command made %q", b)
			}
		})
	}
}
