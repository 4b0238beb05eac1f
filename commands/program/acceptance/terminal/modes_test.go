package terminal

import (
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// What was asked for is said first, with its cause; what the terminal asks for
// is not.
func TestFirstLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, term, env, settings string
		args                      []string
		want                      string // what stands behind the name of the program
	}{
		{"terminal", "dumb", "", "", nil, "plain mode (TERM=dumb)"},
		{"flag", "xterm", "", "", []string{"--plain"}, "plain mode (--plain)"},
		{"environment", "xterm", "ACCESSIBLE=1", "", nil, "screen reader mode (ACCESSIBLE)"},
		{"settings", "xterm", "", `{"ui":{"accessibility":{"screenReader":true}}}`, nil, "screen reader mode (settings)"},
		{"settings, environment off", "dumb", "ACCESSIBLE=0", `{"ui":{"accessibility":{"screenReader":true}}}`, nil, "plain mode (TERM=dumb)"},
		{"environment, flag off", "dumb", "ACCESSIBLE=1", "", []string{"--screen-reader=false"}, "plain mode (TERM=dumb)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := pt.Terminal(t, et.NewServer(), tt.args...)
			if c.Term = tt.term; tt.env != "" {
				c.Env = append(c.Env, tt.env)
			}
			if tt.settings != "" {
				c = pt.Configured(t, c, tt.settings)
			}
			s := teletype.Start(t, c)
			s.Expect("> ")
			more := "; type /help" // which a listener would hear each time
			if !strings.HasSuffix(tt.want, "dumb)") {
				more = ""
			}
			want := "info: gemline, " + tt.want + ", " + pt.Model + ", in " + c.Dir + more + "\r\n> "
			if got := string(s.Transcript()); got != want {
				t.Errorf("begins with %q, want %q", got, want)
			}
			pt.Leave(t, s, teletype.Rules{Quiet: true})
		})
	}
}

// Whoever asks for screen reader mode by the flag is told once how it is for good, and is
// asked nothing before the first prompt.
func TestScreenReaderOffer(t *testing.T) {
	t.Parallel()
	const told = "/settings set ui.accessibility.screenReader true"
	c := pt.Terminal(t, et.NewServer(), "--screen-reader")
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Expect(told)
	s.Expect("> ")
	s.Line(told)
	s.Expect("ui.accessibility.screenReader = true")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	s = teletype.Start(t, c)
	s.Expect("> ")
	if text := pt.Leave(t, s, teletype.Rules{Quiet: true}); strings.Contains(text, told) {
		t.Errorf("told again: %s", text)
	}
	c.Args = c.Args[:len(c.Args)-1] // without the flag
	s = teletype.Start(t, c)
	s.Match(`gemline, screen reader mode \(settings\), [^;]*\n`)
	s.Expect("> ")
	s.Line("/accessible")
	s.Expect("screen reader mode: on (settings)")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
}

// The mode changes in the middle of a session, and what follows keeps to it.
func TestScreenReaderMode(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer(et.Says("One."), et.Says("Two."), et.Says("Three.")))
	c.Term = "xterm"
	s := teletype.Start(t, c)
	s.Say("first")
	s.Expect("done:")
	s.Say("/accessible on")
	s.Expect("screen reader mode: on (/accessible)\r\n")
	before := len(s.Transcript())
	s.Say("second")
	s.Expect("\r\ngemini: Two.\r\ndone:")
	s.Say("/accessible")
	s.Expect("screen reader mode: on (/accessible)")
	s.Say("/accessible off")
	s.Expect("screen reader mode: off\r\n")
	plain := len(s.Transcript())
	s.Expect("> ")
	s.Send("third")
	s.Expect("third")
	s.Send("\x01") // the editor's own key
	s.Send("\r")
	s.Expect("Three.")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Smart: true})
	// What the editor leaves behind is before, and its first mark behind.
	_, middle, _ := strings.Cut(string(s.Transcript()[before:plain]), "> ")
	middle, _, _ = strings.Cut(middle, "mode: off\r\n")
	pt.Lint(t, []byte(middle), teletype.Rules{Quiet: true})
}

