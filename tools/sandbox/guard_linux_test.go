package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The steps that hold files, from the strongest.
var steps = []step{
	{"namespaces", nil},
	{"Landlock", []string{"namespaces"}},
}

type step struct {
	name    string
	without []string
}

// tries reports whether what is called name is tried in the step: in a soak, and else in
// one step of the two, since each takes a second.
func (s step) tries(name string) bool {
	return os.Getenv("SOAK") != "" || (len(name)%2 == 0) == (s.without == nil)
}

// repository makes a workspace that is a repository, with another one in it,
// and returns it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, filepath.Join(root, "deep", "er")} {
		if out, err := git("init", "-q", "--template=", dir).CombinedOutput(); err != nil {
			t.Skipf("git: %v: %s", err, out)
		}
	}
	return root
}

// git returns git, by no settings of whoever runs the tests.
func git(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	return cmd
}

// TestProtected lets commands write what other programs would run or obey.
func TestProtected(t *testing.T) {
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		for _, c := range []struct {
			name, script string
			absent       string // what must not be there in the end
			quiet        bool   // nothing is to be said
		}{
			{"a hook", "echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit", false},
			{"a hook, with its directory", "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit", false},
			{"attributes", "mkdir -p .git/info && echo x > .git/info/attributes", ".git/info/attributes", false},
			{"another repository", "mv .git other; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit", false},
			{"another place for the configuration", "echo ../evil > .git/commondir", ".git/commondir", false},
			{"a configuration of one tree", "echo x > .git/config.worktree", ".git/config.worktree", false},
			{"a hook of a repository below", "mkdir -p deep/er/.git/hooks && echo x > deep/er/.git/hooks/post-checkout", "deep/er/.git/hooks/post-checkout", false},
			{"a repository below that is moved", "mv deep other; mkdir -p deep/er/.git/hooks && echo x > deep/er/.git/hooks/post-checkout", "deep/er/.git/hooks/post-checkout", false},
			{"a new repository with a hook", "mkdir -p v/.git/hooks && echo x > v/.git/hooks/post-checkout", "v/.git/hooks/post-checkout", false},
			{"a new repository that runs something", "git init -q v && printf '[core]\\n\\tfsmonitor = id\\n' >> v/.git/config", "v/.git/config", false},
			{"a file that says where the repository is", "mkdir v && echo 'gitdir: ../evil' > v/.git", "v/.git", false},
			{"a file that leads to a pipe", "mkdir -p v own/worktrees/x && mkfifo own/worktrees/x/commondir && echo \"gitdir: $PWD/own/worktrees/x\" > v/.git", "v/.git", false},
			{"a link to a repository", "mkdir v && ln -s ../evil v/.git", "v/.git", false},
			{"gemline's configuration", "mkdir -p .gemini && echo {} > .gemini/settings.json", ".gemini/settings.json", false},
			{"gemline's configuration below", "mkdir -p deep/.gemini && echo {} > deep/.gemini/settings.json", "deep/.gemini/settings.json", false},
			{"a new repository", "git init -q v && cd v && git -c user.name=n -c user.email=e commit -q --allow-empty -m x && git clone -q . ../w", "nothing", true},
			{"a commit", "echo a > a && git add a && git -c user.name=n -c user.email=e commit -q -m x", "nothing", true},
		} {
			t.Run(step.name+"/"+c.name, func(t *testing.T) {
				root := repository(t)
				config, _ := os.ReadFile(filepath.Join(root, ".git/config"))
				out, err := bash(t, k, Profile{Root: root}, "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; "+c.script)
				if (err == nil) != c.quiet {
					t.Errorf("%v\n%s", err, out)
				}
				if _, err := os.Lstat(filepath.Join(root, c.absent)); err == nil {
					t.Errorf("%s is there\n%s", c.absent, out)
				}
				if c.name != "another repository" {
					if now, err := os.ReadFile(filepath.Join(root, ".git/config")); string(now) != string(config) {
						t.Errorf("the configuration: %v %s", err, now)
					}
				}
				for _, name := range []string{".gemini", ".git/hooks", ".git/info", ".git/modules", ".git/worktrees", "deep/er/.git/hooks"} {
					if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
						t.Errorf("%s is left behind", name)
					}
				}
			})
		}
	}
}

// TestChanged lets a command change what is there where nothing can be mounted:
// it is put back, and what the command wrote is kept.
func TestChanged(t *testing.T) {
	k := kernel(t, Options{Without: []string{"namespaces"}})
	root := repository(t)
	config := filepath.Join(root, ".git/config")
	was, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	out, err := bash(t, k, Profile{Root: root}, "git config alias.x '!id'")
	if err == nil || !strings.Contains(out, `".git/config" was made or changed`) {
		t.Errorf("%v: %s", err, out)
	}
	if now, _ := os.ReadFile(config); string(now) != string(was) {
		t.Errorf("it is now\n%s", now)
	}
	if kept, err := os.ReadFile(config + ".put-aside-1"); !strings.Contains(string(kept), "!id") {
		t.Error("what was written is lost:", err)
	}
}

