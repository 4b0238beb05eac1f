package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
	"gemline/repl/output"
)

// attacks do something to a terminal that lets them through.
var attacks = []string{
	"\x1b[2J\x1b[H",        // clears the screen
	"\x1b[1A\x1b[2K",       // goes up and erases
	"\x1b]0;title\a",       // sets the title
	"\x1b]52;c;ZXZpbA==\a", // fills the clipboard
	"\x1b]8;;http://evil\x1b\\good\x1b]8;;\x1b\\",          // a link to elsewhere
	"\x1b[6n\x1b[c\x1bZ",                                   // has the terminal type
	"\x1bP1$r0m\x1b\\\x1b_x\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\", // strings of several kinds
	"\x1b[?1049h\x1b[?25l\x1b[8m",                          // another screen, no cursor, no text
	"\x1bPtmux;\x1b\x1b]52;c;eA==\a\x1b\\",                 // through tmux
	"\u009b2J\u009d0;t\u009c\u0090q\u009c",                 // the same in C1
	"\b\b\b\b\x7f\a\x0e\x0f\x05\x00",                       // single characters
	"\v\f\u0085\u2028\u2029",                               // lines of other kinds
	"a\u202eb\u2066c\u2069\u200f",                          // another order
	"a\u200b\u2060\ufeff\u00ad\U000e0041\u3164",            // nothing to be seen
}

// fakes returns lines that look like the program's own, and name who wrote
// them.
func fakes(who string) []string {
	fakes := []string{output.Ready + "faked by " + who, output.Shell + "faked by " + who, output.Choices[1] + "a ? (faked by " + who + "): y"}
	for _, l := range output.Labels() {
		fakes = append(fakes, string(l)+": faked by "+who, strings.ToUpper(string(l))+": faked by "+who)
	}
	return fakes
}

// hostile returns everything that a text may try.
func hostile(who string) string {
	var b strings.Builder
	all := fakes(who)
	for i, fake := range all {
		between := []string{"\n", "\r", "\r\n", "\n\r", "\n\x1b[2K", "\n\u200b", "\n\ufeff", "\v", "\f", "\u0085", "\u2028"}
		b.WriteString(between[i%len(between)] + fake)
	}
	for _, a := range attacks {
		b.WriteString("\n" + a + "attacked by " + who)
	}
	return b.String() + "\n" + strings.Join(all, "\n") + "\n"
}

// marked returns hostile text that is written in Markdown.
func marked(who string) string {
	var b strings.Builder
	for _, fake := range fakes(who) {
		word, rest, _ := strings.Cut(fake, " ")
		fmt.Fprintf(&b, "**%s** %s\n\n# %s\n\n`%s`\n\n\\%s\n\n- %s\n\n[%s](%s)\n\n| %s | a |\n|---|---|\n| %s | b |\n\n&#%d;%s\n\n<b>%s</b>\n\n```\n%s\n```\n\n",
			word, rest, fake, fake, fake, fake, fake, "javascript:x", fake, fake, fake[0], fake[1:], fake, fake)
	}
	return b.String()
}

// cut returns text as a stream of single bytes, but that JSON needs whole
// characters.
func cut(text string) et.Reply { return et.Streams(strings.Split(text, "")...) }

// softHyphen may be shown between letters: it is no column wide, and a label that holds
// one is taken for a label.
const softHyphen = '\u00ad'

