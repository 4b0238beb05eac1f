package line

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemline/repl/keymap"
)

// commandOps are the ops of commands that users may bind to keys. Submit and Newline are characters
// of the line.
var commandOps = map[keymap.Command]rune{
	keymap.Submit: '\r', keymap.Newline: newlineMark, keymap.Editor: opEdit,
	keymap.Previous: opPrev, keymap.Next: opNext, keymap.Search: opSearch, keymap.Up: opPrev, keymap.Down: opNext,
	keymap.Left: opLeft, keymap.Right: opRight, keymap.WordLeft: opWordLeft, keymap.WordRight: opWordRight,
	keymap.Home: opHome, keymap.End: opEnd, keymap.Complete: opComplete, keymap.Clear: opKillAll,
	keymap.KillRight: opKillRight, keymap.KillLeft: opKillLeft, keymap.RuboutWord: opRuboutWord,
	keymap.DeleteWord: opKillWord, keymap.Rubout: opRubout, keymap.Delete: opDelete, keymap.Undo: opUndo,
	keymap.CycleMode: opMode, keymap.ClearScreen: opRedraw, keymap.Suspend: opStop, keymap.Cancel: opEscape,
	keymap.Exit: opDeleteOrEnd,
}

// bound returns the length of the key at the start of b, and the op that the user has bound to it.
// Ok is false without a binding.
func (d *decoder) bound(b []byte) (n int, op rune, ok bool) {
	if d.keymap.Empty() {
		return 0, 0, false
	}
	key, n := keyName(b)
	if n == 0 || !d.keymap.Binds(key) {
		return 0, 0, false
	}
	if command := d.keymap.Command(key, ""); command != "" {
		return n, commandOps[command], true
	}
	does := d.ownOp(b[:n])
	for command, op := range commandOps {
		if op == does && d.keymap.Command(key, command) == "" {
			return n, 0, true
		}
	}
	return 0, 0, false // the file unbinds another op than the key's own
}

// binds reports whether the user has bound the key b.
func (d *decoder) binds(b []byte) bool {
	_, _, ok := d.bound(b)
	return ok
}

// ownOp returns the op of a key without the user's map.
func (d *decoder) ownOp(key []byte) rune {
	own := decoder{vi: d.vi}
	own.takeKey(key)
	op, _ := utf8.DecodeRune(own.queue)
	if op == '\n' {
		op = '\r'
	}
	return op
}

// keyName returns the name of the key at the start of b, as in the user's map, and its length; 0 if
// the key is incomplete or can't be bound.
func keyName(b []byte) (name string, n int) {
	if b[0] == 0x1b {
		return escapeName(b)
	}
	r, n := utf8.DecodeRune(b)
	if !utf8.FullRune(b) || r == utf8.RuneError && n == 1 {
		return "", 0
	}
	return runeName(r), n
}

// runeName returns the name of the key that sends a character.
func runeName(r rune) string {
	switch {
	case r == '\r':
		return "enter"
	case r == '\t':
		return "tab"
	case r == ' ':
		return "space"
	case r == 0x7f:
		return "backspace"
	case r == 0:
		return "ctrl+space"
	case r < 0x1b:
		return "ctrl+" + string(r|0x60)
	case r < ' ':
		return "ctrl+" + string(r|0x40)
	case r < utf8.RuneSelf && unicode.IsUpper(r):
		return "shift+" + string(unicode.ToLower(r))
	}
	return string(r)
}

// escapeName is keyName for sequences that begin with ESC.
func escapeName(b []byte) (string, int) {
	if len(b) < 2 {
		return "", 0
	}
	switch b[1] {
	case '[':
		n, _ := csi(b)
		if n == 0 {
			return "", 0
		}
		return csiName(string(b[2:n-1]), b[n-1]), n
	case 'O':
		if len(b) < 3 {
			return "", 0
		}
		if b[2] >= 'P' && b[2] <= 'S' {
			return "f" + string('1'+b[2]-'P'), 3
		}
		return finalKeys[b[2]], 3
	case ']', 'P', '_', '^', 'X', 0x1b:
		return "", 0
	}
	name, n := keyName(b[1:])
	if n == 0 {
		return "", 0
	}
	if held, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return "ctrl+alt+" + held, n + 1
	}
	return "alt+" + name, n + 1
}

var (
	finalKeys = map[byte]string{'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end", 'E': "clear",
		'P': "f1", 'Q': "f2", 'R': "f3", 'S': "f4"}
	tildeKeys = map[string]string{"1": "home", "7": "home", "2": "insert", "3": "delete", "4": "end", "8": "end", "5": "pageup", "6": "pagedown",
		"11": "f1", "12": "f2", "13": "f3", "14": "f4", "15": "f5", "17": "f6", "18": "f7", "19": "f8", "20": "f9", "21": "f10", "23": "f11", "24": "f12"}
)

// csiName returns the name of a key by the parameters and the last byte of its sequence.
func csiName(args string, final byte) string {
	if final == 'Z' {
		return "shift+tab"
	}
	params := strings.Split(args, ";")
	held := ""
	if len(params) > 1 {
		held, _, _ = strings.Cut(params[1], ":")
	}
	name := finalKeys[final]
	switch {
	case final == '~' && params[0] == "27" && len(params) > 2: // a character with modifier keys
		name = codeName(params[2])
	case final == '~':
		name = tildeKeys[params[0]]
	case final == 'u':
		code, _, _ := strings.Cut(params[0], ":")
		name = codeName(code)
	}
	return keymap.Join(name, heldKeys(held)...)
}

// codeName returns the name of a key by the code of its character.
func codeName(code string) string {
	c, err := strconv.Atoi(code)
	if err != nil || c <= 0 || c > unicode.MaxRune {
		return ""
	}
	if c == 27 {
		return "escape"
	}
	if name := runeName(unicode.ToLower(rune(c))); !strings.HasPrefix(name, "ctrl+") {
		return name
	}
	return ""
}

// heldKeys returns the modifier keys of a parameter.
func heldKeys(param string) (held []string) {
	bits, err := strconv.Atoi(param)
	if err != nil || bits < 2 {
		return nil
	}
	for i, name := range []string{"shift", "alt", "ctrl", "cmd"} {
		if (bits-1)>>i&1 == 1 {
			held = append(held, name)
		}
	}
	return held
}
