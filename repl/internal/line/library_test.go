package line

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chzyer/readline"

	"gemline/commands/program/acceptance/teletype"
)

// bareProgram is the program of [program] with the library as it comes, to see
// that the tests see something.
func bareProgram() {
	words := readline.NewPrefixCompleter(readline.PcItem("alpha"), readline.PcItem("alphabet"), readline.PcItem("beta"))
	rl, err := readline.NewEx(&readline.Config{Prompt: "> ", VimMode: os.Getenv("LINE_VI") != "", AutoComplete: words})
	if err != nil {
		panic(err)
	}
	for {
		s, err := rl.Readline()
		switch {
		case err == readline.ErrInterrupt && s == "":
			fmt.Println("info: interrupted")
		case err == readline.ErrInterrupt:
			fmt.Println("info: line cleared")
		case err != nil:
			fmt.Println("info: EOF")
			return
		default:
			fmt.Printf("info: got %q\n", s)
		}
	}
}

// A behaviour is something that a line editor must get right, or that the
// library gets wrong.
type behaviour struct {
	name string
	kind string // "smart" if empty
	env  string
	cols int
	keys []string // each is sent when the program has answered the one before
	want string   // the first report

	// fault looks for what must not be in the transcript.
	fault func(transcript []byte) bool

	// bare says that the library gets it right, too.
	bare bool

	// ours says that the library can't be shown to get it wrong here.
	ours bool

	// elsewhere says which test shows it, and why it can't be shown here.
	elsewhere string
}

func holds(s string) func([]byte) bool {
	return func(b []byte) bool { return bytes.Contains(b, []byte(s)) }
}

// behaviours are those of the library that were found to need mending, in the
// order in which they were found, and what they are here, with and without the library.
func behaviours() []behaviour {
	long := strings.Repeat("long ", 130)
	return []behaviour{
		1: {name: "a dumb terminal gets no escapes", kind: "plain", keys: []string{"hello\r"}, want: `got "hello"`, fault: holds("\x1b")},
		2: {name: "output that is a pipe gets no escapes", kind: "piped", keys: []string{"hello\r"}, want: `got "hello"`, fault: holds("\x1b")},
		3: {name: "a pipe's control characters are text", kind: "from pipe", want: `got "a\tb\x17\x10"`},
		4: {name: "the end of the input ends it again and again", elsewhere: "TestPipe; the library blocks for ever"},
		5: {name: "half a line is none when the terminal goes", elsewhere: "TestHangUp; what the library returns can't be seen without a terminal"},
		6: {name: "a read can be given up", elsewhere: "TestCancel and TestClose; the library hangs until Enter"},
		7: {name: "no goroutine stays behind", elsewhere: "TestClose; the library's stay by design"},
		8: {name: "no races", elsewhere: "all tests, with the race detector; the library has several"},
		9: {name: "an unmarked paste is one input", keys: []string{"one line\rtwo lines\rthree", "\r"}, want: `got "one line\ntwo lines\nthree"`},
		10: {name: "a marked paste is one input", keys: []string{"\x1b[200~one\rtwo\rthree\rfour\rfive\x1b[201~", "\r"},
			want: `got "one\ntwo\nthree\nfour\nfive"`},
		11: {name: "a key costs no more on a long line", keys: []string{long + "\r"}, want: fmt.Sprintf("got %q", long),
			fault: func(b []byte) bool { return len(b) > 10*len(long) }},
		12: {name: "wide letters", elsewhere: "TestWidths; the library's cursor is off by a column for each"},
		13: {name: "emoji and wide signs", elsewhere: "TestWidths; the library takes them for narrow"},
		14: {name: "a change in the middle of a wrapped line", elsewhere: "TestWidths; the library is a row off"},
		15: {name: "a terminal without a size", env: "no size", keys: []string{"ab\x1b[Dc\r"}, want: `got "acb"`},
		16: {name: "a list on a narrow terminal", cols: 3, keys: []string{"\t\t\x1b[A\x15x\r"}, want: `got "x"`, ours: true},
		17: {name: "output while a line is typed", elsewhere: "TestShow; the library erases what has no line end"},
		18: {name: "a question never gets a line's answer", elsewhere: "TestTypeAhead; a Reader reads for one caller at a time"},
		19: {name: "what is typed ahead answers nothing", elsewhere: "TestTypeAhead; the library has no questions"},
		20: {name: "secrets", elsewhere: "TestSecret; the library prints a NUL for each character"},
		21: {name: "Ctrl-C clears the line", keys: []string{"half\x03"}, want: "line cleared", bare: true},
		22: {name: "Ctrl-D deletes unless the line is empty", keys: []string{"ab\x01\x04\r"}, want: `got "b"`, bare: true},
		23: {name: "Ctrl-Z stops this program", elsewhere: "TestStop; the library stops the parent"},
		24: {name: "a signal leaves the terminal as it was", elsewhere: "TestRestore; the library leaves it raw"},
		25: {name: "Home and End as tmux sends them", keys: []string{"ello\x1b[1~h\r"}, want: `got "hello"`},
		26: {name: "arrows with vi's keys", env: "LINE_VI=1", keys: []string{"ello\x1b[D\x1b[D\x1b[D\x1b[Dh\r"}, want: `got "hello"`},
		27: {name: "C1 controls are not echoed", keys: []string{"a\u009b31mb\r"}, want: `got "a31mb"`, fault: holds("\u009b")},
		28: {name: "the history's file", elsewhere: "TestPromptHistory of package repl; the library's file is for everybody and splits inputs"},
		29: {name: "a change of the size", elsewhere: "TestResize; the library keeps the old width"},
		30: {name: "a line that goes on", keys: []string{"a\\\r", "b\r"}, want: `got "a\nb"`},
		31: {name: "completion", elsewhere: "TestEditor and TestList; the library wants arrow keys"},
		32: {name: "a narrow terminal", elsewhere: "TestWidths, of 8 and 20 columns"},
		33: {name: "Ctrl-W in the first word leaves what follows", keys: []string{"word rest\x01\x1b[C\x1b[C\x17\r"}, want: `got "rd rest"`},
	}
}

