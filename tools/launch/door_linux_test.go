package launch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
)

func TestMain(m *testing.M) {
	if code, ok := sandbox.Init(os.Args, os.Stderr); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// newLauncher returns one that works in dir, confined by the kernel.
func newLauncher(t *testing.T, dir string) *Launcher {
	t.Helper()
	l, err := New(Config{Shell: shell.Settings{Environ: append(os.Environ(), "A_TOKEN=CANARY")}, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if !l.State().Confined() {
		t.Skip("the kernel confines nothing here")
	}
	t.Cleanup(l.Close)
	l.Roots = func() []string { return []string{dir} }
	return l
}

// What is read where commands have a directory of their own is seen, and no more
// than that.
func TestRead(t *testing.T) {
	dir, there := disk.ResolveLinks(t.TempDir()), disk.ResolveLinks(t.TempDir())
	l := newLauncher(t, dir)
	file := filepath.Join(there, "file")
	if err := os.WriteFile(file, []byte("seen"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Command{Text: "cat " + file, Dir: dir}
	o := l.Run(t.Context(), c)
	lacks, _ := l.MissingRights(engine.Plan{Dir: dir}, o)
	if got, want := lacks.String(), "reading the file "+file; got != want {
		t.Fatalf("%q lacks %q, want %q", o.Output, got, want)
	}
	c.Text += "; echo x >" + file + " || echo kept"
	c.Rights = lacks
	if o := l.Run(t.Context(), c); !strings.HasPrefix(o.Output, "seen") || !strings.HasSuffix(o.Output, "kept") {
		t.Errorf("%+v", o)
	}
	o.Output = "bash: " + file + ": No such file or directory"
	if lacks, _ := l.MissingRights(engine.Plan{Dir: dir, Writes: []string{file}}, o); lacks.String() != "writing to the file "+file {
		t.Errorf("what writes there lacks %q", lacks)
	}
}

// A hook has what happened to read, and two outputs. It ends in time, and so does
// what it has started; what it may do, it is told.
func TestHook(t *testing.T) {
	dir, out := disk.ResolveLinks(t.TempDir()), disk.ResolveLinks(t.TempDir())
	l := newLauncher(t, dir)
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		name, text, input string
		free              bool
		timeout           time.Duration
		want              func(o shell.Outcome) bool
	}{
		{"answers", "cat; echo no >&2; exit 2", long, true, time.Minute, func(o shell.Outcome) bool { return o.Output == long && o.Stderr == "no" && o.Code == 2 }},
		{"reads nothing", "exec 0<&-; echo yes", long, true, time.Minute, func(o shell.Outcome) bool { return o.OK() && o.Output == "yes" }},
		{"says much", "head -c 300000 /dev/zero | tr '\\0' y >&2", "", true, time.Minute, func(o shell.Outcome) bool { return o.Cut && len(o.Stderr) <= 256<<10 }},
		{"is late", "sleep 50 & trap '' TERM; echo begun; sleep 50; sleep 50", "", true, 300 * time.Millisecond,
			func(o shell.Outcome) bool { return o.Limit > 0 && o.Output == "begun" }},
		{"leaves something", "sleep 50 & echo $!", "", true, time.Minute, func(o shell.Outcome) bool {
			_, err := os.Stat("/proc/" + o.Output + "/exe")
			return o.OK() && err != nil
		}},
		{"has all rights", "echo $A_TOKEN; echo x >" + out + "/free", "", true, time.Minute, func(o shell.Outcome) bool { return o.OK() && o.Output == "" }},
		{"is confined", "cat; echo x >" + out + "/confined", "in", false, time.Minute, func(o shell.Outcome) bool { return o.Code != 0 && o.Output == "in" && o.Stderr != "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := l.Run(t.Context(), Command{Text: test.text, Dir: dir, Unconfined: test.free, Vars: Usual, Input: test.input, SplitStderr: true, Limit: Limit{Timeout: test.timeout}})
			if !test.want(o) {
				t.Errorf("%.300v %.300q %.300q", o.Err, o.Output, o.Stderr)
			}
		})
	}
}

// A server stays until it is closed, however it takes that, and nothing of it goes on.
func TestServer(t *testing.T) {
	dir := disk.ResolveLinks(t.TempDir())
	l := newLauncher(t, dir)
	for _, test := range []struct {
		name, text string
		free       bool
		signal     bool
	}{
		{"ends by itself", `echo ready; echo here >&2; while read -r x; do echo "<$x>"; done`, true, false},
		{"confined", `echo ready; echo here >&2; while read -r x; do echo "<$x>"; done`, false, false},
		{"goes on", `trap '' TERM; echo ready; echo here >&2; read -r x; echo "<$x>"; while :; do sleep 50; done`, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := l.Open(Command{Argv: []string{"bash", "-c", test.text}, Dir: dir, Unconfined: test.free, Vars: Usual})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r := bufio.NewReader(p.Stdout)
			first, _ := r.ReadString('\n')
			fmt.Fprintln(p.Stdin, "hello")
			second, _ := r.ReadString('\n')
			if first+second != "ready\n<hello>\n" {
				t.Errorf("it says %q", first+second)
			}
			o := p.Close()
			if o.Stderr != "here" || (o.Signal != 0) != test.signal {
				t.Errorf("%+v", o)
			}
			select {
			case <-p.Done():
			default:
				t.Error("it goes on")
			}
			if again := p.Close(); again.Stderr != o.Stderr {
				t.Errorf("closed again: %+v", again)
			}
		})
	}
}