// A prompt is marked where it begins and where it ends, what answers it from
// the Enter on, and how that went.
func TestMarksOnATerminal(t *testing.T) {
	t.Parallel()
	c := pt.Terminal(t, et.NewServer(et.Says("Yes."), et.BadRequest("no")))
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
	pt.Leave(t, s, teletype.Rules{Smart: true})
}

// Terminals that would show them get no marks.
func TestNoMarks(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "vt100", "linux"} {
		c := pt.Terminal(t, et.NewServer())
		c.Term = term
		s := teletype.Start(t, c)
		s.Expect("> ")
		if text := pt.Leave(t, s, teletype.Rules{Smart: term != "dumb"}); strings.Contains(text, "\x1b]") {
			t.Errorf("%s: %q", term, text)
		}
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
			c := pt.Terminal(t, server, "-y", "--stream", "final")
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
			text := pt.Leave(t, s, teletype.Rules{Smart: term != "dumb", Quiet: true})
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
	c := pt.Configured(t, pt.Terminal(t, et.NewServer(et.Says("Hi.\nanswer: fake\nend: fake")), "--ascii"),
		`{"ui": {"labels": {"gemini": "answer", "done": "end"}}}`)
	s := teletype.Start(t, c)
	s.Say("go")
	s.Expect("\r\nanswer: Hi.\r\n| answer: fake\r\n| end: fake\r\nend: ")
	s.Expect("> ")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
	c = pt.Configured(t, pt.Terminal(t, et.NewServer()), `{"ui": {"labels": {"gemini": "done"}}}`)
	s = teletype.Start(t, c)
	s.Expect("warning: ui.labels: gemini and done can't both be called done; all labels keep their names\r\n> ")
	pt.Leave(t, s, teletype.Rules{Quiet: true})
}

// A program can wait for the same words at the end of every question, and
// reads nothing but what gemline writes.
func TestStablePrompts(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm"} {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer(pt.Work()[1], et.Says("\u201cFine\u201d \u2014 caf\u00e9."))
			c := pt.Terminal(t, server, "--prompt-format", "stable", "--no-echo", "--ascii")
			c.Term = term
			s := teletype.Start(t, c)
			s.Say("tidy the place")
			s.Expect("info: y n w r a e ? (a = always this command)\r\nanswer: ")
			s.Line("n")
			s.Expect("gemini: \"Fine\" -- caf\\u{e9}.")
			s.Expect("> ")
			text := pt.Leave(t, s, teletype.Rules{Quiet: true})
			if strings.Contains(text, "tidy the place") || strings.Contains(text, "/quit") {
				t.Errorf("what was typed is shown: %q", text)
			}
		})
	}
}

// Typed text that is not UTF-8 is converted by the charset that the locale names. Otherwise the
// user is told that bytes were lost.
func TestTypedCharset(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"dumb", "xterm-256color"} {
		for locale, want := range map[string]string{"de_DE.ISO-8859-1": "café 1", "de_DE.UTF-8": "caf\uFFFD 1"} {
			server := et.NewServer(et.Says("ok"))
			c := pt.Terminal(t, server)
			c.Term, c.Env = term, append(c.Env, "LC_ALL="+locale)
			s := teletype.Start(t, c)
			s.Expect("> ")
			s.Send("caf\xe9 1\r")
			said := s.Match(`done:.*\n`)
			if got := strings.Contains(said, "bytes that are not UTF-8 were typed"); got != strings.Contains(want, "\uFFFD") {
				t.Errorf("%s, %s: %q", term, locale, said)
			}
			if !strings.Contains(string(server.Requests()[0].Body), want) {
				t.Errorf("%s, %s: %s is not sent", term, locale, want)
			}
			s.Line("/quit")
			s.Exit()
		}
	}
}