func TestLibrary(t *testing.T) {
	for n, b := range behaviours() {
		if n == 0 || b.elsewhere != "" {
			continue
		}
		t.Run(fmt.Sprint(n, " ", b.name), func(t *testing.T) {
			t.Parallel()
			for _, kind := range kinds[1:] {
				if fault := b.play(t, kind); fault != "" {
					t.Errorf("%s: %s", kind, fault)
				}
			}
			if b.ours {
				return
			}
			if fault := b.play(t, "bare"); (fault == "") != b.bare {
				t.Errorf("the library: %q, expected to be right: %v", fault, b.bare)
			}
		})
	}
}

// play returns what is wrong with the behaviour of a program.
func (b behaviour) play(t *testing.T, kind string) (fault string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if b.kind == "plain" && kind != "bare" {
		kind = "plain"
	}
	c := teletype.Command{Path: exe, Term: "xterm", Cols: b.cols, Env: []string{"LINE_PROGRAM=" + kind, "PATH=" + os.Getenv("PATH"), b.env}}
	switch b.kind {
	case "piped":
		c.Path, c.Args = "sh", []string{"-c", `"$1" | cat`, "sh", exe}
	case "from pipe":
		c.Path, c.Args = "sh", []string{"-c", `printf 'a\tb\027\020\n' | "$1"`, "sh", exe}
	}
	if b.env == "no size" {
		c.Rows, c.Cols = -1, -1
	}
	s := teletype.Start(t, c)
	within := time.Minute
	if kind == "bare" && !b.bare {
		within = 3 * time.Second // where it hangs, it hangs
	}
	if len(b.keys) > 0 {
		see(s, `> `, time.Minute)
	}
	for i, keys := range b.keys {
		if i > 0 {
			see(s, `paste 1: [^>]*$|\.\.\. |info: `, within)
		}
		s.Send(keys)
	}
	report := see(s, `info: (.*)\r?\n|panic: .*`, within)
	report = strings.TrimSuffix(strings.TrimPrefix(report, "info: "), "\r")
	switch {
	case report != b.want:
		return fmt.Sprintf("%.200q instead of %.200q", report, b.want)
	case b.fault != nil && b.fault(s.Transcript()):
		return fmt.Sprintf("the transcript is %.200q", s.Transcript())
	}
	return ""
}

// see waits for what a pattern matches and returns it up to the end of its
// line; nothing if it does not come.
func see(s *teletype.Session, pattern string, within time.Duration) string {
	re := regexp.MustCompile(pattern)
	late := time.After(within)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if m := re.Find(s.Transcript()); m != nil {
			return strings.TrimRight(string(m), "\n")
		}
		select {
		case <-tick.C:
		case <-late:
			return ""
		}
	}
}
