package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"gemline/repl/internal/line"
	"gemline/repl/markdown"
	"gemline/repl/output"
)

// A Screen holds the settings of a session's terminal that the user may change during the session.
type Screen struct {
	Console *Console
	Printer *Printer
	Config  LinesConfig // of the lines and the terminal of Console
	Mode    output.Mode
	Best    output.Mode // the mode, unless the user asks for less
	Pace    string      // the user's choice, "" for the default of the mode
	Detail  string
	Vi      bool

	// Columns returns the width of the terminal, 0 if it is unknown. If it is nil, answers in smart
	// mode have the layout of plain mode.
	Columns func() int

	// Lookup returns a variable of the environment.
	Lookup func(name string) (string, bool)

	mu     sync.Mutex // held to change reader, and to use it on another goroutine
	reader *line.Reader
}

// LinesConfig is the configuration of the reader of lines.
type LinesConfig = line.Config

// LeaveOptions say how to leave a terminal permanently.
type LeaveOptions = line.LeaveOptions

// Connect passes the keys of the user's terminal to another terminal.
type Connect = line.Connect

// Open makes the Console read lines as Config says: with the terminal's own editing, or with an
// editor where possible and allowed.
func (s *Screen) Open() error {
	s.Config.Vi = func() bool { return s.Vi }
	r, err := line.New(s.Config)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader, s.Console.Lines, s.Console.Terminal = r, r, r
	return nil
}

// Pasted returns the pasted parts of the last input.
func (s *Screen) Pasted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == nil {
		return nil
	}
	return s.reader.Pasted()
}

// Composed returns the last input, or "" if it was a typed line.
func (s *Screen) Composed() string { return s.reader.Composed() }

// Close restores the terminal's mode.
func (s *Screen) Close() error { return s.reader.Close() }

// Restore is Close for a program that ends at once. It may be called on any goroutine.
func (s *Screen) Restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader.Restore()
}

// Detach leaves the terminal at the user's request: the session continues, and other terminals can
// attach to it. If they can't, Detach returns an error.
func (s *Screen) Detach(l LeaveOptions) error {
	if s.Console.Sharing.IsLeft() {
		return errors.New("this session has no terminal of its own; Ctrl-D detaches a terminal that is attached to it")
	}
	if s.Console.Sharing.Hub == nil {
		return errors.New("nobody could attach to this session, since it is not stored")
	}
	if err := s.Console.Sharing.Hub.Reachable(); err != nil {
		return fmt.Errorf("nobody could attach to this session: %w", err)
	}
	say := l.Say
	l.Say = func(shell bool) {
		say(shell)
		s.Console.Out.Fresh()
		s.Console.Sharing.Leave()
	}
	return s.reader.Leave(l)
}

// Offer puts text into the next line, for editing. If the terminal can't do that, Offer prints it.
func (s *Screen) Offer(text string) { s.reader.Offer(text) }

// Show calls show when output does not disturb typing. It may be called on any goroutine.
func (s *Screen) Show(show func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader.Show(show)
}

// paces and details are the user's words for them.
var (
	paces   = []string{"sentence", "token", "paragraph", "final"} // by Pace
	details = []string{"normal", "short", "full"}                 // by Detail
)

// Begin configures the Printer by the Screen.
func (s *Screen) Begin() {
	s.SetPace(s.Pace)
	s.layOut()
	s.SetDetail(s.Detail)
}

// Entered returns the typed lines, the latest last.
func (s *Screen) Entered() []string {
	if s.Config.History == nil {
		return nil
	}
	return s.Config.History.Entries()
}

// SetAccessible switches between plain mode and the best mode of the terminal. Like the other
// methods with a word, it changes nothing if word is empty, and returns the state.
func (s *Screen) SetAccessible(word string) (string, error) {
	on := s.Mode.Asked
	if word != "" {
		var err error
		if on, err = parseSwitch(word, on); err != nil {
			return "", err
		}
		mode := s.Best
		if on {
			mode = output.Mode{Asked: true, Cause: "/accessible"}
		}
		s.switchTo(mode)
	}
	switch {
	case on:
		return "screen reader mode: on (" + s.Mode.Cause + ")", nil
	case !s.Mode.Smart:
		return "screen reader mode: off; the terminal stays plain all the same (" + s.Mode.Cause + ")", nil
	}
	return "screen reader mode: off", nil
}

