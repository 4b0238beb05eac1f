package line

import (
	"strconv"
	"strings"
)

// opPaste begins a paste.
const opPaste = opLast

// sequence returns the length and the op of the escape sequence at the start of b. The length is 0
// if the sequence is incomplete; the op is 0 if it has none. In vi mode, an ESC that begins no
// sequence is a key.
func sequence(b []byte, vi bool) (n int, op rune) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case 0x03: // Ctrl-C is always a key
		return 1, opEscape
	case '[':
		return csi(b)
	case 'O':
		switch {
		case len(b) < 3:
			return 0, 0
		case b[2] == 0x03:
			return 2, 0
		}
		return 3, movement(b[2], "")
	case ']', 'P', '_', '^', 'X':
		return report(b)
	case '\r', '\n': // Alt-Enter
		return 2, newlineMark
	}
	if vi || b[1] == 0x1b {
		return 1, opEscape
	}
	switch b[1] {
	case 'b', 'B':
		return 2, opWordLeft
	case 'f', 'F':
		return 2, opWordRight
	case 'd', 'D':
		return 2, opKillWord
	case 0x7f, '\b':
		return 2, opRuboutAlnum
	}
	return 2, 0
}

// report reads a report of the terminal, up to BEL or ST. It ends before a Ctrl-C.
func report(b []byte) (n int, op rune) {
	for i := 2; i < len(b); i++ {
		switch b[i] {
		case 0x03:
			return i, 0
		case 0x07:
			return i + 1, 0
		}
		if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
			return i + 2, 0
		}
	}
	if len(b) > 4096 {
		return len(b), 0
	}
	return 0, 0
}

// csi reads a sequence that begins with ESC [.
func csi(b []byte) (n int, op rune) {
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		i++
	}
	if i == len(b) {
		if i > 64 {
			return i, 0
		}
		return 0, 0
	}
	args, final := string(b[2:i]), b[i]
	if final == 0x03 { // Ctrl-C is not part of the sequence
		return i, 0
	}
	i++
	if final == 'M' && args == "" { // a mouse event, with three more bytes
		if len(b) < i+3 {
			return 0, 0
		}
		return i + 3, 0
	}
	if final == '~' {
		switch args {
		case "1", "7":
			return i, opHome
		case "4", "8":
			return i, opEnd
		case "3":
			return i, opDelete
		case "200":
			return i, opPaste
		}
		return i, 0
	}
	return i, movement(final, args)
}

// movement returns the op of an arrow, Home or End.
func movement(final byte, args string) rune {
	_, modifier, _ := strings.Cut(args, ";")
	if m, err := strconv.Atoi(modifier); err == nil && m > 1 {
		switch final {
		case 'C':
			return opWordRight
		case 'D':
			return opWordLeft
		}
	}
	switch final {
	case 'A':
		return opPrev
	case 'B':
		return opNext
	case 'C':
		return opRight
	case 'D':
		return opLeft
	case 'H':
		return opHome
	case 'F':
		return opEnd
	case 'Z':
		return opMode
	}
	return 0
}
