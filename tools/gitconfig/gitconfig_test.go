package gitconfig_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine/enginetest"
	"gemline/tools/gitconfig"
)

// git returns what git reads in a configuration. It refuses what it can't read.
func git(t *testing.T, text string) (entries []string, ok bool) {
	t.Helper()
	cmd := exec.Command("git", "config", "--no-includes", "--file", "-", "--list", "--null")
	cmd.Stdin, cmd.Env = strings.NewReader(text), []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if entry != "" {
			key, value, _ := strings.Cut(entry, "\n")
			entries = append(entries, key+"="+spaced(value))
		}
	}
	return entries, true
}

// spaced has single spaces: how many git keeps depends on its version.
func spaced(value string) string { return strings.Join(strings.Fields(value), " ") }

// same holds what Parse reads to what git reads. It returns how much that was.
func same(t *testing.T, text string) int {
	t.Helper()
	list, err := gitconfig.Parse(text)
	if err != nil {
		return 0
	}
	var got []string
	for _, e := range list {
		got = append(got, e.String()+"="+spaced(e.Value))
	}
	want, ok := git(t, text)
	if !ok {
		t.Errorf("%q is %q, and git can't read it", text, got)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q is %q; says git %q", text, got, want)
	}
	return len(list)
}

// What is read is what git reads.
func TestParseAgainstGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	n := 500
	if enginetest.Soak() {
		n = 100_000
	}
	r := enginetest.Random(t, 5)
	read := 0
	for range n {
		read += min(1, same(t, configuration(r)))
		if t.Failed() {
			t.FailNow()
		}
	}
	if read < n/10 {
		t.Errorf("of %d only %d hold something that is read: that shows little", n, read)
	}
	t.Logf("of %d configurations %d are read, as git reads them", n, read)
}

// configuration returns a file that is nearly one that git reads.
func configuration(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	odd := func() string {
		if r.IntN(30) > 0 {
			return ""
		}
		return pick("\\", "\"", "#", ";", "]", "[", "=", "\r", "\n", "\r\n", "\\\n", "\\\r\n", "\x00", "\f", "\v", "\u00a0", "\u0085", "\ufeff", " ", "\t", ".", "-", "\"\"", "\\t", "\\\"", "\\\\", "[include]path=x", "\n[alias]\n", "x = y", "::")
	}
	keys := map[string][]string{"core": {"filemode", "bare", "FileMode", "eol"}, "remote": {"url", "fetch", "pushURL"}, "branch": {"merge", "remote"}, "user": {"name", "email"}, "Core": {"abbrev"}, "include": {"path"}, "remote.Origin": {"url"}}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		name, sub := pick("core", "core", "Core", "remote", "remote", "branch", "user", "include", "remote.Origin"), ""
		if name == "remote" || name == "branch" || r.IntN(20) == 0 {
			sub = pick(" ", " ", " ", "\t", "  ") + `"` + pick("origin", "a b", "a.b", "A", "") + odd() + `"`
		}
		b.WriteString(odd() + "[" + name + odd() + sub + odd() + "]" + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		for range r.IntN(3) {
			key := pick(keys[name]...)
			if r.IntN(20) == 0 {
				key = pick("fsmonitor", "pager", "path", "promisor")
			}
			value := pick("true", "x", "+refs/heads/*:refs/remotes/o/*", "https://example.com/x", "a b", `"a # b"`, "a # b", "")
			b.WriteString(pick("\t", "\t", "", " ") + key + odd() + pick(" = ", "=", " =\t") + odd() + value + odd() + pick("\n", "\n", "\n", "\n", "\r\n", " "))
		}
	}
	return b.String()
}

// FuzzParse is the same, with files that a fuzzer makes.
func FuzzParse(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(2, 5))
	for range 20 {
		f.Add(configuration(r))
	}
	f.Fuzz(func(t *testing.T, text string) { same(t, text) })
}