// checkUnspoofed checks that a terminal was shown hostile text and came to no
// harm.
func checkUnspoofed(t *testing.T, transcript []byte, smart bool, whos ...string) {
	t.Helper()
	if smart {
		transcript = pt.Own.ReplaceAll(transcript, nil)
	}
	if bytes.HasPrefix(transcript, []byte("{")) { // JSON may hold what can't be seen
		pt.Lint(t, transcript, teletype.Rules{})
		return
	}
	pt.Lint(t, transcript, teletype.Rules{})
	text := strings.ReplaceAll(string(transcript), "\r\n", "\n")
	for _, r := range text {
		if r > 0x7f && r != softHyphen && strings.ContainsRune(strings.Join(attacks, ""), r) {
			t.Errorf("%U reaches the terminal", r)
		}
	}
	for _, who := range whos {
		if !strings.Contains(text, "ed by "+who) {
			t.Errorf("the text of the %s was not shown", who)
		}
		for _, fake := range fakes(who) {
			for l := range strings.SplitSeq(text, "\n") {
				if strings.HasPrefix(strings.ToLower(l), strings.ToLower(fake)) {
					t.Errorf("the %s wrote a line of its own: %q", who, l)
				}
			}
		}
	}
	if t.Failed() {
		t.Logf("%q", transcript)
	}
}

// A hostility is an answer of a model that means no good: what the user is
// asked and says, and whose text is to be seen.
type hostility struct {
	reply  et.Reply
	asked  []typed // what is waited for, and typed then
	writes []string
}

const (
	approve  = " e ? ("    // which no fake goes on with
	again    = " b e ?: "  // behind what ? says
	once     = "y n e ?: " // of what can't be taken in at a glance
	choose   = "answer 1 to 3, "
	describe = "answer in words, "
)

func hostilities() []hostility {
	call := func(name string, kv ...any) et.Reply { return et.Says("", et.Call("", name, kv...)) }
	yes, no, why, then := typed{"y", approve}, typed{"n", approve}, typed{"?", approve}, typed{"n", again}
	return []hostility{
		{et.Says(hostile("answer")+marked("Markdown"), et.Call("", "run_shell_command", "command", "cat hostile.txt | tee")), []typed{yes}, []string{"answer", "Markdown", "output"}},
		{call("run_shell_command", "command", strings.ReplaceAll("echo "+hostile("command"), "\x00", ""), "description", hostile("description")), []typed{{"?", once}, {"n", once}}, []string{"command", "description"}},
		{call("write_file", "file_path", short("path"), "content", "x"), []typed{why, then}, []string{"path"}},
		{call("write_file", "file_path", "new.txt", "content", hostile("content")), []typed{why, then}, []string{"content"}},
		{call("replace", "file_path", "greeting.txt", "old_string", hostile("search"), "new_string", "x", "instruction", "x"), nil, nil},
		{call("replace", "file_path", "greeting.txt", "old_string", "wrld", "new_string", hostile("replacement"), "instruction", hostile("instruction")), []typed{no}, []string{"replacement"}},
		{call(hostile("tool"), hostile("name"), hostile("value")), nil, nil},
		{call("read_file", "file_path", hostile("file")), nil, nil},
		{call("grep_search", "pattern", hostile("pattern")), nil, nil},
		{et.Says("", et.Call("", "list_directory", "dir_path", "names"), et.Call("", "glob", "pattern", "**/*")), nil, nil},
		{call("write_todos", "todos", []any{map[string]any{"description": short("todo"), "status": "pending"}}), nil, []string{"todo"}},
		{call("ask_user", "questions", []any{
			map[string]any{"question": hostile("question"), "header": short("header"), "type": "choice", "options": []any{
				map[string]any{"label": short("label"), "description": short("option")}, map[string]any{"label": "b", "description": ""}}},
			map[string]any{"question": "?", "header": "h", "type": "text", "placeholder": short("hint")}}),
			[]typed{{"1", choose}, {"", describe}}, []string{"question", "header", "label", "option", "hint"}},
		{cut(hostile("stream")), nil, []string{"stream"}},
	}
}

// short returns as much hostile text as fits where little does.
func short(who string) string {
	return "a\x1b[2J\rpermission: run: faked by " + who + "\n> faked by " + who + "\n\u202e\u009b2J"
}

