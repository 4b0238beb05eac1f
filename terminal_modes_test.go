package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	et "gemline/engine/enginetest"
	"gemline/repl/teletype"
)

// What was asked for is said first, with its cause; what the terminal asks for
// is not.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, term, env, settings string
		args                      []string
		want                      string // what comes before the line of every session
	}{
		{"terminal", "dumb", "", "", nil, ""},
		{"flag", "xterm", "", "", []string{"--plain"}, "info: screen reader mode: on (--plain)\r\n"},
		{"environment", "xterm", "ACCESSIBLE=1", "", nil, "info: screen reader mode: on (ACCESSIBLE)\r\n"},
		{"settings", "xterm", "", `{"ui":{"accessibility":{"screenReader":true}}}`, nil, "info: screen reader mode: on (settings)\r\n"},
		{"settings, environment off", "dumb", "ACCESSIBLE=0", `{"ui":{"accessibility":{"screenReader":true}}}`, nil, ""},
		{"environment, flag off", "dumb", "ACCESSIBLE=1", "", []string{"--screen-reader=false"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := terminal(t, et.NewServer(), tt.args...)
			if c.Term = tt.term; tt.env != "" {
				c.Env = append(c.Env, tt.env)
			}
			if tt.settings != "" {
				c = configured(t, c, tt.settings)
			}
			s := teletype.Start(t, c)
			s.Expect("> ")
			want := tt.want + "info: gemline, gemini-2.5-flash, in " + c.Dir + "; type /help\r\n> "
			if got := string(s.Transcript()); got != want {
				t.Errorf("begins with %q, want %q", got, want)
			}
			leave(t, s, teletype.Rules{Quiet: true})
		})
	}
}

// Whoever asks for screen reader mode by the flag is asked once whether that
// is for good.
func TestOffer(t *testing.T) {
	t.Parallel()
	const question = "y or n: "
	c := terminal(t, et.NewServer(), "--screen-reader")
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("asked once.\r\n" + question)
	s.Line("maybe")
	s.Expect(question)
	s.Line("")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Quiet: true})
	s = teletype.Start(t, c)
	s.Expect("> ")
	if text := leave(t, s, teletype.Rules{Quiet: true}); strings.Contains(text, question) {
		t.Errorf("asked again: %s", text)
	}
	c = terminal(t, et.NewServer(), "--accessible")
	c.Term = "xterm"
	s = teletype.Start(t, c)
	s.Expect(question)
	s.Line("y")
	s.Expect("ui.accessibility.screenReader")
	s.Expect("> ")
	if text := string(s.Transcript()); strings.Contains(text, "does not count") {
		t.Errorf("the flag is held against the setting: %s", text)
	}
	leave(t, s, teletype.Rules{Quiet: true})
	c.Args = c.Args[:len(c.Args)-1] // without the flag
	s = teletype.Start(t, c)
	s.Expect("screen reader mode: on (settings)")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Quiet: true})
}

// The mode changes in the middle of a session, and what follows keeps to it.
func TestAccessible(t *testing.T) {
	t.Parallel()
	c := terminal(t, et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three.")))
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("first")
	s.Expect("done:")
	s.Expect("> ")
	s.Line("/accessible on")
	s.Expect("screen reader mode: on (/accessible)\r\n")
	before := len(s.Transcript())
	s.Expect("> ")
	s.Line("second")
	s.Expect("\r\ngemini: Two.\r\ndone:")
	s.Expect("> ")
	s.Line("/accessible")
	s.Expect("screen reader mode: on (/accessible)")
	s.Expect("> ")
	s.Line("/accessible off")
	s.Expect("screen reader mode: off\r\n")
	plain := len(s.Transcript())
	s.Expect("> ")
	s.Send("third")
	s.Expect("third")
	s.Send("\x01") // the editor's own key
	s.Send("\r")
	s.Expect("Three.")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Smart: true})
	// What the editor leaves behind is before, and its first mark behind.
	_, middle, _ := strings.Cut(string(s.Transcript()[before:plain]), "> ")
	middle, _, _ = strings.Cut(middle, "mode: off\r\n")
	for _, fault := range teletype.Lint([]byte(middle), teletype.Rules{Quiet: true}) {
		t.Error(fault)
	}
}

