package output

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"
)

// maxClipboard is how many bytes OSC 52 may carry: in base64 they are the
// 74,994 characters that the smallest of the common terminals takes.
const maxClipboard = 74994 / 4 * 3

// Limits of a notification's texts, in characters, as the Gemini CLI has them.
const (
	maxTitle = 48
	maxBody  = 180
)

// ClipboardSequence returns the sequence by which a terminal puts text on its clipboard,
// or an error if there is too much of it. lookup tells whether tmux or screen
// stands in between, which pass it on only when it is wrapped.
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

// nested reports whether both tmux and screen are between the program and the terminal. A
// sequence that is wrapped for tmux is shown as text by screen, and the other way round.
func nested(lookup func(string) (string, bool)) bool {
	tmux, _ := lookup("TMUX")
	screen, _ := lookup("STY")
	return tmux != "" && screen != ""
}

// NotificationSequence returns the sequence that makes the terminal call for attention:
// method is osc9, osc777, bell, or auto for the one the terminal is known to
// understand.
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

// attention returns the method that the terminal understands, as far as its
// variables tell.
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

// through wraps a control sequence so that tmux or screen hand it on to the
// terminal that they run in.
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

// brief makes outside text fit into a control sequence: one line of at most most characters,
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

// A Mark tells a smart terminal where a turn's parts begin, by which it can
// jump from prompt to prompt (OSC 133).
type Mark string

// The marks.
const (
	PromptMark  Mark = "A" // the prompt comes next
	InputMark   Mark = "B" // the text behind it is typed
	AnswerMark  Mark = "C" // the input is over, the text behind it answers it
	SuccessMark Mark = "D;0"
	FailureMark Mark = "D;1"
)

// Sequence returns the control sequence of the mark.
func (m Mark) Sequence() string { return "\x1b]133;" + string(m) + "\x1b\\" }
