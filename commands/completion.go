package commands

import (
	"context"
	"strings"

	"gemline/engine/lists"
	"gemline/repl/input"
)

// Completion completes a line: the commands of a session and their arguments, and files behind an
// @.
type Completion struct {
	Commands func() Set

	// Files returns candidates for the name of a file behind an @, such as those of [input.Names].
	Files func(ctx context.Context, name string) []input.Name

	// Resources returns other candidates for a name behind an @, each a whole name. It may be nil.
	Resources func(ctx context.Context, name string) []input.Candidate

	// Words returns candidates for the argument of a command, by the command's name, such as the
	// names of models for "model". It serves commands without a Complete of their own.
	Words map[string]func(ctx context.Context) []string
}

// Complete returns candidates for text from byte start up to byte at.
func (c Completion) Complete(ctx context.Context, text string, at int) (start int, found []input.Candidate) {
	before := text[:at]
	if start, found, ok := c.command(ctx, before); ok {
		return start, found
	}
	start, name, ok := input.Partial(before)
	if !ok || c.Files == nil {
		return at, nil
	}
	if c.Resources != nil {
		for _, r := range c.Resources(ctx, name) {
			r.Text = input.Reference(r.Text)
			found = append(found, r)
		}
	}
	for _, n := range c.Files(ctx, name) {
		one := input.Candidate{Text: input.Reference(n.Path), Show: n.Show, Open: n.Dir}
		if n.Dir {
			one.Text, one.Show = one.Text+"/", one.Show+"/"
		}
		found = append(found, one)
	}
	return start, found
}

// command completes a command or its arguments. It reports false if the line is no command.
func (c Completion) command(ctx context.Context, before string) (start int, found []input.Candidate, ok bool) {
	trimmed := strings.TrimLeft(before, " ")
	if c.Commands == nil || !strings.HasPrefix(trimmed, "/") || strings.Contains(trimmed, "\n") {
		return 0, nil, false
	}
	words := strings.Split(trimmed[1:], " ")
	set := c.Commands()
	var command *Command
	var path []string
	for ; len(words) > 1; words = words[1:] {
		if words[0] == "" {
			continue
		}
		sub, rest := set.Find(words[0])
		if sub == nil || rest != "" {
			break
		}
		command, set, path = sub, sub.Sub, append(path, sub.Name)
	}
	last := words[len(words)-1]
	start = len(before) - len(last)
	if len(words) == 1 {
		slash := ""
		if command == nil {
			slash, start = "/", start-1
		}
		if found = named(set, slash, last); len(found) > 0 {
			return start, found, true
		}
	}
	if command == nil {
		return 0, nil, false
	}
	found = c.arguments(ctx, command, strings.Join(path, " "), strings.Join(words[:len(words)-1], " "), last)
	return start, found, len(found) > 0
}

// named returns the commands whose names begin with prefix. If no name does, it returns the
// commands with an alias that begins with prefix.
func named(set Set, slash, prefix string) (found []input.Candidate) {
	for _, aliases := range []bool{false, true} {
		for _, c := range set {
			names := []string{c.Name}
			if aliases {
				names = c.Aliases
			}
			for _, name := range names {
				if strings.HasPrefix(name, prefix) {
					found = append(found, input.Candidate{Text: slash + name, Show: slash + name + "  " + c.Summary})
				}
			}
		}
		if len(found) > 0 || prefix == "" {
			break
		}
	}
	return found
}

// arguments returns candidates for the last word of a command's arguments.
func (c Completion) arguments(ctx context.Context, command *Command, path, before, last string) []input.Candidate {
	var words []string
	switch {
	case command.Complete != nil:
		words = command.Complete(ctx, before, last)
	case c.Words[path] != nil:
		words = c.Words[path](ctx)
	}
	words = lists.Filter(words, func(w string) bool { return strings.HasPrefix(w, last) })
	return lists.Map(words, func(w string) input.Candidate { return input.Candidate{Text: w, Open: strings.HasSuffix(w, "=")} })
}
