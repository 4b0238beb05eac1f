//go:build unix

package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// published are commands of the kinds that people share, by their files below the home
// directory or the project, and what the model is sent for a line.
var published = []struct{ name, file, source, line, sent string }{
	{"code review", "home/.gemini/commands/review.toml", `
description = "Reviews a file"
prompt = """
Review {{args}} for mistakes. Say nothing about style.

Rules: be brief; {"json": "is text"} and $HOME, too.
"""`, "/review greeting.txt", "Review greeting.txt for mistakes. Say nothing about style.\n\n" +
		"Rules: be brief; {\"json\": \"is text\"} and $HOME, too.\n"},
	{"commit message", "home/.gemini/commands/git/commit.toml", `
prompt = """
Write a commit message for:
~~~
!{git diff --staged --no-color --stat}~~~
"""`, "/git:commit", "Write a commit message for:\n~~~\n staged.txt | 1 +\n 1 file changed, 1 insertion(+)~~~\n"},
	{"test writer", "project/.gemini/commands/test/new.toml", `
prompt = "Write tests for {{args}} in the manner of @{greeting.txt} here."`, "/test:new sum.go",
		"Write tests for sum.go in the manner of |Hello, wrld.\n| here."},
	{"changelog", "project/.gemini/commands/changelog.toml", `
description = "Adds to the changelog"
prompt = """
## Expected

The command follows this format: /changelog <version> <type> <message>. @{docs}"""`, "/changelog 1.2.0   added  'a thing'",
		"## Expected\n\nThe command follows this format: /changelog <version> <type> <message>. |--- Start of content for directory: docs ---\n|" +
			"--- api.md ---\n|GET /\n|--- End of content for directory: docs ---|\n\n/changelog 1.2.0   added  'a thing'"},
	{"explain", "home/.gemini/commands/explain.toml", `prompt = 'Explain this to a beginner: {{args}}'`,
		"/explain why @notes.txt and !{rm x} stay", "Explain this to a beginner: why @notes.txt and !{rm x} stay"},
	{"refactor", "home/.gemini/commands/refactor/pure.toml", "description = '''Makes a pure function\nof it'''\n" +
		`prompt = "Refactor {{args}}.\n\nList what {{args}} was called by."`, "/refactor:pure f and  g", "Refactor f and  g.\n\nList what f and  g was called by."},
	{"a directory in a directory", "project/.gemini/commands/docs/api.toml", `prompt = "Document the public API."`,
		"/docs:api", "Document the public API."},
	{"pull request", "project/.gemini/commands/pr.toml", `
prompt = """Describe this branch.
Branch: !{git branch --show-current}
Files: !{git status --short staged.txt | awk '{print $2}'}"""`, "/pr", "Describe this branch.\nBranch: trunk\nFiles: staged.txt"},
	{"fix an issue", "home/.gemini/commands/fix-issue.toml", `
prompt = "Fix {{args}}. It is named here:\n!{grep -n -- {{args}} issues.txt}"`, `/fix-issue it's "$HOME" & touch made`,
		"Fix it's \"$HOME\" & touch made. It is named here:\n2:it's \"$HOME\" & touch made"},
	{"of Claude Code", "home/.claude/commands/issue.md", "---\nallowed-tools: Bash(git status:*), Read, Grep\nargument-hint: [number] [priority]\n" +
		"description: Look into an issue\nmodel: sonnet\ndisable-model-invocation: true\n---\n\n## Context\n\n- State: !`git status --short staged.txt`\n\n" +
		"Fix #$1 with $2 priority for $100. All: $ARGUMENTS\n", `/issue 12 "very high"`, "## Context\n\n- State: A  staged.txt\n\n" +
		"Fix #12 with very high priority for $100. All: 12 \"very high\"\n"},
	{"of opencode", "project/.opencode/command/component.md", "---\ndescription: Create a component\nagent: build\nmodel: some/model\nsubtask: true\n---\n" +
		"Create a component named $ARGUMENTS with typing.\n\nRecent commits:\n!`git log --format=%s -3`\n", "/component Button",
		"Create a component named Button with typing.\n\nRecent commits:\nbegin\n"},
}

