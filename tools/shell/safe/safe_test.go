package safe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/tools/shell/safe"
	"gemline/tools/shell/script"
)

// place makes a project to look at: a repository with a few files, some of
// which lead out of it or hold secrets.
func place(t testing.TB) safe.Place {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the list is about the programs of Linux")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for path, text := range map[string]string{
		"project/a.txt": "one\ntwo\n", "project/b.txt": "one\n", "project/j.json": "{\"a\": [1]}\n", "project/sub/c.go": "package c\n",
		"project/.env": "KEY=1\n", "project/sub/.env.local": "KEY=2\n", "project/server.key": "k\n",
		"project/.git/HEAD": "ref: refs/heads/main\n", "project/.git/config": "[core]\n\tbare = false\n", "outside/secret": "s\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"away": "../outside", "near": "sub", "leak": "../outside/secret", "inner": "a.txt", "key": ".env", "lost": "/nowhere/x"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return safe.Place{Dir: root, Roots: []string{root}, Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}}
}

// judge reads a script, and returns what is wrong with it, and what is run for
// it if nothing is.
func judge(t testing.TB, text string, p safe.Place) (why, run string) {
	t.Helper()
	read := script.Read(text)
	if read.Class != engine.Plain {
		return "it is " + read.Class.String(), ""
	}
	var argv [][]string
	for _, f := range safe.Judge(read.Commands, p) {
		if f.Why != "" {
			return f.Why, ""
		}
		argv = append(argv, f.Argv)
	}
	run, ok := read.Replaced(argv)
	if !ok {
		t.Fatalf("%s can't be written anew", text)
	}
	return "", run
}

func TestSafe(t *testing.T) {
	p := place(t)
	abs := p.Dir
	for _, text := range []string{
		"ls", "ls -la", "ls -lah sub | head -20", "ls " + abs + "/sub", "ls --color=never -1 .", "ls /usr/include",
		"cat a.txt b.txt", "cat -n a.txt | tail -n +2", "cat inner", "cat near/c.go", "cat -- a.txt",
		"head -5 a.txt", "head -n5 a.txt", "head -n -1 a.txt", "tail -20 a.txt 2>/dev/null", "wc -l a.txt b.txt",
		"grep -rn one .", "grep -rnE 'a|b' --include='*.go' sub", "grep -A3 -B 2 one a.txt", "grep -c one a.txt || echo none", "grep -e one -e two a.txt", "grep '/etc/../x' a.txt",
		"sed -n '1,5p' a.txt", "sed -n '/one/,/two/p;9q' a.txt", "sed 's/one/two/g; s|a|b|' a.txt", "sed -E -e 's/[a-z]+/x/' -e '$d' a.txt", "sed -n '/[[:upper:]]/p' a.txt", "sed -n 2,3p a.txt",
		"find . -name '*.go' -type f -not -path './vendor/*'", "find sub -maxdepth 2 \\( -name '*.go' -o -name '*.md' \\) -print0", "find . -newer a.txt", "find",
		"sort -k2,2n -t, -ru a.txt | uniq -c | sort -rn", "cut -d: -f1 a.txt", "tr a-z A-Z", "diff -u a.txt b.txt", "cmp a.txt b.txt",
		"echo hello 'a b' -e", "printf '%s\\n' x", "pwd", "test -f a.txt && echo yes", "[ -d sub ]", "true", "type ls", "command -v ls", "which ls",
		"date", "date +%F", "date -u -d yesterday", "whoami; id -u; uname -a", "sleep 1", "basename a/b.c .c", "dirname a/b", "realpath a.txt", "stat -c %s a.txt", "md5sum a.txt", "sha256sum a.txt",
		"cd sub && cat c.go", "cd " + abs + " && ls", "cd " + abs + "/sub && grep -n c c.go | head",
		"git status", "git status --short --branch", "git log --oneline -10", "git log -n 5 --stat -- a.txt", "git log main..HEAD --format='%h %s'", "git diff", "git diff --stat HEAD~1", "git diff --cached a.txt",
		"git show HEAD", "git show HEAD:sub/c.go", "git branch", "git branch -vv", "git branch --show-current", "git branch -a --list 'f*'", "git tag -l", "git remote -v", "git stash list",
		"git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel", "git ls-files | head", "git blame -L1,2 a.txt", "git grep -n one", "git describe --tags", "git --no-pager log -1", "git --version", "git shortlog -sn HEAD", "git config user.name",
		"od -c a.txt", "du -sh .", "df -h", "nproc", "seq 1 5", "expr 1 + 2", "cat /etc/os-release", "sed -n 1p /usr/include/stdio.h",
	} {
		if why, _ := judge(t, text, p); why != "" && !strings.Contains(why, "not installed") {
			t.Errorf("%s: %s", text, why)
		}
	}
}