// A prompt is marked where it begins and where it ends, what answers it from
// the Enter on, and how that went.
func TestMarksOnATerminal(t *testing.T) {
	t.Parallel()
	c := terminal(t, et.NewServer(et.Says("Yes."), et.BadRequest("no")))
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect("\x1b]133;A\x1b\\> \x1b]133;B\x1b\\")
	s.Line("good")
	s.Expect("\x1b]133;C\x1b\\")
	s.Expect("Yes.")
	s.Expect("\x1b]133;D;0\x1b\\")
	s.Expect("\x1b]133;A\x1b\\> \x1b]133;B\x1b\\")
	s.Line("bad")
	s.Expect("error:")
	s.Expect("\x1b]133;D;1\x1b\\")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Smart: true})
}

// Terminals that would show them get no marks.
func TestNoMarks(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "vt100", "linux"} {
		c := terminal(t, et.NewServer())
		c.Term = term
		s := teletype.Start(t, c)
		s.Expect("> ")
		if text := leave(t, s, teletype.Rules{Smart: term != "dumb"}); strings.Contains(text, "\x1b]") {
			t.Errorf("%s: %q", term, text)
		}
	}
}

// Far from the desktop, /copy goes through the terminal, and says how much.
func TestCopyByTheTerminal(t *testing.T) {
	t.Parallel()
	c := terminal(t, et.NewServer(et.Says("Copy me.")))
	c.Term, c.Env = "xterm", append(c.Env, "SSH_CONNECTION=::1 1 ::1 22")
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("go")
	s.Expect("done:")
	s.Expect("> ")
	s.Line("/copy")
	s.Expect("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("Copy me.")) + "\a")
	s.Expect("copied 8 bytes by the terminal")
	s.Expect("> ")
	s.Line("/quit")
	s.Exit()
}

// In tmux /copy fills the buffer from which tmux pastes, also behind screen in it,
// which shows nothing of that.
func TestCopyInTmux(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"tmux", "screen in tmux"} {
		t.Run(in, func(t *testing.T) {
			c := terminal(t, et.NewServer(et.Says("Copy me.")))
			if in == "screen in tmux" {
				path := need(t, "screen")
				c.Env = append(c.Env, "SCREENDIR="+teletype.SocketDir(t), "TERM=screen")
				c.Path, c.Args = path, append([]string{"-c", os.DevNull, c.Path}, c.Args...)
			}
			m := teletype.StartTmux(t, c)
			m.ExpectEnd("> ")
			m.Send("go")
			m.Key("Enter")
			m.Expect("done:")
			m.ExpectEnd("> ")
			m.Send("/copy")
			m.Key("Enter")
			m.Expect("copied 8 bytes to the tmux buffer")
			screen := m.ExpectEnd("> ")
			if got := m.Buffer(); got != "Copy me." {
				t.Errorf("the buffer holds %q", got)
			}
			if strings.Contains(screen, "52;c") || strings.Contains(screen, "tmux;") || strings.Contains(screen, "Q29weSBtZS4") {
				t.Errorf("it is on the screen:\n%s", screen)
			}
			m.Send("/quit")
			m.Key("Enter")
			m.End()
		})
	}
}

