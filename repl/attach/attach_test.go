//go:build unix

package attach

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	c.Write(encode(message{Type: hello, By: "x"}))
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
	one.Write(encode(early))
	if got := next(t, one, late); !strings.Contains(got.Text, "typed before") {
		t.Errorf("%+v", got)
	}
	one.Write(encode(message{Type: said, Number: n - 1, Text: "to another question"}))
	next(t, one, late)
	one.Write(encode(message{Type: said, Number: n, Text: "y"}))
	if s := <-lines; s.Text != "y" {
		t.Errorf("%+v", s)
	}
	two.Write(encode(message{Type: said, Number: n, Text: "n"}))
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
	if got := dial(); got != "the session 1 belongs to another user\n" {
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

// Whatever comes in, the session goes on.
func TestNonsense(t *testing.T) {
	h, dir, _ := hub(t)
	lines := h.Open("> ", false)
	for _, s := range []string{"", "\n", "{", `{"type":"line","text":"x"}` + "\n", strings.Repeat("x", longest+2), `[1]` + "\n"} {
		c, err := Dial(t.Context(), dir, "1")
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(5 * time.Second))
		c.Write([]byte(s))
		c.CloseWrite()
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
