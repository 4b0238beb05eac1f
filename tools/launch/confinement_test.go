package launch

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

// A stub is a sandbox in some state, which marks what it confines.
type stub struct{ state sandbox.State }

func (s stub) State() sandbox.State { return s.state }

func (s stub) Confine(cmd *exec.Cmd, _ sandbox.Profile) (func(), error) {
	cmd.Args = append([]string{"confined"}, cmd.Args...)
	return func() {}, nil
}

// A noting is a stub that keeps the profile.
type noting struct {
	stub
	p *sandbox.Profile
}

func (n noting) Confine(cmd *exec.Cmd, p sandbox.Profile) (func(), error) {
	*n.p = p
	return n.stub.Confine(cmd, p)
}

// Where nothing is in force the default lets commands run as they are, and
// what was asked for does not.
func TestCaches(t *testing.T) {
	caches := filepath.Join(t.TempDir(), "caches")
	for _, test := range []struct {
		name  string
		state sandbox.State
		soft  bool
		want  string
	}{
		{"all, by default", sandbox.State{Files: true, Network: true}, true, "confined true"},
		{"a part, by default", sandbox.State{Network: true}, true, "confined true"},
		{"nothing, by default", sandbox.State{}, true, "true"},
		{"nothing, though asked for", sandbox.State{}, false, "confined true"},
	} {
		cmd := exec.Command("true")
		var p sandbox.Profile
		release, err := withCaches{noting{stub{test.state}, &p}, test.soft, caches, "/built"}.Confine(cmd, sandbox.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		release()
		if got := strings.Join(cmd.Args, " "); got != test.want {
			t.Errorf("%s: %s", test.name, got)
		}
		confined, at := strings.HasPrefix(test.want, "confined"), filepath.Join(caches, "go-build")
		if slices.Contains(cmd.Env, "GOCACHE="+at) != confined {
			t.Errorf("%s: the environment is %q", test.name, cmd.Env)
		}
		if confined && (p.Cache != at || p.Below != "/built") {
			t.Errorf("%s: what was compiled is looked for at %q and %q", test.name, p.Cache, p.Below)
		}
	}
}

// A session says what does not hold its commands in full.
func TestLack(t *testing.T) {
	partly := sandbox.State{Name: "kernel", Step: "seccomp", Network: true}
	for _, test := range []struct {
		name     string
		launcher Launcher
		want     string
	}{
		{"in force", Launcher{Sandbox: stub{sandbox.State{Files: true, Network: true}}}, ""},
		{"no files", Launcher{Sandbox: stub{partly}}, "commands are not confined (seccomp)"},
		{"no network", Launcher{Sandbox: stub{sandbox.State{Name: "kernel", Step: "Landlock", Files: true}}}, "commands are confined in part (kernel: Landlock)"},
		{"nothing here", Launcher{why: "nothing does it here"}, "commands are not confined (nothing does it here)"},
		{"as somebody wants it", Launcher{why: "switched off by --sandbox", quiet: true}, ""},
	} {
		if got := test.launcher.Degraded(); (got != "") != (test.want != "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

// A sandbox that does not keep commands from the network runs none offline.
func TestCut(t *testing.T) {
	for _, test := range []struct {
		state sandbox.State
		want  string
	}{
		{sandbox.State{Name: "test", Files: true, Network: true}, "confined"},
		{sandbox.State{Name: "test", Files: true}, "--offline: test does not keep commands from the network"},
		{sandbox.State{Name: "test"}, "--offline: test does not keep commands from the network"},
	} {
		l := Launcher{Config: Config{Cut: true}, Sandbox: withCaches{Sandbox: stub{test.state}, soft: true}, Roots: func() []string { return []string{"/"} }}
		cmd := exec.Command("true")
		got := ""
		if _, err := l.confine(Command{})(cmd); err != nil {
			got = err.Error()
		} else {
			got = cmd.Args[0]
		}
		if got != test.want {
			t.Errorf("%+v: %s; want %s", test.state, got, test.want)
		}
	}
}

// Where a sandbox leaves files alone, no right to files is missing.
func TestNoFiles(t *testing.T) {
	dirs := []string{"/a", "/b", "/c", "/d"}
	l := Launcher{Sandbox: stub{sandbox.State{Network: true}}, Roots: func() []string { return dirs }}
	lacks, _ := l.MissingRights(engine.Plan{Dir: "/"}, shell.Outcome{Code: 1, Output: "touch: cannot touch '/etc/x': Permission denied\nCould not resolve host: x"})
	if lacks.String() != "the network" || l.Limits() != "have no network, and can change any file" {
		t.Errorf("it lacks %s; commands %s", lacks, l.Limits())
	}
	l.Sandbox = stub{sandbox.State{Files: true, Network: true}}
	if got, want := l.Limits(), "write only in this folder and 3 others, without network"; got != want {
		t.Errorf("commands %s; want %s", got, want)
	}
}

// A program that is attached to the terminal ends with its context, for the context's reason.
func TestAttach(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	go func() {
		r.Read(make([]byte, 1))
		cancel(io.ErrUnexpectedEOF)
		io.Copy(io.Discard, r)
	}()
	l := Launcher{Roots: func() []string { return []string{"/"} }}
	if err := l.Attach(ctx, Command{Argv: []string{"sh", "-c", "echo; exec sleep 100"}}, Streams{Out: w}); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}