func TestUnsafe(t *testing.T) {
	p := place(t)
	for _, test := range []struct{ text, why string }{
		// Programs, options and words that are not on the list.
		{"make", "does more"}, {"rm a.txt", "not on the list"}, {"./ls", "not on the list"}, {"/bin/ls", "not on the list"}, {"LS", "not on the list"},
		{"awk '{print $1}' a.txt", "not on the list"}, {"python3 x.py", "not on the list"}, {"node x.js", "not on the list"}, {"npm test", "not on the list"}, {"env", "it is readable"}, {"printenv", "not on the list"},
		{"ls --colo", "not on the list: --colo"}, {"ls -lL", "not on the list: -lL"}, {"ls '-a -b'", "not on the list"}, {"tail -f a.txt", "-f"}, {"tail --follow=name a.txt", "--follow"}, {"wc --files0-from=a.txt", "--files0-from"},
		{"grep -R one .", "-R"}, {"grep --exclude-from=a.txt one .", "--exclude-from"}, {"sort --compress-program=sh a.txt", "it is opaque"}, {"sort -T . a.txt", "-T"},
		{"sort -ro b.txt a.txt", "it is readable"}, {"sort --outpu=b.txt a.txt", "it is readable"}, {"uniq a.txt b.txt", "it is readable"}, {"uniq a.txt -c", "it is readable"},
		{"xxd a.txt b.txt", "it is readable"}, {"xxd -r a.txt", "-r"}, {"xxd a.txt -p", "it is readable"}, {"date -s tomorrow", "it is opaque"}, {"date 01010000", "sets the clock"}, {"date --set=x", "it is opaque"}, {"date -f a.txt", "-f"},
		{"tree -o x", "it is readable"}, {"tree -Io x", ""}, {"tree -R", "it is readable"}, {"diff --to-file=a.txt b.txt", "--to-file"}, {"diff -l a.txt b.txt", "-l"}, {"file -C -m a.txt", "it is readable"}, {"file -f a.txt", "-f"}, {"md5sum -c a.txt", "-c"},
		{"rg --pre cat one", "it is opaque"}, {"rg -uu one", "-uu"}, {"rg -u -u one", "-uu"}, {"rg -z one", "-z"}, {"rg -L one", "-L"}, {"base64 -d a.txt -o x", "it is readable"}, {"hexdump -f a.txt b.txt", "-f"}, {"sleep 9999", "minute"}, {"sleep infinity", "minute"},
		{"jq env j.json", "env"}, {"jq -n '$ENV.PATH'", "env"}, {"jq -f a.txt j.json", "-f"}, {"jq 'import \"a\" as $a; .' j.json", "import"}, {"jq --slurpfile a .env . j.json", "--slurpfile"},
		{"command ls", "it is readable"}, {"command", "it is readable"}, {"hostname x", "not on the list"}, {"free -s 1", "-s"}, {"dpkg -i x.deb", "-i"}, {"npm -v x", "x"}, {"python3", "it is opaque"},
		{"go build", "go build"}, {"go env", "go env"}, {"go env -w GOFLAGS=-x", "it is opaque"}, {"go env GOPROXY", "go env"}, {"go version a.txt", "go version"}, {"go list ./...", "go list"}, {"go vet ./...", "go vet"},
		// sed and find.
		{"sed -i s/a/b/ a.txt", "it is readable"}, {"sed -n 1p a.txt -i", "it is readable"}, {"sed 'w x' a.txt", "it is opaque"}, {"sed s/a/b/e a.txt", "it is opaque"}, {"sed 1e a.txt", "it is opaque"}, {"sed 's/a/b/w x' a.txt", "it is opaque"}, {"sed -n '1r .env' a.txt", "it is opaque"}, {"sed --posix p a.txt", "--posix"},
		{"sed -n p leak", "outside"}, {"sed -n p .env", "secrets"},
		{"find . -delete", "it is readable"}, {"find . -fprint x", "it is readable"}, {"find . -fls x", "it is readable"}, {"find . -exec cat .env ';'", "it is readable"}, {"find -L . -name x", "-L"}, {"find . -follow", "-follow"}, {"find . -files0-from x", "-files0-from"}, {"find .. -name x", "outside"}, {"find away/ -name x", "outside"}, {"find . -newer leak", "outside"}, {"find . -name", "missing"}, {"find . -samefile .env", "-samefile"},
		// Places.
		{"cat /etc/passwd", "outside"}, {"cat ../outside/secret", "outside"}, {"cat leak", "outside"}, {"cat away/secret", "outside"}, {"cat lost", "outside"}, {"ls ..", "outside"}, {"cat sub/../../outside/secret", "has .. in it"}, {"cat away/../outside/secret", "has .. in it"},
		{"cat .env", "secrets"}, {"cat key", "secrets"}, {"cat sub/.env.local", "secrets"}, {"cat .git/config", "secrets"}, {"cat server.key", "secrets"}, {"grep -f .env a.txt", "secrets"}, {"grep -f.env a.txt", "secrets"}, {"grep --file=.env a.txt", "secrets"}, {"diff a.txt .env", "secrets"}, {"head -- .env", "secrets"}, {"[ -f /root/.ssh/id_rsa ]", "outside"},
		{"cat /proc/self/environ", "outside"}, {"cat /dev/sda", "outside"}, {"ls /root", "outside"}, {"cat /usr/../etc/passwd", "has .. in it"}, {"realpath --relative-to=/ a.txt", "outside"},
		{"cd .. && ls", "leads out"}, {"cd / && ls", "leads out"}, {"cd away && ls", "leads out"}, {"cd near && cat ../a.txt", "leads out"}, {"cd && ls", "not known"}, {"cd - && ls", "not known"}, {"cd sub || cat ../a.txt", "outside"}, {"cd sub; cat ../../outside/secret", "outside"}, {"cd -P sub", "not known"}, {"cd sub && cat ../a.txt", "outside"}, {"cd sub; cd ..; ls", "leads out"}, {"cat ./sub/../a.txt", "has .. in it"},
		// git.
		{"git", "not said"}, {"git commit -m x", "not on the list"}, {"git checkout x", "not on the list"}, {"git branch new", "makes a new one"}, {"git branch -v new", "makes a new one"}, {"git branch -D x", "-D"}, {"git branch -m x", "-m"}, {"git branch --edit-description", "--edit-description"}, {"git tag v1", "makes a new one"}, {"git tag -d v1", "-d"}, {"git tag --contains HEAD new x", "makes a new one"},
		{"git stash", "more than list"}, {"git stash pop", "more than list"}, {"git remote add x y", "more than list"}, {"git remote show x", "more than list"}, {"git reflog expire --all", "reflog"}, {"git config user.name x", "it is readable"}, {"git config --list", "--list"}, {"git config credential.helper", "set something"},
		{"git log --output=x", "it is readable"}, {"git log --outpu=x", "it is readable"}, {"git log --format --output=x", "it is readable"}, {"git log --format --all", "looks like an option"}, {"git log --ext-diff -p", "it is opaque"}, {"git show --textconv", "it is opaque"}, {"git log --show-signature", "--show-signature"}, {"git log --format='%G?'", "signatures"}, {"git diff --no-index a.txt b.txt", "--no-index"},
		{"git diff /etc/passwd /dev/null", "outside"}, {"git diff ../outside/secret a.txt", "outside"}, {"git show HEAD:.env", "secrets"}, {"git log -- .env", "secrets"}, {"git -C sub status", "it is readable"}, {"git -c core.pager=sh log", "it is opaque"}, {"git --git-dir=x log", "it is opaque"}, {"git --exec-path=x log", "it is opaque"}, {"git -p log", "it is opaque"}, {"git grep -O one", "it is opaque"}, {"git grep --no-index one", "--no-index"}, {"git grep --untracked KEY", "--untracked"},
		{"strings @a.txt", "from a file"}, {"strings -n 3 -- @a.txt", "from a file"}, {"cat SERVER.KEY", "secrets"}, {"git show :0:.env", "secrets"}, {"git show :1:server.key", "secrets"}, {"git show 'HEAD:(x).env'", "secrets"}, {"git diff -- ':(top)server.key'", "secrets"},
		{"git log --format='%+G?'", "signatures"}, {"git log --format='%-GK'", "signatures"}, {"git log --pretty='tformat:% GS'", "signatures"}, {"git diff /out:side/x .", "outside"}, {"git diff ../out:x .", "outside"},
		{"git ls-files -X a.txt", "-X"}, {"git diff -Oa.txt", "-O"}, {"git fetch", "not on the list"}, {"git ls-remote", "not on the list"}, {"git submodule status", "not on the list"}, {"git status --ignore-submodules=none", "--ignore-submodules"}, {"git cat-file --textconv HEAD:a.txt", "it is opaque"}, {"git cat-file --filters HEAD:a.txt", "it is opaque"}, {"git describe --dirty", "--dirty"}, {"git shortlog", "reads its input"},
	} {
		why, run := judge(t, test.text, p)
		if why == "" {
			t.Errorf("%s is taken for safe: %s", test.text, run)
		} else if !strings.Contains(why, test.why) {
			t.Errorf("%s: %s; want %q", test.text, why, test.why)
		}
	}
}

