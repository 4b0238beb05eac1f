//go:build unix

package terminal

import (
	"strconv"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// Whatever a terminal's width, no word is cut of what commands, questions and their
// explanations say: only code goes on over the end of a line, and a word that is longer.
func TestWordsAreWhole(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{40, 60, 80, 300} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			server := pt.AgentsAnswer(
				et.Says("", et.Call("1", "run_shell_command", "command", "touch a-new-file && echo made")), et.Says("Made."),
				et.Says("", et.Call("2", "ask_user", "questions", []any{map[string]any{"question": "Which of these ways to keep the values do you want to have in here?",
					"header": "way", "type": "choice", "options": []any{
						map[string]any{"label": "a map", "description": "the values are kept in memory, and are lost at the end"},
						map[string]any{"label": "a file", "description": "the values are kept on the disk, and are there again after it"}}}})),
				et.Says("A map."))
			c := pt.Terminal(t, server)
			c.Term, c.Rows, c.Cols = "xterm-256color", 24, columns
			pt.Write(t, pt.HomeOf(c), pt.AgentFiles)
			s := teletype.Start(t, c)
			s.Say("make it")
			s.Match(`y n [^\n]*: $`)
			s.Line("?")
			s.Match(`y n [^\n]*: $`)
			s.Line("y")
			s.Expect("Made.")
			s.Say("and keep it")
			s.Match(`a file[^$]*: $`)
			s.Line("1")
			s.Expect("A map.")
			for _, command := range []string{"/agents", "/agents show codebase_investigator", "/policies", "/policies test touch a", "/help",
				"/help all", "/help undo", "/help safety", "/mcp", "/permissions", "/hooks", "/settings list --all", "/tools", "/stats", "/about", "/memory",
				"/skills list all", "/tasks", "/trash", "/undo", "/history", "/rewind", "/changes", "/resume list", "/auth", "/extensions", "/ide", "/todos", "/nonsense"} {
				s.Say(command)
			}
			s.Say("/model")
			s.Match(`Enter for[^$]*: $`)
			s.Line("")
			s.Say("/quit")
			s.Exit()
			for line := range strings.Lines(pt.Shown(s)) {
				line = strings.TrimRight(line, "\n")
				code := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "{") || strings.HasPrefix(line, `  "`) || strings.Contains(line, " = '")
				fits, _, more := strings.Cut(strings.TrimLeft(line, " "), " ")
				if !code && displaywidth.String(line) > columns && (more || displaywidth.String(fits) <= columns) {
					t.Errorf("%d columns: %s", displaywidth.String(line), line)
				}
			}
		})
	}
}
