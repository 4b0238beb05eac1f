package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

func TestMain(m *testing.M) {
	if code, ok := sandbox.Init(os.Args, os.Stderr); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A looking bench is a project whose commands the kernel holds.
type looking struct {
	shellBench
	asked  *[]engine.Proposal
	answer *engine.Answer
}

// Approve implements [engine.Approver].
func (l looking) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	*l.asked = append(*l.asked, p)
	if *l.answer == nil {
		return engine.Refused{}, nil
	}
	return *l.answer, nil
}

func newLooking(t *testing.T) looking {
	t.Helper()
	l := looking{newShellBench(t), new([]engine.Proposal), new(engine.Answer)}
	kernel := sandbox.New(sandbox.Options{})
	t.Cleanup(func() { kernel.Close() })
	if !kernel.State().RunsReadOnly {
		t.Skip("the kernel holds no command to looking here: ", kernel.State().Step)
	}
	l.env.Launcher.Sandbox = kernel
	l.env.Launcher.Config.Shell.Environ = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + t.TempDir()}
	outside := filepath.Join(filepath.Dir(l.dir), "outside")
	for path, text := range map[string]string{
		"a.txt": "one\ntwo\n", "b.txt": "one\n", "j.json": "{\"a\": [1]}\n", "sub/c.go": "package c\n", "notes/.hidden": "x\n",
		".env": "KEY=CANARY\n", "sub/.env.local": "KEY=CANARY\n", "server.key": "CANARY\n", ".gemini/settings.json": "CANARY",
		"../outside/secret": "CANARY\n", "../outside/.git/config": "CANARY\n",
	} {
		path = filepath.Join(l.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"away": outside, "leak": outside + "/secret", "key": ".env", "inner": "a.txt", "near": "sub", "lost": "/nowhere/x"} {
		if err := os.Symlink(to, filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.git("git init -q -b main && git config user.name n && git config user.email a@b && git add a.txt b.txt sub/c.go && git commit -qm one")
	return l
}

// git runs a script outside of everything.
func (l looking) git(text string) string {
	l.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		l.t.Skip("git is not installed")
	}
	cmd := exec.Command("bash", "-ec", text)
	cmd.Dir, cmd.Env = l.dir, append([]string{"GIT_CONFIG_NOSYSTEM=1"}, l.env.Launcher.Config.Shell.Environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v: %.500s", text, err, out)
	}
	return strings.TrimSpace(string(out))
}

// looks prepares a command, and says why it is not held to looking.
func (l looking) looks(text string) (call engine.Call, why string) {
	l.t.Helper()
	call = l.prepare(runShellCommand(l.env), map[string]any{"command": text})
	if call.Intent.Plan.IsReadOnly {
		return call, ""
	}
	for _, c := range call.Intent.Plan.Commands {
		if !c.Safe && c.Risk != "" {
			return call, c.Risk
		}
	}
	return call, "it is " + call.Intent.Plan.Class.String() + ": " + call.Intent.Plan.Why
}

// Which commands are held to looking goes by names, by where words lead, and by
// what is in no list at all.
func TestLooks(t *testing.T) {
	l := newLooking(t)
	for _, text := range strings.Split(`ls -la; ls *.txt; cat a.txt | wc -l; cat $HOME/x; echo $PATH; find . -name '*.go' -exec grep -l package {} +; find . -type f | xargs wc -l; grep -rn one .; rg one
		sed -n 1,2p a.txt; awk '{print $1}' a.txt; sort -k2 a.txt; diff a.txt b.txt; cd sub && cat c.go; git status; git log --oneline -3; git diff; git show HEAD; git log -p
		git --no-pager log -1 --stat; git branch; git remote -v; git stash list; git stash show; git ls-files | head; test -f a.txt && echo yes; ps aux | grep x; tail -n 3 a.txt; sleep 1; cat inner near/c.go; cat nothing-there; git blame a.txt
		ls -la | sort -r; cat /etc/os-release; head -3 /usr/share/common-licenses/GPL; tar tf x.tar; ls sub/../a.txt
		(cd sub && cat c.go); git -C sub log; git -C . log --oneline; time ls; X=1 ls; ls $(pwd); diff <(ls) <(ls sub); less a.txt; tail -f a.txt; git config --get user.email; git clean -nd; env | sort; python3 -m json.tool j.json
		X=$(git rev-parse HEAD) && echo $X; GIT_PAGER=cat git log; git branch --list 'x*'; git tag -l`, ";") {
		for text := range strings.SplitSeq(text, "\n") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if _, why := l.looks(text); why != "" && !strings.Contains(why, "not installed") {
				t.Errorf("%s: %s", text, why)
			}
		}
	}
	for _, text := range []string{"for i in *; do ls $i; done", "while read -r l; do echo $l; done < a.txt", "if test -f a.txt; then cat a.txt; fi", "X=1; echo $X", "case $X in a) ls;; esac"} {
		if _, why := l.looks(text); why != "" {
			t.Errorf("%s: %s", text, why)
		}
	}
	for text, want := range map[string]string{
		"time -o x ls": "not on the list", "cat .env": "secrets", "cat sub/.env.local": "secrets", "cat key": "secrets", "head ./server.key": "secrets", "cat .git/config": "secrets", "ls .gemini": "secrets", "git show HEAD:.env": "secrets", "cat .env | wc": "secrets",
		"cat /etc/passwd": "outside of the project", "cat ../outside/secret": "outside of the project", "cat leak": "outside of the project", "head away/secret": "outside of the project", "cd away && ls": "out of the project", "cd .. && ls": "out of the project", "git -C .. log": "out of the project", "git -C ../outside log": "out of the project", "git -C away log": "out of the project", "git -C sub -C ../.. log": "out of the project",
		"X=-p; git log --oneline $X": "only when it runs", "git log --oneline *": "only when it runs", "for h in $(git rev-list HEAD); do git show $h; done": "only when it runs", "(cat .env)": "secrets", "for f in a; do cat .env; done": "secrets", "cat <(cat .env)": "secrets", "while read l; do echo $l; done < .env": "readable",
		"echo $(cat .env)": "secrets", "time cat .env": "secrets", "time rm x": "not on the list", "(cd .. && ls)": "out of the project", "X=1; touch $X": "not on the list", "X=1 make": "not on the list", "for f in *; do rm $f; done": "not on the list", "less .env": "secrets", "git config --get http.extraheader": "not on the list",
		"git config --get credential.helper": "not on the list", "git config --get-regexp .": "not on the list", "git clean -fdx": "not on the list", "git branch x": "adds", "git tag -a x -m y": "adds", "git branch -d x": "", "python3 -m http.server": "not on the list", "python3 x.py": "not on the list", "env -i sh": "opaque",
		"awk '{system($1)}' a.txt": "opaque",
		"touch x":                  "not on the list", "rm a.txt": "not on the list", "make": "not on the list", "python3 -c 'print(1)'": "opaque", "node x.js": "not on the list", "npm test": "more than look", "bash -c ls": "readable", "sh x": "opaque", "./ls": "by its path", "/bin/ls": "by its path",
		"git push": "not on the list", "git fetch": "not on the list", "git -c core.pager=x log": "opaque", "git stash": "not on the list", "git config user.name x": "readable", "git config --list": "not on the list", "git log --submodule=diff": "not on the list", "git cat-file --batch-all-objects --batch": "not on the list",
		"sleep 1000": "longer", "sort -o x a.txt": "readable", "find . -delete": "readable", "ls > x": "readable", "$X": "opaque", "ls &": "readable", "cd $X && ls": "not known",
		"go test ./...": "more than look", "curl x": "not on the list", "pip install x": "more than look", "tar xf x": "more than look", "": "",
	} {
		if text == "" {
			continue
		}
		if _, why := l.looks(text); !strings.Contains(why, want) {
			t.Errorf("%s: %q; want %q", text, why, want)
		}
	}
	for _, with := range []map[string]any{{"is_background": true}, {"additional_permissions": map[string]any{"network": true}}} {
		with["command"] = "ls"
		if l.prepare(runShellCommand(l.env), with).Intent.Plan.IsReadOnly {
			t.Errorf("%v is held to looking", with)
		}
	}
}

