//go:build unix

package servers

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// An extension that was installed with --auto-update gets its new version beside a session,
// from the first prompt on. One that can run something else then waits for its user.
func TestUpdatesUnasked(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	server.Respond = func(et.Received) et.Reply { return et.Says("Heard.") }
	c := pt.Terminal(t, server)
	c.Term = "xterm-256color" // where what comes late is shown above the line
	hub := t.TempDir()
	p := &pt.Publisher{Dir: hub}
	github := httptest.NewServer(p)
	defer github.Close()
	c.Env = append(c.Env, "GITHUB_API_URL="+github.URL)
	publish := func(name, tag, more string) {
		pt.Write(t, filepath.Join(hub, "us", name, "releases", tag, "sources"), map[string]string{
			"gemini-extension.json": fmt.Sprintf(`{"name": %q, "version": %q%s}`, name, tag, more)})
	}
	version := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(pt.HomeOf(c), ".gemini", "extensions", name, "gemini-extension.json"))
		return string(b)
	}
	for _, name := range []string{"well", "wants", "manual"} {
		publish(name, "v1", "")
		args := []string{"extensions", "install", "github:us/" + name, "--consent"}
		if name != "manual" {
			args = append(args, "--auto-update")
		}
		in := c
		in.Args = nil
		pt.Printed(t, in, args...)
	}
	publish("well", "v2", "")
	publish("wants", "v2", `, "mcpServers": {"more": {"command": "false"}}`)
	publish("manual", "v2", "")
	asked := func() int {
		p.Mu.Lock()
		defer p.Mu.Unlock()
		return len(p.Asked)
	}
	before := asked()
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("/extensions list")
	s.Expect("wants (v1)")
	s.Expect("> \x1b]133;B")
	if n := asked() - before; n > 0 {
		t.Errorf("%d requests before the first prompt", n)
	}
	s.Line("hello")
	for _, words := range []string{"the extension wants is not updated: version v2 can run something else than the one that is installed; gemline extensions update wants asks about it",
		"the extension well was updated; the new version counts from the next start on"} {
		s.Match(strings.ReplaceAll(regexp.QuoteMeta(words), " ", `\s+`))
	}
	s.Line("/quit")
	pt.Succeeds(t, s)
	publish("well", "v3", "") // what was told is not told again, but listed
	s = teletype.Start(t, c)
	s.Expect("> ")
	s.Line("hello")
	if shown := s.Expect("the extension well was updated"); strings.Contains(shown, "wants") {
		t.Errorf("told twice:\n%s", shown)
	}
	s.Line("/extensions list")
	s.Match(`wants \(v1\)[^$]*\s+the extension wants is not updated: version v2 can run`)
	s.Line("/quit")
	pt.Succeeds(t, s)
	for name, want := range map[string]string{"well": "v3", "wants": "v1", "manual": "v1"} {
		if got := version(name); !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	for _, path := range p.Asked[before:] {
		if strings.Contains(path, "manual") {
			t.Errorf("%s was asked for", path)
		}
	}
}

// An extension comes over ssh, in both spellings of an address, by the command that the
// user has git connect with. Nobody is asked for a password.
func TestExtensionOverSSH(t *testing.T) {
	t.Parallel()
	git := pt.Need(t, "git")
	daemon := pt.SshServer(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	origin := t.TempDir()
	pt.Write(t, origin, map[string]string{"gemini-extension.json": `{"name": "desk", "version": "1.0.0"}`})
	commit := func() {
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "x"}} {
			cmd := exec.Command(git, args...)
			cmd.Dir = origin
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
		}
	}
	commit()
	config := strings.Join([]string{"Host desk", "HostName 127.0.0.1", fmt.Sprintf("Port %d", daemon.Port), "IdentityFile " + daemon.File("key"), "IdentitiesOnly yes",
		"StrictHostKeyChecking yes", "UserKnownHostsFile " + daemon.File("known_hosts"), "LogLevel ERROR", ""}, "\n")
	pt.Write(t, daemon.Dir, map[string]string{"ssh": config, "stranger": strings.Replace(config, daemon.File("key"), daemon.File("host"), 1)})
	c := pt.Terminal(t, et.NewServer())
	c.Args = nil
	by := func(name string) string { return "ssh -F " + pt.Quoted(daemon.File(name)) + " -l " + me.Username }
	for _, address := range []string{"ssh://desk" + origin, "git@desk:" + origin} {
		in := c
		in.Env = append(in.Env, "GIT_SSH_COMMAND="+by("ssh"))
		if strings.HasPrefix(address, "git@") { // by git's own settings
			in.Env = append(c.Env, "GIT_SSH_COMMAND=")
			pt.Write(t, pt.HomeOf(c), map[string]string{".gitconfig": "[core]\n\tsshCommand = \"" + by("ssh") + "\"\n"})
		}
		if said := pt.Printed(t, in, "extensions", "install", address, "--consent"); !strings.Contains(said, `Extension "desk" installed successfully`) {
			t.Errorf("%s: %s", address, said)
		}
		if said := pt.Printed(t, in, "extensions", "update", "--check"); !strings.Contains(said, "up to date") {
			t.Errorf("%s: %s", address, said)
		}
		pt.Write(t, origin, map[string]string{"gemini-extension.json": `{"name": "desk", "version": "` + address[:3] + `"}`})
		commit()
		if said := pt.Printed(t, in, "extensions", "update", "desk"); !strings.Contains(said, "→ "+address[:3]) {
			t.Errorf("%s: %s", address, said)
		}
		pt.Printed(t, in, "extensions", "uninstall", "desk")
	}
	stranger := exec.Command(c.Path, "extensions", "install", "ssh://desk"+origin, "--consent")
	stranger.Dir, stranger.Env = c.Dir, append(c.Env, "GIT_SSH_COMMAND="+by("stranger"))
	if out, err := stranger.CombinedOutput(); err == nil || !strings.Contains(string(out), "it wants credentials, which git does not have") {
		t.Errorf("%v: %s", err, out)
	}
}
