// Package line reads what the user types, a line at a time.
//
// A [Reader] has one of two inputs. The cooked input leaves editing to the terminal itself and
// works on pipes too; it writes nothing but the prompt. The editor is for terminals that can move
// the cursor. A first caller makes a Reader with [New].
//
// # One reader at a time
//
// Nothing is read but inside Read and Ask, on behalf of their caller, so what
// is typed in between stays with the terminal.
//
// # Questions
//
// Text typed before a question was shown never answers it: on a terminal,
// Ask drops it and says how much that was. Input that is no terminal is a
// script, and is never dropped.
//
// # Typing ahead
//
// Between two reads the echo can be switched off ([Reader].Quiet): text
// typed then shows up once, behind the next prompt, instead of in the middle
// of what the program writes. The modes of the terminal are derived from those
// that were found, and come back whenever the program stops, ends or lends the
// terminal.
//
// # The library
//
// chzyer/readline edits the line on limited terminals, such as a vt100 with the locale C: the
// characters, words, kills and yanks, the way through the history, and the end of the line. The
// keys are the same as on other terminals.
//
// The library draws the line anew with each key, searches with races, ends half a line on a
// hang-up, knows no pastes, and removes too much with Ctrl-W in the first word. So it has no
// terminal here: the editor decodes the keys, draws the line, and does what the library can't
// (TestLibrary shows both). On capable terminals the library would replace 742 lines at most
// (buffer.go, history.go, vi.go), and lose undo, vi's counts and characters of several parts.
//
// # Half a line
//
// A line that ends with a hang-up or Ctrl-D instead of Enter is not returned, but for the end of a
// pipe of Emacs's eshell, which is a terminal.
package line

import (
	"context"
	"errors"
	"os"

	"gemline/repl/keymap"
	"gemline/repl/output"
)

// ErrInterrupt is returned when the user presses Ctrl-C in the editor while the
// line is empty; ErrCleared when there was text, which is gone, or when the
// terminal has cut a line, which the user has been told.
var (
	ErrInterrupt = errors.New("interrupted")
	ErrCleared   = errors.New("line cleared")
)

// Connect has the keys of the user's terminal go to another one as they are,
// until disconnect is called: ours is our end of that, theirs the command's,
// which is made like the user's.
type Connect = func(ours, theirs *os.File) (disconnect func(), err error)

// ErrSuperseded is the cause of a context that ends a read since somebody else has entered
// the line. Typed text is then kept for the next read.
var ErrSuperseded = errors.New("entered elsewhere")

// Config is what a Reader reads from and shows its prompt on.
type Config struct {
	In  *os.File
	Out *output.Writer

	// Screen is the terminal behind Out, of which the editor asks the width.
	Screen *os.File

	// Mode allows the editor by Smart, if In is a terminal. By Marks the editor tells the
	// terminal where its prompts are, and asks it to mark pastes. By Limited readline edits
	// the line.
	Mode output.Mode

	// NoEcho keeps typed text off the screen. The editor is off then, since
	// it shows the text.
	NoEcho bool

	// Echoed says that whoever sends the lines has shown them already, as
	// Emacs does.
	Echoed bool

	// Single says that each line is an input of its own, also of those that
	// come together, as programs send them.
	Single bool

	// History is what the keys for it go through, and what inputs are added
	// to. Without one, nothing is remembered.
	History History

	// Complete, if not nil, is asked by the Tab key.
	Complete Completer

	// Edit, if not nil, lets the user change text in an editor, in a file of
	// that name.
	Edit func(ctx context.Context, name, text string) (string, error)

	// NextMode, if not nil, is called by Shift-Tab. It changes the mode of
	// the session, may write whole lines that say so, and returns the prompt.
	NextMode func() string

	// Keymap has the user's changes to the default keys.
	Keymap keymap.Map

	// Vi, if not nil, is asked before each line whether the editor has vi's
	// keys.
	Vi func() bool

	// Jobs says that the Reader handles Ctrl-Z and the return to the
	// foreground.
	Jobs bool
}

// More is the prompt of the second and later lines of one input.
const More = "... "
