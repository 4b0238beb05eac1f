//go:build unix

package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gemline/commands/program/acceptance/teletype"
)

// A dialogue is a script at a terminal. What follows stands in the key's type of a
// script's values.
type dialogue struct {
	command teletype.Command
	session *teletype.Session
	smart   bool
}

// talking is the key of a script's dialogue.
type talking struct{}

// dialogueCmds are the commands of dialogues at a terminal:
//
//	at TERM ...        which terminals; the script runs once for each (programtest.Scripts)
//	size ROWS COLS     the size of the terminal, before the program starts or while it runs
//	gemline [ARG ...]  starts gemline there; > and < start it without arguments
//	> TEXT             waits for the prompt, and types TEXT and Enter there
//	answer TEXT        waits for the end of a question, ": ", and types TEXT and Enter there
//	type TEXT          types TEXT; "^C" is Ctrl-C, "^[" is Escape, "\n" is Enter
//	< TEXT             waits until the program shows TEXT, behind what was waited for last
//	like PATTERN       the same for a regular expression
//	shown TEXT         the terminal has seen TEXT at some time, or with ! never
//	signal NAME        sends the program SIGINT, SIGTERM, SIGHUP or SIGKILL
//	ends CODE          waits for the end of the program, which has an exit code
//	leave              types /quit at the prompt; the program ends with 0
//
// Behind the end stands in the file screen what the terminal has seen, and a
// terminal without abilities must have seen nothing but text (teletype.Lint).
var dialogueCmds = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"at":      at,
	"size":    size,
	"gemline": func(ts *testscript.TestScript, _ bool, args []string) { dialogueOf(ts).start(ts, args) },
	">": func(ts *testscript.TestScript, _ bool, args []string) {
		dialogueOf(ts).running(ts).Say(strings.Join(args, " "))
	},
	"answer": func(ts *testscript.TestScript, _ bool, args []string) {
		s := dialogueOf(ts).running(ts)
		s.Settle(questioning)
		s.Line(strings.Join(args, " "))
	},
	"type": func(ts *testscript.TestScript, _ bool, args []string) {
		dialogueOf(ts).running(ts).Send(keys.Replace(strings.Join(args, " ")))
	},
	"<": func(ts *testscript.TestScript, _ bool, args []string) {
		dialogueOf(ts).running(ts).Match(styled(strings.Join(args, " ")))
	},
	"like": func(ts *testscript.TestScript, _ bool, args []string) {
		dialogueOf(ts).running(ts).Match(strings.Join(args, " "))
	},
	"shown":  shown,
	"signal": sendSignal,
	"ends":   ends,
	"leave": func(ts *testscript.TestScript, _ bool, _ []string) {
		dialogueOf(ts).running(ts).Say("/quit")
		ends(ts, false, []string{"0"})
	},
}

// questioning matches what a terminal shows while a question waits for its answer.
var questioning = regexp.MustCompile(`: ` + style + `$`)

// keys are the names of keys in what type types.
var keys = strings.NewReplacer("^C", "\x03", "^D", "\x04", "^[", "\x1b", "^Z", "\x1a", "^I", "\t", "^U", "\x15", `\n`, "\r")

// style matches what the program itself sends to a smart terminal between letters.
const style = `(?:\x1b\[[0-9;]*m|\x1b\]133;[^\a\x1b]*\x1b\\|\x1b\[\?2004[hl])*`

// styled returns a pattern that matches text in any style, with the line ends of
// a terminal.
func styled(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' {
			b.WriteString(`\r?`)
		}
		b.WriteString(regexp.QuoteMeta(string(r)) + style)
	}
	return b.String()
}

func dialogueOf(ts *testscript.TestScript) *dialogue {
	return ts.Value(talking{}).(*dialogue)
}

// at chooses the terminal.
func at(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("at: %d terminals in one run: Scripts runs the script for each", len(args))
	}
	d := dialogueOf(ts)
	d.command.Term, d.smart = args[0], args[0] != "dumb"
	if args[0] == "xterm" {
		d.command.Term = "xterm-256color"
	}
}

