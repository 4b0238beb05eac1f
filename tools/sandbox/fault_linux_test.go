package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNames confines commands in workspaces with names that mean something to
// shells, file tables and terminals.
func TestNames(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		for _, name := range []string{"a b", "a\nb", "-rf", "$(id)", "a\\040b", "\xff\xfe", "'", "a,b=c:d", strings.Repeat("x", 200)} {
			root := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := bash(t, k, Profile{Root: root}, "echo x > in"); err != nil {
				t.Errorf("%q: %v: %s", name, err, out)
			}
			if _, err := os.Stat(filepath.Join(root, "in")); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// TestWorkspaces has workspaces that can't be confined to.
func TestWorkspaces(t *testing.T) {
	k := kernel(t, Options{})
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/", link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Profile{
		{}, {Root: "relative"}, {Root: "/"}, {Root: "//"}, {Root: link}, {Root: filepath.Join(dir, "none")}, {Root: "/etc"}, {Root: "/proc"},
		{Root: dir, Write: []string{"/"}}, {Root: dir, Write: []string{link}}, {Root: dir, Hidden: []string{"relative"}},
	} {
		cmd := exec.Command("true")
		if _, err := k.Confine(cmd, p); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}

// TestLink has the workspace be a link, and lead through one.
func TestLink(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		dir := t.TempDir()
		real := filepath.Join(dir, "real")
		link := filepath.Join(dir, "link")
		if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink("real", link)); err != nil {
			t.Fatal(err)
		}
		if out, err := bash(t, k, Profile{Root: link}, "echo x > in"); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat(filepath.Join(real, "in")); err != nil {
			t.Error(err)
		}
	})
}

// TestOverlapping has directories in one another.
func TestOverlapping(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		root := t.TempDir()
		for _, name := range []string{"w/r/w", "secret"} {
			if err := os.MkdirAll(filepath.Join(root, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "secret/key"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := Profile{Root: root, Write: []string{root + "/w", "/nowhere/at/all"}, Hidden: []string{root + "/secret", root + "/none"}}
		if k.State().Step == "namespaces, Landlock, seccomp" {
			p.ReadOnly = []string{root + "/w/r", root + "/none"}
		}
		out, err := bash(t, k, p, `echo x > w/a && echo x > b && ! cat secret/key 2>/dev/null`)
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if len(p.ReadOnly) > 0 {
			if out, err := bash(t, k, p, `echo x > w/r/a`); err == nil {
				t.Errorf("what is read-only was written: %s", out)
			}
		}
	})
}

// TestDirectories runs commands in directories other than the workspace.
func TestDirectories(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		root := t.TempDir()
		run := func(dir string) (string, error) {
			cmd := exec.Command("sh", "-c", "pwd -P; echo x > written-by-a-test")
			cmd.Dir = dir
			release, err := k.Confine(cmd, Profile{Root: root})
			if err != nil {
				return "", err
			}
			defer release()
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := run("/usr"); err == nil || !strings.HasPrefix(out, "/usr\n") {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat("/usr/written-by-a-test"); err == nil {
			os.Remove("/usr/written-by-a-test")
			t.Error("it wrote there")
		}
		if _, err := run(filepath.Join(root, "none")); err == nil {
			t.Error("it ran in a directory that is not there")
		}
	})
}

// TestGoneDirectory starts a command where the directory is no more.
func TestGoneDirectory(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		gone := filepath.Join(t.TempDir(), "gone")
		if err := os.Mkdir(gone, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "echo ran")
		release, err := k.Confine(cmd, Profile{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		// The shell between removes it under itself.
		bash, err := exec.LookPath("bash")
		if err != nil {
			t.Skip(err)
		}
		wrap := exec.Command(bash, append([]string{"-c", `rmdir "$PWD"; exec -a "$1" "$0" "${@:2}"`, cmd.Path}, cmd.Args...)...)
		wrap.Dir, wrap.ExtraFiles = gone, cmd.ExtraFiles
		out, err := wrap.CombinedOutput()
		if err == nil || strings.Contains(string(out), "ran") || !strings.Contains(string(out), "is gone") {
			t.Errorf("%v: %s", err, out)
		}
	})
}

// TestLarge has much to pass on.
func TestLarge(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		root := t.TempDir()
		cmd := exec.Command("sh", "-c", `printf %s "${#1} ${#LARGE}"`, "sh", strings.Repeat("x", 120<<10))
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "LARGE="+strings.Repeat("y", 120<<10))
		p := Profile{Root: root}
		for i := range 500 {
			p.Hidden = append(p.Hidden, fmt.Sprintf("%s/%d/%s", root, i, strings.Repeat("z", 200)))
		}
		release, err := k.Confine(cmd, p)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "122880 122880" {
			t.Errorf("%v: %.200s", err, out)
		}
	})
}

// TestNoProgram has a command that can't be started.
func TestNoProgram(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		cmd := exec.Command(filepath.Join(t.TempDir(), "none"))
		cmd.Dir = t.TempDir()
		release, err := k.Confine(cmd, Profile{Root: cmd.Dir})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "gemline: sandbox:") {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := k.Confine(exec.Command("no-such-program"), Profile{Root: cmd.Dir}); err == nil {
			t.Error("a program that was not found is confined")
		}
	})
}

