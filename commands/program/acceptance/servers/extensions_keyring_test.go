//go:build linux

package servers

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

// TestUninstallKeyring uninstalls an extension where the keyring does not answer: that secrets
// may stay in it is told in one line, and the rest is done.
func TestUninstallKeyring(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	pt.Write(t, home, map[string]string{".gemini/extensions/mine/gemini-extension.json": `{"name": "writer", "version": "1.0.0"}`})
	bus, err := net.Listen("unix", filepath.Join(home, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close() // connections wait in its queue
	cmd := exec.Command(pt.Self(t), "extensions", "uninstall", "writer")
	cmd.Dir, cmd.Env = t.TempDir(), pt.Environment(home, nil, "GEMINI_FORCE_FILE_STORAGE=", "DBUS_SESSION_BUS_ADDRESS=unix:path="+bus.Addr().String())
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "keyring") != 1 ||
		!strings.Contains(string(out), `the keyring does not answer, so that secrets of writer may still be in it, as "Gemini CLI Extensions writer `) {
		t.Errorf("%v: %s", err, out)
	}
	if left, _ := filepath.Glob(home + "/.gemini/extensions/*/*.json"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