// size sets the size of the terminal.
func size(ts *testscript.TestScript, _ bool, args []string) {
	var rows, cols int
	_, err := fmt.Sscan(strings.Join(args, " "), &rows, &cols)
	ts.Check(err)
	d := dialogueOf(ts)
	d.command.Rows, d.command.Cols = rows, cols
	if d.session != nil {
		d.session.Resize(rows, cols)
	}
}

// start starts gemline at the terminal.
func (d *dialogue) start(ts *testscript.TestScript, args []string) {
	if d.session != nil {
		ts.Fatalf("a session runs already")
	}
	ts.Check(ts.Exec("env", "-0"))
	env := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	path, err := lookIn(ts.Getenv("PATH"), "gemline")
	ts.Check(err)
	c := d.command
	c.Path, c.Args, c.Dir = path, args, ts.MkAbs(".")
	for _, e := range env {
		if !strings.HasPrefix(e, "TERM=") {
			c.Env = append(c.Env, e)
		}
	}
	d.session = teletype.Start(&scriptTB{ts: ts}, c)
}

// lookIn returns the path of a program that stands in a list of directories.
func lookIn(list, name string) (string, error) {
	for _, dir := range filepath.SplitList(list) {
		if path := filepath.Join(dir, name); isFile(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("no %s in %s", name, list)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// running returns the session, which it starts where there is none.
func (d *dialogue) running(ts *testscript.TestScript) *teletype.Session {
	if d.session == nil {
		d.start(ts, nil)
	}
	return d.session
}

// shown checks what the terminal has seen, with styles taken out.
func shown(ts *testscript.TestScript, neg bool, args []string) {
	d := dialogueOf(ts)
	text := strings.Join(args, " ")
	seen := ""
	if d.session != nil {
		seen = Shown(d.session)
	} else {
		seen = ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "screen"))
	}
	if strings.Contains(seen, text) == neg {
		ts.Fatalf("about %q, the terminal has seen:\n%s", text, seen)
	}
}

var styles = regexp.MustCompile(style)

// Shown returns what a terminal has seen, without styles and with plain line ends.
func Shown(s *teletype.Session) string {
	return strings.ReplaceAll(styles.ReplaceAllString(string(s.Transcript()), ""), "\r\n", "\n")
}

// sendSignal sends the program a signal.
func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	sig, ok := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM,
		"SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL}[args[0]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[0])
	}
	dialogueOf(ts).running(ts).Signal(sig)
}

// ends waits for the end of the program.
func ends(ts *testscript.TestScript, neg bool, args []string) {
	d := dialogueOf(ts)
	if d.session == nil {
		ts.Fatalf("no session runs")
	}
	code := d.session.Exit()
	seen := Shown(d.session)
	ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "screen"), []byte(seen), 0o600))
	if fmt.Sprint(code) == args[0] == neg {
		ts.Fatalf("exit code %d; the terminal has seen:\n%s", code, seen)
	}
	for _, fault := range teletype.Lint(d.session.Transcript(), teletype.Rules{Smart: d.smart, Quiet: !d.smart}) {
		ts.Fatalf("%s in:\n%q", fault, d.session.Transcript())
	}
	d.session = nil
}

// scriptTB has a script stand where a test is expected.
type scriptTB struct {
	testing.TB // of which a session calls no other methods
	ts         *testscript.TestScript
}

func (s *scriptTB) Helper()                           {}
func (s *scriptTB) Cleanup(f func())                  { s.ts.Defer(f) }
func (s *scriptTB) Failed() bool                      { return false }
func (s *scriptTB) Logf(format string, args ...any)   { s.ts.Logf(format, args...) }
func (s *scriptTB) Skip(args ...any)                  { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s *scriptTB) Fatal(args ...any)                 { s.ts.Fatalf("%s", fmt.Sprint(args...)) }
func (s *scriptTB) Fatalf(format string, args ...any) { s.fail(fmt.Sprintf(format, args...)) }

// fail ends the script, and shows what the terminal has seen.
func (s *scriptTB) fail(why string) {
	if d := dialogueOf(s.ts); d.session != nil {
		why += "; the terminal has seen:\n" + Shown(d.session)
	}
	s.ts.Fatalf("%s", strings.ReplaceAll(why, style, ""))
}