// What is run for a command keeps it from what a repository or a habit would
// have it do, and from secrets in directories it goes through.
func TestArgv(t *testing.T) {
	p := place(t)
	if err := os.WriteFile(filepath.Join(p.Dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.Dir, "sub", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ls -l":               "/usr/bin/ls -l",
		"git log -1 -- x":     "-c core.fsmonitor=false",
		"git  log -1 -- x":    "log --no-ext-diff --no-textconv -1 -- x",
		"git status -s":       "status --ignore-submodules=dirty -s",
		"git --no-pager diff": "diff --no-ext-diff --no-textconv --ignore-submodules=dirty",
		"git reflog show":     "reflog show --no-ext-diff --no-textconv",
		"grep -r x .":         "'--exclude=.[eE][nN][vV]'",
		"grep -r -- x .":      "'--exclude-dir=[iI][dD]_[rR][sS][aA]*'",
		"grep -r y .":         "'--exclude-dir=.[gG][iI][tT]'",
		"diff . sub":          "--no-dereference '--exclude=",
		"cd sub; diff x c.go": "--no-dereference '--exclude=", // x is a file here, and a directory there
	} {
		why, run := judge(t, text, p)
		if why != "" || !strings.Contains(run, strings.TrimSuffix(want, "x")) {
			t.Errorf("%s: %s %s; want %s", text, why, run, want)
		}
	}
	if _, run := judge(t, "grep -r -- -x .", p); !strings.HasSuffix(run, " -- -x .") {
		t.Errorf("the options come too late: %s", run)
	}
	// What stands in --iglob counts behind what stands in --glob.
	if why, run := judge(t, "rg --iglob .env -g .env KEY", p); why != "" && !strings.Contains(why, "not installed") || why == "" && !strings.Contains(run, "--iglob=!.[eE][nN][vV]") {
		t.Errorf("rg: %s %s", why, run)
	}
	if _, run := judge(t, "diff a.txt b.txt", p); run != "/usr/bin/diff a.txt b.txt" {
		t.Errorf("%s", run)
	}
}

// Which program a name means has to be sure.
func TestPrograms(t *testing.T) {
	p := place(t)
	bin := filepath.Join(p.Dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "cat"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, text, want string }{
		{"/usr/bin:/bin", "cat a.txt", "/usr/bin/cat a.txt"},
		{bin + ":/usr/bin:/bin", "cat a.txt", "not a system program"},
		{bin + ":/usr/bin:/bin", "head a.txt", "/usr/bin/head a.txt"}, // one may be put there
		{"/usr/bin:/bin:" + bin, "cat a.txt", "/usr/bin/cat a.txt"},
		{".:/usr/bin", "cat a.txt", "depends on the directory"},
		{":/usr/bin", "cat a.txt", "depends on the directory"},
		{"/nowhere", "cat a.txt", "not installed"},
		{bin + ":/usr/bin", "echo a", "echo a"},
	} {
		p.Environ = []string{"PATH=" + test.path}
		if why, run := judge(t, test.text, p); !strings.Contains(why+run, test.want) {
			t.Errorf("PATH=%s: %s: %s%s; want %s", test.path, test.text, why, run, test.want)
		}
	}
	tool := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want, text string, environ ...string) {
		t.Helper()
		p.Environ = environ
		if why, _ := judge(t, text, p); !strings.Contains(why, want) || want == "" && why != "" {
			t.Errorf("%s: %s: %q; want %q", environ, text, why, want)
		}
	}
	tool("bash")
	refused("the shell would be one of the project's", "echo a", "PATH="+bin+":/usr/bin:/bin")
	refused("", "echo a", "PATH=/usr/bin:/bin:"+bin)
	refused("", "echo a", "PATH=.:/usr/bin:/bin")
	const own = "a go of its own"
	for _, text := range []string{"go version", "go env GOPATH", "go help"} {
		refused(own, text, "PATH=/usr/bin:/bin", "GOPATH="+p.Dir)
		refused(own, text, "PATH=/usr/bin:/bin", "GOMODCACHE="+filepath.Join(p.Dir, "cache"))
		refused(own, text, "PATH=/usr/bin:/bin", "HOME="+p.Dir)
	}
	if why, _ := judge(t, "go version", safe.Place{Dir: p.Dir, Roots: p.Roots, Environ: []string{"PATH=/usr/bin:/bin:" + bin}}); strings.Contains(why, own) {
		t.Errorf("a directory without a go: %s", why)
	}
	tool("go1.99.0")
	refused(own, "go version", "PATH=/usr/bin:/bin:"+bin)
	p.Environ = []string{"PATH=/usr/bin:/bin", "CDPATH=/"}
	if why, _ := judge(t, "cd sub && ls", p); !strings.Contains(why, "CDPATH") {
		t.Error(why)
	}
}

