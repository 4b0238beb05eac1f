//go:build unix

package main

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

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// An extension that was installed with --auto-update gets its new version beside a session,
// from the first prompt on. One that can run something else then waits for its user.
func TestUpdatesUnasked(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	server.Respond = func(et.Received) et.Reply { return et.Says("Heard.") }
	c := terminal(t, server)
	c.Term = "xterm-256color" // where what comes late is shown above the line
	hub := t.TempDir()
	p := &publisher{dir: hub}
	github := httptest.NewServer(p)
	defer github.Close()
	c.Env = append(c.Env, "GITHUB_API_URL="+github.URL)
	publish := func(name, tag, more string) {
		write(t, filepath.Join(hub, "us", name, "releases", tag, "sources"), map[string]string{
			"gemini-extension.json": fmt.Sprintf(`{"name": %q, "version": %q%s}`, name, tag, more)})
	}
	version := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(homeOf(c), ".gemini", "extensions", name, "gemini-extension.json"))
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
		printed(t, in, args...)
	}
	publish("well", "v2", "")
	publish("wants", "v2", `, "mcpServers": {"more": {"command": "false"}}`)
	publish("manual", "v2", "")
	asked := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.asked)
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
	succeeds(t, s)
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
	succeeds(t, s)
	for name, want := range map[string]string{"well": "v3", "wants": "v1", "manual": "v1"} {
		if got := version(name); !strings.Contains(got, want) {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, path := range p.asked[before:] {
		if strings.Contains(path, "manual") {
			t.Errorf("%s was asked for", path)
		}
	}
}

// An extension comes over ssh, in both spellings of an address, by the command that the
// user has git connect with. Nobody is asked for a password.
func TestExtensionOverSSH(t *testing.T) {
	t.Parallel()
	git := need(t, "git")
	daemon := sshServer(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	origin := t.TempDir()
	write(t, origin, map[string]string{"gemini-extension.json": `{"name": "desk", "version": "1.0.0"}`})
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
	config := strings.Join([]string{"Host desk", "HostName 127.0.0.1", fmt.Sprintf("Port %d", daemon.port), "IdentityFile " + daemon.file("key"), "IdentitiesOnly yes",
		"StrictHostKeyChecking yes", "UserKnownHostsFile " + daemon.file("known_hosts"), "LogLevel ERROR", ""}, "\n")
	write(t, daemon.dir, map[string]string{"ssh": config, "stranger": strings.Replace(config, daemon.file("key"), daemon.file("host"), 1)})
	c := terminal(t, et.NewServer())
	c.Args = nil
	by := func(name string) string { return "ssh -F " + quoted(daemon.file(name)) + " -l " + me.Username }
	for _, address := range []string{"ssh://desk" + origin, "git@desk:" + origin} {
		in := c
		in.Env = append(in.Env, "GIT_SSH_COMMAND="+by("ssh"))
		if strings.HasPrefix(address, "git@") { // by git's own settings
			in.Env = append(c.Env, "GIT_SSH_COMMAND=")
			write(t, homeOf(c), map[string]string{".gitconfig": "[core]\n\tsshCommand = \"" + by("ssh") + "\"\n"})
		}
		if said := printed(t, in, "extensions", "install", address, "--consent"); !strings.Contains(said, `Extension "desk" installed successfully`) {
			t.Errorf("%s: %s", address, said)
		}
		if said := printed(t, in, "extensions", "update", "--check"); !strings.Contains(said, "up to date") {
			t.Errorf("%s: %s", address, said)
		}
		write(t, origin, map[string]string{"gemini-extension.json": `{"name": "desk", "version": "` + address[:3] + `"}`})
		commit()
		if said := printed(t, in, "extensions", "update", "desk"); !strings.Contains(said, "→ "+address[:3]) {
			t.Errorf("%s: %s", address, said)
		}
		printed(t, in, "extensions", "uninstall", "desk")
	}
	stranger := exec.Command(c.Path, "extensions", "install", "ssh://desk"+origin, "--consent")
	stranger.Dir, stranger.Env = c.Dir, append(c.Env, "GIT_SSH_COMMAND="+by("stranger"))
	if out, err := stranger.CombinedOutput(); err == nil || !strings.Contains(string(out), "it wants credentials, which git does not have") {
		t.Errorf("%v: %s", err, out)
	}
}
