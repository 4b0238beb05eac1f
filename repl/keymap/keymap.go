// Package keymap reads a user's keybindings.json: the commands of keys in the line editor.
//
// # The Gemini CLI's file
//
// The format and the names of commands are the Gemini CLI's. Commands without a meaning in a
// session of lines are known, and a problem names them; the other bindings count.
//
// [Parse] reads a file; [Map.Command] returns the command of a pressed key.
package keymap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/text"
)

// A Command is the command of a key, by its name in the file.
type Command string

// The commands of the line editor.
const (
	Submit      Command = "input.submit"
	Newline     Command = "input.newline"
	Editor      Command = "input.openExternalEditor"
	Previous    Command = "history.previous"
	Next        Command = "history.next"
	Search      Command = "history.search.start"
	Up          Command = "cursor.up"
	Down        Command = "cursor.down"
	Left        Command = "cursor.left"
	Right       Command = "cursor.right"
	WordLeft    Command = "cursor.wordLeft"
	WordRight   Command = "cursor.wordRight"
	Home        Command = "cursor.home"
	End         Command = "cursor.end"
	Complete    Command = "suggest.accept"
	Clear       Command = "edit.clear"
	KillRight   Command = "edit.deleteRightAll"
	KillLeft    Command = "edit.deleteLeftAll"
	RuboutWord  Command = "edit.deleteWordLeft"
	DeleteWord  Command = "edit.deleteWordRight"
	Rubout      Command = "edit.deleteLeft"
	Delete      Command = "edit.deleteRight"
	Undo        Command = "edit.undo"
	CycleMode   Command = "app.cycleApprovalMode"
	ClearScreen Command = "app.clearScreen"
	Suspend     Command = "app.suspend"
	Cancel      Command = "basic.cancel"
	Exit        Command = "basic.exit"

	confirm      Command = "basic.confirm" // Enter, in a dialog
	acceptSearch Command = "history.search.submit"
)

const (
	submitKey = "enter"
	mostNamed = 8 // commands in one message
)

// Commands are all commands, in the order of lists.
var Commands = []Command{Submit, Newline, Editor, Previous, Next, Search, Up, Down, Left, Right, WordLeft, WordRight,
	Home, End, Complete, Clear, KillRight, KillLeft, RuboutWord, DeleteWord, Rubout, Delete, Undo,
	CycleMode, ClearScreen, Suspend, Cancel, Exit}

// families are beginnings of command names without a meaning in a session of lines.
var families = []string{"scroll.", "nav.", "app.", "background.", "basic.quit", "edit.redo", "input.queueMessage", "input.paste",
	"history.search.accept", "history.rewind", "suggest.focus", "suggest.expand", "suggest.collapse"}

// A Map overrides the default commands of keys. The zero Map overrides nothing.
type Map struct {
	bound   map[string]Command
	unbound map[string][]Command
}

// Command returns the command of a key whose default command is own.
func (m Map) Command(key string, own Command) Command {
	if c, ok := m.bound[key]; ok {
		return c
	}
	if slices.Contains(m.unbound[key], own) {
		return ""
	}
	return own
}

// Binds reports whether the map overrides a key.
func (m Map) Binds(key string) bool {
	_, bound := m.bound[key]
	return bound || m.unbound[key] != nil
}

// Empty reports whether the map overrides nothing.
func (m Map) Empty() bool { return len(m.bound)+len(m.unbound) == 0 }

