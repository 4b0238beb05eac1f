//go:build unix

package attach

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain dials where it is asked to, as another user.
func TestMain(m *testing.M) {
	if dir := os.Getenv("ATTACH_DIR"); dir != "" {
		c, err := Dial(context.Background(), dir, "1")
		if err == nil {
			c.Close()
			os.Stdout.WriteString("let in\n")
			return
		}
		os.Stdout.WriteString(err.Error() + "\n")
		return
	}
	os.Exit(m.Run())
}

// hub returns a Hub with its socket, and what it warned of.
func hub(t *testing.T) (*Hub, string, chan string) {
	t.Helper()
	dir, warned := t.TempDir(), make(chan string, 8)
	h := NewHub(Config{Dir: dir, Info: func() Info { return Info{ID: "1"} }, Interrupt: func() {}, Warn: func(s string) { warned <- s }})
	if err := h.Reachable(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h, dir, warned
}

// come returns a listener that has said hello, and has heard of what is open.
func come(t *testing.T, dir string) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.sock.Write(encode(message{Type: hello, By: "x"}))
	return c
}

// next returns the next message of a type.
func next(t *testing.T, c *Conn, kind string) message {
	t.Helper()
	for m := range c.in {
		if m.Type == kind {
			return m
		}
	}
	t.Fatalf("no %s came", kind)
	return message{}
}

func TestFirstAnswerCounts(t *testing.T) {
	h, dir, _ := hub(t)
	lines := h.Open("sure? ", true)
	one, two := come(t, dir), come(t, dir)
	n := next(t, one, open).Number
	next(t, two, open)
	early := message{Type: said, Text: "typed before"} // as if no question were shown
	one.sock.Write(encode(early))
	if got := next(t, one, late); !strings.Contains(got.Text, "typed before") {
		t.Errorf("%+v", got)
	}
	one.sock.Write(encode(message{Type: said, Number: n - 1, Text: "to another question"}))
	next(t, one, late)
	one.sock.Write(encode(message{Type: said, Number: n, Text: "y"}))
	if s := <-lines; s.Text != "y" {
		t.Errorf("%+v", s)
	}
	two.sock.Write(encode(message{Type: said, Number: n, Text: "n"}))
	if got := next(t, two, late); !strings.Contains(got.Text, "not sent: n") {
		t.Errorf("%+v", got)
	}
	h.Shut("by one")
	next(t, two, busy)
}

// A listener that does not read is dropped, and the session goes on.
func TestSlowListener(t *testing.T) {
	h, dir, warned := hub(t)
	h.Open("> ", false)
	slow := come(t, dir)
	next(t, slow, open)
	b := []byte(strings.Repeat("x", 64<<10) + "\n")
	for done := false; !done; {
		h.Print(b)
		select {
		case w := <-warned:
			done = strings.Contains(w, "reads too slowly")
		default:
		}
	}
	again := come(t, dir)
	if got := next(t, again, text); !strings.Contains(got.Text, "left out") {
		t.Errorf("%.100q", got.Text)
	}
}

// Another user is refused, also where the file's mode would let him in.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	place, err := os.MkdirTemp("/tmp", "attach")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	program := filepath.Join(place, "program")
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chmod(place, 0o755)
	h := NewHub(Config{Dir: filepath.Join(place, "s"), Info: func() Info { return Info{ID: "1"} }})
	if err := h.Reachable(); err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	dial := func() string {
		cmd := exec.Command(program)
		cmd.Dir, cmd.Env = "/", []string{"ATTACH_DIR=" + filepath.Join(place, "s")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := dial(); got != "the session 1 can't be attached to: it belongs to another user\n" {
		t.Errorf("a private directory: %s", got)
	}
	os.Chmod(filepath.Join(place, "s"), 0o777)
	os.Chmod(filepath.Join(place, "s", "1.sock"), 0o777)
	if got := dial(); !strings.Contains(got, "another user") {
		t.Errorf("an open directory: %s", got)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(place, "s", "1.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sameUser(conn); err != nil {
		t.Error(err)
	}
}

// Only the user can reach a socket, also in a directory that was open to all.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := listen(dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, s.path: os.ModeSocket | 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// However long an id and the path of its directory are, the session is reached by the id, and
// also where a process that was killed has left its socket.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS == "linux" {
		dir = filepath.Join(dir, strings.Repeat("deep/", 40))
	}
	long := strings.Repeat("n", 127)
	for _, id := range []string{"short", long + "1", long + "2"} {
		left, err := listen(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		left.UnixListener.Close()
		h := NewHub(Config{Dir: dir, Info: func() Info { return Info{ID: id, Folder: "/project"} }})
		if err := h.Reachable(); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		defer h.Close()
	}
	if all := Live(t.Context(), dir); len(all) != 3 {
		t.Errorf("%+v", all)
	}
	for _, id := range []string{"short", long + "1", long + "2"} {
		c, err := Dial(t.Context(), dir, id)
		if err != nil {
			t.Fatal(err)
		}
		if c.Info.ID != id {
			t.Errorf("%s is %s", id, c.Info.ID)
		}
		c.Close()
	}
}

// Sessions that do not answer, as when they are stopped, are listed, and asked all at once.
func TestSilent(t *testing.T) {
	dir := t.TempDir()
	ids := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	for _, id := range ids {
		s, err := listen(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
	}
	began := time.Now()
	all := Live(t.Context(), dir)
	if took := time.Since(began); len(all) != len(ids) || all[0].Describe() != "a: not answering" || took > time.Duration(len(ids)/2)*lookWithin {
		t.Errorf("%+v after %v", all, took)
	}
	if _, err := dial(t.Context(), dir, "a", time.Millisecond); err == nil || !strings.Contains(err.Error(), "the session a can't be attached to: it does not answer") {
		t.Error(err)
	}
}

// Whatever comes in, the session goes on.
func TestNonsense(t *testing.T) {
	h, dir, _ := hub(t)
	lines := h.Open("> ", false)
	for _, s := range []string{"", "\n", "{", `{"type":"line","text":"x"}` + "\n", strings.Repeat("x", longest+2), `[1]` + "\n"} {
		c, err := Dial(t.Context(), dir, "1")
		if err != nil {
			t.Fatal(err)
		}
		c.sock.SetDeadline(time.Now().Add(5 * time.Second))
		c.sock.Write([]byte(s))
		c.sock.CloseWrite()
		for range c.in {
		}
		c.Close()
	}
	select {
	case s := <-lines:
		t.Errorf("a line of nobody: %+v", s)
	default:
	}
	h.Shut("")
}

func FuzzRead(f *testing.F) {
	f.Add(`{"type":"open","number":1,"text":"> "}` + "\n")
	f.Fuzz(func(t *testing.T, s string) {
		for m, err := range read(strings.NewReader(s)) {
			if err == nil && len(encode(m)) == 0 {
				t.Error("nothing")
			}
		}
	})
}

// What a session pays when something is open for the first time, on a goroutine of its own.
func BenchmarkMove(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		h := NewHub(Config{Dir: dir, Info: func() Info { return Info{ID: "7c5f1d6e-0001-4000-8000-000000000001"} }})
		if err := h.Reachable(); err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
}
