package output

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"
)

// maxClipboard is the most bytes for OSC 52. In base64 they are 74,994 characters, the smallest
// limit of the common terminals.
const maxClipboard = 74994 / 4 * 3

// Limits of a notification's texts, in characters, as in the Gemini CLI.
const (
	maxTitle = 48
	maxBody  = 180
)

// ClipboardSequence returns the sequence with which a terminal puts text on its clipboard, or an
// error if the text is too long. Lookup tells whether tmux or screen is in between, which pass only
// a wrapped sequence on.
func ClipboardSequence(text string, lookup func(string) (string, bool)) (string, error) {
	if len(text) > maxClipboard {
		return "", fmt.Errorf("%d bytes are more than a terminal's clipboard takes, which is %d",
			len(text), maxClipboard)
	}
	if nested(lookup) {
		return "", errors.New("tmux and screen are nested in an unknown order, so the terminal's clipboard can't be reached")
	}
	return through("\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a", lookup), nil
}

// nested reports whether both tmux and screen are between the program and the terminal. Screen
// prints a sequence that is wrapped for tmux, and tmux one that is wrapped for screen.
func nested(lookup func(string) (string, bool)) bool {
	tmux, _ := lookup("TMUX")
	screen, _ := lookup("STY")
	return tmux != "" && screen != ""
}

// NotificationSequence returns the sequence with which a terminal calls for attention. Method is
// osc9, osc777, bell, or auto for a method that the terminal is known to support.
func NotificationSequence(method, title, body string, lookup func(string) (string, bool)) string {
	title, body = brief(title, maxTitle), brief(body, maxBody)
	if method == "auto" {
		method = attention(lookup)
	}
	if nested(lookup) {
		return "\a"
	}
	switch method {
	case "osc9":
		return through("\x1b]9;"+title+": "+body+"\a", lookup)
	case "osc777":
		return through("\x1b]777;notify;"+strings.ReplaceAll(title, ";",
			",")+";"+strings.ReplaceAll(body, ";", ",")+"\a", lookup)
	}
	return "\a"
}

// attention returns the notification method of the terminal, by its variables.
func attention(lookup func(string) (string, bool)) string {
	program, _ := lookup("TERM_PROGRAM")
	switch program {
	case "iTerm.app", "WezTerm", "ghostty":
		return "osc9"
	}
	term, _ := lookup("TERM")
	if strings.HasPrefix(term, "rxvt") || strings.HasPrefix(term, "foot") {
		return "osc777"
	}
	if _, ok := lookup("KITTY_WINDOW_ID"); ok {
		return "osc9"
	}
	return "bell"
}

// through wraps a control sequence so that tmux or screen pass it on to their terminal.
func through(seq string, lookup func(string) (string, bool)) string {
	if v, _ := lookup("TMUX"); v != "" {
		return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	if v, _ := lookup("STY"); v == "" {
		return seq
	}
	const piece = 76 // screen takes strings of 256 bytes and less, older ones
	var b strings.Builder
	for len(seq) > 0 {
		n := min(piece, len(seq))
		b.WriteString("\x1bP" + seq[:n] + "\x1b\\")
		seq = seq[n:]
	}
	return b.String()
}

// brief shortens outside text for a control sequence: to one line of at most most characters,
// without control characters.
func brief(s string, most int) string {
	s = strings.ToValidUTF8(text.Words(s), "")
	s = strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-3]) + "..."
	}
	return s
}

// A Mark marks a part of a turn for a smart terminal, whose user can jump from prompt to prompt
// (OSC 133).
type Mark string

// The marks.
const (
	PromptMark  Mark = "A" // the prompt comes next
	InputMark   Mark = "B" // the text behind it is typed
	AnswerMark  Mark = "C" // the input has ended, and its answer follows
	SuccessMark Mark = "D;0"
	FailureMark Mark = "D;1"
)

// Sequence returns the control sequence of the mark.
func (m Mark) Sequence() string { return "\x1b]133;" + string(m) + "\x1b\\" }
