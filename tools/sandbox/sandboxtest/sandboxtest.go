//go:build unix

// Package sandboxtest checks a [sandbox.Sandbox] against its interface: commands run as
// without it, and can't do more than their profile grants.
package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gemline/tools/sandbox"
)

// Features are optional parts of the interface.
type Features struct {
	Signals bool // a command ended by a signal has that status; else its exit code is 128 plus the signal
	Image   bool // programs come from an image with sh and basic tools; files outside of the Profile are invisible, and no descriptors are passed
	Brief   bool // tests only restrictions, not how ordinary commands run and end
}

// Test tests s against the interface, with commands of sh. It does not rely on s.State but
// checks each claim.
func Test(t *testing.T, s sandbox.Sandbox, f Features) {
	if st := s.State(); !st.Confined() {
		t.Fatalf("not confined: %+v", st)
	}
	t.Run("in vain", func(t *testing.T) { unstarted(t, s) })
	if !f.Brief {
		t.Run("runs the same", func(t *testing.T) { same(t, s, f) })
		t.Run("ends the same", func(t *testing.T) { ends(t, s, f) })
		t.Run("side by side", func(t *testing.T) { concurrent(t, s) })
	}
	t.Run("files", func(t *testing.T) { files(t, s) })
	t.Run("masked", func(t *testing.T) { masked(t, s) })
	t.Run("look", func(t *testing.T) { readOnly(t, s) })
	if f.Image {
		t.Run("network", func(t *testing.T) { interfaces(t, s) })
	} else {
		t.Run("network", func(t *testing.T) { network(t, s) })
	}
}

// A bench is a workspace with directories beside it.
type bench struct {
	t                     *testing.T
	s                     sandbox.Sandbox
	root, outside, secret string
	profile               sandbox.Profile
}

func newBench(t *testing.T, s sandbox.Sandbox) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, s: s, root: filepath.Join(base, "work space"),
		outside: filepath.Join(base, "outside"), secret: filepath.Join(base, "outside", "secret")}
	for _, dir := range []string{b.root, b.outside, b.secret,
		filepath.Join(b.root, ".git", "hooks"), filepath.Join(b.root, ".gemini")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put(filepath.Join(b.secret, "key"), "CANARY")
	b.put(filepath.Join(b.outside, "file"), "there")
	b.put(filepath.Join(b.root, ".git", "config"), "[core]")
	// A command may not see files below a temporary directory, unless it may write there.
	b.profile = sandbox.Profile{Root: b.root, Write: []string{b.outside}, ReadOnly: []string{b.outside},
		Hidden: []string{b.secret, filepath.Join(base, "none")}}
	return b
}

func (b *bench) put(path, text string) {
	b.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// run runs a script, and returns what it writes, errors too.
func (b *bench) run(script string, change func(*exec.Cmd)) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = b.root
	cmd.Env = append(cmd.Environ(), "LC_GIVEN=a b")
	if change != nil {
		change(cmd)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	release, err := b.s.Confine(cmd, b.profile)
	if err != nil {
		return "", err
	}
	err = cmd.Start()
	release()
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// statusOf returns the wait status in a command's error.
func statusOf(err error) syscall.WaitStatus {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		if w, ok := e.Sys().(syscall.WaitStatus); ok {
			return w
		}
	}
	return 0
}

// arguments returns a function that sets a script's arguments.
func arguments(args ...string) func(*exec.Cmd) {
	return func(c *exec.Cmd) { c.Args = append(append(c.Args, "sh"), args...) }
}

func same(t *testing.T, s sandbox.Sandbox, f Features) {
	b := newBench(t, s)
	big := strings.Repeat("x", 100<<10)
	for _, test := range []struct {
		name, script, want string
		change             func(*exec.Cmd)
	}{
		{"standard output", "echo hi", "hi\n", nil},
		{"standard error", "echo hi >&2", "hi\n", nil},
		{"standard input", "cat", "typed", func(c *exec.Cmd) { c.Stdin = strings.NewReader("typed") }},
		{"no standard input", "cat", "", nil},
		{"environment", `echo "$LC_GIVEN"`, "a b\n", nil},
		{"directory", "pwd", b.root + "\n", nil},
		{"another directory", "pwd", b.outside + "\n", func(c *exec.Cmd) { c.Dir = b.outside }},
		{"words", `for w; do echo "<$w>"; done`, "<a b>\n<>\n<-x>\n<é\n>\n", arguments("a b", "", "-x", "é\n")},
		{"a long word", `echo ${#1}`, fmt.Sprintln(len(big)), arguments(big)},
		{"much output", `head -c 300000 /dev/zero | tr '\000' x`, strings.Repeat("x", 300000), nil},
		{"the null device", "echo hi >/dev/null; cat /dev/null; head -c 3 /dev/urandom | wc -c | tr -d ' '", "3\n", nil},
		{"a temporary file", `f=$(mktemp) && echo hi >"$f" && cat "$f"`, "hi\n", nil},
		{"a further file", "cat <&3", "handed over", func(c *exec.Cmd) { c.ExtraFiles = append(c.ExtraFiles, filled(t, "handed over")) }},
		{"several processes", "(echo a; (echo b & wait)); echo c", "a\nb\nc\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if f.Image && test.name == "a further file" {
				t.Skip("it is refused")
			}
			if got, err := b.run(test.script, test.change); err != nil || got != test.want {
				t.Errorf("%.300q, %v; want %.300q", got, err, test.want)
			}
		})
	}
}