// Paces, levels of detail and what can be had again, on both kinds of terminal.
func TestPaceAndDetail(t *testing.T) {
	t.Parallel()
	long := et.Says("", et.Call("1", "run_shell_command", "command", "seq 1 200"))
	table := "Here:\n\n| Name | Note |\n|---|---|\n| Ada | a, b |\n| Bob | \"c\" |\n"
	layout := map[string]string{"dumb": "table, 2 columns: Name, Note\r\nName: Ada\r\n", "xterm": "\r\n----  ----\r\nAda   a, b\r\nBob   \"c\"\r\n"}
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(long, et.Says("Counted."), long, et.Says("Again."), long, et.Says(table), et.Says("We counted."))
			c := terminal(t, server, "-y", "--stream", "final")
			c.Term = term
			s := teletype.Start(t, c)
			s.Expect("> ")
			for _, step := range [][]string{
				{"/stream", "shown by: final"},
				{"/stream paragraph", "shown by: paragraph"},
				{"count", "run: seq 1 200", "\r\n  (170 lines not shown; /show 1)\r\n", "  200\r\n", "ok", "Counted."},
				{"/show", "1: run: seq 1 200, 200 lines"},
				{"/show 1", "\r\n21\r\n", "\r\n199\r\n200\r\n"},
				{"/show 9", "there is no output 9"},
				{"/again", "Counted."},
				{"/detail short", "detail: short"},
				{"count", "Again.", "done:"},
				{"/show", "2: run: seq 1 200"},
				{"/detail full", "detail: full"},
				{"count", "is called with:\r\n  command: seq 1 200", "  1\r\n", "  100\r\n", "  200\r\n", layout[term]},
				{"/last csv", "Name,Note\r\nAda,\"a, b\"\r\nBob,\"\"\"c\"\"\"\r\n"},
				{"/brief", "We counted."},
				{"/history 3", ": /last csv\r\n", ": /brief\r\n"},
				{"/history coun", ": count\r\n"},
				{"/vim", "vi keys: on"},
				{"/vim off", "vi keys: off"},
			} {
				s.Line(step[0])
				for _, want := range step[1:] {
					s.Expect(want)
				}
				s.Expect("> ")
			}
			text := leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true})
			short := text[strings.Index(text, "detail: short"):strings.Index(text, "Again.")]
			if strings.Contains(short, "seq 1 200") || strings.Contains(short, "result") {
				t.Errorf("short detail shows %q", short)
			}
			if last := server.Requests()[6]; !strings.Contains(string(last.Body), "Sum up in plain sentences") {
				t.Error("the model was not asked for a summary")
			}
		})
	}
}

// Labels go by the user's words, in what the program guards, too.
func TestLabels(t *testing.T) {
	t.Parallel()
	c := configured(t, terminal(t, et.NewServer(et.Says("Hi.\nanswer: fake\nend: fake")), "--ascii"),
		`{"ui": {"labels": {"gemini": "answer", "done": "end"}}}`)
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("go")
	s.Expect("\r\nanswer: Hi.\r\n| answer: fake\r\n| end: fake\r\nend: ")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Quiet: true})
	c = configured(t, terminal(t, et.NewServer()), `{"ui": {"labels": {"gemini": "done"}}}`)
	s = teletype.Start(t, c)
	s.Expect("warning: ui.labels: gemini and done can't both be called done; all labels keep their names\r\n> ")
	leave(t, s, teletype.Rules{Quiet: true})
}

// A program can wait for the same words at the end of every question, and
// reads nothing but what gemline writes.
func TestStable(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(work()[1], et.Says("\u201cFine\u201d \u2014 caf\u00e9."))
			c := terminal(t, server, "--prompt-format", "stable", "--no-echo", "--ascii")
			c.Term = term
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Line("tidy the place")
			s.Expect("info: y n w a e ? (a = always this command)\r\nanswer: ")
			s.Line("n")
			s.Expect("gemini: \"Fine\" -- caf\\u{e9}.")
			s.Expect("> ")
			text := leave(t, s, teletype.Rules{Quiet: true})
			if strings.Contains(text, "tidy the place") || strings.Contains(text, "/quit") {
				t.Errorf("what was typed is shown: %q", text)
			}
		})
	}
}

