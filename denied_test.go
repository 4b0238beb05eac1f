//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// A refusedCall is one as the final record lists it.
type refusedCall struct {
	Tool, Title, Why string
	AllowedBy        string `json:"allowed_by"`
}

// runOnce answers one prompt without a terminal and returns the final record's
// list of what was denied.
func runOnce(t *testing.T, c teletype.Command, code int) []refusedCall {
	t.Helper()
	cmd := exec.Command(c.Path, append(c.Args, "-p", "go on", "--output-format", "json")...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	out, err := cmd.Output()
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	var doc struct{ Denied []refusedCall }
	if json.Unmarshal(out, &doc) != nil || got != code {
		t.Fatalf("exit code %d: %s", got, out)
	}
	return doc.Denied
}

// homeOf returns the home directory of a command.
func homeOf(c teletype.Command) string {
	for _, e := range c.Env {
		if home, ok := strings.CutPrefix(e, "HOME="); ok {
			return home
		}
	}
	return ""
}

// Without a user, what would have needed one is listed with what would allow
// it: a rule that does just that, if there is one.
func TestDeniedSaysWhatAllowsIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool   string
		args   []any
		rule   bool
		advice string
	}{
		"command":  {"run_shell_command", []any{"command", "touch 'it''s' made"}, true, "or run with --approval-mode yolo."},
		"list":     {"run_shell_command", []any{"command", "touch made && chmod 600 made"}, true, "or run with --approval-mode yolo."},
		"readable": {"run_shell_command", []any{"command", "echo x >made"}, false, "To allow it, run with --approval-mode yolo."},
		"opaque":   {"run_shell_command", []any{"command", "eval touch made"}, false, "To allow it, run with --approval-mode yolo."},
		"edit":     {"write_file", []any{"file_path", "made", "content", "x"}, true, "or run with --approval-mode auto_edit."},
		"guarded":  {"write_file", []any{"file_path", ".envrc", "content", "x"}, false, "To allow it, run with --approval-mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := func() et.Reply { return et.Says("", et.Call("1", test.tool, test.args...)) }
			c := terminal(t, et.NewServer(call(), et.Says("Not done."), call(), et.Says("Done.")))
			denied := runOnce(t, c, 0)
			if len(denied) != 1 || denied[0].Tool != test.tool || !strings.Contains(denied[0].AllowedBy, test.advice) {
				t.Fatalf("denied: %+v", denied)
			}
			policies := filepath.Join(homeOf(c), ".gemini", "policies")
			before, rule, ok := strings.Cut(denied[0].AllowedBy, " say ")
			if rule, _, _ = strings.Cut(rule, " }], or "); ok != test.rule || ok && !strings.HasSuffix(before, "a file in "+policies) {
				t.Fatalf("advice: %s", denied[0].AllowedBy)
			}
			if !ok {
				return
			}
			if err := os.MkdirAll(policies, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(policies, "mine.toml"), []byte(rule+" }]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if denied := runOnce(t, c, 0); len(denied) > 0 {
				t.Errorf("the rule allows nothing: %+v", denied)
			}
			if _, err := os.Stat(filepath.Join(c.Dir, "made")); err != nil {
				t.Error(err)
			}
		})
	}
}
