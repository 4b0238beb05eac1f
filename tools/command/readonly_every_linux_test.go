package command

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// whole returns everything below directories: names, modes, times, links and
// contents. A time that nobody can set is among them.
func whole(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			fmt.Fprint(&b, path, " ", info.Mode(), st.Ino, st.Nlink, st.Mtim, st.Ctim)
			if info.Mode().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, " %x", sha256.Sum256(text))
			}
			b.WriteString("\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// heard listens to everything that is dialled, and counts.
func heard(t *testing.T, dir string) (port string, count func() int64) {
	t.Helper()
	var n atomic.Int64
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(tcp.Addr().String())
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	listeners := []net.Listener{tcp}
	for _, name := range []string{filepath.Join(dir, "socket"), "@gemline-" + port} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	for _, l := range listeners {
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				n.Add(1)
				c.Close()
			}
		}()
	}
	t.Cleanup(func() { udp.Close() })
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 10)); err != nil {
				return
			}
			n.Add(1)
		}
	}()
	pipe, err := os.OpenFile(filepath.Join(dir, "pipe"), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	go func() {
		for {
			if _, err := io.ReadAtLeast(pipe, make([]byte, 10), 1); err != nil {
				return
			}
			n.Add(1)
		}
	}()
	return port, n.Load
}

// Whatever the programs can that look, or that a user has held to looking:
// nothing changes, inside or outside of the project, and nobody hears of it. In
// every run of the tests that is a part of the table.
func TestLookEvery(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	text, err := os.ReadFile("testdata/looks/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for row := range strings.Lines(string(text)) {
		if row = strings.TrimSpace(row); row != "" && row[0] != '#' {
			rows = append(rows, row)
		}
	}
	all := os.Getenv("SOAK") != ""
	for i, kind := range []string{"git", "none"} {
		t.Run(kind, func(t *testing.T) {
			l := newLooking(t)
			home := l.env.variable("HOME")
			l.env.Outputs.Threshold, l.env.Launcher.Config.Shell.Timeout = 0, 3*time.Second
			outside := filepath.Join(filepath.Dir(l.dir), "outside")
			l.git(`ln ../outside/secret hard; mkfifo pipe; printf '#!/bin/sh\ntouch made\n' >tool; cp tool script.sh; chmod +x tool; echo 00000000: 4141 >hex.txt; seq 20000 >big.txt; md5sum a.txt >sums.txt
				echo 'w made' >script.sed; echo 'BEGIN{system("touch made")}' >script.awk; printf '<x/>' >x.xml; echo 'package x' >x.go; printf 'module x\n\ngo 1.20\n' >go.mod; echo '{"scripts":{"preinstall":"touch made"}}' >package.json
				tar cf x.tar b.txt; printf '0 string x y\n' >magic; printf -- '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two\n' >change.diff; echo more >>b.txt; git stash -q; echo more >>b.txt; git config filter.x.clean 'touch made; cat'; git config diff.external 'touch made'; git config core.fsmonitor 'touch made'`)
			if kind == "none" {
				l.git("rm -rf .git")
			}
			outs := []string{"new", "a.txt", "hard", "inner", "leak", "/proc/self/cwd/a.txt", "/proc/self/root" + l.dir + "/a.txt", "pipe", "socket", "../outside/secret", "/proc/self/fd/../cwd/new", "sub/../new"}
			port, count := heard(t, l.dir)
			before, ran, held := whole(t, filepath.Dir(l.dir), home), 0, 0
			for n, row := range rows {
				if !all && (n+i)%50 != 0 {
					continue
				}
				some := []string{outs[n%len(outs)]}
				if all && os.Getenv("SOAK") == "names" {
					some = outs
				}
				for _, out := range some {
					text := strings.NewReplacer("OUT", out, "PORT", port, "SOCKET", filepath.Join(l.dir, "socket")).Replace(row)
					calls := []map[string]any{{"command": text, "read_only": true}}
					if _, why := l.looks(text); why == "" {
						calls = append(calls, map[string]any{"command": text})
						held++
					}
					for _, args := range calls {
						if call := l.prepare(runShellCommand(l.env), args); call.Intent.Plan.IsReadOnly {
							call.Run(t.Context(), l)
							ran++
						}
					}
					if after := whole(t, filepath.Dir(l.dir), home); after != before {
						t.Errorf("after %s it is not as it was: %s", text, changed(before, after))
						before = after
					}
					if n := count(); n > 0 {
						t.Fatalf("%s was heard", text)
					}
				}
			}
			for _, path := range []string{"/tmp/made", "/dev/shm/made", "/run/made", "/etc/made", filepath.Join(outside, "made")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was made", path)
				}
			}
			t.Logf("%d ran, %d of them unasked", ran, held)
		})
	}
}
