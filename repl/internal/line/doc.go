// Package line reads the user's input, a line at a time.
//
// A [Reader] has one of two inputs. The cooked input leaves editing to the terminal itself and
// works on pipes too; it writes nothing but the prompt. The editor is for terminals that can move
// the cursor. A first caller makes a Reader with [New].
//
// # Input is read only on request
//
// Input is read only inside Read and Ask, for their caller, so text that is typed in between stays
// in the terminal.
//
// # Earlier text answers no question
//
// Text typed before a question was shown never answers it: on a terminal, Ask drops the text and
// prints its length. Input that is no terminal is a script, and is never dropped.
//
// # Typing ahead
//
// Between two reads the echo can be switched off ([Reader].Quiet): text typed then appears once,
// behind the next prompt, and not within the program's output. The modes of the terminal are
// derived from its original modes, which are restored whenever the program stops, ends or lends the
// terminal.
//
// # The library edits, the editor draws
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
// # An incomplete line is not entered
//
// A line that ends with a hang-up or Ctrl-D instead of Enter is not returned. The only exception is
// the end of a pipe of Emacs's eshell, which is a terminal.
package line

import (
	"context"
	"errors"
	"os"

	"gemline/repl/keymap"
	"gemline/repl/output"
)

// ErrInterrupt is returned when the user presses Ctrl-C in the editor on an empty line. ErrCleared
// is returned when Ctrl-C has cleared text, or when the terminal has cut a line, which the reader
// has then reported.
var (
	ErrInterrupt = errors.New("interrupted")
	ErrCleared   = errors.New("line cleared")
)

// Connect passes the keys of the user's terminal to another terminal unchanged, until disconnect is
// called. Ours is our end of that terminal. Theirs is the command's end, which has the modes of the
// user's terminal.
type Connect = func(ours, theirs *os.File) (disconnect func(), err error)

// ErrSuperseded is the cause of a context that ends a read because another terminal has entered the
// line. Typed text is preserved for the next read.
var ErrSuperseded = errors.New("entered elsewhere")

// Config is the configuration of a Reader.
type Config struct {
	In  *os.File
	Out *output.Writer

	// Screen is the terminal behind Out, whose width the editor needs.
	Screen *os.File

	// Mode allows the editor by Smart, if In is a terminal. By Marks the editor marks prompts for
	// the terminal, and asks the terminal to mark pastes. By Limited readline edits the line.
	Mode output.Mode

	// Decode, if not nil, converts typed text to UTF-8.
	Decode func(b []byte) []byte

	// NoEcho hides typed text. It disables the editor, which shows the text.
	NoEcho bool

	// Echoed says that the sender of the lines has already shown them, as Emacs does.
	Echoed bool

	// Single makes each line a separate input, even if lines arrive together, as from programs.
	Single bool

	// History holds earlier inputs, and gets new inputs. It may be nil.
	History History

	// Complete, if not nil, completes the line for the Tab key.
	Complete Completer

	// Edit, if not nil, lets the user change text in an editor, in a file with the given name.
	Edit func(ctx context.Context, name, text string) (string, error)

	// NextMode, if not nil, is called by Shift-Tab. It changes the mode of the session, may print
	// lines about the change, and returns the prompt.
	NextMode func() string

	// Keymap has the user's changes to the default keys.
	Keymap keymap.Map

	// Vi, if not nil, returns before each line whether the editor has vi's keys.
	Vi func() bool

	// Jobs says that the Reader handles Ctrl-Z and the return to the
	// foreground.
	Jobs bool
}

// More is the prompt of the second and later lines of one input.
const More = "... "