// Git runs unasked only where its configuration has nothing run and holds no
// password.
func TestRepository(t *testing.T) {
	p := place(t)
	git := filepath.Join(p.Dir, ".git")
	const ordinary = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n# a comment\n"
	for _, test := range []struct{ config, why string }{
		{ordinary, ""},
		{ordinary + "[user]\n\tname = A B\n\temail = a@b\n", ""},
		{"[remote \"o\"]\n\turl = git@example.com:x/y.git\n\turl = ssh://git@example.com/x\n", ""},
		{ordinary + "[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"},
		{ordinary + "[CORE] fsmonitor = x\n", "core.fsmonitor"},
		{ordinary + "[core]\n\tFsMonitor=x\n", "core.fsmonitor"},
		{ordinary + "[core]\n\tworktree = /\n", "core.worktree"},
		{ordinary + "[core]\n\tautocrlf = fal\\\nse\n", ""},
		{ordinary + "[core]\n\tautocrlf = \"a\n", "can't be read in line"},
		{ordinary + "[diff \"x\"]\n\ttextconv = touch x\n", "diff.x.textconv"},
		{ordinary + "[filter \"x\"]\n\tclean = touch x\n", "filter.x.clean"},
		{ordinary + "[include]\n\tpath = x\n", "include.path"},
		{ordinary + "[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeif.gitdir:/.path"},
		{ordinary + "[alias]\n\tlog = !touch x\n", "alias.log"},
		{ordinary + "[extensions]\n\tpartialClone = origin\n", ""},
		{ordinary + "[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n", ""},
		{ordinary + "[remote \"o\"]\n\turl = https://u:p@example.com/\n", "password"},
		{ordinary + "[remote \"o\"]\n\turl = https://ghp_0123456789abcdefghij@example.com/\n", "password"},
		{ordinary + "[remote \"o\"]\n\turl = https://somebody@example.com/\n", ""},
		{"[core \"a\\\"b\"]\nbare = true\n", "core.a"},
		{ordinary + "[remote \"origin.uploadpack\x00\"]\n\turl = touch x\n", "not plain text"},
		{"stray\n", "can't be read in line 1"},
	} {
		if err := os.WriteFile(filepath.Join(git, "config"), []byte(test.config), 0o600); err != nil {
			t.Fatal(err)
		}
		if why, _ := judge(t, "git status", p); test.why == "" && why != "" && !strings.Contains(why, "not installed") || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q; want %q", test.config, why, test.why)
		}
	}
	refused := func(what string, q safe.Place) {
		t.Helper()
		if why, run := judge(t, "git status", q); why == "" {
			t.Errorf("%s is taken for safe: %s", what, run)
		}
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(p.Dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/config", ordinary)
	for _, env := range []string{"GIT_DIR=x", "GIT_EXTERNAL_DIFF=x", "GIT_CONFIG_COUNT=1", "GIT_EXEC_PATH=x"} {
		q := p
		q.Environ = append([]string{env}, p.Environ...)
		refused(env, q)
	}
	for _, name := range []string{"HEAD", "objects/x", "refs/x"} { // as anybody can commit it
		write("sub/bare/"+name, "")
	}
	for _, name := range []string{"packed-refs", "refs/heads/x", "logs/HEAD", "info/exclude"} { // of what git can't read it shows a line
		if err := os.MkdirAll(filepath.Dir(filepath.Join(git, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(git, name))
		if err := os.Symlink("/etc/passwd", filepath.Join(git, name)); err != nil {
			t.Fatal(err)
		}
		refused("a link at "+name, p)
		if err := os.Remove(filepath.Join(git, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/objects/info/alternates", "/elsewhere")
	refused("objects from elsewhere", p)
	if err := os.Remove(filepath.Join(git, "objects/info/alternates")); err != nil {
		t.Fatal(err)
	}
	q := p
	q.Dir = filepath.Join(p.Dir, "sub/bare")
	refused("a bare repository inside", q)
	if why, _ := judge(t, "cd sub/bare && git status", p); why == "" {
		t.Error("a bare repository behind cd is taken for safe")
	}
	write("sub/split/HEAD", "ref: refs/heads/main\n")
	write("sub/split/commondir", "../bare\n")
	q.Dir = filepath.Join(p.Dir, "sub/split")
	refused("a repository in two parts", q)
	write("sub/module/.git", "gitdir: ../../x\n")
	q.Dir = filepath.Join(p.Dir, "sub/module")
	refused("a repository kept elsewhere", q)
	write(".git/config.worktree", "[core]\n\tsparsecheckout = true\n")
	if why, _ := judge(t, "git status", p); why != "" {
		t.Error("a sparse checkout:", why)
	}
	write(".git/config.worktree", "[core]\n\tfsmonitor = touch x\n")
	refused("a second configuration", p)
}

// In every mode of speaking, what is safe leaves the project as it is. The
// programs themselves are the judge.
func TestNothingChanges(t *testing.T) {
	p := place(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	run := func(text string) {
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir, cmd.Env = p.Dir, append([]string{"HOME=" + filepath.Dir(p.Dir), "GIT_CONFIG_NOSYSTEM=1"}, p.Environ...)
		cmd.Run() // it may fail
	}
	if err := os.RemoveAll(filepath.Join(p.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	run("git init -q -b main && git config user.name n && git config user.email a@b && git add a.txt b.txt sub/c.go && git commit -qm one && echo more >>a.txt")
	before := listing(t, filepath.Dir(p.Dir))
	all := safe.Usages()
	step := et.Rounds(17, 1) // of which the same ones are tried in every run
	ran := 0
	defer func() { t.Logf("%d of %d usages ran", ran, len(all)) }()
	for i := 0; i < len(all); i += step {
		text := all[i]
		why, run1 := judge(t, text, p)
		if why != "" {
			continue
		}
		run(run1)
		ran++
		if after := listing(t, filepath.Dir(p.Dir)); after != before {
			t.Fatalf("%s changes something:\n%s\nwas\n%s", run1, after, before)
		}
	}
}

// listing returns every file below dir with its mode and time.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page for users names every program that is listed.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/looking.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, name := range safe.Names() {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+" ") && !strings.Contains(text, " "+name+"`") {
			t.Errorf("%s is not there", name)
		}
	}
}

// Whatever the words are, judging ends, and what is safe is no longer so with
// an operand that leads elsewhere.
func FuzzJudge(f *testing.F) {
	for _, s := range []string{"ls -la", "git log -1", "sed -n 1p a.txt", "find . -name x", "cd sub && cat c.go", "grep -rn x .", "jq . j.json", "xxd -l 5 a.txt"} {
		f.Add(s)
	}
	p := place(f)
	f.Fuzz(func(t *testing.T, text string) {
		read := script.Read(text)
		if read.Class != engine.Plain {
			return
		}
		for i, finding := range safe.Judge(read.Commands, p) {
			c := read.Commands[i]
			if finding.Why != "" {
				continue
			}
			switch name, _ := c.Program(); name {
			case "cat", "head", "wc", "grep", "ls", "stat", "sort", "diff":
				c.Argv = append(c.Argv[:1:1], engine.Word{Text: "--", Known: true}, engine.Word{Text: "x", Known: true}, engine.Word{Text: "/etc/passwd", Known: true})
				if again := safe.Judge([]engine.Command{c}, p); again[0].Why == "" {
					t.Errorf("%s reads /etc/passwd", c)
				}
			case "rm", "make", "sh", "bash", "env", "xargs", "awk", "tee":
				t.Errorf("%s is taken for safe", c)
			}
		}
	})
}

// What git shows of files unasked, in whatever commit, is not what may hold
// secrets; of the commits none is left out, and of all else nothing.
func TestGitContents(t *testing.T) {
	p := place(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	sh := func(text string) string {
		t.Helper()
		cmd := exec.Command("bash", "-ec", text)
		cmd.Dir = p.Dir
		cmd.Env = append(p.Environ, "HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%v: %.300s", err, out)
		}
		return string(out)
	}
	sh(`rm -rf .git; git init -q -b main .; rm away leak key lost
		mkdir -p .ssh; echo KEY=3 >.ssh/config; echo KEY=4 >sub/Server.PEM; git add -Af .; git commit -qm first
		git checkout -qb side; echo side >>b.txt; git commit -qam side; git checkout -q main; echo KEY=5 >>.env; git commit -qam 'only a secret'; git merge -q side -m merged
		echo 'KEY=6 ' >>.env; echo shown >>a.txt; git mv sub/c.go sub/d.go; git commit -qam last; git tag -a v1 -m tag; echo KEY=7 >>.env; echo more >>a.txt; git rm -q --cached server.key; git add .env`)
	blob := strings.TrimSpace(sh("git rev-parse --short HEAD:.env"))
	blob2 := strings.TrimSpace(sh("git rev-parse --short HEAD~1:.env"))
	commit := strings.TrimSpace(sh("git rev-parse --short HEAD"))
	for _, text := range []string{
		"git log -p", "git log --patch --all", "git log -u -3 main", "git log -p --reverse", "git log -p --graph", "git log --cc", "git log -c -p", "git log -m", "git log -p --stat", "git log -W", "git log -p -- .", "git log -p HEAD~1 a.txt", "git log -SKEY -p",
		"git log -L1,1:a.txt", "git log -p --follow a.txt", "git reflog -p", "git log -p " + commit, "git log --oneline -U0", "git log --word-diff", "git log --color-words",
		"git show", "git show HEAD~1", "git show v1", "git show " + commit, "git show " + blob, "git show HEAD:a.txt", "git show HEAD sub", "git show --stat", "git show HEAD --",
		"git diff", "git diff HEAD", "git diff --cached", "git diff HEAD~2", "git diff HEAD~2 HEAD -- .", "git diff " + commit + "~1 " + commit, "git diff " + blob + " a.txt", "git diff " + blob + ".." + blob2, "git diff " + blob2 + " " + blob, "git diff " + commit + "~1.." + commit, "git diff " + commit + "..." + commit, "git show ^" + commit + "~1 " + commit, "git diff HEAD~1:a.txt HEAD:a.txt", "cd sub && git diff HEAD~2", "git diff -R",
		"git grep KEY", "git grep -n KEY HEAD", "git grep -i key " + commit, "git grep KEY " + blob, "git grep -e KEY -e one", "git grep --cached KEY", "cd sub && git grep KEY", "git grep KEY -- .", "git grep -L KEY",
		"git show " + strings.ToUpper(blob), "git show x-1-g" + blob, "git show HEAD..x-g" + strings.ToUpper(blob), "git show x-1-g" + commit, "git log --check", "git show ':!a.txt'", "git show ':^a.txt'", "git show 'HEAD@{2040-01-01 10:00}'", "git log -p -- :sub",
		"git show -- '[.:]env'", "git diff HEAD~2 -- ':.'", "git diff HEAD~2:sub HEAD:sub", "git grep KEY HEAD:sub", "git show :a.txt", "git grep one HEAD:a.txt", "git show HEAD:sub",
		"git log -u -- '.en?'", "git log -p '*.txt'", "git diff -- ':(glob)**/.en?'",
		"git cat-file -t " + blob, "git cat-file -p HEAD", "git cat-file -p HEAD:a.txt", "git cat-file -p 'HEAD^{tree}'", "git cat-file -p v1", "git cat-file blob HEAD:a.txt", "git blame a.txt",
	} {
		why, run := judge(t, text, p)
		if why != "" {
			t.Errorf("%s: %s", text, why)
			continue
		}
		got := sh(run)
		failed := strings.Contains(got, "usage: ") || strings.Contains(got, "fatal: ")
		if strings.Contains(got, "KEY=") || failed && !strings.Contains(strings.ToLower(text), blob) {
			t.Errorf("%s shows %s", text, got)
		}
		if strings.HasPrefix(text, "git log -p") && !strings.Contains(text, "-- .") && strings.Count(got, "commit ") != strings.Count(sh(text), "commit ") {
			t.Errorf("%s leaves out commits: %s", text, got)
		}
	}
	for _, text := range []string{
		"git cat-file -p " + blob, "git cat-file blob " + blob, "git show " + blob + "^{}", "git show " + blob + "^{blob}", "git diff HEAD " + blob + "^{}", "git log -L1,1:.env", "git log -p --follow .", "git cat-file -p HEAD:.env", "git show :.env", "git blame .env", "git blame HEAD -- .env",
		"git grep KEY " + blob + "^{}", "git cat-file -p " + strings.ToUpper(blob), "git cat-file -p x-g" + blob, "git status -v", "git status --verbose", "git show ':/only a secret'",
		"git log -p --follow '.en?'", "git log -p --follow -- ':(top).e*'", "git log -p --follow -- '[.]env'", "git show --follow '*'",
	} {
		if why, run := judge(t, text, p); why == "" {
			t.Errorf("%s is taken for safe: %s", text, run)
		}
	}
}
