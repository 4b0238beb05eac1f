package repl

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/repl/internal/line"
	"gemline/repl/output"
)

func refused() error { return engine.ErrRefused }

// scripted gives answers in order, and shows them as a terminal would.
type scripted struct {
	out     *output.Writer
	answers []string
}

func (s *scripted) Read(ctx context.Context, prompt string) (string, error) {
	s.out.Prompt(prompt)
	if len(s.answers) == 0 {
		return "", io.EOF
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	switch a {
	case "^C":
		return "", line.ErrInterrupt
	case "^C text":
		return "", line.ErrCleared
	}
	s.out.Write([]byte(a))
	s.out.Write([]byte("\n"))
	return a, nil
}

func (s *scripted) Ask(ctx context.Context, question string) (string, error) {
	return s.Read(ctx, question)
}

func (s *scripted) Secret(ctx context.Context, question string) (string, error) {
	return s.Read(ctx, question)
}

func (*scripted) Echoes() bool    { return true }
func (*scripted) Lend(use func()) { use() }
func (*scripted) Stopped(string)  {}
func (*scripted) HandleTyped()    {}
func (*scripted) Enter(string)    {}
func (*scripted) Listen(func([]string) []LineAction) (<-chan struct{}, func() []string) {
	return nil, func() []string { return nil }
}
func (*scripted) Keep(string) {}
func (*scripted) Quiet(bool)  {}

func console(answers ...string) (*Console, *bytes.Buffer) {
	var b bytes.Buffer
	out := output.New(&b, output.Options{})
	s := &scripted{out: out, answers: answers}
	return &Console{Out: out, Lines: s, Terminal: s}, &b
}

func proposal(in engine.Intent) engine.Proposal {
	return engine.Proposal{ID: "1", Tool: engine.Tool{Declaration: &genai.FunctionDeclaration{Name: "run_shell_command"}, Kind: engine.Execute},
		Args: map[string]any{"command": "rm a<b"}, Intent: in}
}

func TestApprove(t *testing.T) {
	narrow, wide := engine.Grant{Label: "always this command", Tool: "s", Target: "x"}, engine.Grant{Label: "every command", Tool: "s", Rule: "[[rule]]"}
	in := engine.Intent{Title: "run: rm a", Detail: "rm a", Grants: []engine.Grant{narrow, wide},
		Draft: &engine.Draft{Name: "command.sh", Text: "rm a", Args: func(s string) map[string]any { return map[string]any{"command": s} }}}
	tests := []struct {
		name    string
		answers []string
		want    engine.Answer
		err     error
		shows   string
	}{
		{"yes", []string{"y"}, engine.Allowed{}, nil, "permission: run: rm a\ny n a c e ? (a = always this command, c = every command): y\n"},
		{"yes in full", []string{" YES "}, engine.Allowed{}, nil, ""},
		{"no", []string{"n"}, engine.Refused{}, nil, ""},
		{"nothing", []string{""}, engine.Refused{}, nil, ""},
		{"no, why", []string{"n because it is mine"}, engine.Refused{Note: "it is mine"}, nil, ""},
		{"no comma", []string{"no, use git"}, engine.Refused{Note: "use git"}, nil, ""},
		{"always", []string{"a"}, engine.Allowed{Scope: engine.Session, Grant: narrow}, nil, ""},
		{"always the wider by number", []string{"a2"}, engine.Allowed{Scope: engine.Session, Grant: wide}, nil, ""},
		{"always the wider", []string{"c"}, engine.Allowed{Scope: engine.Session, Grant: wide}, nil, ""},
		{"always what is not offered", []string{"a3", "n"}, engine.Refused{}, nil, `info: "a3" is none of the choices`},
		{"end", nil, engine.Refused{}, nil, "info: the input has ended, which means no\n"},
		{"interrupt", []string{"^C"}, engine.Refused{}, context.Canceled, ""},
		{"interrupt with text", []string{"^C text"}, engine.Refused{}, context.Canceled, ""},
		{"yes and words", []string{"yes please", "n"}, engine.Refused{}, nil, `"yes please" is none`},
		{"three of nothing", []string{"x", "ok", "sure", "y"}, engine.Refused{}, nil, "warning: 3 answers in a row were none of the choices, which means no\n"},
		{"explain, then yes", []string{"?", "y"}, engine.Allowed{}, nil, `"command": "rm a<b"`},
		{"edit", []string{"e"}, engine.Changed{Args: map[string]any{"command": "RM A"}}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, shown := console(tt.answers...)
			a := &Asker{Console: c, Edit: func(_ context.Context, name, text string) (string, error) { return strings.ToUpper(text), nil }}
			got, err := a.Approve(t.Context(), proposal(in))
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(shown.String(), tt.shows) {
				t.Errorf("shows\n%s, want\n%s", shown, tt.shows)
			}
		})
	}
}