// What a program is that looks has to be sure: none of the project's.
func TestLookPrograms(t *testing.T) {
	l := newLooking(t)
	bin := filepath.Join(l.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cat", "bash"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{"/usr/bin:/bin:" + bin: "", bin + ":/usr/bin:/bin": "program of the project's", ".:/usr/bin": "depends on the directory", ":/usr/bin": "depends on the directory", "/nowhere": "not installed"} {
			l.env.Launcher.Config.Shell.Environ = []string{"PATH=" + path}
			if _, why := l.looks("cat a.txt"); !strings.Contains(why, want) || want == "" && why != "" {
				t.Errorf("PATH=%s: %q; want %q", path, why, want)
			}
		}
		os.Remove(filepath.Join(bin, name))
	}
}

// Beside commands that a rule allows, a command that looks counts only if it
// would write nothing and show nothing without being held to that.
func TestLookBeside(t *testing.T) {
	l := newLooking(t)
	for text, want := range map[string]bool{
		"tail -5": true, "grep -v x": true, "head": true, "sed -n 1p": true, "sort -u": true, "wc -l": true, "cat a.txt": true,
		"grep -r x .": false, "grep -R x": false, "grep --recursive x": false, "grep -f.env x": false, "grep -fserver.key x": false, "grep --file=.env x": false, "sed 's/x/y/e'": false, "sed -f x": false, "git status": false, "awk 1": false, "rg x": false, "cat .env": false,
		"sed -n 'r .env'": false, "diff . sub": false, "xxd -r a b": false, "xargs cat": false,
	} {
		call, _ := l.looks("make | " + text)
		if call.Intent.Plan.IsReadOnly {
			t.Errorf("%s is held to looking", text)
		}
		commands := call.Intent.Plan.Commands
		if got := call.Intent.Plan.Class == engine.Plain && commands[1].Safe; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// By the kernel's word nothing changes, and no secret is shown, whatever the
// programs can that look.
func TestLookChangesNothing(t *testing.T) {
	l := newLooking(t)
	l.git("echo more >>a.txt")
	there := func() string { return tree(t, l.dir) + tree(t, filepath.Join(filepath.Dir(l.dir), "outside")) }
	before := there()
	for _, text := range []string{
		"cat *", "cat .e*", "cat $HOME/../*/.env", "grep -r CANARY .", "grep -R CANARY .", "rg -uuu CANARY", "find . -type f | xargs cat", "find . -type f -exec cat {} +", "cat */*", "cat */secret", "tail -n 5 */.*", "diff -r . sub", "diff -r sub away",
		"ls -laR . ..", "du -a ..", "file -f a.txt *", "jq . *.json", "jq -n env", "sort *", "sort --compress-program=/bin/sh a.txt", "sort a.txt -o out -T .", "sort -T . --parallel=2 *", "uniq a.txt out", "xxd a.txt out", "xxd -r a.txt out", "tree -o out .", "split a.txt", "sed -n 'w out' a.txt", "sed -i s/one/two/ *", "sed --in-place=x s/one/two/ a.txt",
		"find . -name '*' -fprint out", "find . -delete", "file -C -m a.txt", "awk '{print > \"out\"}' a.txt", "awk 'BEGIN{system(\"touch out\")}'", "base64 *", "strings *", "nl out *", "od -c .env*", "hexdump -C server*", "md5sum -c a.txt", "yq -i . j.json", "gofmt -w sub", "go env -w X=1", "go list ./...", "git diff", "git status", "git branch new", "git tag new", "git stash show -p", "git log --output=out", "git diff --output=out",
		"git show HEAD --ext-diff", "git reflog expire --all", "git remote add x y", "git grep CANARY", "git ls-files -o", "date -s 2020-01-01", "hostname x", "dpkg -l", "tar tf a.txt", "unzip -l a.txt", "npm ls", "pip list", "type -a ls", "which ls", "command -v ls", "timeout 2 cat *", "nice cat *", "cat < a.txt", "test -w a.txt", "ag CANARY", "fd -x touch out", "zgrep CANARY *", "xmllint --output out a.txt",
	} {
		call, why := l.looks(text)
		if why != "" {
			continue
		}
		*l.asked = nil
		l.shown.Reset()
		r, _ := call.Run(t.Context(), l)
		if all := r.Text + l.shown.String(); strings.Contains(all, "CANARY") && !strings.Contains(text, "CANARY") || strings.Contains(all, "=CANARY") {
			t.Errorf("%s shows %.300s", text, all)
		}
		if after := there(); after != before {
			t.Fatalf("after %s it is not as it was: %s", text, changed(before, after))
		}
	}
}

// changed returns the lines that two texts don't share.
func changed(a, b string) (lines []string) {
	for line := range strings.Lines(a) {
		if !strings.Contains(b, line) {
			lines = append(lines, "-"+line)
		}
	}
	for line := range strings.Lines(b) {
		if !strings.Contains(a, line) {
			lines = append(lines, "+"+line)
		}
	}
	return lines
}

// What a command tried to write is asked about, and it runs as any other if it
// may.
func TestLookTries(t *testing.T) {
	for _, test := range []struct{ command, tried, makes string }{
		{"git symbolic-ref refs/heads/new refs/heads/main", "it tried to write: .git/refs/heads/new.lock.", ".git/refs/heads/new"},
		{"file -C -m a.txt; diff a.txt b.txt", "", ""},
		{"uniq a.txt ou?; uniq a.txt out", "", ""},
		{"cat $HOME/notes", "it tried to read: ", ""},
		{"ls $HOME", "it tried to read: ", ""},
	} {
		l := newLooking(t)
		home := filepath.Join(filepath.Dir(l.dir), "outside")
		l.env.Launcher.Config.Shell.Environ = append(l.env.Launcher.Config.Shell.Environ, "HOME="+home)
		if err := os.WriteFile(filepath.Join(home, "notes"), []byte("noted\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		call, why := l.looks(test.command)
		if why != "" {
			if test.tried != "" {
				t.Errorf("%s: %s", test.command, why)
			}
			continue
		}
		r, err := call.Run(t.Context(), l)
		if len(*l.asked) != 1 {
			t.Errorf("%s: asked %d times: %s", test.command, len(*l.asked), r.Text)
			continue
		}
		in := (*l.asked)[0].Intent
		if !strings.HasPrefix(in.Plan.Failure.Reason+".", test.tried) || !in.Plan.Failure.ReadOnly || in.Plan.IsReadOnly || err == nil || !strings.Contains(r.Text, test.tried) {
			t.Errorf("%s: %+v; the model reads %s", test.command, in.Plan, r.Text)
		}
		if len(in.Plan.Rights.Write) > 0 && test.makes == "" {
			t.Errorf("%s is to write to %q", test.command, in.Plan.Rights.Write)
		}
		for _, c := range in.Plan.Commands {
			if c.Safe {
				t.Errorf("%s: %s runs unasked", test.command, c)
			}
		}
		if test.makes == "" {
			continue
		}
		*l.answer = engine.Allowed{}
		if r, err := call.Run(t.Context(), l); err != nil || strings.Contains(r.Text, "Read-only") {
			t.Errorf("%s: %v: %s", test.command, err, r.Text)
		}
		if _, err := os.Stat(filepath.Join(l.dir, test.makes)); err != nil {
			t.Error(err)
		}
	}
}

// What was committed and may hold secrets is asked about, by whatever name or
// number, and nothing else is.
func TestLookCommitted(t *testing.T) {
	l := newLooking(t)
	ran := func(text string) bool {
		t.Helper()
		call, why := l.looks(text)
		if why != "" {
			return false
		}
		*l.asked = nil
		l.shown.Reset()
		r, _ := call.Run(t.Context(), l)
		if strings.Contains(r.Text+l.shown.String(), "CANARY") {
			t.Errorf("%s shows %s", text, r.Text)
		}
		return len(*l.asked) == 0
	}
	shows := []string{"git diff", "git show", "git show HEAD", "git log -p", "git log -p --all", "git log -u", "git log -m", "git log -c --oneline", "git show HEAD~1", "git diff HEAD~1", "git grep one", "git grep one HEAD", "git blame a.txt", "git log -L1,1:a.txt", "git cat-file -p HEAD", "git reflog -p",
		"git show HEAD:a.txt", "git diff --cached", "git log -1 -p | cat", "cd sub && git diff HEAD", "git diff -R", "git log -S one -p", "git stash list -p", "git log --word-diff"}
	quiet := []string{"git status", "git log --oneline -5", "git log", "git branch -a", "git ls-files", "git log --stat", "git status -sb", "git describe --always", "git remote -v", "git log -3", "git rev-parse HEAD", "git cat-file -t HEAD"}
	l.git("echo more >>a.txt; git commit -qam two")
	dangling := l.git("git hash-object -w .env")
	for _, text := range append(append(shows, quiet...), "git show "+l.git("git rev-parse --short HEAD")) {
		if !ran(text) && text != "git cat-file -t HEAD" {
			_, why := l.looks(text)
			t.Errorf("%s is asked about: %s %+v", text, why, *l.asked)
		}
	}
	for _, text := range []string{"git show " + dangling, "git show " + dangling[:7], "git cat-file -p " + dangling[:9], "git diff " + dangling + " a.txt", "git show x-1-g" + dangling[:8], "git show " + strings.ToUpper(dangling)} {
		if ran(text) {
			t.Errorf("%s runs", text)
		}
	}
	for _, step := range []string{"git add -f .env", "git commit -qm secret", "git rm -q --cached .env; git commit -qm gone", "git checkout -qf --detach HEAD~1; git branch -qf main HEAD~1"} {
		l.git(step)
		for _, text := range shows {
			if ran(text) {
				t.Errorf("after %s, %s runs", step, text)
			}
		}
		for _, text := range quiet[:len(quiet)-1] {
			if !ran(text) {
				t.Errorf("after %s, %s is asked about: %+v", step, text, *l.asked)
			}
		}
	}
	l.git("git reset -q --hard; o=.git/objects/$(git rev-parse HEAD | sed 's#^..#&/#'); chmod u+w $o; echo x >$o")
	if ran("git show main") || len(*l.asked) != 1 || !strings.Contains((*l.asked)[0].Intent.Plan.Failure.Reason, "the history can't be read") {
		t.Errorf("of a damaged history: %+v", *l.asked)
	}
}

// Nor is shown what nothing leads to but a number or a name of its own, however
// git gets to know that.
func TestLookDangling(t *testing.T) {
	l := newLooking(t)
	blob := l.git("git hash-object -w .env")
	commit := l.git("git add -f .env; git commit-tree -m secret $(git write-tree); git rm -q --cached .env")
	for _, test := range []struct{ before, commands string }{
		{"true", "git show COMMIT; git show COMMI; git log -p COMMIT; git diff HEAD..COMMIT; git diff COMMIT...HEAD; git grep CANAR. COMMIT; git show x-1-gCOMMIT; git show COMMI:.en?; git show $X; git log -p COMMIT~0; git show COMMIT^{tree}; git cat-file -p COMMIT:./.en[v]; git blame COMMIT -- .en*"},
		{"true", "echo BLOB | git show --stdin; echo BLOB | xargs git show; echo BLOB | xargs git cat-file -p; echo COMMIT | git log -p --stdin; echo COMMIT | git diff-tree -p --root --stdin; echo BLOB | git cat-file --batch; git cat-file --batch-all-objects --batch; find . -name a.txt -exec git show BLOB {} +; timeout 5 git show BLOB"},
		{"touch COMMIT", "git show COMMI*; git log -p COMMI*; git log -p ????????????????????????????????????????"},
		{"rm COMMIT; echo 'COMMIT\t\tbranch x of y' >.git/FETCH_HEAD", "git show FETCH_HEAD; git diff FETCH_HEAD; git log -p FETCH_HEAD; git show FETCH_HEAD:.en[v]; git show worktrees/x/HEAD"},
		{"mv .git/FETCH_HEAD .git/MERGE_HEAD", "git log -p --merge; git show MERGE_HEAD"},
		{"rm .git/MERGE_HEAD; git tag name BLOB", "git show name; git show --tags; git show --all; git cat-file -p name; git tag --format='%(raw)'; git for-each-ref --format='%(raw)'; git branch --format='%(raw)'"},
		{"git tag -d name; git tag -a -m x name BLOB", "git show name; git show --tags; git show --all; git cat-file -p name^{}; git tag --format='%(*raw)'; git for-each-ref --format='%(*raw:size) %(*raw)'"},
		{"git tag -d name; git tag name COMMIT", "git log --oneline | xxd - .gi?/objects/*/*; git status && grep -ra . .gi?; git branch && base64 .gi[t]/objects/*/*; git branch && find .gi? -type f | xargs xxd"},
	} {
		named := strings.NewReplacer("BLOB", blob, "COMMIT", commit, "COMMI", commit[:9])
		l.git(named.Replace(test.before))
		for _, text := range strings.Split(named.Replace(test.commands), "; ") {
			call, why := l.looks(text)
			if why != "" {
				continue
			}
			*l.asked = nil
			l.shown.Reset()
			r, _ := call.Run(t.Context(), l)
			if all := r.Text + l.shown.String(); strings.Contains(all, "CANARY") || strings.Contains(text, ".gi") && len(*l.asked) == 0 {
				t.Errorf("after %s, %s shows %.200s", test.before, text, all)
			}
		}
	}
}

// What was found out before holds only as long as nothing has changed.
func TestLookAgain(t *testing.T) {
	l := newLooking(t)
	past := func() { // as if everything were old
		l.git("sleep 3.1")
	}
	tool := runShellCommand(l.env)
	run := func(text string) (string, int) {
		t.Helper()
		*l.asked = nil
		l.shown.Reset()
		r, _ := l.prepare(tool, map[string]any{"command": text}).Run(t.Context(), l)
		return r.Text + l.shown.String(), len(*l.asked)
	}
	past()
	for range 2 {
		if out, asked := run("git show HEAD; cat *.txt sub/*"); asked > 0 || !strings.Contains(out, "package c") {
			t.Fatalf("asked %d: %s", asked, out)
		}
	}
	for _, change := range []string{"echo KEY=CANARY >sub/.env", "mkdir -p new/deep; echo KEY=CANARY >new/deep/.env", "mv new sub/moved", "rm -rf near; mv sub/moved near", "ln -s a.txt x.key; rm x.key; ln -s notes x.pem; echo KEY=CANARY >notes/in"} {
		l.git(change)
		if out, _ := run("cat .e* */.e* */*/.e* x.pem/*; grep -r KEY= ."); strings.Contains(out, "CANARY") {
			t.Errorf("after %s it shows %s", change, out)
		}
	}
	past()
	if _, asked := run("git show HEAD"); asked > 0 {
		t.Error("it is asked about")
	}
	for _, change := range []string{"git add -f .env", "git rm -q --cached .env; git stash -q || true", "git add -f .env; git commit -qm secret", "git reset -q --hard HEAD~1"} {
		l.git(change)
		if out, asked := run("git show HEAD"); (asked == 0) != strings.Contains(change, "stash") || strings.Contains(out, "CANARY") {
			t.Errorf("after %s: asked %d: %s", change, asked, out)
		}
	}
}

// A repository whose configuration is a pipe, which nobody writes to, or no file
// that somebody wrote, is asked about, and keeps nobody waiting.
func TestLookOddRepositories(t *testing.T) {
	for name, make := range map[string]string{
		"a pipe":            "rm .git/config; mkfifo .git/config",
		"a large file":      "truncate -s 1G .git/config",
		"a worktree's pipe": "mkfifo .git/config.worktree",
		"a pipe as .git":    "mv .git x; mkfifo .git",
	} {
		l := newLooking(t)
		l.git(make)
		if _, why := l.looks("git status"); why == "" {
			t.Errorf("%s is looked at unasked", name)
		}
	}
}

// Git looks in every repository, however it is configured, and runs nothing for
// it.
func TestLookRepositories(t *testing.T) {
	l := newLooking(t)
	run := func(text string) (string, string) {
		t.Helper()
		call, why := l.looks(text)
		if why != "" {
			return "", why
		}
		r, _ := call.Run(t.Context(), l)
		return r.Text, ""
	}
	l.git(`git config core.fsmonitor 'touch made; echo'; git config core.hooksPath hooks; git config alias.st status; git config credential.helper store; git config merge.tool x; git config core.sparseCheckout true
		git config extensions.partialClone origin; git config lfs.url x; git config core.pager 'touch made'; git config log.showSignature true; git config gpg.program 'touch'; git config filter.x.clean 'touch made; cat'; git config include.path ../x
		echo '*.txt filter=x' >.gitattributes; mkdir hooks; printf '#!/bin/sh\ntouch made\n' >hooks/post-index-change; chmod +x hooks/post-index-change; touch a.txt`)
	for text, want := range map[string]string{"git status --short": "?? .gitattributes", "git log --oneline -1": "one", "git branch": "main", "git diff --stat": ""} {
		if out, why := run(text); why != "" || !strings.Contains(out, want) {
			t.Errorf("%s: %s%s", text, out, why)
		}
	}
	if _, err := os.Stat(filepath.Join(l.dir, "made")); err == nil {
		t.Error("something was made")
	}
	l.git("git config --unset core.fsmonitor; git config --unset extensions.partialClone; git worktree add -q further; git init -q m && cd m && git config user.name n && git config user.email a@b && git commit -q --allow-empty -m m && cd .. && git -c protocol.file.allow=always submodule --quiet add ./m module")
	for text, want := range map[string]string{"cd further && git status": "On branch further", "cd module && git log": "m", "cd module && git status": "nothing to commit"} {
		if out, why := run(text); why != "" || !strings.Contains(out, want) {
			t.Errorf("%s: %s%s", text, out, why)
		}
	}
	l.git("git config remote.o.url https://u:p@example.com/x")
	if _, why := run("git remote -v"); !strings.Contains(why, "password") {
		t.Errorf("a password: %q", why)
	}
	l.git("git config remote.o.url https://somebody@example.com/x; mkdir away/x; printf 'gitdir: %s\n' $(realpath away/.git) >sub/.git")
	if _, why := run("cd sub && git log"); !strings.Contains(why, "elsewhere") {
		t.Errorf("a repository elsewhere: %q", why)
	}
	l.git("rm sub/.git; git config --remove-section remote.o; git config -f .git/modules/module/config http.x.extraheader 'AUTHORIZATION: CANARY'; mkdir -p p1 p2/json p3/s/q; touch p1/json.py p2/json/__init__.pyc p3/s/q/__init__.py; ln -s s/q p3/json")
	if _, asked := run("git -C further log; cat .gi?/modules/module/config"); asked != "" || len(*l.asked) != 1 {
		t.Errorf("a token of a module: %q, asked %d", asked, len(*l.asked))
	}
	l.git("git config http.x.extraheader 'AUTHORIZATION: CANARY'; rm -r module")
	for _, text := range []string{"git log -1", "git status --short", "git log --oneline | head -1", "git log --grep=.env", "git log -G'process\\.env'", "git diff -S.git/config", "git log --pretty=%h.. --date=format:%d/etc --author=x/root"} {
		if _, why := run(text); why != "" {
			t.Errorf("%s: %s", text, why)
		}
	}
	for text, want := range map[string]string{"git log | cat": "token", "git status; head .gi?/config": "token", "git status; tail -n 9 .g*/config": "token", "git diff --no-index a.txt .g*/config": "token", "git blame --contents .gi?/config a.txt": "token",
		"git blame --contents=.git/config a.txt": "secrets", "git blame -lS.git/config a.txt": "secrets", "git blame -S.git/config a.txt": "secrets", "git -C sub blame --contents=../.git/config c.go": "secrets", "git grep -Gf.git/config": "secrets",
		"cd p1 && python3 -m json.tool ../j.json": "it may run json.py", "cd p2 && python3 -m json.tool ../j.json": "it may run json", "cd p3 && python3 -m json.tool ../j.json": "it may run json",
		"cd a && cd b && cd c && cd d && ls": "too many"} {
		if _, why := run(text); !strings.Contains(why, want) {
			t.Errorf("%s: %q; want %q", text, why, want)
		}
	}
	if out, why := run("cd -- sub && ls"); why != "" || !strings.Contains(out, "c.go") {
		t.Errorf("cd --: %s%s", out, why)
	}
	whole := l.env.Workspace // the project is below the repository
	l.env.Workspace, _ = workspace.New(workspace.Config{Roots: []string{filepath.Join(l.dir, "sub")}})
	*l.asked = nil
	for text, want := range map[string]string{"git log --oneline": "one", "git show HEAD:a.txt": "two"} {
		if out, why := run(text); why != "" || !strings.Contains(out, want) || len(*l.asked) > 0 {
			t.Errorf("%s: %s%s, asked %d", text, out, why, len(*l.asked))
		}
	}
	l.env.Launcher.Config.Shell.Environ = append(l.env.Launcher.Config.Shell.Environ, "HOME="+l.dir)
	if _, why := run("git log"); !strings.Contains(why, "more in it") {
		t.Errorf("a repository of the home directory: %q", why)
	}
	l.env.Workspace = whole
	l.git("echo /elsewhere >.git/objects/info/alternates")
	if _, why := run("git log"); !strings.Contains(why, "another one") {
		t.Errorf("objects from elsewhere: %q", why)
	}
}

// A command of any kind can be held to looking, if the user says so, and is
// offered that but once.
func TestReadOnly(t *testing.T) {
	l := newLooking(t)
	call, _ := l.looks("touch new; cat a.txt; git log --oneline")
	args := call.Intent.Plan.ReadOnlyArgs
	if args == nil || call.Intent.Plan.IsReadOnly {
		t.Fatalf("it is not offered: %+v", call.Intent.Plan)
	}
	call = l.prepare(runShellCommand(l.env), args)
	if in := call.Intent; !in.Plan.IsReadOnly || in.Plan.ReadOnlyArgs != nil || in.Plan.Commands[0].Safe {
		t.Errorf("%+v", in.Plan)
	}
	r, _ := call.Run(t.Context(), l)
	if !strings.Contains(r.Text, "one") || !strings.Contains(r.Text, "Read-only file system") {
		t.Errorf("it says %s", r.Text)
	}
	if len(*l.asked) != 1 || (*l.asked)[0].Intent.Plan.Failure.Reason != "it tried to write: new" {
		t.Errorf("it ended with 0: %+v", *l.asked)
	}
	*l.asked = nil
	call, _ = l.looks("touch new")
	if _, err := l.prepare(runShellCommand(l.env), call.Intent.Plan.ReadOnlyArgs).Run(t.Context(), l); err == nil || engine.DisplayError(err) != "refused" || len(*l.asked) != 1 {
		t.Fatalf("%v, asked %d times", err, len(*l.asked))
	}
	if in := (*l.asked)[0].Intent; in.Plan.ReadOnlyArgs != nil || in.Plan.Failure.Reason != "it tried to write: new" {
		t.Errorf("%+v", in.Plan)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "new")); err == nil {
		t.Error("it was written")
	}
	for text, want := range map[string]string{ // which file the question names
		"sort -o a.txt a.txt":        ": a.txt",
		"echo x > out":               ": out", // and not the shell that says so
		"printf x > 'a b.txt'":       ": a b.txt",
		"sh -c 'echo x > sub/in'":    ": sub/in",
		"/usr/bin/tee t </dev/null":  ": t",
		"sed -i s/one/1/ a.txt":      ": a.txt", // and not the one that is to replace it
		"sed -i s/x/1/ sub/c.go":     ": sub/c.go",
		"cd sub && touch q":          ": sub/q",
		"cd sub && echo x > q":       ": sub/q",
		"cd sub; rm c.go":            ": sub/c.go",
		"cd sub; cd ..; rm a.txt":    ": a.txt",
		"mv a.txt sub/":              ": a.txt, sub/a.txt",
		"bash -c 'echo > /etc/x'":    ": /etc/x",
		"cat a.txt; echo x >/etc/zz": ": /etc/zz",
	} {
		*l.asked = nil
		l.prepare(runShellCommand(l.env), map[string]any{"command": text, "read_only": true}).Run(t.Context(), l)
		if len(*l.asked) != 1 || (*l.asked)[0].Intent.Plan.Failure.Reason != "it tried to write"+want {
			t.Errorf("%s: want %s: %+v", text, want, *l.asked)
		}
	}
	l.git("git add -f .env; git commit -qm secret")
	for _, text := range []string{"git show HEAD", "touch x; git show HEAD:.env", "eval 'git log -p'", "xargs git show HEAD </dev/null", "cat .env .git/config", "make x; git show HEAD"} {
		*l.asked = nil
		l.shown.Reset()
		r, _ := l.prepare(runShellCommand(l.env), map[string]any{"command": text, "read_only": true}).Run(t.Context(), l)
		if strings.Contains(r.Text+l.shown.String(), "CANARY") {
			t.Errorf("%s shows %s", text, r.Text)
		}
	}
	for _, with := range []map[string]any{{"is_background": true}, {"additional_permissions": map[string]any{"network": true}}} {
		with["command"] = "touch new"
		if l.prepare(runShellCommand(l.env), with).Intent.Plan.ReadOnlyArgs != nil {
			t.Errorf("%v is offered it", with)
		}
	}
}

// Whatever a line is, judging it ends, and no program that is there to change
// something or to run others is taken for one that looks.
func FuzzLooks(f *testing.F) {
	for _, s := range []string{"ls -la *", "git log -1", "find . -exec cat {} +", "cd sub && cat $X", "xargs rm", "sed -n 1p a.txt | wc", "git show HEAD:.env", "timeout 5 make", "env"} {
		f.Add(s)
	}
	dir := f.TempDir()
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		f.Fatal(err)
	}
	env := Tools{Workspace: ws, Launcher: &launch.Launcher{Sandbox: fence{sandbox.State{Name: "test", Files: true, Network: true, RunsReadOnly: true}, new(sandbox.Profile)},
		Roots: ws.Roots, Config: launch.Config{Shell: shell.Settings{Environ: []string{"PATH=/usr/bin:/bin"}}}}}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := runShellCommandArgs{Command: text}.prepare(env)
		if err != nil || !c.readOnly {
			return
		}
		for _, command := range c.read.Commands {
			switch name, _ := command.Program(); name {
			case "rm", "mv", "cp", "touch", "make", "sh", "bash", "env", "sudo", "eval", "tee", "dd", "curl":
				shows := name == "env" && len(command.Argv) == 1 // the environment, as printenv does
				if !shows && (len(command.Argv) != 2 || !slices.Contains(versions, command.Argv[1].Text)) {
					t.Errorf("%q is taken to look: %q", command, text)
				}
			}
		}
	})
}
