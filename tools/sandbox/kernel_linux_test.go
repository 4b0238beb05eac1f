package sandbox

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if code, ok := Init(os.Args, os.Stderr); ok {
		os.Exit(code)
	}
	switch os.Getenv(probeVariable) {
	case "run":
		os.Exit(probeProgram())
	case "victim":
		os.Stdout.WriteString(".")
		os.Stdin.Read(make([]byte, 1))
		return
	}
	programs := map[string]func() error{"concealed": concealed, "nested": nested, "no proc": withoutProc, "temp": temporaryFiles}
	if program := programs[os.Getenv(probeVariable)]; program != nil {
		if err := program(); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE} {
		if signal.Ignored(sig) { // as in the background of a script; commands would ignore it as well
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Exit(m.Run())
}

// kernel returns the confinement of this system, or skips the test where there
// is none.
func kernel(t *testing.T, o Options) *Kernel {
	t.Helper()
	k := New(o)
	t.Cleanup(func() { k.Close() })
	if s := k.State(); !s.Confined() {
		t.Skipf("commands can't be confined here: %+v", s)
	}
	return k
}

// has reports whether a layer is in force.
func has(k *Kernel, layer string) bool {
	return slices.ContainsFunc(k.State().Layers, func(l Layer) bool { return l.Name == layer && l.On })
}

// spaces returns a Kernel with namespaces, or skips.
func spaces(t *testing.T) *Kernel {
	t.Helper()
	k := kernel(t, Options{})
	if !has(k, "namespaces") {
		t.Skip("this kernel gives no namespaces: ", k.State().Step)
	}
	return k
}

// bash runs a script confined, in the workspace.
func bash(t *testing.T, k *Kernel, p Profile, script string) (out string, err error) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "--", script)
	cmd.Dir = p.Root
	return output(t, k, cmd, p)
}

// output runs cmd confined and returns what it writes until nobody holds that
// any more.
func output(t *testing.T, k *Kernel, cmd *exec.Cmd, p Profile) (string, error) {
	t.Helper()
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	cmd.Stdout, cmd.Stderr = theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = begin(k, cmd, p)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(ours)
	if err != nil {
		t.Error(err)
	}
	return string(b), cmd.Wait()
}

// begin starts cmd confined by k.
func begin(k *Kernel, cmd *exec.Cmd, p Profile) error {
	release, err := k.Confine(cmd, p)
	if err != nil {
		return err
	}
	defer release()
	return cmd.Start()
}

// start starts a script in a group of its own and returns what it writes.
func start(t *testing.T, k *Kernel, script string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "--", script)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	cmd.Stdout, cmd.Stderr = theirs, os.Stderr
	err = begin(k, cmd, Profile{Root: cmd.Dir})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	return cmd, bufio.NewReader(ours)
}

func TestWrites(t *testing.T) {
	k := spaces(t)
	root, other := t.TempDir(), t.TempDir()
	out, err := bash(t, k, Profile{Root: root}, `echo in > in; echo out > `+filepath.Join(other, "out")+`; echo temp > /tmp/x && cat /tmp/x; exit 7`)
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 {
		t.Errorf("%v: %s", err, out)
	}
	if !strings.HasSuffix(out, "temp\n") {
		t.Errorf("no temporary files: %s", out)
	}
	if b, err := os.ReadFile(filepath.Join(root, "in")); string(b) != "in\n" {
		t.Error("in the workspace:", err)
	}
	if entries, _ := os.ReadDir(other); len(entries) > 0 {
		t.Error("outside:", entries)
	}
}

// Following the links of many paths at once leads where following each does.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"real/in", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "real", "real/in/up": "../../other", "loop": "loop", "broken": "nowhere", "chain": "link/in"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "real", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	follow := links{}
	for range 2 { // the second time by what is known
		for _, path := range []string{"real", "link", "link/in", "link/in/up", "link/file", "link/none", "real/file/below", "loop", "loop/in", "broken", "broken/in", "chain", "chain/up", "none/none", "../" + filepath.Base(dir) + "/link"} {
			path = filepath.Join(dir, path)
			want, wantErr := filepath.EvalSymlinks(path)
			got, err := follow.resolve(path)
			if (err == nil) != (wantErr == nil) || errors.Is(err, os.ErrNotExist) != errors.Is(wantErr, os.ErrNotExist) || err == nil && got != want {
				t.Errorf("%s: %q, %v; not %q, %v", path, got, err, want, wantErr)
			}
		}
	}
	for _, path := range []string{"/", "/usr"} {
		if got, err := follow.resolve(path); err != nil || got != path {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