// customProject returns the command that runs the program where all of these are.
func customProject(t *testing.T, server *et.Server) teletype.Command {
	t.Helper()
	c := pt.Terminal(t, server)
	pt.Need(t, "git")
	pt.Confining(t, c) // else what only looks is asked about
	files := map[string]string{"project/issues.txt": "nothing\nit's \"$HOME\" & touch made\n", "project/docs/api.md": "GET /\n", "project/staged.txt": "x\n",
		"home/.gemini/commands/broken.toml": "prompt =",
		"home/.gemini/settings.json":        `{"commands": {"markdownFolders": ["~/.claude/commands", ".opencode/command"]}}`}
	for _, p := range published {
		files[p.file] = p.source
	}
	for name, text := range files {
		path := filepath.Join(filepath.Dir(c.Dir), name)
		pt.Write(t, filepath.Dir(path), map[string]string{filepath.Base(path): text})
	}
	for _, args := range [][]string{{"init", "-q", "-b", "trunk"}, {"commit", "-q", "--allow-empty", "-m", "begin"}, {"add", "staged.txt"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		if cmd.Dir = c.Dir; cmd.Run() != nil {
			t.Fatalf("git %q failed", args)
		}
	}
	return c
}

// sentLast returns the parts of the last message to the model, with bars between.
func sentLast(server *et.Server) string {
	requests := server.Requests()
	if len(requests) == 0 {
		return "nothing"
	}
	contents := requests[len(requests)-1].Contents()
	var texts []string
	for _, p := range contents[len(contents)-1].Parts {
		if !strings.HasPrefix(p.Text, "<session_context>") {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "|")
}

// Commands that people publish send what they mean to, once as a single prompt.
func TestPublishedCommands(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	c := customProject(t, server)
	for _, p := range published {
		t.Run(p.name, func(t *testing.T) {
			server.Add(et.Says("Done."))
			cmd := exec.Command(c.Path, "-m", pt.Model, "-q", "-p", p.line)
			cmd.Dir, cmd.Env = c.Dir, c.Env
			if out, err := cmd.Output(); err != nil || string(out) != "Done.\n" {
				t.Fatalf("%v: %s", err, out)
			}
			if got := sentLast(server); got != p.sent {
				t.Errorf("sent %q\nwant %q", got, p.sent)
			}
		})
	}
	if _, err := os.Lstat(filepath.Join(c.Dir, "made")); err == nil {
		t.Error("an argument ran")
	}
}

// And all of them in one session on a screen.
func TestPublishedCommandsInTmux(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	c := customProject(t, server)
	c.Rows = 60
	c.Env = append(c.Env, "TERM=tmux-256color")
	m := teletype.StartTmux(t, c)
	m.ExpectEnd("> ")
	for i, p := range published {
		server.Add(et.Says(fmt.Sprintf("Answer %d.", i)))
		m.Send(p.line)
		m.Key("Enter")
		m.Expect(fmt.Sprintf("Answer %d.", i))
		screen := m.ExpectEnd("> ")
		if got := sentLast(server); got != p.sent {
			t.Errorf("%s: sent %q\nwant %q\n%s", p.name, got, p.sent, screen)
		}
		if strings.Contains(screen, "permission:") {
			t.Errorf("%s: the user is asked:\n%s", p.name, screen)
		}
	}
	if n := strings.Count(m.History(), "unexpected EOF"); n != 1 {
		t.Errorf("%d lines about a broken file:\n%s", n, m.History())
	}
	if n := strings.Count(m.History(), "means nothing here") + strings.Count(m.History(), "mean nothing here"); n != 2 {
		t.Errorf("%d lines about keys:\n%s", n, m.History())
	}
	m.Send("/quit")
	m.Key("Enter")
	m.End()
}

// A file that may hold secrets is asked about where the project's command names it, and
// the question does not say that the model wants it.
func TestSecretOfACustomCommand(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Read it."))
	c := pt.Terminal(t, server)
	pt.Write(t, c.Dir, map[string]string{".env": "KEY=of-mine\n"})
	pt.Write(t, filepath.Join(c.Dir, ".gemini", "commands"), map[string]string{"env.toml": `prompt = "See @{.env}."`})
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("/env")
	s.Expect("permission: read .env (may be a secret)\r\ny n a ? (a = always for .env): ")
	s.Line("?")
	s.Expect("the tool read_file is called with these arguments:")
	s.Expect("info: it reads: ")
	s.Expect("y n a ?: ")
	s.Line("n")
	s.Expect("the prompt was not sent, because of @{.env}")
	s.Expect(ready)
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	s.Line("/env")
	s.Expect("for .env): ")
	s.Line("y")
	s.Expect("Read it.")
	if got, want := sentLast(server), "See |KEY=of-mine\n|."; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	s.Line("/quit")
	pt.Succeeds(t, s)
}
