//go:build unix

package safety

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// Without a user, what would have needed one is listed with the narrowest flag
// that allows it, and a run with that flag does it.
func TestDeniedSaysWhatAllowsIt(t *testing.T) {
	t.Parallel()
	const yolo = "--approval-mode yolo"
	for name, test := range map[string]struct {
		tool string
		args []any
		flag string
	}{
		"command":  {"run_shell_command", []any{"command", "touch made"}, `--allowed-tools "run_shell_command(touch made)"`},
		"quoted":   {"run_shell_command", []any{"command", `touch "it's, so" made`}, `--allowed-tools 'run_shell_command(touch "it'\''s\, so" made)'`},
		"list":     {"run_shell_command", []any{"command", "touch made && chmod 600 made"}, `--allowed-tools "run_shell_command(touch made),run_shell_command(chmod 600 made)"`},
		"spelling": {"run_shell_command", []any{"command", `touch "it's \"so\"" made`}, `--allowed-tools "run_shell_command"`},
		"variable": {"run_shell_command", []any{"command", "A=1 touch made"}, yolo},
		"readable": {"run_shell_command", []any{"command", "echo x >made"}, yolo},
		"opaque":   {"run_shell_command", []any{"command", "eval touch made"}, yolo},
		"edit":     {"write_file", []any{"file_path", "made", "content", "x"}, `--allowed-tools "write_file"`},
		"guarded":  {"write_file", []any{"file_path", ".envrc", "content", "x"}, yolo},
		"own":      {"write_file", []any{"file_path", ".gemini/made", "content", "x"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := func() et.Reply { return et.Says("", et.Call("1", test.tool, test.args...)) }
			c := pt.Terminal(t, et.NewServer(call(), et.Says("Not done."), call(), et.Says("Done.")))
			want := "run it in a session at a terminal, where it is asked about"
			if test.flag != "" {
				want = "allow it with " + test.flag + " (policy files: gemline help policy)"
			}
			denied := pt.DeniedIn(t, c)
			if len(denied) != 1 || denied[0].Tool != test.tool || denied[0].AllowedBy != want {
				t.Fatalf("denied: %+v, want %s", denied, want)
			}
			if test.flag == "" {
				return
			}
			flags, err := exec.Command("sh", "-c", `printf '%s\n' `+test.flag).Output()
			if err != nil {
				t.Fatal(err)
			}
			c.Args = append(c.Args, strings.Split(strings.TrimSpace(string(flags)), "\n")...)
			if denied := pt.DeniedIn(t, c); len(denied) > 0 {
				t.Errorf("the flag allows nothing: %+v", denied)
			}
			file := "made"
			if name == "guarded" {
				file = ".envrc"
			}
			if _, err := os.Stat(filepath.Join(c.Dir, file)); err != nil {
				t.Error(err)
			}
		})
	}
}