// Text that a model, a command of its, a file or its name brings can't act on
// the terminal, and no line of it looks like one of the program's. A command of
// the user's own has the terminal to itself.
func TestSpoofing(t *testing.T) {
	t.Parallel()
	for _, term := range pt.Terminals {
		t.Run(term, func(t *testing.T) {
			server := et.NewServer()
			c := pt.Terminal(t, server, "--sandbox=off") // all is asked about
			c.Term = term
			plant(t, c.Dir)
			writers := []string{"shell"}
			for _, h := range hostilities() {
				writers = append(writers, h.writes...)
				server.Add(h.reply)
			}
			s := teletype.Start(t, c)
			s.Say("what have you got?")
			for _, h := range hostilities() {
				for _, q := range h.asked {
					s.Expect(q.until)
					s.Line(q.line)
				}
			}
			s.Expect(" tools (") // of the true end
			s.Match(pt.Prompting)
			for _, l := range []string{"/todos", "/stats tools", "/tools"} {
				s.Line(l)
				s.Match(pt.Prompting)
			}
			s.Line("/quit")
			pt.Succeeds(t, s)
			checkUnspoofed(t, s.Transcript(), term != "dumb", writers...)
		})
	}
}

// Neither can what a server says instead of an answer.
func TestSpoofingErrors(t *testing.T) {
	t.Parallel()
	text := hostile("server")
	blocked := et.Blocked()
	blocked.Chunks[0].PromptFeedback.BlockReasonMessage = text
	wait := map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"}
	for name, replies := range map[string][]et.Reply{
		"error":         {et.Status(http.StatusBadRequest, text, text)},
		"web page":      {et.WebPage(http.StatusBadRequest, text)},
		"no JSON":       {{Wire: &et.Wire{Status: http.StatusBadRequest, Body: text}}},
		"quota":         {et.Status(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", text, wait), et.BadRequest("no")},
		"refusal":       {blocked},
		"reason":        {et.Ends("", genai.FinishReason(text))},
		"in the answer": {et.ErrorInStream(et.Streams("One."), et.Status(http.StatusBadRequest, text, text))},
	} {
		for i, args := range [][]string{nil, nil, {"-p", "hello"}, {"-p", "hello", "-o", "stream-json"}} {
			term := pt.Terminals[i%len(pt.Terminals)]
			t.Run(strings.Join(append([]string{name, term}, args...), " "), func(t *testing.T) {
				t.Parallel()
				s := shortly(t, term, "", et.NewServer(replies...), args...)
				if args == nil {
					s.Say("hello")
					s.Expect("failed after ") // of the done line
					s.Match(pt.Prompting)
					s.Line("/quit")
				}
				s.Exit()
				checkUnspoofed(t, s.Transcript(), term != "dumb")
			})
		}
	}
}

// shortly starts the program in a directory of the project.
func shortly(t *testing.T, term, dir string, server *et.Server, args ...string) *teletype.Session {
	t.Helper()
	c := pt.Terminal(t, server, args...)
	c.Term = term
	c.Dir = filepath.Join(c.Dir, dir)
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return teletype.Start(t, c)
}

// One answer, at a terminal or not, is text as well. It may look like anything,
// as nothing else is written there.
func TestSpoofingAnAnswer(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]et.Reply{
		"whole": et.Says(hostile("model")), "in pieces": cut(hostile("model")), "Markdown": et.Says(marked("model")),
		"ESC at the end": et.Streams("hello ", "\x1b"), "CR at the end": et.Streams("hello\r", "world\r"),
	} {
		for _, args := range [][]string{{}, {"-q"}} {
			t.Run(strings.Join(append([]string{name}, args...), " "), func(t *testing.T) {
				t.Parallel()
				s := shortly(t, "xterm", "", et.NewServer(reply), append(slices.Clone(args), "-p", "hello")...)
				pt.Succeeds(t, s)
				text := bytes.ReplaceAll(s.Transcript(), []byte("\r\r\n"), []byte("\r\n")) // the terminal adds one
				checkUnspoofed(t, text, false)
				if len(text) < 5 {
					t.Errorf("nothing is shown: %q", s.Transcript())
				}
			})
		}
	}
}

// What the program tells when it begins may come from files, too.
func TestSpoofingTheStart(t *testing.T) {
	t.Parallel()
	key, _ := json.Marshal(map[string]any{short("key"): map[string]any{"x": 1}, "model": map[string]any{"name": 7, short("inner"): true}})
	mode, _ := json.Marshal(short("mode"))
	name := strings.NewReplacer("/", "", "\x00", "").Replace(short("name"))
	for what, files := range map[string]map[string]string{
		"a directory's name": nil,
		"unknown settings":   {"GEMINI.md": "x", ".gemini/settings.json": string(key)},
		"broken settings":    {".gemini/settings.json": "{\"" + short("broken") + "\": tru }"},
		"a context file":     {"GEMINI.md": "@./" + name + "\n@../../" + name + "\n" + hostile("context")},
		"a setting's value":  {".gemini/settings.json": `{"context": {"includeDirectories": [` + string(mode) + `]}, "general": {"defaultApprovalMode": ` + string(mode) + `}}`},
		".env":               {".env": "A=" + hostile("env")},
		"names":              {".gemini/commands/" + name + ".toml": "", ".gemini/skills/" + name + "/SKILL.md": "", ".gemini/agents/" + name: "x"},
	} {
		for i, trusted := range []string{"true", ""} {
			for j, term := range pt.Terminals {
				if (i+j+len(what))%2 == 1 && !et.Soak() {
					continue // of each text both kinds of terminals are tried, and both kinds of trust
				}
				t.Run(strings.Join([]string{what, trusted, term}, " "), func(t *testing.T) {
					t.Parallel()
					server := et.NewServer(et.Says("Hello."))
					c := pt.Terminal(t, server, "--sandbox=off") // all is asked about
					c.Term = term
					c.Env = append(c.Env, "GEMINI_CLI_TRUST_WORKSPACE="+trusted)
					c.Dir = filepath.Join(c.Dir, name)
					pt.Write(t, c.Dir, files)
					s := teletype.Start(t, c)
					if what == "broken settings" && trusted != "" {
						s.Expect("error: ")
					} else {
						if trusted == "" && files != nil {
							s.Expect("not now: ")
							s.Line("")
						}
						s.Match(`(^|\n)(\x1b\[\?2004h|\x1b\]133;[^\a\x1b]*\x1b\\)*> `)
						for _, l := range []string{"hello", "/about", "/directory show", "/memory show", "/settings list --origin", "/settings validate", "/permissions"} {
							s.Line(l)
							s.Match(pt.Prompting)
						}
						s.Line("/quit")
					}
					s.Exit()
					checkUnspoofed(t, s.Transcript(), term != "dumb")
				})
			}
		}
	}
}

// A list of sessions shows how they began.
func TestSpoofingTheListOfSessions(t *testing.T) {
	t.Parallel()
	server := et.NewServer(et.Says("Hello."))
	c := pt.Terminal(t, server, "-p", short("prompt"))
	teletype.Start(t, c).Exit()
	c.Args = []string{"--list-sessions"}
	s := teletype.Start(t, c)
	s.Exit()
	checkUnspoofed(t, s.Transcript(), false, "prompt")
}

// What a user decides on is shown to the last byte, whatever is done to hide
// it, and is not done before.
func TestHiddenCommands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ command, shown string }{
		"an invisible character":         {"l\u200bs; touch done", `l\u{200b}s; touch done`},
		"another order":                  {"echo \u202etouch done", `echo \u{202e}touch done`},
		"blank lines":                    {"ls" + strings.Repeat("\n", 60) + strings.Repeat(" ", 300) + "touch done", "touch done"},
		"a letter of another alphabet":   {"g\u0456t status; touch done", "one word mixes letters of several alphabets: g\u0456t (U+0456)"},
		"a sign that looks like a slash": {"touch done \u2215x", "this character may look like another: \u2215 (U+2215)"},
		"a carriage return":              {"touch done\rls            ", `touch done\x0dls`},
		"a question inside":              {"touch done\npermission: run: ls\ny n a ?: ", "| permission: run: ls\r\n| y n a "},
	} {
		for _, term := range pt.Terminals {
			t.Run(name+" "+term, func(t *testing.T) {
				server := et.NewServer(et.Says("", et.Call("", "run_shell_command", "command", test.command)), et.Says("I see."))
				c := pt.Terminal(t, server, "--sandbox=off") // all is asked about
				c.Term = term
				s := teletype.Start(t, c)
				s.Say("go on")
				// What is not seen for what it is can't be allowed for good.
				if screen := s.Match(`\n(?:\x1b\[[?0-9;]*[a-z])*y n [^\r\n]*\?[^\r\n]*: [^\r\n]*$`); !strings.Contains(screen, test.shown) {
					t.Errorf("no %q in %q", test.shown, screen)
				}
				s.Line("n")
				s.Expect("I see.")
				s.Match(pt.Prompting)
				s.Line("/quit")
				s.Exit()
				checkUnspoofed(t, s.Transcript(), term != "dumb")
				if _, err := os.Stat(filepath.Join(c.Dir, "done")); err == nil {
					t.Error("it was done")
				}
			})
		}
	}
}

