//go:build unix

package memory

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoFiles shows that pipes, sockets and devices are neither waited for nor
// read, whether they stand in a file's place or are imported.
func TestNoFiles(t *testing.T) {
	top := plant(t, map[string]string{"home/": "", "w/pipe/x.md": "", "w/GEMINI.md": "@./pipe.md @./socket.md @./zero.md"})
	at := func(name string) string { return filepath.Join(top, name) }
	for _, path := range []string{at("w/pipe/GEMINI.md"), at("w/pipe.md"), at("home/AGENTS.md")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip("no pipes here:", err)
		}
	}
	t.Chdir(at("w")) // the path of a socket must be short
	l, err := net.Listen("unix", "socket.md")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, to := range map[string]string{"home/GEMINI.md": "/dev/zero", "w/zero.md": "/dev/zero"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := in(top, "w", "w/pipe")
	cfg.Names = []string{"AGENTS.md"}
	_, got, warnings := read(cfg)
	if len(got.Files) != 1 || strings.Count(got.Project, "<!-- Import failed: ") != 3 {
		t.Errorf("%+v", got.Files)
	}
	if strings.Count(warnings, "it is not an ordinary file") != 5 || strings.Count(warnings, "./zero.md: it is outside of") != 1 {
		t.Errorf("warnings %q", warnings)
	}
}
