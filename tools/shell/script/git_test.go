//go:build unix

package script

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gemline/engine"
	"gemline/engine/enginetest"
	"gemline/tools/shell/program"
)

// gitWays are ways to have git run a program called pwn, or write a file called
// so, other than by what it is configured to do. Git may be too old for some.
var gitWays = []string{
	"merge -s pwn side", "merge -qspwn side", "merge --strategy=pwn side", "merge --strategy pwn side", "pull --no-rebase -s pwn origin side", "pull --rebase --strategy=pwn origin side",
	"cherry-pick --strategy=pwn side", "rebase -s pwn side", "rebase -mspwn side", "rebase --exec=pwn base", "rebase -x pwn base",
	"fetch pwn::x", "fetch -- pwn::x", "fetch pwn://x", "push pwn::x", "push --repo=pwn::x", "ls-remote pwn::x", "clone pwn::x", "pull pwn::x", "remote add -f x pwn::y", "remote show pwn::x", "request-pull base pwn::x main",
	"fetch --upload-pack=pwn origin", "ls-remote --exec=pwn origin", "push --receive-pack pwn", "push --exec=pwn origin main", "clone -u pwn ../origin.git x", "fetch-pack --exec=pwn ../origin.git main", "send-pack --exec=pwn ../origin.git main",
	"submodule foreach pwn", "submodule --quiet foreach pwn", "submodule foreach -q --recursive pwn", "bisect view pwn", "grep -Opwn a", "grep --open-files-in-pager=pwn a", "-c alias.x=!pwn x", "difftool -yx pwn HEAD~1", "pwn",
	"diff --output=pwn HEAD~1", "log --output pwn -1", "show --output=pwn", "blame --output=pwn a", "reflog --output=pwn", "shortlog --output=pwn HEAD", "stash show --output=pwn", "range-diff --output=pwn base..side base..main", "cherry-pick --output=pwn side",
	"archive -o pwn HEAD", "archive --output=pwn HEAD", "format-patch --output-directory=pwn -1", "format-patch -ko pwn -1", "bundle create pwn HEAD", "bundle create -q pwn HEAD", "fast-export --export-marks=pwn HEAD",
	"read-tree --index-output=pwn HEAD", "checkout-index --prefix=pwn a", "clone --separate-git-dir=pwn ../origin.git x", "init --separate-git-dir pwn x", "apply --build-fake-ancestor=pwn patch", "multi-pack-index --object-dir=pwn write",
	"bugreport -o pwn", "diagnose --output-directory=pwn",
}

// Whatever has git run a program, or write a file that it otherwise would not,
// is not plain: no rule for git's command covers it. Git itself is asked.
func TestGitAgainstReal(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts git many times; testdata/told.txt has the same")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	g := newGit(t)
	var ways []string
	for i, way := range gitWays {
		if !enginetest.Raced || i%4 == 0 { // what waits for programs races with nothing
			ways = append(ways, way)
		}
	}
	known := len(ways)
	if enginetest.Soak() {
		ways = append(ways, g.everything()...)
	}
	did, wrote := 0, 0
	for i, way := range ways {
		ran, written := g.try(way)
		if !ran && !written {
			if i < known {
				t.Logf("this git does nothing of the kind: git %s", way)
			}
			continue
		}
		did++
		if written {
			wrote++
		}
		if s := Read("git " + way); s.Class == engine.Plain {
			t.Errorf("git %s: it runs pwn: %t, it writes pwn: %t, and it is plain", way, ran, written)
		}
	}
	t.Logf("git: of %d ways to call it %d ran a program and %d wrote a file: none is plain", len(ways), did-wrote, wrote)
	if did < known*2/3 {
		t.Errorf("only %d of %d ways do anything", did, len(ways))
	}
}

// A gitLab is a place to try git in.
type gitLab struct {
	t       *testing.T
	base    string
	environ []string
}

// newGit makes a repository that has something to merge, to fetch and to apply,
// and programs that say that they were run.
func newGit(t *testing.T) *gitLab {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	g := &gitLab{t: t, base: filepath.Join(dir, "base"), environ: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}}
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pwn", "git-pwn", "git-merge-pwn", "git-remote-pwn"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n: >\"$MARK\"\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(g.base, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", `
git init -q . && git checkout -q -b main
echo a >a; git add a; git commit -qm one; git branch base
git checkout -q -b side; echo s >s; git add s; git commit -qm side
git checkout -q main; echo b >>a; git commit -qam two; echo c >>a; git stash -q
git format-patch -q --stdout base..side >patch
git clone -q --bare . ../origin.git; git remote add origin ../origin.git; git fetch -q origin
git -c protocol.file.allow=always submodule --quiet add ../origin.git m; git commit -qm m; git branch -q -u origin/main main
git repack -qad; rm -rf .git/hooks .git/modules/m/hooks ../origin.git/hooks
git bisect start --no-checkout HEAD base`)
	cmd.Dir, cmd.Env = work, g.environ
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this git can't be tried: %v\n%s", err, out)
	}
	return g
}

