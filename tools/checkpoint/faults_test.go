package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gemline/engine/enginetest"
	"gemline/tools/workspace"
)

// undoing names the folder and the store of a process of its own that takes back a turn.
const undoing = "GEMLINE_TEST_UNDO"

func TestMain(m *testing.M) {
	dir, kept, ok := strings.Cut(os.Getenv(undoing), "\n")
	if !ok {
		os.Exit(m.Run())
	}
	os.Exit(takeBack(dir, kept))
}

// takeBack takes back the last turn in a folder, and returns 0 if all of it is done, 1 if
// some is not, and 2 if nothing was begun.
func takeBack(dir, kept string) int {
	ctx := context.Background()
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		fmt.Println(err)
		return 2
	}
	k := New(Config{Dir: kept, Workspace: ws, Session: func() string { return "session-1" }})
	defer k.Close()
	list, err := k.Turns(ctx)
	if err == nil && len(list) == 0 {
		err = ErrNothing
	}
	var p *Plan
	if err == nil {
		p, err = k.Undo(ctx, list[:1])
	}
	if err != nil {
		fmt.Println(err)
		return 2
	}
	o, err := k.Apply(ctx, p)
	if _, werr := fmt.Println(o, err); werr != nil { // whose write was the one to fail
		fmt.Println(o, err)
	}
	if err != nil || len(o.Failed)+len(p.Conflicts) > 0 { // a file that can't be read is a conflict
		return 1
	}
	return 0
}

// traces skips a test, or fails it, where strace does not work.
func traces(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatalf("strace: %v: %s", err, out)
		}
		t.Skip("strace does not work here")
	}
}

const (
	project = `mkdir -p src/deep lib empty; echo a >src/a; printf 'no end' >src/deep/b; chmod 750 src/deep; echo l >lib/l; chmod 600 lib/l; chmod 555 lib
		echo c >c; ln -s c link; echo gone >gone; chmod 711 empty`
	damage = `chmod 755 lib; rm -rf src lib empty link; echo other >c; mkdir -p made/x; echo m >made/x/m; ln -s made gone.link; rm gone; mkdir gone`
)

// What is said to be brought back stays so if the power fails: the disk is told to keep all
// that was changed before the undo is recorded.
func TestRestoreIsKept(t *testing.T) {
	traces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.run(project)
	p.turn("do it", p.shell(damage))
	p.Keeper.Close()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=write,fsync,renameat,renameat2,unlinkat,mkdirat,symlinkat,fchmod,fchmodat,fchownat,syncfs", self)
	cmd.Env = append(os.Environ(), undoing+"="+p.dir+"\n"+p.kept)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	dirty, changed, recorded := "", 0, 0
	synced, named := "", ""                               // the last file of the store, and the directory that has a new name
	path := regexp.MustCompile(`<([^>]*)>(?:, "(.*?)")?`) // of what a call is about
	for line := range strings.Lines(string(b)) {
		if at := path.FindStringSubmatch(line); at != nil && strings.HasPrefix(at[1], p.kept) {
			switch {
			case strings.Contains(line, "fsync(") && at[1] == named:
				named = ""
			case strings.Contains(line, "fsync("):
				synced = at[1]
			case strings.Contains(line, "rename") && (synced != filepath.Join(at[1], at[2]) || named != ""):
				t.Errorf("the disk was told to keep %s, and not the names in %q, before %s", synced, named, line)
			case strings.Contains(line, "rename"):
				named = at[1]
			}
		}
		switch here := strings.Contains(line, "<"+p.dir); {
		case strings.Contains(line, "syncfs(") && here:
			dirty = ""
		case here:
			dirty = line
			changed++
		case strings.Contains(line, "rename") && strings.Contains(line, "<"+filepath.Join(p.kept, "sessions")):
			recorded++
			if changed > 0 && dirty != "" {
				t.Errorf("recorded before the disk was told to keep %s", dirty)
			}
		}
	}
	if changed < 10 || recorded == 0 || synced == "" || named != "" {
		t.Errorf("%d changes, recorded %d times: %s", changed, recorded, b)
	}
}

