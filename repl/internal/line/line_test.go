package line

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"

	"gemline/commands/program/acceptance/teletype"
	"gemline/repl/output"
)

// TestMain runs this binary as a small program at a terminal when asked to:
// it shows what it reads.
func TestMain(m *testing.M) {
	switch os.Getenv("LINE_PROGRAM") {
	case "":
		os.Exit(m.Run())
	case "bare":
		bareProgram()
	case "smart", "limited":
		program(term.IsTerminal(int(os.Stdout.Fd())))
	default:
		program(false)
	}
}

func program(smart bool) {
	signal.Ignore(syscall.SIGHUP) // to see what the reader makes of it
	out := output.New(os.Stdout, output.Options{})
	history := &recent{entries: []string{"make test", "git log", "echo one\ntwo"}}
	r, err := New(Config{In: os.Stdin, Out: out, Screen: os.Stdout, Jobs: true,
		Complete: someWords, Edit: someEditor, History: history, Single: os.Getenv("LINE_SINGLE") != "",
		Mode: output.Mode{Smart: smart, Marks: os.Getenv("LINE_MARKS") != "", Limited: os.Getenv("LINE_PROGRAM") == "limited"},
		Vi:   func() bool { return os.Getenv("LINE_VI") != "" }})
	if err != nil {
		panic(err)
	}
	interrupts, ends := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	signal.Notify(ends, syscall.SIGTERM)
	go func() { <-ends; r.Restore(); os.Exit(3) }()
	for {
		ctx, cancel := context.WithCancelCause(context.Background())
		quit, gone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			select {
			case <-interrupts:
				cancel(ErrInterrupt)
			case <-quit:
			}
		}()
		s, err := r.Read(ctx, "> ")
		switch {
		case errors.Is(err, ErrInterrupt), errors.Is(err, ErrCleared):
			out.Line(output.Info, "%v", err)
		case err != nil:
			out.Line(output.Info, "%v", err)
			r.Close()
			return
		default:
			carryOut(ctx, r, out, s)
		}
		close(quit)
		<-gone
	}
}

// recent is a History that lasts as long as the program.
type recent struct{ entries []string }

func (r *recent) Entries() []string { return r.entries }
func (r *recent) Add(text string)   { r.entries = append(r.entries, text) }

// carryOut does what a line asks for, or says what it is.
func carryOut(ctx context.Context, r *Reader, out *output.Writer, s string) {
	switch s {
	case "news and ask":
		r.Show(func() { out.Line(output.Info, "news") })
		s, err := r.Ask(ctx, "sure: ")
		out.Line(output.Info, "answer %q, %v", s, err)
	case "ask":
		out.Line(output.Info, "working")
		teletype.Await(os.Getenv("LINE_READY")) // until the test has typed ahead
		s, err := r.Ask(ctx, "sure: ")
		out.Line(output.Info, "answer %q, %v", s, err)
	case "strange":
		s, err := r.Ask(ctx, "d\x1b[2Jx: ")
		out.Line(output.Info, "answer %q, %v", s, err)
	case "secret":
		s, err := r.Secret(ctx, "API key: ")
		out.Line(output.Info, "secret %q, %v", s, err)
	case "busy":
		r.Quiet(true)
		out.Line(output.Info, "working")
		teletype.Await(os.Getenv("LINE_READY"))
		out.Line(output.Info, "worked")
		r.Quiet(false)
	case "stopped":
		r.Quiet(true)
		out.Line(output.Info, "working")
		<-ctx.Done()
		out.Line(output.Info, "stopped")
		r.Quiet(false)
		r.Stopped("stop")
	case "news":
		go func() {
			teletype.Await(os.Getenv("LINE_READY"))
			r.Show(func() { out.Line(output.Info, "news") })
			teletype.Await(os.Getenv("LINE_DONE"))
		}()
	default:
		out.Line(output.Info, "got %q", s)
	}
}

func someWords(_ context.Context, line string, at int) (int, []Candidate) {
	start := strings.LastIndexByte(line[:at], ' ') + 1
	var found []Candidate
	for _, w := range []string{"alpha", "alphabet", "alphanumeric", "beta", "größe", "dir/"} {
		if strings.HasPrefix(w, line[start:at]) {
			found = append(found, Candidate{Text: w, Open: strings.HasSuffix(w, "/")})
		}
	}
	return start, found
}