// try calls git, and reports whether a program was run and whether a file was
// written, which is called pwn or begins so.
func (g *gitLab) try(args string) (ran, written bool) {
	dir := g.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(g.base)); err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a way to wait for ever
	defer cancel()
	mark := filepath.Join(dir, "mark")
	cmd := exec.CommandContext(ctx, "git", strings.Fields(args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Join(dir, "work"), append([]string{"MARK=" + mark}, g.environ...), time.Second
	cmd.CombinedOutput() // it may fail
	_, err := os.Stat(mark)
	files, _ := filepath.Glob(filepath.Join(dir, "work", "pwn*"))
	os.RemoveAll(dir)
	return err == nil, len(files) > 0
}

// everything returns ways to give git's commands every option of theirs that
// takes a value, as git itself lists them.
func (g *gitLab) everything() (all []string) {
	behind := map[string][]string{"merge": {"side"}, "pull": {"--no-rebase origin side"}, "rebase": {"side"}, "cherry-pick": {"side"}, "revert": {"HEAD"}, "diff": {"HEAD~1"}, "log": {"-1"}, "show": {""}, "fetch": {"origin"}, "push": {"origin main"},
		"ls-remote": {"origin"}, "clone": {"../origin.git x"}, "archive": {"HEAD"}, "format-patch": {"-1"}, "apply": {"patch"}, "am": {"patch"}, "blame": {"a"}, "checkout-index": {"a"}, "fast-export": {"HEAD"}, "read-tree": {"HEAD"}, "grep": {"a"}, "stash": {"show"},
		"commit": {"-am x"}, "tag": {"x"}, "branch": {"x"}, "checkout": {"side"}, "switch": {"side"}, "restore": {"a"}, "reset": {"HEAD"}, "init": {"x"}, "describe": {"--always"}, "shortlog": {"HEAD"}, "worktree": {"list"}, "submodule": {"foreach"}, "bundle": {"create x HEAD"}}
	value := regexp.MustCompile(`(?m)^\s+-([a-zA-Z])[,\s\[].*<`)
	var commands []string
	for _, p := range program.Entries() {
		for _, name := range p.Names {
			if name, ok := strings.CutPrefix(name, "git "); ok && !p.Is(program.Launches) {
				commands = append(commands, name)
			}
		}
	}
	for _, name := range commands {
		if name == "clean" || name == "config" || name == "init-db" {
			continue
		}
		listed := g.output(name, "--git-completion-helper-all")
		var options []string
		for option := range strings.FieldsSeq(listed) {
			if strings.HasPrefix(option, "--") && strings.HasSuffix(option, "=") && option != "--directory=" { // which is below the work tree
				options = append(options, option+"pwn", strings.TrimSuffix(option, "=")+" pwn")
			}
		}
		for _, m := range value.FindAllStringSubmatch(g.output(name, "-h"), -1) {
			options = append(options, "-"+m[1]+"pwn", "-"+m[1]+" pwn")
		}
		options = append(options, "--output=pwn", "--output-directory=pwn", "--exec=pwn", "--strategy=pwn", "-spwn", "-opwn")
		for _, rest := range append(behind[name], "HEAD") {
			for _, o := range options {
				all = append(all, fmt.Sprintf("%s %s %s", name, o, rest))
			}
		}
	}
	return all
}

func (g *gitLab) output(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(g.base, "work"), g.environ
	out, _ := cmd.CombinedOutput() // its usage ends with an error
	return string(out)
}

func TestRewritesGitSetup(t *testing.T) {
	for script, want := range map[string]bool{
		"git worktree add x": true, "git -C d worktree remove x": true, "ls; git rebase -x make main": true, "git rebase --exec=make main": true, "git rebase --exec make": true,
		"git worktree list": false, "git worktree": false, "git rebase main": false, "git log -x": false, "hg worktree add x": false, "$git worktree add x": false, "git -x rebase main": false,
	} {
		if RewritesGitSetup(Read(script).Commands) != want {
			t.Errorf("%s: %t", script, !want)
		}
	}
}