// switchTo changes to another mode: for output at once, for input from the next line on.
func (s *Screen) switchTo(mode output.Mode) {
	other := mode.Smart != s.Mode.Smart
	s.Mode, s.Console.Spoken = mode, mode.Asked
	s.Console.Out.Adopt(mode)
	if s.Console.Notifier != nil {
		s.Console.Notifier.Smart = mode.Smart
	}
	s.SetPace(s.Pace)
	s.layOut()
	if !other {
		return
	}
	s.Console.next = func() error {
		if err := s.Close(); err != nil {
			return err
		}
		s.Config.Mode = s.Mode
		return s.Open()
	}
}

// layOut formats answers and messages for users who see, if the mode allows it.
func (s *Screen) layOut() {
	s.Printer.Answers.View, s.Printer.Spoken = nil, s.Console.Spoken
	s.Console.Out.Wrap(nil)
	if s.Mode.Smart && s.Columns != nil {
		s.Console.Out.Wrap(s.Columns)
		s.Printer.Answers.View = &markdown.View{Columns: s.Columns, Width: s.Console.Out.Width}
	}
}

// parseSwitch returns the state that word sets.
func parseSwitch(word string, was bool) (bool, error) {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "on", "off":
		return word == "on", nil
	case "toggle":
		return !was, nil
	}
	return was, fmt.Errorf("on or off, not %q", word)
}

// SetPace chooses how much of an answer is collected before it is shown.
func (s *Screen) SetPace(word string) (string, error) {
	pace, chosen := BySentence, cmp.Or(word, s.Pace)
	if s.Mode.Smart {
		pace = ByToken
	}
	if chosen != "" {
		i, err := indexOf(paces, chosen)
		if err != nil {
			return "", err
		}
		pace = Pace(i)
	}
	s.Pace, s.Printer.Answers.Pace = chosen, pace
	return "answers are shown by: " + paces[pace], nil
}

// SetDetail chooses how much of the model's work is printed.
func (s *Screen) SetDetail(word string) (string, error) {
	if word != "" {
		i, err := indexOf(details, word)
		if err != nil {
			return "", err
		}
		s.Printer.Detail = Detail(i)
		s.Console.Short = s.Printer.Detail == ShortDetail
	}
	return "detail: " + details[s.Printer.Detail], nil
}

// SetVi switches the keys of vi on and off.
func (s *Screen) SetVi(word string) (string, error) {
	on, err := parseSwitch(word, s.Vi)
	if err != nil {
		return "", err
	}
	s.Vi = on
	said := "vi keys: off"
	if on {
		said = "vi keys: on"
	}
	if !s.Mode.Smart {
		said += ", but in plain mode the terminal has its own keys"
	}
	return said, nil
}

// Copy puts text on a clipboard, and returns which. In tmux it is tmux's buffer, which tmux passes
// to its terminal. Otherwise it is the desktop's clipboard, or the terminal's if the desktop is on
// another machine or has none.
func (s *Screen) Copy(ctx context.Context, text string, tmux,
	desktop func(context.Context, string) (string, error)) (how string, err error) {
	if v, _ := s.Lookup("TMUX"); v != "" {
		if how, err = tmux(ctx, text); err == nil {
			return how, nil
		}
	}
	far := ""
	for _, name := range []string{"SSH_CONNECTION", "SSH_TTY"} {
		v, _ := s.Lookup(name)
		far += v
	}
	if far == "" || !s.Mode.Marks {
		if how, err = desktop(ctx, text); err == nil || !s.Mode.Marks {
			return how, err
		}
	}
	seq, err := output.ClipboardSequence(text, s.Lookup)
	if err != nil {
		return "", err
	}
	s.Console.Out.Fresh()
	if _, err := io.WriteString(s.Console.Out.Terminal(), seq); err != nil {
		return "", err
	}
	return "by the terminal, if it allows that", nil
}

// Through gives the terminal to a command of the user, while use runs: connect passes keys to the
// command, and show writes its output unchanged. Without a terminal, it returns false and does not
// call use.
func (s *Screen) Through(use func(connect Connect, show func([]byte))) bool {
	s.Console.Out.Fresh()
	last := byte('\n')
	defer func() {
		if last != '\n' {
			s.Console.Out.Touched()
		}
	}()
	return s.reader.Through(func(connect Connect) {
		use(connect, func(b []byte) {
			s.Console.Out.Terminal().Write(b)
			last = b[len(b)-1]
		})
	})
}

// indexOf returns the index of word in words.
func indexOf(words []string, word string) (int, error) {
	i := slices.Index(words, strings.ToLower(strings.TrimSpace(word)))
	if i < 0 {
		return 0, fmt.Errorf("%q is none of %s", word, strings.Join(words, ", "))
	}
	return i, nil
}
