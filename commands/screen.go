package commands

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gemline/engine/text"
)

// screenCommands are about what the terminal shows, and the editor that it belongs to.
type screenCommands struct {
	c      *Conversation
	out    io.Writer
	screen *Screen
	editor func(ctx context.Context, word string) (said string, err error)
}

// A Screen is how a session shows events and reads lines. Each function with a word as its
// parameter changes one setting, unless the word is empty, and returns the setting's state.
type Screen struct {
	Accessible func(word string) (state string, err error)
	Stream     func(word string) (state string, err error)
	Detail     func(word string) (state string, err error)
	Vi         func(word string) (state string, err error)

	Patch   func(patch string) // shows a patch
	Asked   func(text string)  // shows words of the user, a line
	Answer  func(text string)  // shows an answer
	Kept    func() []Output    // truncated outputs, the latest last
	Entered func() []string    // typed lines, the latest last
}

// An Output is the full output of a call that was shown truncated.
type Output struct {
	Number int
	Title  string
	Text   string
}

// errNoScreen is the error of a command that needs the session's own screen, in a session without a
// screen.
var errNoScreen = unavailable("this is for a session at a terminal")

func (cmd screenCommands) set() Set {
	return Set{
		cmd.setting(Command{Name: "accessible", Summary: "plain mode, for screen readers and braille displays, from here on"},
			func(s *Screen) func(string) (string, error) { return s.Accessible }, "on", "off"),
		cmd.setting(Command{Name: "detail", Usual: true, Summary: "how much gemline says about the model's actions"},
			func(s *Screen) func(string) (string, error) { return s.Detail }, "short", "normal", "full"),
		{Name: "editor", Usual: true, Args: "[TEXT]", Summary: "write the next prompt in your editor", Run: cmd.edit},
		{Name: "history", Usual: true, Args: "[NUMBER|TEXT]", Summary: "what was said here, or your last inputs", Run: cmd.history},
		cmd.ide(),
		{Name: "show", Usual: true, Args: "[NUMBER]", Run: cmd.show,
			Summary: "outputs that were not shown in full; with a number, all of one"},
		cmd.setting(Command{Name: "stream", Summary: "how much of an answer is shown at a time"},
			func(s *Screen) func(string) (string, error) { return s.Stream }, "token", "sentence", "paragraph", "final"),
		cmd.setting(Command{Name: "vim", Summary: "vi keys, on or off"}, func(s *Screen) func(string) (string, error) {
			return func(word string) (string, error) { return s.Vi(cmp.Or(strings.TrimSpace(word), "toggle")) }
		}, "on", "off"),
	}
}

// setting returns a command that changes a setting of the screen, or prints its state. The
// parameter of selects the Screen's function.
func (cmd screenCommands) setting(c Command, of func(*Screen) func(string) (string, error), choices ...string) *Command {
	c.Args, c.Complete = "["+strings.Join(choices, "|")+"]", words(choices...)
	c.Run = func(_ context.Context, word string) error {
		if cmd.screen == nil {
			return errNoScreen
		}
		said, err := of(cmd.screen)(word)
		if err != nil {
			return err
		}
		return sentences(cmd.out, said)
	}
	return &c
}

// words returns a completer for a fixed list of words.
func words(all ...string) func(context.Context, string, string) []string {
	return func(context.Context, string, string) []string { return all }
}

func (cmd screenCommands) show(_ context.Context, arg string) error {
	if cmd.screen == nil {
		return errNoScreen
	}
	kept := cmd.screen.Kept()
	if arg == "" {
		return cmd.listOutputs(kept)
	}
	n, err := strconv.Atoi(arg)
	for _, o := range kept {
		if err == nil && o.Number == n {
			return lines(cmd.out, strings.TrimSuffix(o.Text, "\n"))
		}
	}
	return fmt.Errorf("there is no output %s; /show lists them", arg)
}

func (cmd screenCommands) listOutputs(kept []Output) error {
	if len(kept) == 0 {
		return sentences(cmd.out, "everything so far was shown in full")
	}
	var ls []string
	for _, o := range kept {
		n := strings.Count(strings.TrimSuffix(o.Text, "\n"), "\n") + 1
		ls = append(ls, fmt.Sprintf("%d: %s, %s", o.Number, text.Words(o.Title),
			text.Count(n, "line")))
	}
	return sentences(cmd.out, ls...)
}

// edit exists for the list of commands: the reader of lines opens the editor, if it can lend it the
// terminal.
func (cmd screenCommands) edit(_ context.Context, _ string) error {
	if cmd.screen != nil {
		return unavailable("no editor was found; set VISUAL, EDITOR or general.preferredEditor")
	}
	return unavailable("/editor works only when it is typed at the prompt of a session")
}
