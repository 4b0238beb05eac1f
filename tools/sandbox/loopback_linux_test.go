package sandbox

import (
	"bufio"
	"net"
	"os/exec"
	"strings"
	"testing"

	"gemline/tools/sandbox/stage"
)

// A server that one command has left running is reached by the next ones with the same
// loopback interface, and by nobody else: not by a command without it, nor one with
// another, nor from outside; and they reach nothing outside.
func TestSharedLoopback(t *testing.T) {
	k := spaces(t)
	if !has(k, stage.NetNamespace) || !has(k, stage.UserNamespace) {
		t.Skipf("commands have no network of their own here: %+v", k.State())
	}
	own := Profile{Root: t.TempDir()}
	shared := own
	shared.Loopback = true
	look := shared
	look.RunReadOnly = true
	server := exec.Command("python3", "-uc", `import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])
while True: s.accept()[0].sendall(b"hello\n")`)
	server.Dir = own.Root
	release, err := k.Confine(server, shared)
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	release()
	defer func() { server.Process.Kill(); server.Wait() }()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	ask := `exec 3<>/dev/tcp/127.0.0.1/` + strings.TrimSpace(port) + ` && read -r line <&3 && echo "$line"`
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	_, outsidePort, _ := net.SplitHostPort(outside.Addr().String())
	other := kernel(t, Options{})
	for _, c := range []struct {
		name   string
		k      *Kernel
		p      Profile
		script string
		ok     bool
	}{
		{"the next command", k, shared, ask, true},
		{"one more", k, shared, ask, true},
		{"a command of its own", k, own, ask, false},
		{"a command that only looks", k, look, ask, false},
		{"another session", other, shared, ask, false},
		{"outside", k, shared, "exec 3<>/dev/tcp/127.0.0.1/" + outsidePort, false},
	} {
		if out, err := bash(t, c.k, c.p, c.script); (err == nil) != c.ok || c.ok && out != "hello\n" {
			t.Errorf("%s: %v, %q", c.name, err, out)
		}
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(port)); err == nil {
		conn.Close()
		t.Error("the server is reached from outside")
	}
}
