//go:build linux

package sessions

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// checkPicture compares what is below a directory with what was there.
func checkPicture(t *testing.T, when, dir, was string) {
	t.Helper()
	is := pt.Picture(t, dir)
	if is == was {
		return
	}
	had := map[string]bool{}
	for line := range strings.Lines(was) {
		had[line] = true
	}
	for line := range strings.Lines(is) {
		if !had[line] {
			t.Errorf("%s: there is %s", when, line)
		}
		delete(had, line)
	}
	for line := range had {
		t.Errorf("%s: there is no more %s", when, line)
	}
}

// prepare runs a script in the folder of c, as the user.
func prepare(t *testing.T, c teletype.Command, script string) string {
	t.Helper()
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// A project in C, with something staged, something not, and a rebase that waits.
const inMidst = `
	git init -q -b main .; mkdir -p src 'with blanks' docs/deep
	printf 'app: main.o\n\tcc -o app main.o\nmain.o: src/main.c\n\tcc -c -o main.o src/main.c\n' >Makefile
	echo 'int main(void) { return 0; }' >src/main.c; printf '\xff\x00no end' >'with blanks/data'
	echo one >docs/deep/one; chmod 755 docs; ln -s deep/one docs/link; ln -s nowhere dangling; echo run >run.sh; chmod 750 run.sh
	git add .; git commit -qm one; git checkout -qb side; echo side >docs/deep/one; git commit -qam side
	git checkout -q main; echo main >docs/deep/one; git commit -qam main; git rebase -q side >/dev/null 2>&1 || true
	test -d .git/rebase-merge; echo staged >staged; git add staged; echo dirty >>run.sh; echo untracked >untracked`

// In auto, edits, a build, deletions and a script that means harm run unasked, but for
// the network and what lies outside; and one /undo brings back all of it.
func TestAutoTakenBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"git", "make", "cc", "curl"} {
		pt.Need(t, name)
	}
	call := func(id, command string) et.Reply {
		return et.Says("", et.Call(id, "run_shell_command", "command", command))
	}
	server := et.NewServer(
		et.Says("", et.Call("1", "write_file", "file_path", "src/new.c", "content", "int x;\n"),
			et.Call("2", "replace", "file_path", "src/main.c", "instruction", "one", "old_string", "return 0", "new_string", "return 1")),
		call("3", "make"),
		call("4", "rm -rf docs && sed -i s/run/walk/ run.sh && mv untracked tracked"),
		call("5", "bash hostile.sh"), call("6", "curl -sS http://gemline.invalid/"), et.Says("That was all."))
	c := pt.Terminal(t, server, "--approval-mode", "auto", "--detail", "full")
	pt.Confining(t, c)
	outside, err := os.MkdirTemp("/var/tmp", "gemline-outside-")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(outside)
	pt.Write(t, c.Dir, map[string]string{"hostile.sh": `
		chmod 777 . src run.sh; rm -rf .git 2>/dev/null; find . -path ./.git -prune -o -type f ! -name hostile.sh -exec sh -c 'echo spoilt >"$1"' sh {} \; ; rm -rf src 'with blanks' Makefile
		ln -s / root; mkdir src; mkfifo src/pipe; rm hostile.sh
		kill -9 -1; echo x >` + outside + `/x`})
	prepare(t, c, inMidst)
	before := pt.Picture(t, c.Dir)
	s := teletype.Start(t, c)
	s.Say("do all of it")
	for _, want := range []string{"permission: it failed; let it write to the directory " + outside + " and everything below it", "permission: it failed; let it use the network"} {
		if asked := s.Expect(pt.Asking); !strings.Contains(asked, want) {
			t.Errorf("%q is not in %s", want, asked)
		}
		s.Line("n")
	}
	s.Expect("That was all.")
	done := s.Match(`, (\d+) files changed`) // by commands for the most part
	s.Expect("> ")
	if n, _ := strconv.Atoi(done[strings.LastIndex(done, ", ")+2 : len(done)-len(" files changed")]); n < 9 {
		t.Errorf("%d files are said to be changed: %s", n, done)
	}
	if _, err := os.Lstat(filepath.Join(c.Dir, "docs")); err == nil {
		t.Error("nothing was done")
	}
	if list, err := os.ReadDir(outside); err != nil || len(list) > 0 {
		t.Errorf("written outside: %v, %v", list, err)
	}
	s.Line("/undo")
	s.Expect("took back: do all of it")
	s.Expect("> ")
	for _, held := range []string{".git/modules", ".git/worktrees"} { // which commands were kept from making
		os.Remove(filepath.Join(c.Dir, held))
	}
	checkPicture(t, "after /undo", c.Dir, before)
	s.Line("/redo")
	s.Expect("done again")
	s.Say("/rewind")
	s.Match(`1: do all of it \([0-9]+ files, \+[0-9]+ -[0-9]+\)`)
	s.Say("/rewind 1 files")
	s.Expect("took back: do all of it")
	s.Expect("> ")
	checkPicture(t, "after /rewind", c.Dir, before)
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	if got := prepare(t, c, "git fsck --no-progress; git rebase --abort; git log --format=%s -1"); !strings.HasSuffix(got, "main\n") {
		t.Errorf("the repository: %s", got)
	}
}

// Without checkpoints nothing runs unasked in auto any more, not even the call that was to
// be kept, and it is said why. When they can be made again, auto can be used again.
func TestAutoLosesCheckpoints(t *testing.T) {
	t.Parallel()
	call := func(id, command string) et.Reply {
		return et.Says("", et.Call(id, "run_shell_command", "command", command))
	}
	server := et.NewServer(call("1", "touch one"), et.Says("First."), call("2", "touch two"), call("3", "touch three"), et.Says("Second."),
		call("4", "touch four"), et.Says("Third."), call("5", "touch five"), et.Says("Fourth."))
	c := pt.Terminal(t, server, "--approval-mode", "auto")
	pt.Confining(t, c)
	s := teletype.Start(t, c)
	s.Say("begin")
	s.Expect("First.")
	s.Expect("auto> ")
	history := filepath.Join(pt.HomeOf(c), ".gemini/history")
	if err := os.Rename(history, history+".gone"); err != nil {
		t.Fatal(err)
	}
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/history": "in its place"})
	s.Line("go on")
	s.Expect("this could not be taken back: ")
	s.Expect(pt.Asking)
	s.Line("n")
	s.Expect("the approval mode is default from here on: the approval mode auto needs checkpoints")
	s.Expect("permission: run: touch three")
	s.Expect(pt.Asking)
	s.Line("y")
	s.Expect("Second.")
	s.Say("/mode auto")
	s.Expect("needs checkpoints to take changes back: ")
	if err := errors.Join(os.Remove(history), os.Rename(history+".gone", history)); err != nil {
		t.Fatal(err)
	}
	s.Say("once more")
	s.Expect(pt.Asking)
	s.Line("y")
	s.Expect("Third.")
	s.Say("/mode auto")
	s.Expect("approval mode: auto")
	s.Say("at last")
	s.Expect("Fourth.")
	s.Say("/undo")
	s.Expect("delete five")
	s.Expect("took back: at last")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	for name, want := range map[string]bool{"one": true, "two": false, "three": true, "four": true, "five": false} {
		if _, err := os.Stat(filepath.Join(c.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