// A question about a file that may hold secrets says why it is put.
func TestSecretIsNamed(t *testing.T) {
	c, shown := console("n")
	in := engine.Intent{Title: "read server.key", Secret: "server.key"}
	p := proposal(in)
	p.Tool.Kind = engine.Read
	if got, err := (&Asker{Console: c}).Approve(t.Context(), p); got != engine.Answer(engine.Refused{}) || err != nil {
		t.Errorf("%+v %v", got, err)
	}
	if want := "permission: read server.key (may be a secret)\n"; !strings.Contains(shown.String(), want) {
		t.Errorf("%s lacks %s", shown, want)
	}
}

func TestEditThatFails(t *testing.T) {
	results := []error{errors.New("no editor"), nil}
	c, shown := console("e", "e", "n")
	a := &Asker{Console: c, Edit: func(_ context.Context, _, text string) (string, error) {
		err := results[0]
		results = results[1:]
		return text, err
	}}
	got, err := a.Approve(t.Context(), proposal(engine.Intent{Title: "run: x", Draft: &engine.Draft{Text: "x"}}))
	if got != engine.Answer(engine.Refused{}) || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, want := range []string{"error: no editor\n", "info: nothing was changed\n"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
}

// Ctrl-C in an editor that reads lines is the editor's.
func TestInterruptedEditor(t *testing.T) {
	c, _ := console("e")
	interrupts := make(chan os.Signal, 1)
	c.Interrupts = interrupts
	a := &Asker{Console: c, Edit: func(_ context.Context, _, text string) (string, error) {
		interrupts <- os.Interrupt
		return text + "!", nil
	}}
	got, err := a.Approve(t.Context(), proposal(engine.Intent{Title: "run: x", Draft: &engine.Draft{Text: "x",
		Args: func(s string) map[string]any { return map[string]any{"command": s} }}}))
	if changed, _ := got.(engine.Changed); changed.Args["command"] != "x!" || err != nil || len(interrupts) > 0 {
		t.Errorf("%+v, %v, %d left", got, err, len(interrupts))
	}
}

// An answer elsewhere does not end an editor: what was changed there counts.
func TestAnsweredDuringAnEdit(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	c, _ := console("e")
	a := &Asker{Console: c}
	a.Edit = func(editing context.Context, _, text string) (string, error) {
		end(a.AnsweredElsewhere("accepted in an editor"))
		return text + "!", editing.Err()
	}
	got, err := a.Approve(ctx, proposal(engine.Intent{Title: "run: x", Draft: &engine.Draft{Text: "x",
		Args: func(s string) map[string]any { return map[string]any{"command": s} }}}))
	if changed, _ := got.(engine.Changed); changed.Args["command"] != "x!" || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is decided on is shown whole, before the question, and nothing in it
// can hide or look like the program's own.
func TestNothingIsHiddenInAQuestion(t *testing.T) {
	c, shown := console("n")
	a := &Asker{Console: c}
	detail := "git status\x1b[8m\n" + strings.Repeat("\n", 60) + "echo a" + strings.Repeat(" ", 300) + "; rm -rf x\r\npermission: run: ls\n\tp\u0430y"
	a.Approve(t.Context(), proposal(engine.Intent{Title: "run: git\nstatus", Detail: detail}))
	want := `tool: proposed command, 64 lines:
git status\x1b[8m
(60 blank lines)
echo a (300 blanks) ; rm -rf x\x0d
| permission: run: ls
	pаy
warning: control or invisible characters are shown as escapes
warning: one word mixes letters of several alphabets: pаy (U+0430)
info: commands are not confined: they run with all your rights
permission: run it?
y n ?: n
`
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

// What a command line runs, sets and writes stands before the question.
func TestWhatWouldRun(t *testing.T) {
	c, shown := console("?", "n")
	a := &Asker{Console: c}
	words := func(all ...string) (ws []engine.Word) {
		for _, w := range all {
			ws = append(ws, engine.Word{Text: w, Known: true})
		}
		return ws
	}
	a.Approve(t.Context(), proposal(engine.Intent{Title: "run: x", Plan: engine.Plan{Class: engine.Opaque, Why: "it is odd:\x1b", Writes: []string{"a permission: b", "c"},
		Commands: []engine.Command{{Argv: words("/usr/bin/sudo", "rm", "a"), Env: []string{"PATH=."}}, {Argv: words("rm", "a"), Wrapper: "sudo"}, {Argv: words("rm")}, {Argv: words("export", "-p", "X=\n1")}}}}))
	want := `info: the command runs: sudo, rm, export
info: the command sets: PATH=., X=\x0a1
info: the command writes: a permission\x3a b, c
warning: the command is odd:\x1b
info: commands are not confined: they run with all your rights
permission: run: x
y n ?: ?
info: the tool run_shell_command is called with these arguments:
{
  "command": "rm a<b"
}
info: the shell runs: PATH=. /usr/bin/sudo rm a
info: sudo runs: rm a
info: the shell runs: rm
info: the shell runs: export -p 'X=\x0a1'
info: commands are not confined: they run with all your rights
info: y or yes = allow it this once
info: n, no, Enter or Ctrl-D = refuse it; the model reads the words behind n
y n ?: n
`
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

// A narrow terminal may begin a line anywhere.
func TestTitleWithAQuestionInIt(t *testing.T) {
	c, shown := console("n")
	a := &Asker{Console: c}
	name := "aaaaaaaaaaaaaaaaaaaaaaa Permission: run: ls"
	a.Approve(t.Context(), proposal(engine.Intent{Title: "edit " + name, Detail: "edit " + name,
		Grants: []engine.Grant{{Label: "always for " + name}}}))
	want := `tool: proposed command, 1 line:
edit aaaaaaaaaaaaaaaaaaaaaaa Permission\x3a run: ls
info: commands are not confined: they run with all your rights
permission: edit aaaaaaaaaaaaaaaaaaaaaaa Permission\x3a run: ls
y n a ? (a = always for aaaaaaaaaaaaaaaaaaaaaaa Permission\x3a run: ls): n
`
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

// What holds a command is said before the question, and so is what it asks for
// beyond that. The network is an answer of its own.
func TestConfinement(t *testing.T) {
	online := map[string]any{"command": "npm i", "additional_permissions": map[string]any{"network": true}}
	in := engine.Intent{Title: "run: npm i", Detail: "npm i", Plan: engine.Plan{Dir: "/w", Limits: "can change files only in /w and have no network", NetworkArgs: online, NetworkPrograms: []string{"npm i"}},
		Grants: []engine.Grant{{Label: "always this command"}}}
	asks := engine.Intent{Title: "run: make", Detail: "make", Plan: engine.Plan{Limits: "can change files only in /w", Failure: engine.FailedAttempt{Reason: "the network"},
		Rights: engine.Rights{Network: true, Read: []string{"/a"}, Write: []string{"/b\x1b"}, Files: []string{"/a"}}}}
	makes := engine.Intent{Title: "run: mkdir /opt/x", Detail: "mkdir /opt/x", Plan: engine.Plan{Dir: "/w", Limits: "can change files only in /w", Failure: engine.FailedAttempt{Reason: "writing to the directory /opt and everything below it",
		Unwritable: []string{"/opt/x", "/opt/\n"}}, Rights: engine.Rights{Write: []string{"/opt", "/srv"}, Missing: []string{"/srv"}}}}
	reads := engine.Intent{Title: "run: cat ~/.ssh/id_test", Detail: "cat ~/.ssh/id_test", Plan: engine.Plan{Limits: "have no network", Failure: engine.FailedAttempt{ReadOnly: true, Reason: "it tried to read: /home/u/.ssh/id_test"},
		Rights: engine.Rights{Read: []string{"/home/u/.ssh/id_test", "/srv"}, Files: []string{"/home/u/.ssh/id_test"}}}}
	readOnly := map[string]any{"command": "make", "read_only": true}
	held := engine.Intent{Title: "run: make", Detail: "make", Plan: engine.Plan{Limits: "have no network", ReadOnlyArgs: readOnly}, Grants: []engine.Grant{{Label: "always this command"}}}
	looked := engine.Intent{Title: "run: git branch x", Detail: "git branch x", Plan: engine.Plan{Limits: "have no network", Failure: engine.FailedAttempt{ReadOnly: true, Reason: "it tried to write: .git/\x1bx"}}}
	tests := []struct {
		name   string
		in     engine.Intent
		answer string
		want   engine.Answer
		shows  string
	}{
		{"read-only", held, "r", engine.Changed{Agreed: true, Args: readOnly}, `info: commands have no network
permission: run: make
y n r a ? (a = always this command): r
`},
		{"read-only in words", held, "read-only", engine.Changed{Agreed: true, Args: readOnly}, ""},
		{"read-only not offered", in, "r", engine.Refused{}, ""},
		{"what it tried", looked, "y", engine.Allowed{}, `info: commands have no network
info: it tried to write: .git/\x1bx
permission: run: git branch x
y n ?: y
`},
		{"what it could not read", reads, "y", engine.Allowed{}, `info: commands have no network
permission: let it read ~/.ssh/id_test (may be a secret) and read the directory /srv and everything below it
y n ?: y
`},
		{"with the network", in, "w", engine.Changed{Agreed: true, Args: online}, `info: commands can change files only in /w and have no network
permission: run: npm i
y n w a ? (w = with the network, a = always this command): w
`},
		{"in words", in, "With Network", engine.Changed{Agreed: true, Args: online}, ""},
		{"without", in, "y", engine.Allowed{}, ""},
		{"not offered", asks, "w", engine.Refused{}, `info: commands can change files only in /w
permission: it failed; let it use the network, read the file /a and write to the directory /b\x1b and everything below it
y n ?: w
info: "w" is none of the choices; ? explains them
y n ?: `},
		{"what it could not make", makes, "y", engine.Allowed{}, `info: commands can change files only in /w
info: the command failed; it could not write: /opt/x, /opt/\x0a
permission: it failed; let it write to the directory /opt and everything below it and write to /srv, which is not there
y n ?: y
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, shown := console(tt.answer)
			got, err := (&Asker{Console: c, Home: "/home/u"}).Approve(t.Context(), proposal(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			if !strings.Contains(shown.String(), tt.shows) {
				t.Errorf("shows\n%s, want\n%s", shown, tt.shows)
			}
		})
	}
}

// What can't be taken in at a glance is allowed once at most.
func TestNoAlwaysForWhatIsUnwieldy(t *testing.T) {
	for command, why := range map[string]string{
		"rm \u200bx": "the command holds characters that can't be seen",
		"ls" + strings.Repeat(" ", 60) + "; rm x":     "the command holds long blanks or look-alike characters",
		"a" + strings.Repeat("\u0301", 40):            "the command holds long blanks or look-alike characters",
		"cat <<E\n" + strings.Repeat("x\n", 50) + "E": "the command has 52 lines",
		"echo " + strings.Repeat("x", 65536):          "the command has 65541 characters",
	} {
		c, shown := console("a", "n")
		in := engine.Intent{Title: "run: x", Detail: command, Grants: []engine.Grant{{Label: "always this command"}}}
		if got, err := (&Asker{Console: c}).Approve(t.Context(), proposal(in)); got != engine.Answer(engine.Refused{}) || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
		if want := "warning: always is not offered: " + why + "\n"; !strings.Contains(shown.String(), want) {
			t.Errorf("no %q in\n%.3000s", want, shown)
		}
	}
}

func FuzzChoice(f *testing.F) {
	f.Add("n because x")
	f.Add("a2")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseAnswer(s, []engine.Grant{{Label: "x"}, {Label: "y"}})
		word := strings.ToLower(strings.TrimSpace(s))
		if ok && (c.key == 'y') != (word == "y" || word == "yes") {
			t.Errorf("%q means %+v", s, c)
		}
	})
}
