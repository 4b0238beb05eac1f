package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// What a trusted project would run at events is shown in full and asked about once, and
// again when a file that it names is another.
func TestProjectHooks(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello."), et.Says("Hello."), et.Says("Hello."), et.Says("Hello."))
	cmd, home := pt.Unknown(t, s, map[string]string{"mark.sh": "touch ran\n",
		".gemini/settings.json": `{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "name": "mark", "command": "bash mark.sh; touch ../outside\u001b[2J"}]}]}}`})
	os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"security": {"folderTrust": {"enabled": false}}}`), 0o600)
	start := func(answer string, questions ...string) string {
		t.Helper()
		p := teletype.Start(t, cmd)
		for _, q := range questions {
			p.Expect(q)
		}
		if len(questions) > 0 {
			p.Line(answer)
		}
		p.Expect("\n> ")
		p.Send("\x04")
		p.Exit()
		text := string(p.Transcript())
		if strings.Contains(text, "this project wants") != (len(questions) > 0) || strings.Contains(text, "\x1b[2J") {
			t.Errorf("%q", text)
		}
		return text
	}
	there := func(name string) bool { _, err := os.Stat(filepath.Join(cmd.Dir, name)); return err == nil }
	question := []string{"permission: this project wants to run 1 command, which", "  hook SessionStart, mark:",
		"bash mark.sh; touch ../outside\\x1b[2J", "  file mark.sh:", "touch ran",
		"warning: control or invisible characters are shown as escapes", "Enter for not now: "}
	if text := start("", question...); !strings.Contains(text, "hooks of this project do not run") || there("ran") {
		t.Errorf("it ran unasked: %q", text)
	}
	start("1", question...)
	if !there("ran") || pt.Confined() && there("../outside\x1b[2J") {
		t.Error("it did not run, or not confined")
	}
	start("")
	question[4] = "touch again"
	os.WriteFile(filepath.Join(cmd.Dir, "mark.sh"), []byte("touch again\n"), 0o600)
	start("2", question...)
	if !there("again") || !there("../outside\x1b[2J") {
		t.Error("it did not run with the user's rights")
	}
	os.WriteFile(filepath.Join(cmd.Dir, "mark.sh"), []byte("touch never\n"), 0o600)
	question[4] = "touch never"
	start("3", question...)
	if start(""); there("never") {
		t.Error("it ran although it never was to")
	}
}

// A session runs the hooks of its beginning and its end, tells what they say, asks where
// one insists, shows what one has made of a call, and ends one that Ctrl-C is pressed at.
func TestHooksOfASession(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("", et.Call("1", "list_directory", "dir_path", ".")), et.Says("Seen."),
		et.Says("", et.Call("2", "run_shell_command", "command", "touch")), et.Says("Touched."))
	c := pt.Configured(t, pt.Terminal(t, s), `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "name": "hello", "command": "sed 's/.*\"source\":\"\\([a-z]*\\)\".*/{\"systemMessage\":\"it is \\1\",\"hookSpecificOutput\":{\"additionalContext\":\"came by \\1\"}}/'"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "name": "bye", "command": "sed 's/.*\"reason\":\"\\([a-z]*\\)\".*/left by \\1/'"}]}],
		"BeforeTool": [{"matcher": "list_directory", "hooks": [{"type": "command", "name": "curious", "command": "echo '{\"decision\":\"ask\",\"reason\":\"mind this\"}'"}]},
			{"matcher": "run_shell_command", "hooks": [{"type": "command", "name": "careful", "command": "sed 's/.*\"tool_input\":{\"command\":\"\\([^\"]*\\)\".*/{\"hookSpecificOutput\":{\"tool_input\":{\"command\":\"\\1 safe\"}}}/'"}]}],
		"BeforeAgent": [{"hooks": [{"type": "command", "name": "slow", "command": "grep -q 'wait for me' || exit 0; echo $$ >pid; sleep 100"}]}]
	}}`)
	p := teletype.Start(t, c)
	p.Expect("info: hook hello: it is startup\r\n")
	p.Expect("\n> ")
	p.Line("wait for me")
	pid := func() string { b, _ := os.ReadFile(filepath.Join(c.Dir, "pid")); return strings.TrimSpace(string(b)) }
	et.Eventually(t, "the hook runs", func() bool { return pid() != "" })
	p.Send("\x03")
	p.Expect("\n> ")
	if b, err := os.ReadFile("/proc/" + pid() + "/cmdline"); err == nil && strings.Contains(string(b), "sleep") {
		t.Errorf("it runs on: %q", b)
	}
	p.Line("look")
	p.Expect("info: hook curious wants to ask: mind this\r\n")
	p.Expect(pt.Asking)
	p.Line("y")
	p.Expect("Seen.")
	p.Line("touch it")
	p.Expect("run: touch safe\r\n") // what will run, not what the model said
	p.Expect(pt.Asking)
	p.Line("y")
	p.Expect("Touched.")
	if _, err := os.Stat(filepath.Join(c.Dir, "safe")); err != nil {
		t.Error(err)
	}
	p.Say("/hooks disable slow")
	p.Expect("slow is off, in ")
	p.Say("/hooks")
	p.Expect("slow: BeforeAgent (user, switched off)")
	p.Say("/clear")
	p.Expect("info: hook bye: left by clear\r\n")
	p.Expect("info: hook hello: it is clear\r\n")
	p.Say("/quit")
	p.Expect("info: hook bye: left by exit\r\n")
	p.Exit()
	if body := string(s.Requests()[0].Body); !strings.Contains(body, "came by startup") {
		t.Errorf("the model was told %s", body)
	}
}

// Ctrl-C ends the hooks of the beginning and the end of a session, too.
func TestHooksOutsideOfTurns(t *testing.T) {
	t.Parallel()
	c := pt.Configured(t, pt.Terminal(t, et.NewServer()), `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "name": "slow", "command": "echo $$ >began; exec sleep 1000"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "name": "slow", "command": "echo $$ >ended; exec sleep 1000"}]}]}}`)
	p := teletype.Start(t, c)
	wait := func(name string) {
		et.Eventually(t, name, func() bool {
			b, _ := os.ReadFile(filepath.Join(c.Dir, name))
			return len(b) > 0
		})
	}
	wait("began")
	p.Send("\x03")
	p.Expect("\n> ")
	p.Line("/quit")
	wait("ended")
	p.Send("\x03")
	pt.Succeeds(t, p)
}

// What a hook says to the user is a record of a conversation with a program, as other
// notices are; what one of the end says comes before the last record.
func TestTalkHooks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pt.Write(t, filepath.Join(dir, "home"), map[string]string{".gemini/settings.json": `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "name": "hello", "command": "echo you are here"}]}],
		"BeforeTool": [{"hooks": [{"type": "command", "name": "seen", "command": "echo a call"}]},
			{"hooks": [{"type": "command", "name": "odd", "command": "exit 3"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "name": "bye", "command": "echo gone"}]}]}}`})
	c := pt.Talk(t, dir, et.NewServer(et.Says("", et.Call("1", "list_directory", "dir_path", ".")), et.Says("Seen.")))
	c.Want("error", "severity", "info", "message", "hook hello: you are here")
	c.Say("look")
	c.Want("error", "severity", "info", "message", "hook seen: a call")
	c.Want("error", "severity", "warning", "message", "hook odd failed at BeforeTool: exit 3")
	c.Want("tool_result", "status", "success")
	c.Want("turn_result", "status", "success")
	c.In.Close()
	c.Want("error", "severity", "info", "message", "hook bye: gone")
	last := c.Ends(0, "completed")
	pt.Check(t, last, "warnings", "[hook odd failed at BeforeTool: exit 3]")
}

// The names of hooks are completed: of those that are on to switch them off, and the other
// way round.
func TestHookNamesAreCompleted(t *testing.T) {
	t.Parallel()
	c := pt.Configured(t, pt.Terminal(t, et.NewServer()), `{"hooks": {"SessionEnd": [{"hooks": [
		{"type": "command", "name": "first", "command": "true"}, {"type": "command", "name": "second", "command": "true"}]}]}}`)
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Send("/hooks disable f\t\r")
	s.Expect("first is off, in")
	s.Expect("> ")
	s.Send("/hooks disable \t\r")
	s.Expect("second is off, in")
	s.Expect("> ")
	s.Send("/hooks enable s\t\r")
	s.Expect("second is on, in")
	s.Expect("> ")
	s.Line("/quit")
	pt.Succeeds(t, s)
}

// An extension that guards calls by a hook guards none any more once it is uninstalled in the
// session: its command is gone, which would block them all.
func TestHooksOfAnUninstalledExtension(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	guard := filepath.Join(dir, "home", ".gemini", "extensions", "guard")
	pt.Write(t, guard, map[string]string{
		"gemini-extension.json": `{"name": "guard", "version": "1.0.0"}`,
		"no.sh":                 "cat >/dev/null; echo not now >&2; exit 2",
		"hooks/hooks.json":      `{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "sh ${extensionPath}/no.sh"}]}]}}`})
	look := func(id string) et.Reply { return et.Says("", et.Call(id, "list_directory", "dir_path", ".")) }
	c := pt.Talk(t, dir, et.NewServer(look("1"), et.Says("No."), look("2"), et.Says("Yes.")))
	c.Say("look")
	c.Want("tool_result", "status", "error")
	c.Want("turn_result", "status", "success")
	c.Say("/extensions uninstall guard")
	c.Want("turn_result", "status", "success")
	c.Say("look")
	c.Want("tool_result", "status", "success")
	c.Want("turn_result", "status", "success")
	c.Finish(0, "completed")
}
