package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/chzyer/readline"
	"golang.org/x/term"

	"gemline/repl/output"
)

// An editor reads lines with readline, which sees neither the terminal's input
// nor its output as they are.
type editor struct {
	src  *source
	out  *output.Writer
	in   *keys
	rl   *readline.Instance
	left bool // readline has ended and must not be asked again

	history []string
	at      int // the entry shown, len(history) for the line being typed

	mu     sync.Mutex // pastes come on readline's goroutine
	pastes map[string]string
}

// historySize is how many lines the editor remembers.
const historySize = 1000

func newEditor(c Config, src *source) (*editor, error) {
	e := &editor{src: src, out: c.Out, pastes: map[string]string{}}
	e.in = newKeys(src, e.pasted)
	screen := &screen{w: c.Out.Terminal(), width: func() int {
		w, _, err := term.GetSize(int(c.Screen.Fd()))
		if err != nil || w <= 0 {
			return 80
		}
		return w
	}}
	cfg := &readline.Config{
		Stdin: e.in, Stdout: screen, Stderr: screen,
		HistoryLimit: -1, DisableAutoSaveHistory: true,
		InterruptPrompt: "^C", EOFPrompt: "\n",
		Painter:            painter{},
		FuncGetWidth:       func() int { return endless },
		FuncOnWidthChanged: func(func()) {},
		FuncIsTerminal:     func() bool { return true },
		FuncMakeRaw:        func() error { return nil }, // done in edit, where it is undone too
		FuncExitRaw:        func() error { return nil },
	}
	cfg.SetListener(e.listen)
	rl, err := readline.NewEx(cfg)
	if err != nil {
		return nil, errors.Join(err, src.close())
	}
	e.rl = rl
	return e, nil
}

// Terminal implements [Reader].
func (e *editor) Terminal() bool { return true }

// Read implements [Reader].
func (e *editor) Read(ctx context.Context, prompt string) (string, error) {
	e.at = len(e.history)
	s, err := gather(true, prompt, func(prompt string) (string, error) { return e.edit(ctx, prompt) })
	if err == nil && strings.TrimSpace(s) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != s) {
		e.history = append(e.history, s)
		if n := len(e.history) - historySize; n > 0 {
			e.history = e.history[n:]
		}
	}
	return s, err
}

// Ask implements [Reader].
func (e *editor) Ask(ctx context.Context, question string) (answer string, dropped int, err error) {
	dropped = e.in.forget() + utf8.RuneCount(e.src.drop())
	if dropped > 0 {
		told(e.out, dropped)
	}
	kept := e.history
	e.history, e.at = nil, 0 // an arrow key must not answer
	defer func() { e.history = kept }()
	answer, err = e.edit(ctx, question)
	return answer, dropped, err
}

// edit lets the user edit one line.
func (e *editor) edit(ctx context.Context, prompt string) (string, error) {
	if e.left {
		return "", io.EOF
	}
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	e.out.Fresh()
	restore, err := e.src.raw()
	if err != nil {
		e.left = true
		return "", io.EOF // the terminal is gone
	}
	defer restore()
	io.WriteString(e.out.Terminal(), "\x1b[?2004h")
	defer io.WriteString(e.out.Terminal(), "\x1b[?2004l")

	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { e.in.inject("\x05\x15\x03"); close(cut) })
	e.in.activate(true)
	e.rl.SetPrompt(string(markPrompt) + prompt)
	s, err := e.rl.Readline()
	e.in.activate(false)
	if !stop() {
		<-cut
		e.in.forget()
	}
	e.out.Entered()
	e.left = e.in.over()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == readline.ErrInterrupt && s != "":
		return "", ErrCleared
	case err == readline.ErrInterrupt:
		return "", ErrInterrupt
	case err != nil:
		return "", err
	}
	return e.unfold(s), nil
}

// Close implements [Reader].
func (e *editor) Close() error {
	if !e.left {
		e.left = true
		e.in.Close()
		e.rl.SetPrompt("") // which draws nothing
		e.rl.Readline()    // returns at once, when readline's goroutines have
	}
	return errors.Join(e.rl.Config.Stdin.Close(), e.src.close())
}

// listen handles the keys for the history, which readline does not keep.
func (e *editor) listen(_ []rune, _ int, key rune) ([]rune, int, bool) {
	step := 0
	switch key {
	case readline.CharPrev:
		step = -1
	case readline.CharNext:
		step = 1
	default:
		return nil, 0, false
	}
	to := e.at + step
	if to < 0 || to > len(e.history) {
		return nil, 0, false
	}
	e.at = to
	if to == len(e.history) {
		return []rune{}, 0, true
	}
	entry := []rune(e.folded(e.history[to]))
	return entry, len(entry), true
}

// folded returns a remembered input as it stands in the line again.
func (e *editor) folded(s string) string {
	if strings.Contains(s, "\n") && len(s) > longPaste {
		return e.pasted(s)
	}
	return strings.ReplaceAll(s, "\n", string(newlineMark))
}

// longPaste is how much of a paste is shown as it is.
const longPaste = 800

// pasted returns what stands in the line for a paste: itself if it is short
// and of one line.
func (e *editor) pasted(text string) string {
	if !strings.ContainsAny(text, "\n\t") && len(text) <= longPaste {
		return text
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	name := fmt.Sprintf("[paste %d: %d lines, %d characters]", len(e.pastes)+1, lines, utf8.RuneCountInString(text))
	e.pastes[name] = text
	return name
}

// unfold puts the pastes back into the line.
func (e *editor) unfold(s string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	pairs := []string{string(newlineMark), "\n"}
	for name, text := range e.pastes {
		pairs = append(pairs, name, text)
	}
	clear(e.pastes)
	return strings.NewReplacer(pairs...).Replace(s) // once, so that a paste may name another
}
