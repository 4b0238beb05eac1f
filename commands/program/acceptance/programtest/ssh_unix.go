//go:build unix

package programtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"gemline/commands/program/acceptance/teletype"
)

// An sshd is a server of OpenSSH that lets the current user in, and starts the
// program for him.
type sshd struct {
	t    *testing.T
	Dir  string
	Port int

	mu       sync.Mutex
	children []*exec.Cmd // one for each connection
}

// SshServer starts an sshd on the loopback interface. It listens itself, and
// hands each connection to a server of its own.
func SshServer(t *testing.T) *sshd {
	t.Helper()
	server, keygen := Need(t, "sshd"), Need(t, "ssh-keygen")
	Need(t, "ssh")
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 {
		Lack(t, err) // sshd wants it
	}
	if os.Getuid() != 0 && !terminalsBelong(t) {
		t.Skip("sshd wants to give terminals to the group tty, and only root may")
	}
	s := &sshd{t: t, Dir: t.TempDir()}
	for _, name := range []string{"host", "key"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", s.File(name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Port = l.Addr().(*net.TCPAddr).Port
	host, _ := os.ReadFile(s.File("host.pub"))
	Write(t, s.Dir, map[string]string{
		"known_hosts": fmt.Sprintf("[127.0.0.1]:%d %s", s.Port, host),
		"config": strings.Join([]string{"HostKey " + s.File("host"), "AuthorizedKeysFile " + s.File("key.pub"), "StrictModes no", "UsePAM no",
			"PidFile none", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin prohibit-password",
			"PrintMotd no", "PrintLastLog no", "UseDNS no", "LogLevel ERROR", ""}, "\n"),
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(server, conn.(*net.TCPConn))
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
		s.kill()
		for _, c := range s.children {
			c.Wait()
		}
	})
	return s
}

// terminalsBelong reports whether new terminals have the group that sshd wants
// them to have.
func terminalsBelong(t *testing.T) bool {
	t.Helper()
	control, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer control.Close()
	defer tty.Close()
	info, err := tty.Stat()
	group, gerr := user.LookupGroup("tty")
	if err != nil || gerr != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && fmt.Sprint(stat.Gid) == group.Gid
}

func (s *sshd) File(name string) string { return filepath.Join(s.Dir, name) }

// serve hands a connection over.
func (s *sshd) serve(server string, conn *net.TCPConn) {
	defer conn.Close()
	f, err := conn.File()
	if err != nil {
		return
	}
	defer f.Close()
	log, err := os.Create(s.File("log"))
	if err != nil {
		return
	}
	defer log.Close()
	cmd := exec.Command(server, "-i", "-e", "-f", s.File("config"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its own children come with it
	if cmd.Start() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children = append(s.children, cmd)
}

// kill ends the servers of all connections, as when the machine that they run
// on is taken off the network.
func (s *sshd) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.children {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
}

// command returns the command that logs in and runs c there, and a file in
// which the exit code of c can be read once.
func (s *sshd) Command(c teletype.Command, how ...string) (ssh teletype.Command, code string) {
	s.t.Helper()
	me, err := user.Current()
	if err != nil {
		s.t.Fatal(err)
	}
	code = filepath.Join(s.t.TempDir(), "code")
	if err := syscall.Mkfifo(code, 0o600); err != nil {
		s.t.Fatal(err)
	}
	var there strings.Builder
	for _, e := range c.Env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&there, "export %s=%s\n", name, Quoted(value))
	}
	fmt.Fprintf(&there, "trap : INT\n(cd %s\ntrap : HUP INT\n%s", Quoted(c.Dir), Quoted(c.Path)) // the traps are not for c
	for _, a := range c.Args {
		there.WriteString(" " + Quoted(a))
	}
	// The shell tells before it ends, and what still works in c.Dir by then goes on.
	fmt.Fprintf(&there, "\ncode=$?\ncd /\necho $code >%s\nexit $code)\nexit $?\n", Quoted(code))
	Write(s.t, s.Dir, map[string]string{"there": there.String()})
	ssh = c
	ssh.Path = Need(s.t, "ssh")
	ssh.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir}
	ssh.Args = append([]string{"-F", "none", "-p", strconv.Itoa(s.Port), "-i", s.File("key"), "-l", me.Username, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile=" + s.File("known_hosts"), "-o", "LogLevel=ERROR"}, how...)
	ssh.Args = append(ssh.Args, "127.0.0.1", "sh "+Quoted(s.File("there")))
	return ssh, code
}

// CheckCode checks the exit code that is written to a pipe.
func CheckCode(t *testing.T, pipe string, want int) {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(pipe) // waits for a writer
		got <- string(b)
	}()
	select {
	case code := <-got:
		if code != fmt.Sprintln(want) {
			t.Errorf("exit code %q, want %d", code, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("the program on the other side still runs")
	}
}

// Cuts are how a connection ends.
var Cuts = map[string]func(s *teletype.Session, d *sshd){
	"the client is killed": func(s *teletype.Session, _ *sshd) { s.Signal(syscall.SIGKILL) },
	"the server is killed": func(_ *teletype.Session, d *sshd) { d.kill() },
}

func Quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
