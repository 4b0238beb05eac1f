//go:build unix

package sessions

import (
	"os/exec"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A session asks about the folder, and then works in the worktree; at the end it says
// how to go on there. Of a folder that the user does not trust there is none.
func TestWorktreeAtATerminal(t *testing.T) {
	t.Parallel()
	pt.Need(t, "git")
	for _, yes := range []bool{true, false} {
		server := et.NewServer(et.Says("", et.Call("1", "read_file", "file_path", "kept.txt")), et.Says("I have read it.").With(10, 2))
		c, _ := pt.Unknown(t, server, map[string]string{"GEMINI.md": "CANARY-CONTEXT", "kept.txt": "WHAT-WAS-COMMITTED"})
		pt.Configured(t, c, `{"model": {"name": "`+pt.Model+`"}, "experimental": {"worktrees": true}}`)
		setup := exec.Command("sh", "-ec", "git init -q .; git add .; git -c user.name=n -c user.email=e commit -qm one; echo changed >kept.txt; echo CANARY-CHANGED >GEMINI.md")
		setup.Dir, setup.Env = c.Dir, c.Env
		if out, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c.Args = []string{"-w", "tree"}
		s := teletype.Start(t, c)
		s.Expect("context file GEMINI.md")
		s.Expect("Enter for not now: ")
		if !yes {
			s.Line("")
			s.Expect("error: this folder is not trusted, so no worktree is made of it\r\nhint: gemline trust add trusts it\r\n")
			continue
		}
		s.Line("1")
		s.Expect("info: this is the new worktree tree, on the branch worktree-tree: ")
		s.Expect("/.gemini/worktrees/tree\r\n")
		s.Expect("\n> ")
		s.Line("read it")
		s.Expect("I have read it.")
		s.Expect("> ")
		said := pt.Leave(t, s, teletype.Rules{Quiet: true})
		if !strings.Contains(said, "/.gemini/worktrees/tree && gemline --resume ") || !strings.Contains(said, "info: the worktree stays; gemline worktree remove tree removes it\r\n") {
			t.Errorf("at the end: %q", said)
		}
		if got := pt.AnswerOf(t, server, "read_file"); !strings.Contains(got, "WHAT-WAS-COMMITTED") {
			t.Errorf("the model has read %q", got)
		}
		if body := string(server.Requests()[0].Body); !strings.Contains(body, "CANARY-CONTEXT") || strings.Contains(body, "CANARY-CHANGED") {
			t.Error("the context is not that of the tree")
		}
	}
}