// What clones and people write is harmless; what runs something is named.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"[core]\n\tautocrlf = input\n[remote \"origin\"]\n\ttagopt = --no-tags\n\tgh-resolved = base\n":                     "",
		"[remote \"origin\"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n[extensions]\n\tworktreeConfig = true\n": "",
		"[extensions]\n\tobjectformat = sha256\n[submodule]\n\tactive = .\n[submodule \"a\"]\n\turl = ../a\n":               "",
		"[submodule \"a\"]\n\tupdate = rebase\n": "",
		"[submodule \"a\"]\n\tupdate = !id\n":    "sets submodule.a.update",
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n[lfs]\n\trepositoryformatversion = 0\n[lfs \"https://example.com\"]\n\taccess = basic\n": "",
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f; id\n":  "", // the rest is a comment
		"[filter \"lfs\"]\n\tclean = \"git-lfs clean -- %f;\"\n": "sets filter.lfs.clean",
		"[filter \"x\"]\n\tclean = git-lfs clean -- %f\n":        "sets filter.x.clean",
		"[lfs \"customtransfer.x\"]\n\tpath = id\n":              "sets lfs.customtransfer.x.path",
		"[lfs]\n\tstandalonetransferagent = x\n":                 "sets lfs.standalonetransferagent",
		"[core]\n\tfsmonitor = id\n":                             "sets core.fsmonitor",
		"[core]\n\tfsmonitor\n":                                  "sets core.fsmonitor",
		"[core]\n\tworktree = /\n":                               "sets core.worktree",
		"[remote \"o\"]\n\turl = ext::sh -c id\n":                "sets remote.o.url",
		"[remote \"o\"]\n\turl = e\"xt:\"\":sh\"\n":              "sets remote.o.url",
		"[remote \"o\"]\n\tuploadpack = id\n":                    "sets remote.o.uploadpack",
		"[remote \"o\"]\n\tvcs = x\n":                            "sets remote.o.vcs",
		"[protocol \"ext\"]\n\tallow = always\n":                 "sets protocol.ext.allow",
		"[protocol \"file\"]\n\tallow = always\n":                "",
		"[url \"x\"]\n\tinsteadOf = y\n":                         "sets url.x.insteadof",
		"[core\n":                                                "can't be read in line 1",
	} {
		if got := gitconfig.FirstUnsafe(text, func(gitconfig.Entry) bool { return false }); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

func TestHooks(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "[init]\n\tdefaultBranch = main\n": "", "[init]\n\ttemplateDir = ~/t\n": "/home/me/t/hooks", "[init]\n\ttemplateDir = /t\n[Init]\n\ttemplatedir = /u/\n": "/u/hooks", "[init]\n\ttemplateDir = t\n": "",
	} {
		if got := gitconfig.Hooks(text, "/home/me"); filepath.ToSlash(got) != want && filepath.Separator == '/' {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The hooks that git-lfs makes are known, of this and of other versions. What
// would run anything else is not taken for one.
func TestLargeFiles(t *testing.T) {
	const (
		head = "#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || { "
		told = `echo >&2 "\nRemove this hook by deleting '.git/hooks/pre-push'.\n"`
		tail = "; exit 2; }\ngit lfs pre-push \"$@\""
	)
	for text, want := range map[string]bool{
		head + told + tail:        true,
		head + told + tail + "\n": true,
		head + `printf >&2 "\n%s\n\n" "This repository is configured for Git LFS (set by 'core.hookspath')."` + tail: true,
		head + told + tail + "\nid\n":                           false,
		head + told + "; id" + tail:                             false,
		head + `echo >&2 "$(id)"` + tail:                        false,
		head + "echo >&2 \"`id`\"" + tail:                       false,
		head + "echo >&2 \"x\"\nid \"\"" + tail:                 false,
		head + "echo >&2 \"x\nid\"" + tail:                      false,
		head + `echo >&2 "a\" "; id; " "b"` + tail:              false,
		head + `echo >&2 "a\" " ;id; " "b"` + tail:              false,
		head + `id >&2 "x"` + tail:                              false,
		head + told + strings.Replace(tail, "push", "x; id", 1): false,
		"#!/tmp/sh" + (head + told + tail)[len("#!/bin/sh"):]:   false,
		strings.Replace(head, "git-lfs", "id", 1) + told + tail: false,
		"": false, "id": false,
	} {
		if got := gitconfig.IsLFSHook("pre-push", text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if gitconfig.IsLFSHook("post-checkout", head+told+tail) {
		t.Error("it is another hook's")
	}
	if _, err := exec.LookPath("git-lfs"); err != nil {
		t.Skip("git-lfs is not installed")
	}
	dir := t.TempDir()
	if out, err := exec.Command("sh", "-ec", "cd "+dir+"; git init -q .; git lfs install --local; git lfs install --local --skip-smudge --force").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hooks, _ := filepath.Glob(dir + "/.git/hooks/*[a-z]")
	for _, hook := range hooks {
		if b, _ := os.ReadFile(hook); !strings.HasSuffix(hook, ".sample") && !gitconfig.IsLFSHook(filepath.Base(hook), string(b)) {
			t.Errorf("%s: %q", hook, b)
		}
	}
	b, _ := os.ReadFile(dir + "/.git/config")
	if why := gitconfig.FirstUnsafe(string(b), func(gitconfig.Entry) bool { return false }); why != "" || len(hooks) < 4 {
		t.Errorf("%q %s: %s", hooks, why, b)
	}
}
