//go:build linux

package weblab

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Public is the public address in a Lab, and Port the port of pages at all addresses.
const (
	Public = "11.11.11.11"
	Port   = "8077"
)

// inside is set in the process that has a network of its own.
const inside = "GEMLINE_TEST_LAB"

// Enter returns true in a process with a network of its own. In another process it runs t's test,
// which must be the caller's, in such a process; it fails or skips as that process does, and
// returns its output and false.
func Enter(t *testing.T, env ...string) (string, bool) {
	t.Helper()
	if os.Getenv(inside) != "" {
		return "", true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), inside+"=1"), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	b, err := cmd.CombinedOutput()
	out := string(b)
	switch {
	case cmd.ProcessState == nil:
		t.Skip("there are no namespaces here:", err)
	case strings.Contains(out, "--- SKIP: "+t.Name()+" "):
		t.Skip(out)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
	return out, false
}

// A Lab is the servers in the network. It records requests.
type Lab struct {
	mu    sync.Mutex
	hosts []string // addresses of requested pages
	names []string // names that were looked up
}

// Open makes the network of the process a Lab, until the test ends. It skips
// the test where that is forbidden.
func Open(t *testing.T) *Lab {
	t.Helper()
	if err := connect(t.TempDir()); err != nil {
		t.Skip("no network can be made here:", err)
	}
	lab := &Lab{}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() { lab.answer(names) })
	l, err := net.Listen("tcp", ":"+Port)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: lab}
	done.Go(func() { server.Serve(l) })
	t.Cleanup(func() {
		names.Close()
		server.Close()
		done.Wait()
	})
	return lab
}

// Asked returns the addresses of requested pages, in order.
func (l *Lab) Asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.hosts...)
}

// Names returns the names that were looked up, in order, in lower case and
// with a dot at the end.
func (l *Lab) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.names...)
}

// connect sets up the process's network of one machine, with its own names.
func connect(dir string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for name, addr := range map[string]string{"lo": "", "lo:1": Public, "lo:2": "169.254.169.254"} {
		r, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if addr == "" {
			r.SetUint16(unix.IFF_UP)
			err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
		} else if err = r.SetInet4Addr(net.ParseIP(addr).To4()); err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFADDR, r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	conf := filepath.Join(dir, "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"), 0o644); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount(conf, "/etc/resolv.conf", "", unix.MS_BIND, "")
}