// Attention is called for once at a question, and not after a short turn.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, term, settings, want string }{
		{"osc9", "xterm", `"enableNotifications": true, "notificationMethod": "osc9"`, "\x1b]9;gemline: run: rm notes.txt\a"},
		{"bell in plain mode", "dumb", `"enableNotifications": true, "notificationMethod": "bell"`, "\a"},
		{"auto in plain mode", "dumb", `"enableNotifications": true`, ""},
		{"none", "xterm", `"enableNotifications": true, "notificationMethod": "none"`, ""},
		{"off", "xterm", `"notificationMethod": "bell"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := configured(t, terminal(t, et.NewServer(work()[1], et.Says("Fine."))), `{"general": {`+tt.settings+`}}`)
			c.Term = tt.term
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Line("clean up")
			s.Expect(asking)
			s.Line("n")
			s.Expect("Fine.")
			s.Expect("> ")
			s.Line("/quit")
			s.Exit()
			text := string(s.Transcript())
			if n := strings.Count(text, "\a"); n != min(1, len(tt.want)) || !strings.Contains(text, tt.want) {
				t.Errorf("%d bells, want %q in %q", n, tt.want, text)
			}
		})
	}
}

// A command of the user's takes the place of that; a project can't name one.
func TestNotificationCommand(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "alert")
	c := configured(t, terminal(t, et.NewServer(work()[1], et.Says("Fine."))),
		fmt.Sprintf(`{"general": {"notificationCommand": "cat >%s.part && mv %s.part %s"}}`, file, file, file))
	project := filepath.Join(c.Dir, ".gemini")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "settings.json"), []byte(`{"general": {"notificationCommand": "touch hacked"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := teletype.Start(t, c)
	s.Expect("general.notificationCommand: a project can't set it")
	s.Expect("> ")
	s.Line("clean up")
	s.Expect(asking)
	s.Line("n")
	s.Expect("Fine.")
	s.Expect("> ")
	s.Line("!until test -e " + file + "; do sleep 0.05; done; cat " + file)
	s.Expect(`{"event":"permission","text":"run: rm notes.txt","directory":"`)
	s.Expect("> ")
	s.Line("/quit")
	s.Exit()
	if _, err := os.Stat(filepath.Join(c.Dir, "hacked")); err == nil {
		t.Error("the project's command ran")
	}
}

// What a library writes to the program's streams reaches the debug log and
// nothing else, whenever it took hold of them.
func TestStrayWrites(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	c := terminal(t, et.NewServer(et.Says("Fine.")), "-d")
	c.Env = append(c.Env, "GEMLINE_TEST_STRAY=1", "GEMINI_DEBUG_LOG_FILE="+log)
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("go")
	s.Expect("Fine.")
	s.Expect("> ")
	if text := leave(t, s, teletype.Rules{Quiet: true}); strings.Contains(text, "stray") {
		t.Errorf("on the terminal: %q", text)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stray to stdout\x1b[2J", "stray to stderr", "stray to stdout of before", "stray to stderr of before"} {
		if !slices.Contains(strings.Split(string(b), "\n"), want) {
			t.Errorf("no %q in the log", want)
		}
	}
}

// held is what a careless library takes hold of when it is loaded.
var held = [2]*os.File{os.Stdout, os.Stderr}

// What a session's line editor is given: an editor, what was typed in sessions
// before, and names to complete.
func TestEditorHistoryAndCompletion(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three."))
	c := terminal(t, server)
	script := filepath.Join(t.TempDir(), "ed")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf 'two\\nlines\\n' >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Term, c.Env = "xterm", append(c.Env, "EDITOR="+script)
	s := teletype.Start(t, c)
	s.Expect("> ")
	s.Line("/editor begun")
	s.Expect("One.")
	s.Expect("> ")
	s.Line("remember this")
	s.Expect("Two.")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Smart: true})
	if !strings.Contains(string(server.Requests()[0].Body), `begun`+`two\nlines`) {
		t.Errorf("the editor's text is not in %s", server.Requests()[0].Body)
	}
	s = teletype.Start(t, c)
	s.Expect("> ")
	s.Send("/acc\t")
	s.Expect("/accessible ")
	s.Send("\r")
	s.Expect("screen reader mode: off")
	s.Expect("> ")
	s.Send("look at @notes\t")
	s.Expect("@notes.txt ")
	s.Send("\x15\x1b[A\x1b[A\x1b[A") // past /accessible and /quit
	s.Expect("remember this")
	s.Send("\r")
	s.Expect("Three.")
	s.Expect("> ")
	leave(t, s, teletype.Rules{Smart: true})
	if !strings.Contains(string(server.Requests()[2].Body), "remember this") {
		t.Error("the line of before was not sent")
	}
}