// Whatever goes wrong while files are brought back, and wherever the process is killed:
// each file is as it was or as it is to be, what is not done is said, and when it is done
// again, all is as it was.
func TestRestoreFaults(t *testing.T) {
	traces(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	for _, call := range []string{"write", "renameat", "renameat2", "fsync", "unlinkat", "mkdirat", "symlinkat", "fchmod", "fchmodat", "openat", "close"} {
		for _, how := range []string{"signal=KILL", "error=ENOSPC", "error=EIO"} {
			for n := 1; n <= 6; n++ {
				faults = append(faults, fmt.Sprintf("%s:%s:when=%d", call, how, n))
			}
		}
	}
	r := enginetest.Random(t, 16)
	r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	killed, failed := 0, 0
	for _, fault := range faults[:enginetest.Rounds(12, len(faults))] {
		p := newPlace(t)
		p.run(project)
		before := p.picture()
		p.turn("do it", p.shell(damage))
		after := p.picture()
		p.Keeper.Close()
		call, _, _ := strings.Cut(fault, ":")
		cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+fault, self)
		cmd.Env = append(os.Environ(), undoing+"="+p.dir+"\n"+p.kept)
		out, err := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		p.run("find . -name '.gemline-*' -delete") // as the next start of the program does
		is := strings.Split(p.picture(), "\n")
		old, wanted := strings.Split(before, "\n"), strings.Split(after, "\n")
		for _, line := range is {
			name, rest, _ := strings.Cut(line, " ")
			if !slices.Contains(old, line) && !slices.Contains(wanted, line) && !strings.HasPrefix(rest, "d") {
				t.Fatalf("%s: %s is neither as it was nor as it is to be: %s", fault, name, line)
			}
		}
		redone := func() { // what was taken back in two steps is done again in one
			p.redo()
			same(t, fmt.Sprintf("%s: %s: and back", fault, out), p.picture(), after)
		}
		switch {
		case code == 0:
			same(t, fault+": all is said to be done", strings.Join(is, "\n"), before)
			p.again("session-1")
			redone()
			continue
		case code == 1 && len(bytes.TrimSpace(out)) == 0, err == nil:
			t.Fatalf("%s: %d, %s", fault, code, out)
		case code == 1:
			failed++
		default:
			killed++
		}
		p.again("session-1")
		if list, err := p.Turns(t.Context()); err == nil && list[0].Undone { // it went wrong after that
			same(t, fault+": all is recorded as done", strings.Join(is, "\n"), before)
			redone()
			continue
		}
		if plan, o := p.undo(1, false); len(plan.Conflicts)+len(o.Failed) > 0 {
			t.Fatalf("%s: %s: once more: %+v %+v", fault, out, plan.Conflicts, o)
		}
		same(t, fmt.Sprintf("%s: %s: done again", fault, out), p.picture(), before)
		redone()
	}
	if t.Logf("%d killed or not begun, %d failed", killed, failed); killed == 0 || failed == 0 {
		t.Error("nothing went wrong")
	}
}

// poor are files of a store on a disk that has room for so many writes.
type poor struct{ left *int }

type poorFile struct {
	file
	left *int
}

func (f poor) create(at *os.Root) (file, error) {
	file, err := createFile(at)
	return poorFile{file, f.left}, err
}

func (f poorFile) Write(b []byte) (int, error) {
	if *f.left--; *f.left >= 0 {
		return f.file.Write(b)
	}
	n, _ := f.file.Write(b[:len(b)/2])
	return n, errors.Join(io.ErrShortWrite, syscall.ENOSPC)
}

// Where the disk is full, a call is said not to be kept, nothing is brought back whose
// present state can't be kept, and what was kept before is there when there is room again.
func TestFullDisk(t *testing.T) {
	for room := range 9 {
		left := 1 << 30
		p := newPlace(t, func(c *Config) { c.create = poor{&left}.create })
		p.write("a", "1")
		p.turn("first", func() { p.write("a", "2") })
		left = room
		p.turn("second", func() { p.write("a", "3"); p.write("b", "3") })
		told := len(p.told)
		p.write("a", "mine")
		list, err := p.Turns(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told == 0 && len(list) != 2 {
			t.Errorf("%d: %d turns are kept, and nothing is said", room, len(list))
		}
		plan, err := p.Undo(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		plan.Overwrite()
		_, err = p.Apply(t.Context(), plan)
		b, _ := os.ReadFile(filepath.Join(p.dir, "a"))
		if got := string(b); err != nil && strings.Contains(err.Error(), "nothing is changed") && got != "mine" || got != "mine" && got != "1" {
			t.Errorf("%d: a is %q, %v", room, got, err)
		}
		left = 1 << 30
		p.again("session-1")
		if list, err = p.Turns(t.Context()); err != nil || len(list) == 0 {
			t.Fatalf("%d: %d turns, %v", room, len(list), err)
		}
		if list = slices.DeleteFunc(list, func(d *ChangedTurn) bool { return d.Undone }); len(list) > 0 {
			p.undo(len(list), true)
		}
		if b, _ := os.ReadFile(filepath.Join(p.dir, "a")); string(b) != "1" {
			t.Errorf("%d: in the end a is %q", room, b)
		}
	}
}