// Parse reads the contents of a file. Each problem is a line about a binding without effect.
func Parse(v any) (m Map, problems []string) {
	m = Map{bound: map[string]Command{}, unbound: map[string][]Command{}}
	list, ok := v.([]any)
	if !ok {
		return Map{}, []string{`it is no list of objects such as {"command": "input.newline", "key": "ctrl+j"}; the keys keep their meaning`}
	}
	var idle, unknown []string
	for n, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["command"].(string)
		said, _ := entry["key"].(string)
		name, off := strings.CutPrefix(name, "-")
		key, err := Key(said)
		switch command := Command(name); {
		case name == "" || said == "":
			problems = append(problems, fmt.Sprintf("item %d has no command or no key", n+1))
		case err != nil:
			problems = append(problems, fmt.Sprintf("item %d: %v", n+1, err))
		case key == "ctrl+c":
			problems = append(problems, fmt.Sprintf("item %d: ctrl+c always interrupts", n+1))
		case command == confirm, command == acceptSearch: // Enter answers questions, and ends a search
		case !slices.Contains(Commands, command):
			list := &unknown
			if slices.ContainsFunc(families, func(f string) bool { return strings.HasPrefix(name, f) }) {
				list = &idle
			}
			if said := text.OneLine(name, 60); !slices.Contains(*list, said) {
				*list = append(*list, said)
			}
		case off:
			m.unbound[key] = append(m.unbound[key], command)
			if m.bound[key] == command {
				delete(m.bound, key)
			}
		default:
			m.bound[key] = command
		}
	}
	if m.Command(submitKey, Submit) != Submit && !slices.Contains(slices.Collect(maps.Values(m.bound)), Submit) {
		delete(m.bound, submitKey)
		delete(m.unbound, submitKey)
		problems = append(problems, "no key submits; enter still does")
	}
	for _, l := range []struct {
		names []string
		what  string
	}{{idle, "commands that a session of lines does not have"}, {unknown, "unknown commands"}} {
		if len(l.names) > 0 {
			problems = append(problems, l.what+": "+text.List(l.names[:min(len(l.names), mostNamed)]))
		}
	}
	return m, problems
}

// modifiers are the names of modifier keys, in their order in a key's name.
var modifiers = []string{"ctrl", "alt", "shift", "cmd"}

var (
	sameModifier = map[string]string{"control": "ctrl", "opt": "alt", "option": "alt", "meta": "cmd", "super": "cmd", "win": "cmd", "command": "cmd"}
	sameKey      = map[string]string{"return": "enter", "esc": "escape", "del": "delete", "ins": "insert", " ": "space",
		"page_up": "pageup", "page_down": "pagedown", "pgup": "pageup", "pgdn": "pagedown"}
	namedKeys = strings.Fields("up down left right home end pageup pagedown enter escape tab space backspace delete clear insert")
)

// Key returns the normalized name of a key for [Map.Command]: ctrl+j, alt+enter, f2, å.
func Key(said string) (string, error) {
	name := strings.TrimSpace(said)
	var held []string
	for {
		head, rest, ok := strings.Cut(name, "+")
		head = strings.ToLower(head)
		head = cmp.Or(sameModifier[head], head)
		if !ok || rest == "" || !slices.Contains(modifiers, head) {
			break
		}
		held, name = append(held, head), rest
	}
	if lower := strings.ToLower(name); utf8.RuneCountInString(name) > 1 {
		name = lower
	} else if lower != name && len(held) == 0 && name[0] < utf8.RuneSelf { // A is shift+a
		held, name = append(held, "shift"), lower
	} else if len(held) > 0 {
		name = lower
	}
	name = cmp.Or(sameKey[name], name)
	var function int
	if _, err := fmt.Sscanf(name, "f%d", &function); utf8.RuneCountInString(name) != 1 && !slices.Contains(namedKeys, name) &&
		!(err == nil && function >= 1 && function <= 35) {
		return "", fmt.Errorf("%.40q is no key that a terminal sends", said)
	}
	return Join(name, held...), nil
}

// Join returns the name of a key with modifiers.
func Join(key string, held ...string) string {
	if key == "" {
		return ""
	}
	var parts []string
	for _, m := range modifiers {
		if slices.Contains(held, m) {
			parts = append(parts, m)
		}
	}
	return strings.Join(append(parts, key), "+")
}
