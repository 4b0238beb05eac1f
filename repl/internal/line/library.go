package line

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// A library edits the lines of an editor by readline. The editor has the line in its buffer, too:
// it draws the line and carries out ops that readline lacks.
//
// While a line is read, filter and OnChange run on a goroutine of readline, which owns the editor
// until the line has ended.
type library struct {
	editor   *editor
	readline *readline.Instance
	key      rune // the key that filter has passed on to readline
	ours     bool // the editor has carried it out
	recalls  bool // readline has the history
}

func newLibrary(e *editor) (*library, error) {
	l := &library{editor: e}
	rl, err := readline.NewEx(&readline.Config{
		Stdin: e.in, Stdout: io.Discard, Stderr: io.Discard,
		HistoryLimit: math.MaxInt, DisableAutoSaveHistory: true,
		FuncOnWidthChanged:  func(func()) {},
		FuncIsTerminal:      func() bool { return false }, // so readline draws nothing
		FuncMakeRaw:         func() error { return nil },  // editor.line sets and restores the modes
		FuncExitRaw:         func() error { return nil },
		FuncFilterInputRune: l.filter,
		Listener:            l,
	})
	l.readline = rl
	return l, err
}

// edit reads a line.
func (l *library) edit() (string, error) {
	l.recalls = false
	s, err := l.readline.Readline()
	if err == readline.ErrInterrupt {
		err = ErrInterrupt
	}
	return s, err
}

// Read implements [io.Reader] for readline. It returns one key, since readline would buffer the
// rest.
func (k *keys) Read(p []byte) (int, error) {
	key, err := k.next()
	if err != nil {
		return 0, err
	}
	if key == opDeleteOrEnd {
		key = readline.CharDelete // after it readline reads no more until it is asked
	}
	return copy(p, string(key)), nil
}

// filter handles a key before readline gets it. For a key that the editor handles, it returns BEL,
// which readline ignores.
func (l *library) filter(key rune) (rune, bool) {
	e := l.editor
	if key == readline.CharDelete {
		key = opDeleteOrEnd
	}
	ended, how := e.ends(key)
	switch {
	case how == io.EOF:
		return readline.CharDelete, true
	case ended:
		return key, true
	case key == 0: // the terminal is gone; otherwise readline would return an incomplete line
		l.readline.Operation.SetBuffer("")
		return key, true
	case key == opDeleteOrEnd:
		l.readline.Terminal.KickRead()
	}
	l.recall()
	carried := l.carried(key)
	l.key, l.ours = key, carried == 0
	if l.ours {
		e.press(key)
		carried = readline.CharBell
	}
	e.last = key
	return carried, true
}

// OnChange implements [readline.Listener]: it copies a line that a key has changed to the editor,
// or the editor's line to readline.
func (l *library) OnChange(line []rune, pos int, key rune) ([]rune, int, bool) {
	e := l.editor
	switch key {
	case 0, readline.CharEnter, readline.CharCtrlJ, readline.CharInterrupt, readline.CharDelete:
		return nil, 0, false // the line has ended, and readline no longer owns the editor
	}
	switch {
	case l.ours:
	case key == l.key:
		e.buf.insert(key)
	case slices.Equal(line, e.buf.text):
		e.buf.pos = pos
	case l.key == opPrev, l.key == opNext:
		entry := []rune(e.recall.shown(strings.ReplaceAll(string(line), string(newlineMark), "\n")))
		e.buf.set(entry, len(entry))
	default:
		e.buf.set(line, pos)
	}
	e.draw()
	return slices.Clone(e.buf.text), e.buf.pos, true
}

// recall gives readline the history, once for a line.
func (l *library) recall() {
	if l.recalls {
		return
	}
	l.recalls = true
	l.readline.ResetHistory()
	if l.editor.recall.history == nil {
		return
	}
	for _, entry := range l.editor.recall.history.Entries() {
		l.readline.SaveHistory(entry)
	}
}

// libraryKeys are the keys of readline for the ops that it carries out.
var libraryKeys = map[rune]rune{
	opLeft: readline.CharBackward, opRight: readline.CharForward, opWordLeft: readline.MetaBackward,
	opHome: readline.CharLineStart, opEnd: readline.CharLineEnd, opRubout: readline.CharBackspace,
	opKillRight: readline.CharKill, opKillLeft: readline.CharCtrlU, opKillWord: readline.MetaDelete,
	opRuboutWord: readline.CharCtrlW, opRuboutAlnum: readline.CharCtrlW, opYank: readline.CharCtrlY,
	opPrev: readline.CharPrev, opNext: readline.CharNext,
}

// carried returns readline's key for a key, 0 if the editor must handle it.
func (l *library) carried(key rune) rune {
	b := &l.editor.buf
	switch {
	case l.editor.useVi, l.editor.recall.searching, key < ' ':
		return 0
	case !isOp(key):
		return key
	case len(b.atoms()) > 0 && key != opPrev && key != opNext, // readline knows no placeholders
		(key == opLeft || key == opRubout) && b.left(b.pos) < b.pos-1, // a character of several runes
		key == opRight && b.right(b.pos) > b.pos+1,
		key == opKillRight && b.pos == len(b.text): // an empty kill, after which readline would forget the killed text
		return 0
	case (key == opRuboutWord || key == opRuboutAlnum) && firstWord(b.text[:b.pos]):
		return readline.CharCtrlU // Ctrl-W would also remove the text after the cursor, and forget both
	}
	return libraryKeys[key]
}

// firstWord reports whether the cursor after text is in the first word, by readline's rules.
func firstWord(text []rune) bool {
	for i := len(text) - 1; i > 0; i-- {
		if !readline.IsWordBreak(text[i]) && readline.IsWordBreak(text[i-1]) {
			return false
		}
	}
	return true
}

// close ends the goroutines of readline. The keys have to be closed before.
func (l *library) close() error {
	if !l.editor.left {
		l.readline.Readline() // returns at once when a goroutine has ended
	}
	return l.readline.Config.Stdin.Close()
}
