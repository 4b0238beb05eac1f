package repl

import (
	"context"
	"fmt"
	"gemline/engine/text"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/repl/output"
)

// A Consent is what the user says about commands that a folder wants to run.
type Consent int

// The zero Consent is not to run them this time.
const (
	NotThisTime Consent = iota
	RunConfined
	RunFree
	NeverRun
)

// A Wish is a command that a folder wants to run, or an agent that it brings.
type Wish struct {
	Title   string   // what it is
	Agent   bool     // it is an agent
	Idle    bool     // and nothing runs for it but what the model asks for
	Command string   // in full
	Files   []string // that it names
}

// longestScript is how many lines of a file are shown.
const longestScript = 40

// Consent asks whether commands of a folder may run, which are shown in full. An answer
// that is no choice means [NotThisTime]. Ctrl-C, and the end of the input, are errors.
func (c *Console) Consent(ctx context.Context, folder string, wishes []Wish) (Consent, error) {
	idle := !slices.ContainsFunc(wishes, func(w Wish) bool { return !w.Idle })
	c.Out.Line(output.Permission, "this project %s, which nobody has agreed to so far: %s", wanted(wishes), output.EscapeLine(folder))
	shown := map[string]bool{}
	hidden := false
	for _, w := range wishes {
		c.wish(w.Title+":", w.Command)
		hidden = hidden || output.Hides(w.Command)
		for _, name := range w.Files {
			if shown[name] {
				continue
			}
			shown[name] = true
			b, err := disk.Read(name, 1<<20)
			rel, _ := filepath.Rel(folder, name)
			lines := strings.Count(string(b), "\n") + 1
			switch {
			case err != nil:
				c.Out.Line(output.Warning, "%s can't be read: %v", output.EscapeLine(rel), err)
			case lines > longestScript:
				c.Out.Styled(output.Normal, indent+c.titleText(fmt.Sprintf("file %s has %d lines; read it before you agree", rel, lines)))
			default:
				c.wish("file "+rel+":", string(b))
				hidden = hidden || output.Hides(string(b))
			}
		}
	}
	if hidden {
		c.Out.Line(output.Warning, "control or invisible characters are shown as escapes")
	}
	choices := []string{"1 run them like the commands of the model: confined, where these are", "2 run them with all your rights", "3 never run them, unless they change"}
	question := "1, 2, 3 or Enter for not now: "
	if idle {
		choices = []string{"1 let the model call them; what they do is judged and asked about as ever", "3 never, unless they change"}
		question = "1, 3 or Enter for not now: "
	}
	for _, l := range choices {
		c.Out.Line(output.Info, "%s", l)
	}
	answer := NotThisTime
	_, err := c.repeat(ctx, question, question, "not now", func(s string) (ok bool, problem string) {
		switch word := strings.ToLower(strings.TrimSpace(s)); {
		case word == "1", word == "y", word == "yes":
			answer = RunConfined
		case word == "2" && !idle:
			answer = RunFree
		case word == "3":
			answer = NeverRun
		case word == "", word == "n", word == "no":
		default:
			return false, fmt.Sprintf("%.100q is none of the choices", s)
		}
		return true, ""
	})
	switch {
	case err == io.EOF:
		return NotThisTime, fmt.Errorf("%w: %w", context.Canceled, err)
	case err != nil:
		return NotThisTime, c.unanswered(err, "")
	}
	return answer, nil
}

// wanted says what a folder wants.
func wanted(wishes []Wish) string {
	agents := 0
	for _, w := range wishes {
		if w.Agent {
			agents++
		}
	}
	var parts []string
	if agents > 0 {
		parts = append(parts, "brings "+text.Count(agents, "agent"))
	}
	if n := len(wishes) - agents; n > 0 {
		parts = append(parts, "wants to run "+text.Count(n, "command"))
	}
	return strings.Join(parts, " and ")
}

// wish shows a text of a folder's below a title.
func (c *Console) wish(title, text string) {
	c.Out.Styled(output.Normal, indent+c.titleText(title))
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		c.Out.Styled(output.Normal, indent+indent+c.titleText(l))
	}
}
