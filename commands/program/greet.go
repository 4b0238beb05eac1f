package program

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"gemline/repl/output"
)

// A start is no longer than this, prompt included: it is read at 300 baud, by
// ear, and by finger.
const startBytes = 200

// keyless says where a key comes from.
const keyless = "no key: make one at aistudio.google.com/apikey, then /auth signin"

// greet begins a session with a line that says what is talked to, where, and
// what lists the commands; and one more if the first answer would fail for want
// of a key. The name of the folder gives way.
func (i *interactive) greet() {
	const around = len("warning: \r\n") // the longest label and the end of a line
	room := startBytes - around - len(output.Ready)
	if i.screen.Mode.Smart {
		room -= 50 // colours, and what the editor of the line needs
	}
	if line := i.screen.Mode.Announcement(); line != "" {
		room -= around + len(line)
	}
	if i.unpaid {
		room -= around + len(keyless)
	}
	i.screen.Out.Line(output.Info, "%s", greeting(i.engine.Model(), i.folder(), room))
	if i.unpaid {
		i.screen.Out.Line(output.Warning, keyless)
	}
}

// folder returns the folder that is worked in, as a person writes it.
func (i *interactive) folder() string {
	if home := i.paths.Home; home != "" {
		if rest, ok := strings.CutPrefix(i.paths.Cwd, home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return i.paths.Cwd
}

// greeting returns the line with which a session starts, in at most room bytes
// if they can hold the name of the model.
func greeting(model, folder string, room int) string {
	line := fmt.Sprintf("gemline, %s, in ; type /help", output.EscapeLine(model))
	return strings.Replace(line, "in ;", "in "+tail(output.EscapeLine(folder), max(12, room-len(line)))+";", 1)
}

// tail returns the end of a path in at most size bytes, and from the beginning of
// a name if there is one in them.
func tail(path string, size int) string {
	const left = "..."
	if len(path) <= size {
		return path
	}
	end := path[len(path)-size+len(left):]
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	if i := strings.IndexByte(end, '/'); i >= 0 && i < len(end)-1 {
		end = end[i:]
	}
	return left + end
}
