package front

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/model/preset"
	"gemline/engine/text"
	"gemline/repl/output"
	dirs "gemline/settings/project"
)

// startBytes is the limit of a start's output, prompt included: people read it at 300 baud, by ear
// or in Braille.
const startBytes = 200

// keyless says how to get a key.
const keyless = "no key: make one at aistudio.google.com/apikey, then /auth signin"

// greet starts a session with a line: mode, model, folder, and the command that lists the commands.
// If the key is missing, a second line says so. A long folder name is shortened.
func (i *interactive) greet() {
	const around = len("warning: \r\n") // the longest label and the end of a line
	room := startBytes - around - len(output.Ready)
	if i.screen.Mode.Smart {
		room -= 50 // colours, and the control sequences of the line editor
	}
	if i.frontend.session.Project.Model.MissingKey {
		room -= around + len(keyless)
	}
	model := i.frontend.session.Models.Router.Shown()
	if model == preset.Default { // default is also the name of an approval mode
		model = "model " + model
	}
	name := "gemline"
	if mode := i.screen.Mode.Name(); mode != "" {
		name += ", " + mode
	}
	line := greeting(name, model, folderName(i.opts.Paths), room)
	if i.screen.Mode.Asked { // a screen reader would read it at each start
		line = strings.TrimSuffix(line, "; type /help")
	}
	i.screen.Console.Out.Line(output.Info, "%s", line)
	if i.frontend.session.Project.Model.MissingKey {
		i.screen.Console.Out.Line(output.Warning, keyless)
	}
}

// folderName returns the working directory, in the spelling of a person.
func folderName(p dirs.Paths) string {
	if home := p.Home; home != "" {
		if rest, ok := strings.CutPrefix(p.Cwd, home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return p.Cwd
}

// greeting returns the first line of a session. It takes at most room bytes, unless the model's
// name is too long.
func greeting(name, model, folder string, room int) string {
	line := fmt.Sprintf("%s, %s, in ; type /help", name, output.EscapeLine(model))
	return strings.Replace(line, "in ;", "in "+pathEnd(output.EscapeLine(folder), max(12, room-len(line)))+";", 1)
}

// pathEnd returns the end of a path in at most size bytes. It starts at a name if it can.
func pathEnd(path string, size int) string {
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

// welcome prints the state of a resumed session: its subject, the interrupted work, and the last
// question and answer.
func (i *interactive) welcome(ctx context.Context, out *output.Writer, show *commands.Screen) {
	if i.frontend.session.Journal.Resumed == nil {
		return
	}
	defer func() { i.frontend.session.Journal.Resumed = nil }()
	said := journal.Turns(i.frontend.session.Journal.Resumed.Transcript)
	out.Line(output.Info, "%s", output.EscapeLine(i.frontend.session.Journal.Resumed.Introduction(time.Now())))
	if len(said) == 0 {
		return
	}
	if plan, err := i.frontend.session.Tools.ReadPlan(); err == nil && plan.Path != "" {
		out.Line(output.Info, "there is a plan (%s); /plan shows it", plan.State())
	}
	i.printCutCalls(ctx, out, "interrupted, outcome unknown", i.frontend.session.Journal.Resumed.Interrupted)
	i.printCutCalls(ctx, out, "not run", i.frontend.session.Journal.Resumed.NotStarted)
	last := said[len(said)-1]
	question, whole := beginning(last.Question, 160, 1)
	answer, also := beginning(last.Answer, 320, 3)
	show.Asked(question)
	switch {
	case answer != "":
		show.Answer(answer)
		if i.frontend.session.Journal.Resumed.Cut {
			out.Line(output.Warning, "the answer was cut off; \"go on\" continues")
		}
	case len(i.frontend.session.Journal.Resumed.Interrupted)+len(i.frontend.session.Journal.Resumed.NotStarted) == 0 && engine.Waiting(i.frontend.session.Journal.Resumed.History):
		out.Line(output.Warning, "cut off%s; \"go on\" continues", afterCalls(i.frontend.session.Journal.Resumed.Transcript[last.From:last.To]))
	}
	if !whole || !also || len(said) > 1 {
		out.Line(output.Info, "/history shows the rest")
	}
}

// printCutCalls prints the calls that the end of a session cut off, and their outcome.
func (i *interactive) printCutCalls(ctx context.Context, out *output.Writer, what string, calls []*genai.FunctionCall) {
	const most = 3 // calls
	for n, fc := range calls {
		if n == most {
			out.Line(output.Warning, "and %s more (%s)", text.Count(len(calls)-most, "call"), what)
			return
		}
		out.Line(output.Warning, "%s: %s", what, output.EscapeLine(i.frontend.session.Tools.Title(ctx, fc)))
	}
}

// afterCalls says after how many calls a turn was cut off, such as " after 3 calls".
func afterCalls(turn []*genai.Content) string {
	n := 0
	for _, c := range turn {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				n++
			}
		}
	}
	if n == 0 {
		return " before there was an answer"
	}
	return " after " + text.Count(n, "call")
}

// beginning returns the beginning of a text, and whether it is the whole text.
func beginning(text string, most, lines int) (begin string, whole bool) {
	all := strings.SplitAfterN(strings.TrimSpace(text), "\n", lines+1)
	begin = strings.TrimSpace(strings.Join(all[:min(lines, len(all))], ""))
	if r := []rune(begin); len(r) > most {
		begin = string(r[:most])
	}
	if whole = begin == strings.TrimSpace(text); !whole {
		begin += " ..."
	}
	return begin, whole
}
