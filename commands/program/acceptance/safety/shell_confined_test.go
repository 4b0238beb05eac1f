//go:build linux

package safety

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// listening accepts connections on this machine and says how many there were.
func listening(t *testing.T, host string) (port string, count func() int) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	var met atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			met.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	own := 0
	return port, func() int {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String()) // and when this one was accepted, those before it were
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.Copy(io.Discard, c)
		own++
		return int(met.Load()) - own
	}
}

// reached returns an address of this machine that is no loopback address: a command needs
// the network for it.
func reached(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses alone")
	return ""
}

// A confined command that lacks a right is asked about once more with that
// right named, and has it for that one time.
func TestConfinedAndAskedAgain(t *testing.T) {
	t.Parallel()
	port, met := listening(t, "127.0.0.1")
	dial := "exec 3<>/dev/tcp/127.0.0.1/" + port + " && echo reached"
	server := et.NewServer()
	c := pt.Terminal(t, server)
	pt.Confining(t, c)
	outside := filepath.Join(filepath.Dir(c.Dir), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	s := teletype.Start(t, c)
	s.Expect("> ")
	call := func(command string) {
		t.Helper()
		server.Add(et.Says("", et.Call("", "run_shell_command", "command", command)), et.Says("."))
		s.Line("go on")
		s.Expect("y n w ")
		shown := string(s.Transcript())
		if n := strings.Count(shown, "info: commands write only in this folder, without network\r\n"); n != 1 {
			t.Errorf("what holds commands was said %d times:\n%s", n, shown)
		}
	}
	over := func(words string) {
		t.Helper()
		s.Expect(words)
		s.Match(pt.Prompting)
	}

	call(dial)
	s.Line("y")
	s.Expect("permission: it failed; let it use the network\r\n")
	s.Expect(pt.Asking)
	s.Line("y")
	over("result: ok")
	if met() != 1 {
		t.Errorf("%d connections", met())
	}

	call(dial)
	s.Line("y") // once was once
	s.Expect("it failed; let it use the network")
	s.Expect(pt.Asking)
	s.Line("n not today")
	over("result: failed exit 1")
	if got := pt.AnswerOf(t, server, "run_shell_command"); !strings.Contains(got, "it probably needs the network, which it was not given. The user said: not today") {
		t.Errorf("the model reads %s", got)
	}

	call(dial)
	s.Line("w")
	over("result: ok")
	if met() != 2 {
		t.Errorf("%d connections", met())
	}

	call("echo x >" + outside + "/made")
	s.Line("y")
	s.Expect("; let it write to the directory " + outside + " and everything below it\r\n")
	s.Expect(pt.Asking)
	s.Line("y")
	over("result: ok")
	if b, err := os.ReadFile(filepath.Join(outside, "made")); string(b) != "x\n" {
		t.Error(err)
	}

	beside := filepath.Join(filepath.Dir(c.Dir), "beside")
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	call("mkdir " + beside + "/dir")
	s.Line("y")
	s.Expect("info: the command failed; it could not write: " + beside + "/dir\r\n")
	s.Expect("; let it write to the directory " + beside + " and everything below it\r\n") // where nothing less would do
	s.Expect(pt.Asking)
	s.Line("y")
	over("result: ok")
	if _, err := os.Stat(filepath.Join(beside, "dir")); err != nil {
		t.Error(err)
	}

	if err := os.MkdirAll(filepath.Join(c.Dir, ".git", "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	call("echo x >.git/hooks/pre-commit")
	s.Line("y")
	s.Expect("let it write to all that is protected in the workspace (.git, .gemini)\r\n")
	s.Expect(pt.Asking)
	s.Line("")
	over("result: failed exit 1")
	if _, err := os.Stat(filepath.Join(c.Dir, ".git", "hooks", "pre-commit")); err == nil {
		t.Error("there is a hook")
	}
	pt.Leave(t, s, teletype.Rules{Quiet: true})
}

// A tree that git makes, and a rebase that runs something after each commit, are
// asked about before they begin and then done. A rebase that runs nothing needs
// no more than other commands.
func TestConfinedGit(t *testing.T) {
	t.Parallel()
	server := et.NewServer()
	c := pt.Terminal(t, server)
	pt.Confining(t, c)
	setup := exec.Command("sh", "-ec", `git init -q -b main .; git config user.name n; git config user.email e; git add .; git commit -qm one
		git checkout -qb side; touch side; git add .; git commit -qm side; git checkout -q main; touch main; git add .; git commit -qm main; git checkout -q side`)
	setup.Dir, setup.Env = c.Dir, c.Env
	if out, err := setup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := teletype.Start(t, c)
	s.Expect("> ")
	for _, step := range []struct {
		command string
		more    bool
	}{
		{"git rebase main && test -f main -a -f side", false},
		{"git rebase -x 'touch ran' HEAD~1 && test -f ran", true},
		{"git worktree add -b new tree && touch tree/x && git -C tree add x && git -C tree commit -qm x && git log -1 new", true},
		{"cd tree && git rebase HEAD~1 && git status", false},
		{"git worktree remove tree", true},
	} {
		server.Add(et.Says("", et.Call("", "run_shell_command", "command", step.command)), et.Says("."))
		s.Line("go on")
		if asked := s.Expect("y n w "); strings.Contains(asked, ", with writing to all that is protected in the workspace (.git, .gemini)\r\n") != step.more {
			t.Errorf("asked: %q", asked)
		}
		s.Line("y")
		if got := s.Match(`result: .*\r\n`); !strings.Contains(got, "result: ok\r\n") {
			t.Errorf("%s: %s", step.command, got)
		}
		s.Match(pt.Prompting)
	}
	pt.Leave(t, s, teletype.Rules{Quiet: true})
}

// In yolo the network and further paths are given to a call that asks for them,
// and the network to programs that are known to need it. What a command fails
// without is not: it is in the final record and on standard error what that was.
func TestYoloIsHeld(t *testing.T) {
	t.Parallel()
	pt.Need(t, "curl")
	const key = ".ssh/id_ed25519"
	for _, test := range []struct {
		name    string
		command string // HOST, PORT and HOME stand for what is there
		more    map[string]any
		flags   []string
		met     int
		why     string // it is denied, "" if it isn't
	}{
		{name: "one that asks for nothing", command: "exec 3<>/dev/tcp/HOST/PORT", why: "it probably needs the network"},
		{name: "one that asks for the network", command: "exec 3<>/dev/tcp/HOST/PORT", more: map[string]any{"network": true}, met: 1},
		{name: "one that is known to need it", command: "curl -s HOST:PORT; true", met: 1},
		{name: "known, among others", command: "for i in 1; do curl -s HOST:PORT; done; true", met: 1},
		{name: "known, of the session's own loopback", command: "curl -s 127.0.0.1:PORT; true"},
		{name: "a flag", command: "curl -s HOST:PORT", flags: []string{"--no-network"}, why: "it probably needs the network"},
		{name: "a flag, and one that asks", command: "curl -s HOST:PORT", flags: []string{"--no-network"}, more: map[string]any{"network": true}, why: "denied"},
		{name: "a key", command: "cat HOME/" + key, why: "it probably needs reading the file HOME/" + key},
		{name: "a key that it asks for", command: "cat HOME/" + key, more: map[string]any{"fileSystem": map[string]any{"read": []any{"~/" + key, "HOME/" + key}}}, why: "nobody could be asked"},
		{name: "a place", command: "echo x > HOME/made", why: "it probably needs writing to the directory HOME and everything below it"},
		{name: "a place that it asks for", command: "echo x > HOME/made/x", more: map[string]any{"fileSystem": map[string]any{"write": []any{"HOME/made"}}}},
		{name: "where the shell starts", command: "echo x > HOME/.bashrc", more: map[string]any{"fileSystem": map[string]any{"write": []any{"HOME/.bashrc"}}}, why: "nobody could be asked"},
		{name: "what is protected", command: "git worktree add x", why: "nobody could be asked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			host := "127.0.0.1"
			if strings.Contains(test.command, "HOST") {
				host = reached(t)
			}
			port, met := listening(t, host)
			server := et.NewServer()
			c := pt.Terminal(t, server, append([]string{"--approval-mode", "yolo"}, test.flags...)...)
			pt.Confining(t, c)
			named := func(s string) string {
				return strings.NewReplacer("HOST", host, "PORT", port, "HOME", pt.HomeOf(c)).Replace(s)
			}
			args := map[string]any{}
			if test.more != nil {
				text, err := json.Marshal(test.more)
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal([]byte(named(string(text))), &args); err != nil {
					t.Fatal(err)
				}
			}
			call := et.Call("1", "run_shell_command", "command", named(test.command))
			if len(args) > 0 {
				call = et.Call("1", "run_shell_command", "command", named(test.command), "additional_permissions", args)
			}
			server.Add(et.Says("", call), et.Says("No."))
			for _, dir := range []string{".ssh", "made"} {
				if err := os.MkdirAll(filepath.Join(pt.HomeOf(c), dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if test.name == "a place" {
				os.Remove(filepath.Join(pt.HomeOf(c), "made"))
			}
			if err := os.WriteFile(filepath.Join(pt.HomeOf(c), key), []byte("CANARY"), 0o600); err != nil {
				t.Fatal(err)
			}
			denied := pt.DeniedIn(t, c)
			if (test.why == "") != (len(denied) == 0) || met() != test.met {
				t.Fatalf("%+v, %d connections", denied, met())
			}
			for _, d := range denied {
				if !strings.Contains(d.Why, named(test.why)) || strings.Contains(d.AllowedBy, "sandbox") {
					t.Errorf("%+v", d)
				}
			}
			got := pt.AnswerOf(t, server, "run_shell_command")
			if strings.Contains(got, "CANARY") || strings.Contains(got, "--sandbox") || strings.Contains(got, "sandboxAllowedPaths") {
				t.Errorf("the model reads %s", got)
			}
		})
	}
}

// A rule that names the network has the command run again without a question.
func TestConfinedWithARule(t *testing.T) {
	t.Parallel()
	host := reached(t)
	port, met := listening(t, host)
	c := pt.Terminal(t, et.NewServer(et.Says("", et.Call("1", "run_shell_command", "command", "curl "+host+":"+port)), et.Says("Done.")))
	pt.Confining(t, c)
	pt.Need(t, "curl")
	rule := "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"curl\"\nnetwork = true\ndecision = \"allow\"\npriority = 1\n"
	pt.Write(t, pt.HomeOf(c), map[string]string{".gemini/policies/mine.toml": rule})
	if denied := pt.DeniedIn(t, c); len(denied) > 0 || met() != 1 {
		t.Errorf("%+v, %d connections", denied, met())
	}
}
