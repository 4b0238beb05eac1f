//go:build linux

package sessions

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// The disk has the session before a call changes a file, and at the end of each
// turn, unless the settings leave that to the system.
func TestSessionReachesTheDisk(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"{}":                                  "session write session ",
		`{"general": {"sessionSync": false}}`: "write ",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := et.NewServer(et.Says("", et.Call("1", "list_directory", "dir_path", "."), et.Call("2", "write_file", "file_path", "a.txt", "content", "a\n")), et.Says("Done."))
			t.Cleanup(s.Close)
			pt.Write(t, dir, map[string]string{"home/.gemini/settings.json": setting})
			trace := filepath.Join(t.TempDir(), "trace")
			run := pt.Headless(t, s, dir, io.Discard, io.Discard, "-y", "-p", "go")
			pt.Enter(t, run, []string{"strace", "-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-e", "trace=fsync,rename,renameat,renameat2", "-o", trace})
			if err := run.Run(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			var seen strings.Builder
			for _, m := range regexp.MustCompile(`fsync\(\d+<[^>]*/(session)-[^>]*\.jsonl>|rename.*"(a\.txt)"`).FindAllStringSubmatch(string(b), -1) {
				switch {
				case m[1] != "":
					seen.WriteString("session ")
				default:
					seen.WriteString("write ")
				}
			}
			if seen.String() != want {
				t.Errorf("%q, want %q:\n%s", seen.String(), want, b)
			}
		})
	}
}