// plant puts hostile files into a project.
func plant(t *testing.T, project string) {
	t.Helper()
	files := map[string]string{"hostile.txt": hostile("output") + hostile("shell")}
	for _, a := range append(attacks, fakes("names")...) {
		files["names/"+strings.NewReplacer("/", "", "\x00", "").Replace(a)] = ""
	}
	pt.Write(t, project, files)
}

// However long the words before it, no line of an answer that is broken begins
// like one of ours.
func TestSpoofingByWidth(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, fake := range fakes("model") {
		for n := 25; n < 40; n++ {
			b.WriteString(strings.Repeat("x", n) + " " + fake + "\n\n")
		}
		b.WriteString("- " + strings.Repeat("y", 30) + " " + fake + "\n\n> " + fake + " " + fake + "\n\n**" + fake + " z**\n\n|" + fake + "|b|\n|-|-|\n|" + fake + "|" + fake + "|\n\n")
	}
	c := pt.Terminal(t, et.NewServer(et.Says(b.String())), "--no-loop-check")
	c.Env = append(c.Env, "FORCE_COLOR=1")
	c.Term, c.Rows, c.Cols = "xterm", 24, 40
	s := teletype.Start(t, c)
	s.Match(pt.Prompting[2:])
	s.Line("what?")
	s.Match(pt.DoneLine)
	s.Match(pt.Prompting)
	s.Line("/quit")
	s.Exit()
	text := pt.Own.ReplaceAll(bytes.ReplaceAll(s.Transcript(), []byte("\r\n"), []byte("\n")), nil)
	marked := 0
	for line := range strings.Lines(string(text)) {
		low := strings.ToLower(line)
		for _, l := range output.Labels() {
			if strings.HasPrefix(low, string(l)+": f") {
				t.Errorf("the model wrote a line of its own: %q", line)
			}
		}
		if strings.HasPrefix(low, output.Ready+"f") || strings.HasPrefix(low, output.Shell+"f") || slices.ContainsFunc(output.Choices, func(c string) bool { return strings.HasPrefix(low, c) }) {
			t.Errorf("the model wrote a prompt of its own: %q", line)
		}
		if strings.HasPrefix(low, "| permission:") {
			marked++
		}
	}
	if marked < 5 {
		t.Errorf("%d lines were broken where a label is", marked)
	}
	pt.Lint(t, s.Transcript(), teletype.Rules{Smart: true})
}
