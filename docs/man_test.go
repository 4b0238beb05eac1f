//go:build unix

package docs_test

import (
	"os/exec"
	"strings"
	"testing"

	"gemline/commands/cli"
	pt "gemline/commands/program/acceptance/programtest"
	"gemline/settings/flags"
)

// The manual page holds every flag and command, and formatters have nothing to
// say about it.
func TestManualPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	build := cli.Build{Version: "1.2", Date: "2026-01-02T03:04:05Z"}
	if err := cli.Run(t.Context(), &cli.Output{Out: &page}, &cli.Asker{}, []string{"man"}, build); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"mandoc": {"-Tlint", "-Wwarning"},
		"groff":  {"-man", "-ww", "-z", "-Tutf8"},
		"man":    {"--warnings", "-E", "UTF-8", "-l", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil && name != "mandoc" { // which .ci/run installs
				t.Skip(err)
			} else if err != nil {
				path = pt.Need(t, name)
			}
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Stdin = strings.NewReader(page.String())
			cmd.Env = append(cmd.Environ(), "MANWIDTH=200", "MANPAGER=cat", "LC_ALL=C.UTF-8")
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || errs.Len() > 0 || name == "mandoc" && out.Len() > 0 {
				t.Errorf("%v\n%s\n%s", err, errs.String(), out.String())
			}
			if name != "man" {
				return
			}
			for _, f := range flags.Table() {
				if !strings.Contains(out.String(), f.Spelling()) {
					t.Errorf("%s is not in the page", f.Spelling())
				}
			}
			for _, words := range []string{"gemline trust add [FOLDER]", "70", "a bug in gemline", "GEMINI_API_KEY", `git diff | gemline -p "review this"`} {
				if !strings.Contains(out.String(), words) {
					t.Errorf("%s is not in the page", words)
				}
			}
		})
	}
}