// TestClosedStreams starts commands without some of their streams.
func TestClosedStreams(t *testing.T) {
	ways(t, func(t *testing.T, k *Kernel) {
		root := t.TempDir()
		for _, close := range []string{"0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"} {
			cmd := exec.Command("sh", "-c", "echo x > ran")
			release, err := k.Confine(cmd, Profile{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			bash, err := exec.LookPath("bash")
			if err != nil {
				t.Skip(err)
			}
			wrap := exec.Command(bash, append([]string{"-c", `exec -a "$1" "$0" "${@:2}" ` + close, cmd.Path}, cmd.Args...)...)
			wrap.Dir, wrap.ExtraFiles = root, cmd.ExtraFiles
			out, err := wrap.CombinedOutput()
			release()
			_, there := os.Stat(filepath.Join(root, "ran"))
			if err != nil && there == nil || err == nil && there != nil {
				t.Errorf("%s: %v: %s", close, err, out)
			}
			os.Remove(filepath.Join(root, "ran"))
		}
	})
}

// TestNested confines commands of a confined program, where the kernel forbids
// most of what it takes: less is in force, and that is said; and what was to
// be had and fails lets nothing run.
func TestNested(t *testing.T) {
	k := kernel(t, Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), probeVariable+"=nested")
	release, err := k.Confine(cmd, Profile{Root: cmd.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// nested is the program of TestNested.
func nested() error {
	k := New(Options{})
	defer k.Close()
	s := k.State()
	if strings.HasPrefix(s.Step, "namespaces") || s.Layers[1].On || s.Layers[1].Why == "" {
		return fmt.Errorf("%+v", s)
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	run := func(layers []string) ([]byte, error) {
		cmd := exec.Command("sh", "-c", "echo x > ran; cat /etc/passwd > /dev/null && echo ran")
		k.layers = layers
		release, err := k.Confine(cmd, Profile{Root: root})
		if err != nil {
			return nil, err
		}
		defer release()
		return cmd.CombinedOutput()
	}
	if out, err := run(k.layers); err != nil || string(out) != "ran\n" {
		return fmt.Errorf("at the step of %q: %w: %s", s.Step, err, out)
	}
	if err := os.Remove("ran"); err != nil {
		return err
	}
	out, err := run(allLayers)
	if _, there := os.Stat("ran"); err == nil || there == nil || !strings.Contains(string(out), "gemline: sandbox: user namespace: ") {
		return fmt.Errorf("with layers that can't be had: %w: %s", err, out)
	}
	return nil
}

// TestFull fills the private memory and the temporary directory's name.
func TestFull(t *testing.T) {
	k := spaces(t)
	root := t.TempDir()
	out, err := bash(t, k, Profile{Root: root}, "df /dev/shm > /dev/null; head -c 100000 /dev/zero > /dev/shm/x && echo x > in")
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.RemoveAll(k.temp.path); err != nil { // somebody tidies up
		t.Fatal(err)
	}
	if out, err := bash(t, k, Profile{Root: root}, "echo x > /tmp/x"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNoTemp has no place for temporary files: nothing is confined, and that
// is said.
func TestNoTemp(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	k := New(Options{Temp: []string{none}, Cache: "/proc/none"})
	defer k.Close()
	if s := k.State(); s.Confined() || !strings.Contains(s.Step, none) {
		t.Errorf("%+v", s)
	}
	if _, err := k.Confine(exec.Command("true"), Profile{Root: "/usr"}); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}

// TestNoProc has no /proc: what can't be had without it is left out, or
// nothing runs.
func TestNoProc(t *testing.T) {
	if os.Getenv(probeVariable) != "" {
		t.Skip("this is it")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can take /proc away")
	}
	kernel(t, Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), probeVariable+"=no proc")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "may not") || errors.Is(err, syscall.EPERM) {
		t.Skipf("this root can't take /proc away: %v %s", err, out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestLinkedPrograms has programs behind a link in /run, as on NixOS.
func TestLinkedPrograms(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if os.Geteuid() != 0 || err != nil {
		t.Skip("only root can have another /run, and it takes bash: ", err)
	}
	k := kernel(t, Options{})
	cmd := exec.Command("sh", "-c", "test -d /run/current-system/bin && echo there")
	cmd.Dir = t.TempDir()
	release, err := k.Confine(cmd, Profile{Root: cmd.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	wrap := exec.Command(bash, append([]string{"-c", `mount -t tmpfs none /run && ln -s /usr /run/current-system || { echo may not; exit; }
		exec -a "$1" "$0" "${@:2}"`, cmd.Path}, cmd.Args...)...)
	wrap.Dir, wrap.ExtraFiles = cmd.Dir, cmd.ExtraFiles
	wrap.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := wrap.CombinedOutput()
	if strings.Contains(string(out), "may not") || errors.Is(err, syscall.EPERM) {
		t.Skipf("this root can't have another /run: %v %s", err, out)
	}
	if err != nil || string(out) != "there\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// withoutProc is the program of TestNoProc.
func withoutProc() error {
	if err := unix.Mount("none", "/proc", "tmpfs", 0, ""); err != nil {
		os.Stdout.WriteString("may not mount")
		return nil
	}
	k := New(Options{})
	defer k.Close()
	s := k.State()
	root, err := os.MkdirTemp("", "proc-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	other, err := os.MkdirTemp("", "proc-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(other)
	cmd := exec.Command("sh", "-c", "echo x > "+other+"/out")
	cmd.Dir = root
	release, err := k.Confine(cmd, Profile{Root: root})
	if err != nil {
		return nil // it says that it can't
	}
	defer release()
	cmd.Run()
	if _, err := os.Stat(other + "/out"); err == nil && s.Files {
		return fmt.Errorf("it wrote elsewhere, and %+v", s)
	}
	return nil
}
