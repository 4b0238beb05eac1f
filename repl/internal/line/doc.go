// Package line reads what the user types, a line at a time.
//
// There are two readers behind one interface. The cooked one leaves editing to
// the terminal itself and works on pipes too; it writes nothing but the prompt.
// The other one is an editor for terminals that can move the cursor.
//
// # One reader at a time
//
// Nothing is read but inside Read and Ask, on behalf of their caller, so what
// is typed in between stays with the terminal.
//
// # Questions
//
// What was typed before a question was shown never answers it: on a terminal,
// Ask drops it and says how much that was. Input that is no terminal is a
// script, and is never dropped.
//
// # What is typed ahead
//
// Between two reads the echo can be switched off ([Reader].Quiet): what is
// typed then shows up once, behind the next prompt, instead of in the middle
// of what the program writes. The modes of the terminal are derived from those
// that were found, and come back whenever the program stops, ends or lends the
// terminal.
//
// # Half a line
//
// A line that ends with a hang-up instead of Enter is not returned.
package line

import (
	"context"
	"errors"
	"os"

	"gemline/repl/output"
)

// ErrInterrupt is returned when the user presses Ctrl-C in the editor while the
// line is empty; ErrCleared when there was text, which is gone, or when the
// terminal has cut a line, which the user has been told.
var (
	ErrInterrupt = errors.New("interrupted")
	ErrCleared   = errors.New("line cleared")
)

// A Reader reads lines. It must not be used concurrently.
type Reader interface {
	// Read shows prompt and returns what the user enters, which may be of
	// several lines. It returns io.EOF at the end of the input.
	Read(ctx context.Context, prompt string) (string, error)

	// Ask shows a question and returns its one-line answer, and how many
	// characters it dropped that were typed before.
	Ask(ctx context.Context, question string) (answer string, dropped int, err error)

	// Secret is Ask for what must not be shown, such as a key.
	Secret(ctx context.Context, question string) (string, error)

	// Show lets show write when that disturbs nobody: above the line that
	// is being typed, or when it has been entered. It alone, and Restore
	// and Echoes, may be called on any goroutine; show is called on the one
	// that reads, or on its behalf.
	Show(show func())

	// Quiet says whether what is typed between two reads is hidden until
	// the next one.
	Quiet(on bool)

	// Stopped says that the user has stopped what went on. What was typed
	// meanwhile is not returned by the next Read: it is in its line to be
	// edited, or else shown.
	Stopped()

	// Echoes reports whether the terminal shows what is typed right now.
	Echoes() bool

	// Lend leaves the terminal to use, as it was found.
	Lend(use func())

	// Through gives the terminal to a command that has a terminal of its own
	// behind it, as long as use runs and connects the two. It reports false,
	// without using it, where that can't be had. What the command leaves
	// unread of what is typed is taken for typed ahead.
	Through(use func(Connect)) bool

	// SetVi chooses vi's keys, where there are keys to choose.
	SetVi(on bool)

	// Terminal reports whether a user types at a terminal.
	Terminal() bool

	// Restore leaves the terminal as it was found, for a program that is
	// about to end without ceremony.
	Restore()

	// Close leaves the terminal as it was found.
	Close() error
}

// Connect has the keys of the user's terminal go to another one as they are,
// until disconnect is called: ours is our end of that, theirs the command's,
// which is made like the user's.
type Connect = func(ours, theirs *os.File) (disconnect func(), err error)

// Config is what a Reader reads from and shows its prompt on.
type Config struct {
	In  *os.File
	Out *output.Writer

	// Screen is the terminal behind Out, of which the editor asks the width.
	Screen *os.File

	// Smart allows the editor, if In is a terminal.
	Smart bool

	// Marks has the editor tell the terminal where its prompts are.
	Marks bool

	// NoEcho has the terminal show nothing of what is typed. There is no
	// editor then, as that would show it.
	NoEcho bool

	// Echoed says that whoever sends the lines has shown them already, as
	// Emacs does.
	Echoed bool

	// Single says that each line is an input of its own, also of those that
	// come together, as programs send them.
	Single bool

	// History is what the keys for it go through, and what inputs are added
	// to. Without one, the editor remembers for itself.
	History History

	// Complete, if not nil, is asked by the Tab key.
	Complete Completer

	// Edit, if not nil, lets the user change text in a program of his, in a
	// file of that name.
	Edit func(ctx context.Context, name, text string) (string, error)

	// NextMode, if not nil, is called by Shift-Tab. It changes the mode of
	// the session, may write whole lines that say so, and returns the prompt.
	NextMode func() string

	// Jobs says that the Reader takes care of Ctrl-Z and of what follows.
	Jobs bool
}

// New returns the Reader that fits c.
func New(c Config) (Reader, error) {
	src, err := newSource(c.In)
	if err != nil {
		return nil, err
	}
	if c.NoEcho {
		if err := src.mute(); err != nil {
			return nil, errors.Join(err, src.close())
		}
	}
	if c.Smart && !c.NoEcho && c.Screen != nil && src.terminal() {
		if c.History == nil {
			c.History = &recent{}
		}
		return newEditor(c, src)
	}
	return newCooked(c, src), nil
}

// More is the prompt of the second and later lines of one input.
const More = "... "
