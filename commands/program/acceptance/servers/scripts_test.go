// Package servers tests the program with servers: of MCP, of other agents, of models, hooks
// and extensions.
package servers

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

func TestScripts(t *testing.T) { pt.Scripts(t, "servers") }

// Extensions come from git's own smart HTTP server as they do from a directory: a short
// script shows it, and in a soak that of extensions from a directory, too.
func TestExtensionsOverHTTP(t *testing.T) {
	t.Parallel()
	path, err := exec.Command("git", "--exec-path").Output()
	backend := filepath.Join(strings.TrimSpace(string(path)), "git-http-backend")
	if _, serr := os.Stat(backend); err != nil || serr != nil {
		t.Skip("git has no server for HTTP here")
	}
	p := pt.Scripting(t, func(env *testscript.Env) string {
		s := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_HTTP_EXPORT_ALL=1",
			"GIT_PROJECT_ROOT=" + filepath.Join(env.WorkDir, "origin")}})
		env.Defer(s.Close)
		return s.URL
	})
	p.Files = []string{"commands/program/acceptance/testdata/extensions_http.txtar"}
	if et.Soak() {
		p.Files = append(p.Files, "commands/program/acceptance/servers/extensions.txtar")
	}
	testscript.Run(t, p)
}
