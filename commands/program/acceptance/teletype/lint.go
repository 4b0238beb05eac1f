package teletype

import (
	"fmt"
	"unicode/utf8"
)

// Rules say what a transcript may contain.
type Rules struct {
	// Smart allows colours, marks and what the line editor does.
	Smart bool

	// Quiet holds for transcripts in which nothing but the program's own
	// text occurs: neither boxes nor pictures nor braille.
	Quiet bool
}

// Lint returns the places where a transcript breaks the rules, in order. A
// terminal's echo of a rubbed out character is no fault.
func Lint(transcript []byte, rules Rules) []string {
	var faults []string
	line := 1
	for i := 0; i < len(transcript); {
		r, n := utf8.DecodeRune(transcript[i:])
		fault := ""
		switch {
		case r == '\n':
			line++
		case r == '\t':
		case r == '\b' && (echoedRubout(transcript, i) || rules.Smart):
		case r == '\r' && (follows(transcript, i+1, '\n') || rules.Smart):
		case r == 0x1b && rules.Smart:
		case r == utf8.RuneError && n == 1:
			fault = fmt.Sprintf("byte %#02x is no UTF-8", transcript[i])
		case r < 0x20, r >= 0x7f && r < 0xa0:
			fault = fmt.Sprintf("control %U", r)
		case rules.Quiet && decoration(r):
			fault = fmt.Sprintf("decoration %U", r)
		}
		if fault != "" {
			faults = append(faults, fmt.Sprintf("line %d, byte %d: %s", line, i, fault))
		}
		i += n
	}
	return faults
}

// follows reports whether c stands at i.
func follows(b []byte, i int, c byte) bool { return i < len(b) && b[i] == c }

// echoedRubout reports whether the backspace at i belongs to "\b \b".
func echoedRubout(b []byte, i int) bool {
	at := func(j int, s string) bool { return j >= 0 && j+len(s) <= len(b) && string(b[j:j+len(s)]) == s }
	return at(i, "\b \b") || at(i-2, "\b \b")
}

// decoration reports whether r is a box, a block, a braille pattern or a
// picture.
func decoration(r rune) bool {
	return r >= 0x2500 && r <= 0x259f || r >= 0x2800 && r <= 0x28ff ||
		r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r == 0xfe0f
}

// Overprinted returns where a label of the program does not stand at the start
// of a line, in the lines of a transcript that the program wrote itself.
func Overprinted(transcript []byte, labels ...string) []string {
	var faults []string
	for i := range transcript {
		for _, l := range labels {
			mark := l + ": "
			if i > 0 && i+len(mark) <= len(transcript) &&
				string(transcript[i:i+len(mark)]) == mark && transcript[i-1] != '\n' {
				faults = append(faults, fmt.Sprintf("byte %d: %q inside a line", i, mark))
			}
		}
	}
	return faults
}
