package remote_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/tools/agent/remote"
)

// A server of the protocol that nobody here wrote, and that is not in Go, is understood over
// both of its transports, and understands.
func TestAgainstAnother(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "gemline-tests", "mcp", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, "@a2a-js", "sdk")); err != nil {
		if os.Getenv("GEMLINE_TEST_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join("testdata", "agent.mjs"), dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	url := lines.Text()
	for _, path := range []string{"/rpc", "/rest"} {
		c := client(remote.Config{Server: remote.Server{CardURL: url + path + "/card"}})
		for _, test := range []struct{ words, want string }{
			{"hello you", "Hello, you."},
			{"make it", "I am at it.\nDone.\n\nArtifact (list):\none\nData: {\"n\":3}\nFile: f.txt"},
			{"ask", "I am at it.\nWhich one?"},
			{"the first", "It is the first, then."},
		} {
			// over REST the library has no names of files
			if a, err := c.Ask(t.Context(), test.words, quiet); err != nil || strings.Replace(a.Text, "https://example.com/f", "f.txt", 1) != test.want || a.Open != (test.words == "ask") {
				t.Errorf("%s %s: %+v, %v", path, test.words, a, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := c.Ask(ctx, "wait", func(string) { cancel() }); err != context.Canceled {
			t.Error(path, err)
		}
		if lines.Scan(); lines.Text() != "cancelled" {
			t.Errorf("%s: the server says %q", path, lines.Text())
		}
	}
}