// someEditor is an editor that reads what to write from the terminal.
func someEditor(_ context.Context, name, text string) (string, error) {
	if text == "fail" {
		return "", errors.New("the editor failed")
	}
	fmt.Printf("editing %s: %q: ", name, text)
	var more string
	fmt.Scanln(&more)
	return text + "+" + more + "\n", nil
}

// kinds are the ways to read a line.
var kinds = []string{"plain", "smart", "limited"}

func start(t *testing.T, kind string, env ...string) *teletype.Session {
	term := "dumb"
	if kind != "plain" {
		term = "xterm"
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return teletype.Start(t, teletype.Command{Path: exe, Term: term, Env: append(env, "LINE_PROGRAM="+kind)})
}

// pipe returns a Reader of what write is given, and what it shows.
func pipe(t *testing.T) (r *Reader, write *os.File, shown *bytes.Buffer) {
	in, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shown = new(bytes.Buffer)
	r, err = New(Config{In: in, Out: output.New(shown, output.Options{}), Mode: output.Mode{Smart: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); in.Close(); write.Close() })
	return r, write, shown
}

func TestPipe(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "one\ntwo\n", []string{"one", "two"}},
		{"no newline at the end", "one\ntwo", []string{"one", "two"}},
		{"empty line", "\none\n", []string{"", "one"}},
		{"windows", "one\r\ntwo\r\n", []string{"one", "two"}},
		{"NUL", "a\x00b\n", []string{"ab"}},
		{"invalid", "a\xffb\n", []string{"a\uFFFDb"}},
		{"long", long + "\nx\n", []string{long, "x"}},
		{"continued", "one\\\ntwo\nthree\n", []string{"one\ntwo", "three"}},
		{"continued twice", "a\\\nb\\\nc\n", []string{"a\nb\nc"}},
		{"two backslashes", "a\\\\\nb\n", []string{`a\\`, "b"}},
		{"continued by nothing", "a\\", []string{`a\`}},
		{"block", "\"\"\"\none\n\n  two\n\"\"\"\nx\n", []string{"one\n\n  two", "x"}},
		{"open block", "\"\"\"\none\n", []string{"one"}},
		{"empty block", "\"\"\"\n\"\"\"\n", []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, w, _ := pipe(t)
			go func() { io.WriteString(w, tt.in); w.Close() }()
			for _, want := range tt.want {
				if got, err := r.Read(t.Context(), "> "); got != want || err != nil {
					t.Fatalf("got %.80q, %v, want %.80q", got, err, want)
				}
			}
			for range 2 {
				if got, err := r.Read(t.Context(), "> "); err != io.EOF {
					t.Fatalf("at the end: %q, %v", got, err)
				}
			}
		})
	}
}

func TestAskPipe(t *testing.T) {
	r, w, shown := pipe(t)
	io.WriteString(w, "first\ny\n")
	w.Close()
	if s, err := r.Read(t.Context(), "> "); s != "first" || err != nil {
		t.Fatal(s, err)
	}
	if s, err := r.Ask(t.Context(), "sure: "); s != "y" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	if _, err := r.Ask(t.Context(), "sure: "); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if got, want := shown.String(), "> \nsure: \nsure: "; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
}

// A read that is given up loses nothing of what arrives later.
func TestCancel(t *testing.T) {
	r, w, _ := pipe(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := r.Read(ctx, "> "); err != cause {
		t.Errorf("cancelled before: %v", err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	go cancel(cause)
	if _, err := r.Read(ctx, "> "); err != cause {
		t.Errorf("cancelled: %v", err)
	}
	io.WriteString(w, "line\n")
	if s, err := r.Read(t.Context(), "> "); s != "line" || err != nil {
		t.Errorf("afterwards: %q, %v", s, err)
	}
}

func TestClosedInput(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, err := New(Config{In: dir, Out: output.New(io.Discard, output.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Read(t.Context(), "> "); err != io.EOF {
		t.Errorf("a directory: %v", err)
	}
}

func TestCookedTerminal(t *testing.T) {
	s := start(t, "plain")
	s.Expect("> ")
	s.Line("hello")
	s.Expect("got \"hello\"\r\n> ")
	s.Line(`one\`)
	s.Expect("... ")
	s.Line("two")
	s.Expect(`got "one\ntwo"`)
	s.Expect("> ")
	s.Line("one\rtwo")
	s.Expect("2 lines pasted, sent as one\r\ninfo: got \"one\\ntwo\"")
	s.Expect("> ")
	s.Send("half\x04") // Ctrl-D hands out half a line
	s.Send("er\r")
	s.Expect(`got "halfer"`)
	s.Expect("> ")
	s.Send("\x04")
	s.Expect("EOF")
	if code := s.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if faults := teletype.Lint(bytes.ReplaceAll(s.Transcript(), []byte("\b\b"), nil), teletype.Rules{Quiet: true}); len(faults) > 0 {
		t.Errorf("faults: %v", faults)
	}
}

// One Ctrl-D does not lose what was typed of an input, and what is a command goes on as in a shell.
func TestEndInTheMiddle(t *testing.T) {
	for _, kind := range kinds {
		for _, tt := range []struct {
			name  string
			lines []string
			want  string
		}{
			{"block", []string{`"""`, "one", "\x04", `"""`}, `got "one"`},
			{"backslash", []string{`one\`, "\x04", "two"}, `got "one\ntwo"`},
			{"command", []string{`!echo a \`, "b"}, `got "!echo a b"`},
			{"twice", []string{`"""`, "\x04", "\x04"}, "EOF"},
		} {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				s := start(t, kind)
				s.Expect("> ")
				for i, line := range tt.lines {
					if i > 0 {
						s.Expect("... ")
					}
					if line == "\x04" {
						s.Send(line)
					} else {
						s.Line(line)
					}
				}
				s.Expect(tt.want)
			})
		}
	}
}

// The terminal drops what is too much of a line without a word.
func TestLineThatIsTooLong(t *testing.T) {
	if longestLine == 0 {
		t.Skip("nothing is known of a limit here")
	}
	s := start(t, "plain")
	s.Expect("> ")
	s.Send(strings.Repeat("x", longestLine-6))
	s.Line("short")
	s.Expect(`short"`)
	s.Expect("> ")
	s.Send(strings.Repeat("x", longestLine))
	s.Line("gone")
	s.Expect("warning: the terminal passes at most 4095 bytes of a line")
	s.Expect("info: line cleared")
	s.Expect("> ")
	s.Line("next")
	s.Expect(`got "next"`)
}

// A line of a script, sent at once, is entered; what comes in one piece takes
// no time that grows with its square.
func TestFlood(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := start(t, kind)
		s.Expect("> ")
		s.Line(strings.Repeat("\u00e9", 1500))
		s.Expect("got \"" + strings.Repeat("\u00e9", 1500) + "\"")
		s.Expect("> ")
		for range 100 {
			s.Send(strings.Repeat("long ", 200))
		}
		s.Line("end")
		s.Expect("long end\"")
	}
}

// What is typed before a question never answers it.
func TestTypeAhead(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			ready := teletype.NewLatch(t)
			s := start(t, kind, "LINE_READY="+ready.Addr)
			s.Expect("> ")
			s.Line("ask")
			s.Expect("working")
			s.Send("y\ryes")
			s.Expect("yes") // the echo: the terminal has it
			ready.Open()
			s.Expect("info: 5 characters typed before the question were dropped\r\n")
			s.Expect("sure: ")
			s.Line("no")
			s.Expect(`answer "no", <nil>`)
			s.Expect("> ")
			s.Line("next")
			s.Expect(`got "next"`)
		})
	}
}

func TestEditor(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"a line", "hello\r", `got "hello"`},
		{"rubout", "helx\x7flo\r", `got "hello"`},
		{"arrows", "ello\x1b[D\x1b[D\x1b[D\x1b[Dh\r", `got "hello"`},
		{"home in tmux", "ello\x1b[1~h\r", `got "hello"`},
		{"word left", "hello world\x1b[1;5Dbig \r", `got "hello big world"`},
		{"wide", "日本語\x7f\x1b[Dx\r", `got "日x本"`},
		{"paste", "\x1b[200~one\rtwo\rthree\rfour\rfive\x1b[201~\r", `got "one\ntwo\nthree\nfour\nfive"`},
		{"paste inside a line", "say: \x1b[200~a\r\nb\x1b[201~!\r", `got "say: a\nb!"`},
		{"paste with keys", "\x1b[200~a\x03\x04\x1b[Db\x1b[201~\r", `got "a[Db"`},
		{"unmarked paste", "one line\rtwo lines\rthree", `[paste 1: 3 lines, 24 characters]`},
		{"alt-enter", "one\x1b\rtwo\r", `got "one\ntwo"`},
		{"history", "first\r\x1b[A\r", `got "first"`},
		{"history of before", "\x1b[A\x1b[A\r", `got "git log"`},
		{"history of several lines", "\x1b[A\r", `got "echo one\ntwo"`},
		{"history and back", "half\x1b[A\x1b[A\x1b[B\x1b[B way\r", `got "half way"`},
		{"search", "\x12ake\r", `got "make test"`},
		{"search older", "\x12e\x12\r", `got "make test"`},
		{"search, then edit", "\x12git\x1b[C!\r", `got "git log!"`},
		{"search given up", "half\x12git\x07 way\r", `got "half way"`},
		{"search for nothing", "half\x12zzz\r", `got "half"`},
		{"search with rubout", "\x12gix\x7ft\r", `got "git log"`},
		{"words", "one two\x1bb\x1bb\x1bd\x1bfX\r", `got " twoX"`},
		{"kill and yank", "one two\x17\x01\x19\r", `got "twoone "`},
		{"kill of the first word", "one two\x1bb\x17\x05\x19\r", `got "twoone "`},
		{"kill to both ends", "one two\x1bb\x15x\x0b\x19\r", `got "xtwo"`},
		{"kill of nothing", "one two\x15\x0b\x19\r", `got "one two"`},
		{"kill behind the cursor", "one two\x01\x1bd\x05 \x19\r", `got " two one"`},
		{"search, then rubout", "x\x01\x0b\x12echo\x1b[C\x7f\x7f\r", `got "echo one\nt"`},
		{"undo", "one two\x17\x1f!\r", `got "one two!"`},
		{"undo with two keys", "one two\x17\x18\x15!\r", `got "one two!"`},
		{"transpose", "ab\x14\r", `got "ba"`},
		{"transpose of one character", "a\x14b\r", `got "ab"`},
		{"transpose at the start", "ab\x01\x14\r", `got "ab"`},
		{"alt-rubout", "a/b-c\x1b\x7f\r", `got "a/b-"`},
		{"tab", "be\t!\r", `got "beta !"`},
		{"tab with a common part", "al\tx\r", `got "alphax"`},
		{"tab behind a word", "x gr\t\r", `got "x größe "`},
		{"tab for a directory", "di\tx\r", `got "dir/x"`},
		{"rubout of an emoji", "a👩‍👩‍👧\x7fb\r", `got "ab"`},
		{"left over a flag", "a🇩🇪\x1b[Db\r", `got "ab🇩🇪"`},
		{"rubout of a paste", "a\x1b[200~x\ry\x1b[201~\x7fb\r", `got "ab"`},
		{"ctrl-w behind a paste", "a \x1b[200~x\ry\x1b[201~\x17b\r", `got "a b"`},
		{"a word left of a paste", "a \x1b[200~x\ry\x1b[201~\x1b[1;5Db \r", `got "a b x\ny"`},
		{"ctrl-x and an arrow", "ac\x18\x1b[Db\r", `got "abc"`},
		{"ctrl-c with text", "half\x03", "line cleared"},
		{"ctrl-c", "\x03", "interrupted"},
		{"ctrl-d", "\x04", "EOF"},
		{"ctrl-d in the line", "ab\x01\x04\r", `got "b"`},
		{"keys without a meaning", "a\x00\x0f\x11\x16\x1c\x1d\x1eb\r", `got "ab"`},
		{"reports of the terminal", "a\x1b]11;rgb:0/0/0\x07\x1b[0n\x1b[M !!b\r", `got "ab"`},
		{"C1", "a\u009bb\r", `got "ab"`},
	}
	for _, kind := range kinds[1:] {
		for _, tt := range tests {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				s := start(t, kind)
				s.Expect("> ")
				s.Send(tt.keys)
				s.Expect(tt.want)
			})
		}
	}
}

// A key costs itself, and nothing is written that the user has not typed.
func TestBytesPerKey(t *testing.T) {
	for _, kind := range kinds[1:] {
		s := start(t, kind)
		s.Expect("> ")
		for _, c := range "hello world" {
			before := len(s.Transcript())
			s.Send(string(c))
			s.Expect(string(c))
			if n := len(s.Transcript()) - before; n != 1 {
				t.Fatalf("%q cost %d bytes", c, n)
			}
		}
		s.Send("\x7f")
		s.Expect("\b \b")
		s.Send("\r")
		s.Expect(`got "hello worl"`)
	}
}

// Only a terminal that may know it is asked to mark pastes, and told to stop when it ends.
func TestPasteMarks(t *testing.T) {
	for _, env := range []string{"LINE_MARKS=1", "LINE_MARKS="} {
		s := start(t, "smart", env)
		s.Expect("> ")
		s.Line("x")
		s.Expect(`got "x"`)
		on, off := bytes.Count(s.Transcript(), []byte(pasteOn)), bytes.Count(s.Transcript(), []byte(pasteOff))
		if wanted := env == "LINE_MARKS=1"; (on > 0) != wanted || (off > 0) != wanted {
			t.Errorf("%s: %d times on, %d times off", env, on, off)
		}
	}
}

func TestHangUp(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			s := start(t, kind)
			s.Expect("> ")
			s.Send("rm -rf half")
			s.Expect("half")
			s.HangUp()
			s.Exit()
			if bytes.Contains(s.Transcript(), []byte("got")) {
				t.Error("half a line was taken")
			}
		})
	}
}

// What tmux shows is what was typed, where lines wrap and letters are wide.
func TestScreen(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := teletype.StartTmux(t, teletype.Command{Path: exe, Env: []string{"LINE_PROGRAM=smart", "LINE_MARKS=1"}, Rows: 8, Cols: 20})
	m.Expect(">")
	m.Send("日本語日本語日本語日本語")
	m.Expect("> 日本語日本語日本語\n日本語")
	m.Key("Home")
	m.Send("x")
	m.Expect("> x日本語日本語日本\n語日本語")
	if row, col := m.Cursor(); row != 0 || col != 3 {
		t.Errorf("cursor at %d, %d", row, col)
	}
	m.Key("End")
	m.Key("BSpace", "BSpace", "BSpace", "BSpace", "BSpace")
	m.Send("!")
	m.Expect("> x日本語日本語日!")
	m.Key("Enter")
	m.Expect("got \"x日本語日\n本語日!\"")
	m.Paste("one\ntwo\n")
	m.Expect("[paste 1: 2 lines")
	m.Key("Enter")
	m.Expect(`got "one\ntwo\`)
}

func TestLayout(t *testing.T) {
	tests := []struct {
		text     string
		width    int
		more     bool
		row, col int
	}{
		{"", 10, false, 0, 0},
		{"> abc", 10, false, 0, 5},
		{"0123456789", 10, false, 0, 10},
		{"0123456789", 10, true, 1, 0},
		{"0123456789a", 10, false, 1, 1},
		{"01234567日", 9, false, 1, 2},
		{"a\nb", 10, false, 1, 1},
		{"abc", 0, false, 0, 3},
		{"日本", 1, false, 2, 2},
	}
	for _, tt := range tests {
		if row, col := layout(tt.text, tt.width, tt.more); row != tt.row || col != tt.col {
			t.Errorf("layout(%q, %d, %v) = %d, %d, want %d, %d", tt.text, tt.width, tt.more, row, col, tt.row, tt.col)
		}
	}
}
