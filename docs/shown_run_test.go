//go:build unix

package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// notRun are parts of command lines that are not run here, behind = whole ones, by the reason.
var notRun = map[string][]string{
	"a session, which is shown by the tests of terminals": {"=gemline", "=gemline --resume latest", "gemline -m ", "=gemline -w",
		"gemline attach 1", "gemline --input-format stream-json", "TARGET=activity.jsonl gemline", "gemline -i "},
	"another program or machine": {"ssh ", "ollama", "llamacpp", "lmstudio", "vllm", "openrouter", "azure", "openai", "parallel", "kubectl",
		"example.com", "npm test", "completion zsh", "Invoke-Expression", "gemini ", "Jobs", "setup-github", "models --online"},
	"a server, which runs until it is ended": {"serve", "--port", "--acp", "--batch-api"},
	"what is typed or was made before": {"auth set-key", "auth sign", "auth login", "trash restore", "sessions delete", "hooks migrate",
		"sandbox run", "auth use", "auth unset-key", "gemline undo", "> ~/", "mcpServers", "config set ui.accessibility"},
	"it is no whole command line":                      {"gemma", "head -1", "gemline help me", "=gemline config", "$text"},
	"a worktree, which sessions/worktrees.txtar shows": {"fix-login"},
}

// What README and the pages show as a command is run once, in a home of its own, as far as it
// needs no terminal, no other machine and nothing that is not there.
func TestShownCommandsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, project, bin := filepath.Join(dir, "home"), filepath.Join(dir, "project"), filepath.Join(dir, "bin")
	pt.Write(t, home, map[string]string{".config/fish/completions/x": ""})
	pt.Write(t, project, map[string]string{"main.go": "package main\n", "go.mod": "module x\n", "notes.md": "Done.\n", "build.log": "error\n"})
	pt.Write(t, bin, nil)
	if err := os.Symlink(pt.Self(t), filepath.Join(bin, "gemline")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bash", "git", "jq"} {
		pt.Need(t, name)
	}
	run := func(line string, s *et.Server) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -o pipefail\n"+line)
		cmd.Dir = project
		cmd.Env = pt.Environment(home, s, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_MODEL="+pt.Model, "TMPDIR="+dir,
			"PATH="+bin+":"+os.Getenv("PATH"), "GEMINI_CLI_ACTIVITY_LOG_TARGET=activity.jsonl")
		return cmd.CombinedOutput()
	}
	if out, err := run("git init -q && echo x >>notes.md", nil); err != nil {
		t.Fatal(err, string(out))
	}
	var done []string
	left := map[string]int{}
	for _, line := range shownLines(t) {
		if slices.Contains(done, line) {
			continue
		}
		if why := whyNotRun(line); why != "" {
			left[why]++
			continue
		}
		done = append(done, line)
		answer := "Yes.\n\n```sh\nfind . -size +1G\n```\n"
		if strings.Contains(line, "--json-schema") {
			answer = `{"name": "Rob"}`
		}
		s := et.NewServer(et.Says(answer), et.Says(answer), et.Says(answer))
		out, err := run(line, s)
		s.Close()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if t.Logf("%d command lines run, not run: %v", len(done), left); len(done) < 40 || len(done) > 60 {
		t.Error("too few or too many command lines")
	}
}

// shownLines returns the command lines that are shown as they are typed, with nothing in them
// that stands for something else.
func shownLines(t *testing.T) (lines []string) {
	t.Helper()
	stands := regexp.MustCompile(`\b[A-Z]{2,}\b|…|\.\.\.|\[`)
	comment := regexp.MustCompile(`\s+#.*`)
	for _, e := range examples(t) {
		if !e.block && (!strings.HasPrefix(e.text, "gemline ") || stands.MatchString(e.text)) {
			continue
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(e.text, "\\\n", " "), "\n") {
			line = strings.TrimPrefix(comment.ReplaceAllString(line, ""), "$ ")
			if len(started(line)) > 0 && !strings.HasPrefix(line, " ") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// whyNotRun returns the reason why a line is not run, "" if it is.
func whyNotRun(line string) string {
	for why, parts := range notRun {
		if slices.ContainsFunc(parts, func(part string) bool {
			return "="+line == part || strings.Contains(line+" ", part)
		}) {
			return why
		}
	}
	return ""
}
