//go:build unix

package main

import (
	"bytes"
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

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// An sshd is a server of OpenSSH that lets the current user in, and starts the
// program for him.
type sshd struct {
	t    *testing.T
	dir  string
	port int

	mu       sync.Mutex
	children []*exec.Cmd // one for each connection
}

// sshServer starts an sshd on the loopback interface. It listens itself, and
// hands each connection to a server of its own.
func sshServer(t *testing.T) *sshd {
	t.Helper()
	server, keygen := need(t, "sshd"), need(t, "ssh-keygen")
	need(t, "ssh")
	if _, err := os.Stat("/run/sshd"); err != nil && os.Getuid() == 0 {
		lack(t, err) // sshd wants it
	}
	if os.Getuid() != 0 && !terminalsBelong(t) {
		t.Skip("sshd wants to give terminals to the group tty, and only root may")
	}
	s := &sshd{t: t, dir: t.TempDir()}
	for _, name := range []string{"host", "key"} {
		if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", s.file(name)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	host, _ := os.ReadFile(s.file("host.pub"))
	write(t, s.dir, map[string]string{
		"known_hosts": fmt.Sprintf("[127.0.0.1]:%d %s", s.port, host),
		"config": strings.Join([]string{"HostKey " + s.file("host"), "AuthorizedKeysFile " + s.file("key.pub"), "StrictModes no", "UsePAM no",
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

func (s *sshd) file(name string) string { return filepath.Join(s.dir, name) }

// serve hands a connection over.
func (s *sshd) serve(server string, conn *net.TCPConn) {
	defer conn.Close()
	f, err := conn.File()
	if err != nil {
		return
	}
	defer f.Close()
	log, err := os.Create(s.file("log"))
	if err != nil {
		return
	}
	defer log.Close()
	cmd := exec.Command(server, "-i", "-e", "-f", s.file("config"))
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
func (s *sshd) command(c teletype.Command, how ...string) (ssh teletype.Command, code string) {
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
		fmt.Fprintf(&there, "export %s=%s\n", name, quoted(value))
	}
	fmt.Fprintf(&there, "trap : INT\n(cd %s\ntrap : HUP INT\n%s", quoted(c.Dir), quoted(c.Path)) // the traps are not for c
	for _, a := range c.Args {
		there.WriteString(" " + quoted(a))
	}
	// The shell tells before it ends, and what still works in c.Dir by then goes on.
	fmt.Fprintf(&there, "\ncode=$?\ncd /\necho $code >%s\nexit $code)\nexit $?\n", quoted(code))
	write(s.t, s.dir, map[string]string{"there": there.String()})
	ssh = c
	ssh.Path = need(s.t, "ssh")
	ssh.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}
	ssh.Args = append([]string{"-F", "none", "-p", strconv.Itoa(s.port), "-i", s.file("key"), "-l", me.Username, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile=" + s.file("known_hosts"), "-o", "LogLevel=ERROR"}, how...)
	ssh.Args = append(ssh.Args, "127.0.0.1", "sh "+quoted(s.file("there")))
	return ssh, code
}

// checkCode checks the exit code that is written to a pipe.
func checkCode(t *testing.T, pipe string, want int) {
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

// A whole session over ssh, on terminals of both kinds.
func TestSessionOverSSH(t *testing.T) {
	t.Parallel()
	for _, term := range terminals {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(work()...)
			c := terminal(t, server)
			c.Term = term
			ssh, code := sshServer(t).command(c, "-tt")
			s := teletype.Start(t, ssh)
			converse(s.Line, s.Send, s.Expect)
			checkCode(t, code, 0)
			if code := s.Exit(); code != 0 {
				t.Errorf("ssh: exit code %d", code)
			}
			lint(t, s.Transcript(), teletype.Rules{Smart: term != "dumb"})
			checkWork(t, c, server)
		})
	}
}

// Without a terminal, what comes in is a prompt and what goes out an answer.
func TestAnswerOverSSH(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "rm notes.txt")), et.Says("Done **that**."))
	c := terminal(t, server)
	ssh, code := sshServer(t).command(c, "-T")
	cmd := exec.Command(ssh.Path, ssh.Args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = ssh.Env, strings.NewReader("tidy up\n"), &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	checkCode(t, code, 0)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if out.String() != "Done **that**.\n" {
		t.Errorf("stdout: %q", out.String())
	}
	if !strings.HasPrefix(errs.String(), "warning: ") {
		t.Errorf("stderr: %q", errs.String())
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "notes.txt")); err != nil {
		t.Errorf("nobody was asked: %v", err)
	}
	if !bytes.Contains(server.Requests()[0].Body, []byte("tidy up")) {
		t.Error("the prompt did not reach the model")
	}
}

// cuts are how a connection ends.
var cuts = map[string]func(s *teletype.Session, d *sshd){
	"the client is killed": func(s *teletype.Session, _ *sshd) { s.Signal(syscall.SIGKILL) },
	"the server is killed": func(_ *teletype.Session, d *sshd) { d.kill() },
}

// A connection that is cut, whatever the session is doing, ends the session as
// a hang-up does: what was said is kept, what was started ends, and the next
// connection goes on.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	for phase, prepare := range phases {
		for how, cut := range cuts {
			for _, term := range terminals {
				t.Run(strings.Join([]string{phase, how, term}, "/"), func(t *testing.T) {
					t.Parallel()
					reached := make(chan ended, 10)
					server := et.NewServer(et.Says("Noted."))
					c := terminal(t, server, "-y")
					c.Term, c.Wait = term, time.Minute
					server.Add(prepare(reached, c.Dir), et.Says("Seven."))
					d := sshServer(t)
					ssh, code := d.command(c, "-tt")
					s := teletype.Start(t, ssh)
					s.Say("remember seven")
					s.Expect("done:")
					s.Say("go on")
					over := <-reached
					cut(s, d)
					checkCode(t, code, 129)
					checkEnded(t, over)
					c.Args = append(c.Args, "--resume", "latest")
					ssh, code = d.command(c, "-tt")
					s = teletype.Start(t, ssh)
					s.Say("which number?")
					s.Expect("Seven.")
					s.Expect("done:")
					s.Say("/quit")
					checkCode(t, code, 0)
					s.Exit()
					requests := streamed(server)
					checkTurns(t, requests[len(requests)-1].Contents(), "remember seven", "Noted.", "which number?")
				})
			}
		}
	}
}

// Without a terminal, a program whose client is gone notices when it writes.
func TestClientLost(t *testing.T) {
	t.Parallel()
	asked, gone := make(chan struct{}), make(chan struct{})
	server := et.NewServer()
	server.Respond = func(et.Received) et.Reply {
		close(asked)
		<-gone
		return et.Streams(et.Text(500_000), "more")
	}
	c := terminal(t, server, "-p", "tell me much")
	ssh, code := sshServer(t).command(c, "-T")
	cmd := exec.Command(ssh.Path, ssh.Args...)
	cmd.Env = ssh.Env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	cmd.Process.Kill()
	cmd.Wait()
	close(gone)
	checkCode(t, code, 141)
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
