//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
	"google.golang.org/genai"

	et "gemline/engine/enginetest"
)

// inLab is set in the process that has a network of its own.
const inLab = "GEMLINE_TEST_LAB"

// The program fetches pages in a network of its own, where a name server and a
// web server do what hostile ones would: nothing comes back from a private
// address, and no such address is so much as asked.
func TestWebLab(t *testing.T) {
	if os.Getenv(inLab) != "" {
		lab(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestWebLab$", "-test.v")
	cmd.Env = append(os.Environ(), inLab+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState == nil:
		t.Skip("there are no namespaces here:", err)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skip(string(out))
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

// public is the address in the lab that is not a private one.
const public = "11.11.11.11"

func lab(t *testing.T) {
	if err := connect(t.TempDir()); err != nil {
		t.Skip("no network can be made here:", err)
	}
	names, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	go nameServer(names)
	var site site
	l, err := net.Listen("tcp", ":8077")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: &site}
	defer server.Close()
	go server.Serve(l)

	for _, test := range []struct{ url, want string }{
		{"http://pub.test:8077/ok", "PUBLIC"},
		{"http://" + public + ":8077/ok", "PUBLIC"},
		{"http://pub.test:8077/hop", "PUBLIC"},
		{"http://127.0.0.1:8077/", "Blocked Host"},
		{"http://[::1]:8077/", "Blocked Host"},
		{"http://[::ffff:127.0.0.1]:8077/", "Blocked Host"},
		{"http://[64:ff9b::7f00:1]:8077/", "Blocked Host"},
		{"http://0.0.0.0:8077/", "Blocked Host"},
		{"http://localhost:8077/", "Blocked Host"},
		{"http://127.1:8077/", "not in its usual form"},
		{"http://0x7f000001:8077/", "not in its usual form"},
		{"http://2130706433:8077/", "not in its usual form"},
		{"http://pub.test@127.0.0.1:8077/", "user name"},
		{"http://inside.test:8077/", "Blocked Host"},
		{"http://meta.test:8077/", "Blocked Host"},
		{"http://both.test:8077/", "Blocked Host"},
		{"http://rebind.test:8077/", "not fetched: an address of this machine"},
		{"http://pub.test:8077/to/http://127.0.0.1:8077/", "redirect is not followed"},
		{"http://pub.test:8077/to/http://169.254.169.254/", "redirect is not followed"},
		{"http://pub.test:8077/to/http://inside.test:8077/", "it redirects to"},
		{"http://pub.test:8077/to/file:///etc/passwd", "redirect is not followed"},
		{"http://nowhere.test:8077/", "no such host"},
	} {
		if got := fetched(t, test.url); !strings.Contains(got, test.want) || strings.Contains(got, "PRIVATE") {
			t.Errorf("%s: %s; want %s", test.url, got, test.want)
		}
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	if slices.ContainsFunc(site.asked, func(at string) bool { return at != public }) || len(site.asked) < 8 {
		t.Errorf("asked were %v", site.asked)
	}
}

// connect gives the process a network of one machine, with its own names.
func connect(dir string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for name, addr := range map[string]string{"lo": "", "lo:1": public, "lo:2": "169.254.169.254"} {
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

// nameServer answers what names are asked for at c. One is public each first
// time, and private each second.
func nameServer(c net.PacketConn) {
	hosts := map[string][]string{"pub.test.": {public}, "inside.test.": {"127.0.0.1"}, "meta.test.": {"169.254.169.254"}, "both.test.": {public, "10.0.0.1"}}
	rebound := 0
	for buf := make([]byte, 2048); ; {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
			continue
		}
		q := m.Questions[0]
		addrs, known := hosts[q.Name.String()]
		if q.Name.String() == "rebind.test." {
			known, addrs = true, []string{public}
			if q.Type == dnsmessage.TypeA {
				if rebound++; rebound%2 == 0 {
					addrs = []string{"127.0.0.1"}
				}
			}
		}
		answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
		if !known {
			answer.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addrs {
			if q.Type == dnsmessage.TypeA {
				answer.Answers = append(answer.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: [4]byte(net.ParseIP(a).To4())}})
			}
		}
		if packed, err := answer.Pack(); err == nil {
			c.WriteTo(packed, from)
		}
	}
}

// A site says at which of its addresses it was asked.
type site struct {
	mu    sync.Mutex
	asked []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).IP.String()
	s.mu.Lock()
	s.asked = append(s.asked, at)
	s.mu.Unlock()
	if to, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return
	}
	if r.URL.Path == "/hop" {
		http.Redirect(w, r, "/ok", http.StatusMovedPermanently)
		return
	}
	if at != public {
		io.WriteString(w, "PRIVATE")
		return
	}
	io.WriteString(w, "PUBLIC")
}

// fetched has the program fetch a page, by a model that asks for it and a server
// that reads no pages, and returns what the model is told.
func fetched(t *testing.T, url string) string {
	t.Helper()
	told := make(chan string, 1)
	s := et.NewServer()
	defer s.Close()
	s.Respond = func(r et.Received) et.Reply {
		if r.Action == "generateContent" {
			return et.Status(http.StatusBadRequest, "INVALID_ARGUMENT", "no pages are read here")
		}
		contents := r.Contents()
		last := contents[len(contents)-1].Parts
		if i := slices.IndexFunc(last, func(p *genai.Part) bool { return p.FunctionResponse != nil }); i >= 0 {
			told <- fmt.Sprint(last[i].FunctionResponse.Response)
			return et.Says("done")
		}
		return et.Says("", et.Call("1", "web_fetch", "prompt", "read "+url))
	}
	s.Add() // the detector sees that the server comes to know, other than by way of a process
	cmd := exec.Command(os.Args[0], "-p", "go", "--approval-mode", "auto_edit", "-m", "gemini-2.5-flash")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GEMINI_FORCE_FILE_STORAGE=true",
		"GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_API_KEY=key-of-the-test", "GOOGLE_GEMINI_BASE_URL=" + s.URL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", url, err, out)
	}
	select {
	case text := <-told:
		return text
	default:
		return "nothing was told"
	}
}