// TestHeld lets commands change what git and gemline go by in workspaces of many kinds. What is
// checked then holds whether the kernel holds it or it was put right.
func TestHeld(t *testing.T) {
	const evil = `evil() { mkdir -p $1; printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = evil\n' >>$1/config; }
		`
	const module = `git init -q sub; git -C sub commit -q --allow-empty -m s; git submodule --quiet add file://$PWD/sub m; git commit -qm x; git worktree add -q tree`
	for _, step := range steps {
		k := kernel(t, Options{Without: step.without})
		for _, c := range []struct{ name, setup, script, check string }{
			{"a module of a worktree", module + "; git -C tree submodule --quiet update --init", "evil .git/worktrees/tree/modules/m", "! grep evil .git/worktrees/tree/modules/m/config"},
			{"a module of a worktree, made", module, "git -C tree submodule --quiet update --init; evil .git/worktrees/tree/modules/m", "test ! -e .git/worktrees/tree/modules"},
			{"a module of a worktree, made by git", module, "git -C tree submodule --quiet update --init", "git -C tree/m log -1"},
			{"a worktree of a module", module + "; git -C m worktree add -q $PWD/far", "echo evil >.git/modules/m/worktrees/far/commondir", "! grep evil .git/modules/m/worktrees/far/commondir"},
			{"inside of a module", module, "E=.git/modules/m/objects/evil; evil $E; mkdir -p v $E/objects $E/refs; cp .git/HEAD $E; echo gitdir: ../$E >v/.git", "test ! -e v/.git"},
			{"a module named as a part", module, "evil .git/modules/objects/x", "test ! -e .git/modules/objects"},
			{"a bare workspace", "git clone -q --bare . ../bare; rm -rf .git; mv ../bare/* .; git worktree add -q tree", "evil .; mkdir -p hooks; echo x >hooks/post-checkout; cd tree; echo a >a; git add a; git commit -qm a", "! grep evil config && test ! -e hooks/post-checkout && git -C tree log -1 a"},
			{"a repository among objects", "E=.git/objects/e; mkdir -p v $E/objects $E/refs; cp .git/HEAD .git/config $E; echo gitdir: ../$E >v/.git", "evil .git/objects/e; mv .git/objects x && cp -r x .git/objects && evil .git/objects/e", "! grep evil .git/objects/e/config"},
			{"a repository apart, with what holds it", "mkdir stores; git clone -q --separate-git-dir=stores/a . v", "mv stores x && cp -r x stores && evil stores/a; evil stores/a", "! grep evil stores/a/config"},
			{"a link to modules", "mkdir ours; ln -s ../ours .git/modules", "evil ours/x", "test ! -e ours/x"},
			{"a link to a tree's configuration", "touch ours; ln -s ../ours .git/config.worktree", "echo evil >ours", "! grep evil ours"},
			{"links", "mkdir ours; ln -s ours .gemini; mv .git ../git; ln -s ../git .git", "ln -sfn evil .git; ln -sfn evil .gemini", "git log -1 && test -d .gemini && test ! -e git.put-aside-2 -a ! -L gemini.put-aside-2"},
			{"a kept link", "mkdir real; echo own >real/f; ln -s real way", "rm way; mkdir way; echo evil >way/f", "test -L way && ! grep evil way/f"},
			{"a kept absence", "true", "mkdir none; echo evil >none/f", "test -d none -a ! -e none/f"},
			{"a kept absence behind a link", "true", "mkdir evil; echo evil >evil/f; ln -s evil none", "test ! -e none/f"},
			{"gemline's files named as parts of git", "mkdir -p .gemini/commands", "mkdir .gemini/commands/logs && echo evil >.gemini/commands/logs/a.toml", "test ! -e .gemini/commands/logs"},
			{"a long name", "mkdir -p .gemini/commands", "echo evil >.gemini/commands/$(printf %0250d 1).toml", "test -z $(find .gemini -name '*.toml')"},
			{"many files", "mkdir .gemini; echo {} >.gemini/settings.json", "for i in $(seq 1100); do echo >.gemini/$i; done; echo evil >.gemini/settings.json", "! grep evil .gemini/settings.json"},
			{"all is removed", "mkdir -p .gemini/a/b .git/hooks; echo c >.gemini/a/b/c; echo 'exit 0' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit", "rm -rf .gemini .git/hooks; mkdir .git/hooks", "test -s .gemini/a/b/c -a -x .git/hooks/pre-commit"},
			{"a moved repository", "true", "mv deep other; mkdir -p other/er/.git/hooks; echo x >other/er/.git/hooks/post-checkout", "test ! -e other/er/.git/hooks/post-checkout"},
			{"a long rebase", "mkdir .git/rebase-merge; seq -f 'pick 0123456789012345678901234567890123456789 # %g' 2000 >.git/rebase-merge/git-rebase-todo", "true", "test -e .git/rebase-merge/git-rebase-todo"},
		} {
			if !step.tries(c.name) {
				continue
			}
			t.Run(step.name+"/"+c.name, func(t *testing.T) {
				root := repository(t)
				run := func(script string) (string, error) {
					cmd := exec.Command("bash", "-c", gitUser+script)
					cmd.Dir = root
					out, err := cmd.CombinedOutput()
					return string(out), err
				}
				if out, err := run("set -e; git commit -q --allow-empty -m x; " + c.setup); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				said, _ := bash(t, k, Profile{Root: root, Anchored: []string{filepath.Join(root, "deep/er")}, Kept: []string{filepath.Join(root, "none/f"), filepath.Join(root, "way")}}, gitUser+evil+c.script)
				if out, err := run(c.check); err != nil {
					t.Errorf("%v: %s\n%s", err, out, said)
				}
				if _, err := os.Lstat(filepath.Join(root, "deep/er/.git/modules")); err == nil {
					t.Error("a placeholder is left behind")
				}
			})
		}
	}
}