func filled(t *testing.T, text string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err = f.WriteString(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ends(t *testing.T, s sandbox.Sandbox, f Features) {
	b := newBench(t, s)
	for _, code := range []int{1, 7, 126, 255} {
		if out, err := b.run(fmt.Sprint("exit ", code), nil); status(err) != code {
			t.Errorf("exit %d: %v, %s", code, err, out)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		out, err := b.run(fmt.Sprintf("kill -%d $$; sleep 60", sig), nil)
		if by := signal(err); by != sig && (f.Signals || status(err) != 128+int(sig)) {
			t.Errorf("signal %d: %v, %s", sig, err, out)
		}
	}
}

func status(err error) int { return statusOf(err).ExitStatus() }

// signal returns the signal that ended a command, 0 if none did.
func signal(err error) syscall.Signal {
	if status := statusOf(err); status.Signaled() {
		return status.Signal()
	}
	return 0
}

// files tests which files commands can write and read.
func files(t *testing.T, s sandbox.Sandbox) {
	b := newBench(t, s)
	more, kept := filepath.Join(b.outside, "more"), filepath.Join(b.root, "kept")
	for _, dir := range []string{more, kept} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.profile.Write, b.profile.ReadOnly = []string{more}, []string{kept}
	for _, test := range []struct {
		path string
		can  bool
	}{
		{filepath.Join(b.root, "new"), true},
		{filepath.Join(b.root, ".git", "index"), true},
		{filepath.Join(more, "new"), true},
		{filepath.Join(b.outside, "new"), false},
		{filepath.Join(b.outside, "file"), false},
		{filepath.Join(kept, "new"), false},
		{filepath.Join(b.root, ".git", "config"), false},
		{filepath.Join(b.root, ".git", "hooks", "pre-commit"), false},
		{filepath.Join(b.root, ".gemini", "settings.json"), false},
	} {
		before, _ := os.ReadFile(test.path)
		out, err := b.run(`echo written >"$1"`, arguments(test.path))
		after, _ := os.ReadFile(test.path)
		if wrote := string(after) == "written\n"; wrote != test.can || !wrote && string(after) != string(before) {
			t.Errorf("%s: %s, %v: %q", test.path, out, err, after)
		}
	}
	out, err := b.run("rm -r .git/hooks || mv .git elsewhere || mv .gemini elsewhere", nil)
	if err == nil || !there(filepath.Join(b.root, ".git", "hooks")) || !there(filepath.Join(b.root, ".gemini")) {
		t.Errorf("what is protected can be put away: %s", out)
	}
	b.profile.Unprotected = true
	if out, err := b.run("echo changed >.git/config", nil); err != nil {
		t.Errorf("what the user was asked about is refused: %s", out)
	}
	reads(t, s)
}

func reads(t *testing.T, s sandbox.Sandbox) {
	b := newBench(t, s)
	if out, err := b.run("cat ../outside/file", nil); err != nil || out != "there" {
		t.Errorf("reading outside: %q, %v", out, err)
	}
	if out, err := b.run("cat ../outside/secret/key; ls ../outside/secret; grep -r CANARY ../outside", nil); strings.Contains(out, "CANARY") {
		t.Errorf("a secret is read: %q, %v", out, err)
	}
	b.profile.Hidden = []string{filepath.Join(b.outside, "file")}
	if out, err := b.run("cat ../outside/secret/key; cat ../outside/file",
		nil); strings.Contains(out, "there") || !strings.Contains(out, "CANARY") {
		t.Errorf("a secret file: %q, %v", out, err)
	}
}

// network tests which addresses commands can reach.
func network(t *testing.T, s sandbox.Sandbox) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash, which can connect")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := newBench(t, s)
	for _, granted := range []bool{false, true} {
		b.profile.Network = granted
		out, err := b.run("", func(c *exec.Cmd) {
			c.Path, c.Args = bash, []string{"bash", "-c",
				fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", l.Addr().(*net.TCPAddr).Port)}
		})
		if (err == nil) != granted {
			t.Errorf("granted %v: %v, %s", granted, err, out)
		}
	}
}

// listed lists the interfaces of a network.
const listed = `sed -n 's/^ *\([a-z0-9]*\):.*/\1/p' /proc/net/dev`

// interfaces tests a command's own network interfaces.
func interfaces(t *testing.T, s sandbox.Sandbox) {
	if out, err := newBench(t, s).run(listed, nil); err != nil || out != "lo\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// readOnly tests commands confined to read-only.
func readOnly(t *testing.T, s sandbox.Sandbox) {
	if !s.State().RunsReadOnly {
		t.Skip("it can't hold commands to that")
	}
	b := newBench(t, s)
	b.put(filepath.Join(b.root, "file"), "in the workspace")
	b.profile.RunReadOnly, b.profile.Network, b.profile.Write = true, true, nil
	out, err := b.run(`cat file ../outside/file; f=$(mktemp) && echo ", noted" >"$f" && cat "$f"`, nil)
	if err != nil || out != "in the workspacethere, noted\n" {
		t.Errorf("looking: %q, %v", out, err)
	}
	for _, script := range []string{"echo changed >file", "echo >new", "rm file", "mkdir dir",
		"chmod 600 file", "mv file other", "echo changed >../outside/file", "echo >.git/index"} {
		if out, err := b.run(script, nil); err == nil {
			t.Errorf("%s: done, %s", script, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(b.root, "file")); err != nil ||
		string(text) != "in the workspace" || there(filepath.Join(b.root, "new")) {
		t.Errorf("it has changed: %q, %v", text, err)
	}
	if out, _ := b.run("cat ../outside/secret/key", nil); strings.Contains(out, "CANARY") {
		t.Error("a secret is read")
	}
	if out, err := b.run(listed, nil); err != nil || out != "lo\n" {
		t.Errorf("a network is there: %q, %v", out, err)
	}
}

// concurrent runs several commands at once.
func concurrent(t *testing.T, s sandbox.Sandbox) {
	b := newBench(t, s)
	const many = 16
	wrong := make(chan error, many)
	for i := range many {
		go func() {
			out, err := b.run(fmt.Sprintf("echo %d >f%d; cat f%d", i, i, i), nil)
			if err == nil && out != fmt.Sprintln(i) {
				err = fmt.Errorf("%q", out)
			}
			wrong <- err
		}()
	}
	for range many {
		if err := <-wrong; err != nil {
			t.Error(err)
		}
	}
}

// unstarted confines a command that is never started, and a command that can't be confined.
func unstarted(t *testing.T, s sandbox.Sandbox) {
	b := newBench(t, s)
	release, err := s.Confine(exec.Command("/bin/sh", "-c", "true"), b.profile)
	if err != nil {
		t.Fatal(err)
	}
	release()
	b.profile.Root = "/"
	if _, err := s.Confine(exec.Command("/bin/sh", "-c", "true"), b.profile); err == nil {
		t.Error("everything may be written to")
	}
}

// masked tests a masked program in a writable directory.
func masked(t *testing.T, s sandbox.Sandbox) {
	if !s.State().Masks {
		t.Skip("it says that it masks nothing")
	}
	b := newBench(t, s)
	bin := filepath.Join(b.root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	program, struck := filepath.Join(bin, "strike"), filepath.Join(b.root, "struck")
	b.put(program, "#!/bin/sh\n: >'"+struck+"'\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := b.run("PATH=$PWD/bin:$PATH; strike", nil); err != nil || !there(struck) {
		t.Fatalf("the program does not run: %v %s", err, out)
	}
	os.Remove(struck)
	b.profile.Masked = []string{program}
	for _, script := range []string{
		"PATH=$PWD/bin:$PATH; strike", "bin/strike", "$PWD/bin/strike", "sh bin/strike", ". bin/strike", "/proc/self/root$PWD/bin/strike",
		"cd bin && ./strike", "ln -s bin/strike x; ./x", "ln bin/strike y; ./y", "cp bin/strike z; ./z", "sh <bin/strike",
		"mv bin/strike w; ./w", "chmod 755 bin/strike; bin/strike", "mv bin old; old/strike",
		"umount bin/strike; bin/strike", "umount -l bin/strike; bin/strike", "unshare -m sh -c 'umount bin/strike; bin/strike'",
		"unshare -rm sh -c 'umount bin/strike; bin/strike'", "unshare -rm sh -c 'mount --bind bin old; old/strike'",
		"mkdir m; mount --bind bin m; m/strike", "nsenter -t 1 -m $PWD/bin/strike", "chroot / $PWD/bin/strike", "unshare -r chroot / $PWD/bin/strike",
	} {
		out, _ := b.run(script+"; cd '"+b.root+"'; cat bin/strike old/strike x y z w", nil)
		if there(struck) || strings.Contains(out, struck) {
			t.Errorf("%s: the program ran, or was read: %s", script, out)
			os.Remove(struck)
		}
		os.Rename(filepath.Join(b.root, "old"), bin)
	}
	if out, err := b.run("cp /bin/sh other && ./other -c 'echo ok'; rm other", nil); err != nil ||
		!strings.Contains(out, "ok") {
		t.Errorf("another program does not run: %v %s", err, out)
	}
}
