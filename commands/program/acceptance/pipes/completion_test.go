//go:build unix

package pipes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
)

// shellHome returns a directory with the program in it under its own name, a
// file and a directory to complete, and the environment of a shell that finds
// it.
func shellHome(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Symlink(pt.Self(t), filepath.Join(dir, "gemline")); err != nil {
		t.Fatal(err)
	}
	pt.Write(t, dir, map[string]string{"replies one.jsonl": "", "sources/main.go": "",
		".gemini/settings.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "name": "greeting", "command": "true"}]}]}}`})
	return dir, pt.Environment(dir, nil, "PATH="+dir+":"+os.Getenv("PATH"), "TERM=dumb", "GEMINI_CLI_TRUST_WORKSPACE=true")
}

// The shells themselves are asked to complete: what is typed, with a tab where
// the cursor is, becomes what stands on the screen.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	keys := []struct{ typed, want string }{
		{"gemline do", "gemline doctor "},
		{"gemline --approval-mo", "gemline --approval-mode "},
		{"gemline --approval-mode auto_", "gemline --approval-mode auto_edit "},
		{"gemline --approval-mode=auto_", "gemline --approval-mode=auto_edit "},
		{"gemline -q --model flash-", "gemline -q --model flash-lite "},
		{"gemline config get model.na", "gemline config get model.name "},
		{"gemline completion pow", "gemline completion powershell "},
		{"gemline help exit", "gemline help exit-codes "},
		{"gemline hooks disable gr", "gemline hooks disable greeting "},
		{"gemline hooks test Pre", "gemline hooks test PreCompress "},
		{"gemline --sandbox=pod", "gemline --sandbox=podman "},
		{"gemline --fake-responses rep", `gemline --fake-responses replies\ one.jsonl `},
		{"gemline --fake-responses=rep", `gemline --fake-responses=replies\ one.jsonl `},
		{"gemline trust add sou", "gemline trust add sources/"},
		{"./gemline help exit", "./gemline help exit-codes "},
	}
	for shell, c := range map[string]struct {
		args  []string
		setup string
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, `bind 'set enable-bracketed-paste off'; PS1='ready> '; source <(gemline completion bash)`},
		"zsh":  {[]string{"-f", "-i"}, `unsetopt zle_bracketed_paste prompt_sp 2>/dev/null; PS1='ready> '; autoload -Uz compinit; compinit -u -D; source <(gemline completion zsh)`},
	} {
		t.Run(shell, func(t *testing.T) {
			path := pt.Need(t, shell)
			dir, env := shellHome(t)
			s := teletype.Start(t, teletype.Command{Path: path, Args: c.args, Dir: dir, Env: env, Cols: 200})
			s.Line(c.setup + "; echo set up")
			s.Match(`\nset up\r?\n`)
			for _, k := range keys {
				s.Expect("ready> ")
				s.Send(k.typed + "\t")
				s.Expect(k.want)
				s.Send("\x15\r") // away with it
			}
			s.Expect("ready> ")
			s.Line("exit 7")
			if code := s.Exit(); code != 7 {
				t.Errorf("exit code %d", code)
			}
		})
	}
	t.Run("fish", func(t *testing.T) {
		path := pt.Need(t, "fish")
		dir, env := shellHome(t)
		script := "gemline completion fish | source\n"
		for _, k := range keys {
			script += "complete -C '" + k.typed + "' | string replace -r '\\t.*' ''\n"
		}
		script += "complete -C '~/gone/gemline do'\n"
		cmd := exec.CommandContext(t.Context(), path, "--no-config", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var want []string
		for _, k := range keys { // fish gives the words without what makes them safe
			line := strings.ReplaceAll(strings.TrimRight(k.want, " "), `\ `, "\x00")
			want = append(want, strings.ReplaceAll(line[strings.LastIndexByte(line, ' ')+1:], "\x00", " "))
		}
		if got := strings.Split(strings.TrimRight(string(out), "\n"), "\n"); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