// TestTree commits in a further tree of a repository, which is elsewhere.
func TestTree(t *testing.T) {
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			k := kernel(t, Options{Without: step.without})
			home := repository(t)
			tree := filepath.Join(filepath.Dir(home), "tree")
			setup := git("-C", home, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first")
			if out, err := setup.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := git("-C", home, "worktree", "add", "-q", tree).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			const commit = "export GIT_CONFIG_GLOBAL=/dev/null; git -c user.name=n -c user.email=e commit -q --allow-empty -m second && git log --format=%s"
			out, err := bash(t, k, Profile{Root: tree}, commit)
			if err != nil || out != "second\nfirst\n" {
				t.Errorf("%v: %s", err, out)
			}
			out, err = bash(t, k, Profile{Root: tree}, "mkdir -p ../001/.git/hooks; echo x > ../001/.git/hooks/pre-commit; echo x > ../001/file; echo x > ../001/.git/worktrees/tree/commondir")
			if err == nil {
				t.Error("nothing was refused:", out)
			}
			for _, name := range []string{".git/hooks/pre-commit", "file"} {
				if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
					t.Errorf("%s was written", name)
				}
			}
			if b, _ := os.ReadFile(filepath.Join(home, ".git/worktrees/tree/commondir")); string(b) != "../..\n" {
				t.Errorf("the tree's configuration is at %q", b)
			}
		})
	}
}

// TestForged has a workspace claim that a directory elsewhere is its
// repository.
func TestForged(t *testing.T) {
	k := kernel(t, Options{})
	root, other := t.TempDir(), repository(t)
	for name, text := range map[string]string{".git": "gitdir: " + other + "/.git/worktrees/x\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := bash(t, k, Profile{Root: root}, "echo x > "+other+"/.git/x"); err == nil {
		t.Error("it was believed:", out)
	}
}

// TestPlaceholders runs commands side by side: what one needs is not taken
// away by another that ends before.
func TestPlaceholders(t *testing.T) {
	k := kernel(t, Options{})
	root := repository(t)
	long := exec.Command("bash", "-c", "echo ready; read; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit")
	long.Dir = root
	in, err := long.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := long.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	release, err := k.Confine(long, Profile{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := long.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if out, err := bash(t, k, Profile{Root: root}, "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"); err == nil {
			t.Error(out)
		}
	}
	in.Write([]byte("\n"))
	in.Close()
	long.Wait()
	left, err := os.ReadDir(filepath.Join(root, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "hooks" }) {
		t.Error("hooks are left behind")
	}
}

// Repositories of somebody else's that nobody may open keep no command from running, neither in the
// workspace nor in another directory that it may write to.
func TestOthersRepositories(t *testing.T) {
	if base := os.Getenv("PROBE_OTHERS"); base != "" {
		for _, step := range steps {
			k := kernel(t, Options{Without: step.without})
			for _, p := range []Profile{{Root: base + "/mine"}, {Root: t.TempDir(), Write: []string{base}}} {
				if out, err := bash(t, k, p, "echo done >"+base+"/mine/done; cat "+base+"/mine/done"); err != nil || out != "done\n" {
					t.Errorf("%s: %v: %s", step.name, err, out)
				}
			}
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make what is somebody else's")
	}
	base, err := os.MkdirTemp("", "others-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	setup := exec.Command("sh", "-ec", `chmod 755 .; git init -q mine; git init -q mine/theirs; git init -q mine/tree; cd mine; mkdir tree/.git/worktrees tree/.git/worktrees/w away
		ln -s ../../away/hook .git/hooks/pre-push; chmod 700 away theirs/.git tree/.git/worktrees/w; chown -R 65534 . ; chown -R 12345 away theirs tree`)
	setup.Dir = base
	if out, err := setup.CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	if out, ok, err := runAsNobody(t, base, "^TestOthersRepositories$", "PROBE_OTHERS="+base); ok && err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
