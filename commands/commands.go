// Package commands holds the slash commands, in files by subject. A first caller fills in
// [Deps] and puts [Step] into the chain of input.
//
// # Owners do the work
//
// A command asks the owner of its subject: the [Conversation], or a function in [Deps]. Each file
// is a family of commands, a struct of the two to six owners that the family needs. A command
// writes plain lines; it does not know the terminal.
//
// # Three outcomes
//
// A command is done, has something sent to the model, or ends the session with
// [input.ErrQuit].
//
// # Sub-commands are not written twice
//
// A slash command with the purpose of a sub-command is made from the grammar of
// [gemline/commands/cli], and passes its words on to the sub-command.
package commands

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/memory"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/tools/checkpoint"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// A Command is one slash command.
type Command struct {
	Name    string // without the slash
	Aliases []string
	Args    string // synopsis of the arguments, such as "[NAME]"
	Summary string // one line, for /help
	Usual   bool   // /help lists it in its short list
	Custom  bool   // read from a file that somebody wrote
	Words   bool   // checks the words behind it itself, though Args is empty
	Sub     Set

	// Run carries the command out. It is nil if the command has only sub-commands, or has a Prompt.
	Run func(ctx context.Context, args string) error

	// Prompt carries the command out and returns the parts for the model, if any. The line is the
	// whole typed line.
	Prompt func(ctx context.Context, line, args string) ([]*genai.Part, error)

	// Typed says that Prompt returns words of the user, which go through the later steps of the
	// chain like other input.
	Typed bool

	// Complete, if not nil, returns candidates for the last word of the arguments. The word begins
	// with prefix, and stands behind the words in before.
	Complete func(ctx context.Context, before, prefix string) []string
}

// Deps are what the commands of a session need. [Builtin] gives each family of commands its
// part of them.
type Deps struct {
	Conversation *Conversation
	Out          io.Writer
	Home         string // the directory that ~ stands for
	Sessions     Sessions
	Customs      *Customs
	Questions    Questions
	Terminal     Terminal

	// Page reports whether gemline help has a page of that name. Nil is none.
	Page func(name string) bool

	// Manage runs a sub-command of the command line, such as config list.
	Manage func(ctx context.Context, args ...string) error

	// LocateCommand says in a sentence where else a name is a command: perhaps in a folder of
	// commands.
	LocateCommand func(name string) string

	// ServerModels asks a provider's server for its models; the provider "" is Google. It is nil
	// if no server answers.
	ServerModels func(ctx context.Context, provider string) ([]string, error)

	// Restart ends the conversation and returns an empty one. It is nil in a run of a
	// single prompt.
	Restart func(ctx context.Context) (*Conversation, error)

	// Discard deletes the session when it ends. It is nil if the session is not stored.
	Discard func()

	// Compress shortens the conversation, and prints by how much. Keep names what the summary must
	// hold, in the user's words, or is "".
	Compress func(ctx context.Context, keep string) error

	// Ran, if not nil, is called after each command, with its outcome.
	Ran func(path []string, err error)
}

// Questions are the ways to ask the user. Each is nil if no user can be asked.
type Questions struct {
	// Permit asks whether a folder is trusted, stores the answer, and explains it. The folder "" is
	// the working directory.
	Permit func(ctx context.Context, folder string) (string, error)

	// Confirm asks a question with the answer yes or no.
	Confirm func(ctx context.Context, about string) (bool, error)

	// Choose asks for an item of a list, and returns its index, or -1 if the user presses enter.
	// Enter names that choice.
	Choose func(ctx context.Context, ask, enter string, list []question.MenuItem) (at int, err error)
}

// A Terminal is the user's terminal as commands use it: the screen, the editor around it, the
// keyboard and the clipboard. A field is nil if the front end lacks it.
type Terminal struct {
	Screen *Screen // the session's own

	// Editor is about the editor that the terminal belongs to: status, enable, disable
	// and install.
	Editor func(ctx context.Context, word string) (said string, err error)

	// Detach lets the session continue without its terminal.
	Detach func() error

	// Prefill offers a text as the next input, to be changed and sent.
	Prefill func(text string)

	// Copy puts text on the clipboard and says in a word how.
	Copy func(ctx context.Context, text string) (how string, err error)
}

// A Conversation is the part of the current conversation that commands use.
type Conversation struct {
	Engine    *engine.Engine
	Model     Models
	Policy    *policy.Policy
	Tools     engine.Toolset
	Workspace *workspace.Workspace
	Memory    *memory.Memory
	Tally     *tally.Tally
	Journal   *journal.File
	Keeper    *checkpoint.Keeper
	Jobs      *shell.Jobs     // the commands in the background
	Todos     func() []string // the model's todo list in words
	Plan      func() (Plan, error)
	About     func() []Property // what /about says

	// Mode changes the approval mode, unless word is empty, and returns the mode and its meaning.
	Mode func(word string) (state string, err error)

	// Directories records the directories of the workspace, without the first, so that a resumed
	// conversation has them again.
	Directories func(dirs []string) error
}

// A Plan is the model's plan, read from its file. The zero Plan is no plan.
type Plan struct {
	Path, Text string
	Approved   bool
}

// A Property is one line of /about.
type Property struct{ Name, Value string }

// Set is the commands of a session, in the order in which /help shows them.
type Set []*Command

// Builtin returns the commands that come with the program.
func Builtin(d *Deps) Set {
	c := d.Conversation
	memory := memoryCommands{c, d.Out}
	all := slices.Concat(
		answerCommands{c, d.Out, d.Terminal.Screen, d.Terminal.Copy, d.Restart}.set(),
		chatCommands{c, d.Out, d.Home, d.Questions.Choose, d.Sessions, d.Questions.Confirm}.set(),
		customCommands{d.Out, d.Customs}.set(),
		directoryCommands{c, d.Out, d.Home}.set(),
		helpCommands{d.Out, d.Commands, d.Manage, d.Page, d.Terminal.Screen}.set(),
		memory.set(),
		modelCommands{c, d.Out, d.Manage, d.Questions.Choose, d.ServerModels}.set(),
		screenCommands{c, d.Out, d.Terminal.Screen, d.Terminal.Editor}.set(),
		sessionCommands{c, d.Out, d.Compress, d.Terminal.Detach, d.Discard, d.Restart}.set(),
		subCommands{memory, d.Out, d.Customs, d.Manage, d.Questions.Permit}.set(),
		taskCommands{c, d.Out}.set(),
		toolCommands{c, d.Out}.set(),
		undoCommands{c, d.Out, d.Terminal.Screen, d.Sessions, d.Questions.Confirm, d.Terminal.Prefill}.set())
	slices.SortFunc(all, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Commands returns all commands: built-in and custom.
func (d *Deps) Commands() Set { return d.Customs.with(Builtin(d)) }

// Find returns the command that line names, without its slash, and the rest of the
// line: as it was typed for a command that becomes a prompt, else with single spaces
// between words. A command is called by its name or an alias, in exactly its spelling.
func (s Set) Find(line string) (*Command, string) {
	var found *Command
	for {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		n := strings.IndexFunc(line, unicode.IsSpace)
		if n < 0 {
			n = len(line)
		}
		c := s.named(line[:n])
		if c == nil {
			break
		}
		found, s, line = c, c.Sub, line[n:]
		if c.Prompt != nil {
			return c, typed(line)
		}
	}
	return found, text.Words(line)
}

// typed returns the text behind the name of a command: without the blanks between them, but
// with the indentation of a line below.
func typed(rest string) string {
	if blank, below, ok := strings.Cut(rest, "\n"); ok && strings.TrimSpace(blank) == "" {
		rest = below
	} else {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return strings.TrimRightFunc(rest, unicode.IsSpace)
}

func (s Set) named(name string) *Command {
	for _, c := range s {
		if c.Name == name || slices.Contains(c.Aliases, name) {
			return c
		}
	}
	return nil
}

// Step returns the link of the input chain that runs slash commands. A line that begins with a
// slash but names no command goes to the model, since a prompt may begin with a path. Names of
// commands that only the Gemini CLI has, of custom commands that can't be used, and likely
// misspellings are errors. In a session /word alone on a line is meant for a command, unless there
// is a file of that name. Out, Customs and LocateCommand are needed before the first line.
func Step(d *Deps) input.Step {
	return func(next input.Processor) input.Processor {
		return func(ctx context.Context, parts []*genai.Part) ([]*genai.Part, error) {
			if len(parts) == 0 {
				return next(ctx, parts)
			}
			line := strings.TrimSpace(parts[0].Text)
			if !strings.HasPrefix(line, "/") || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") {
				return next(ctx, parts)
			}
			if err := answerAbsent(line[1:]); err != nil {
				return nil, err
			}
			set := d.Commands()
			c, args := set.Find(line[1:])
			if c == nil || c.Custom { // else it has nothing to do with their files
				d.Customs.report(append(strings.Fields(line[1:]), "")[0]) // whose own trouble is the error below
			}
			if c == nil {
				if err := set.unknown(d, line[1:]); err != nil {
					return nil, err
				}
				d.Customs.sent(line[1:])
				return next(ctx, parts)
			}
			path := set.path(line[1:], c)
			name := strings.Join(path, " ")
			err := c.superfluous(name, args)
			switch {
			case err != nil:
				parts = nil
			case c.Prompt != nil:
				if parts, err = c.Prompt(ctx, line, args); err == nil && c.Typed && len(parts) > 0 {
					parts, err = next(ctx, parts)
				}
			case c.Run == nil:
				parts, err = nil, c.checkArgs(name, args)
			default:
				parts, err = nil, c.Run(ctx, args)
			}
			if d.Ran != nil {
				d.Ran(path, err)
			}
			return parts, err
		}
	}
}

// path returns the names of the commands that a line begins with, up to c.
func (s Set) path(line string, c *Command) (names []string) {
	for _, word := range strings.Fields(line) {
		found := s.named(word)
		if names = append(names, found.Name); found == c {
			break
		}
		s = found.Sub
	}
	return names
}

// unknown returns the error for a line that begins with an unknown command. It returns nil if the
// line is a prompt.
func (s Set) unknown(d *Deps, line string) error {
	words := strings.Fields(line)
	if len(words) == 0 || strings.Contains(words[0], "/") {
		return nil // a path
	}
	if said := d.LocateCommand(words[0]); said != "" {
		return unavailable("/%s: %s", words[0], said)
	}
	if why := d.Customs.Library.Lost(words[0]); why != "" {
		return misused("/%s: %s", words[0], why)
	}
	if near := s.nearest(words[0]); near != "" {
		return misused("unknown command /%s; did you mean /%s?", words[0], near)
	}
	if d.Restart != nil && len(words) == 1 { // in a session
		if _, err := os.Lstat("/" + words[0]); err != nil {
			return misused("unknown command /%s; /help lists those there are", words[0])
		}
	}
	return nil
}

// nearest returns the command that a misspelled word means, "" if that is uncertain: only the case
// differs, two letters are swapped, or one letter is missing or too many. In a short name, a wrong
// letter makes another word.
func (s Set) nearest(word string) (name string) {
	if i := slices.IndexFunc(s, func(c *Command) bool { return strings.EqualFold(c.Name, word) }); i >= 0 {
		return s[i].Name
	}
	if len(word) < 4 || len(word) > 20 {
		return ""
	}
	for _, c := range s {
		d, same := levenshtein.ComputeDistance(word, c.Name), len(word) == len(c.Name)
		switch {
		case d == 2 && same && letters(word) == letters(c.Name):
			return c.Name
		case d == 1 && (!same || len(word) > 6) && name == "":
			name = c.Name
		}
	}
	return name
}

// letters returns the sorted letters of a word.
func letters(word string) string {
	all := []rune(word)
	slices.Sort(all)
	return string(all)
}

// superfluous returns the error for words that c would ignore, nil if there are none.
func (c *Command) superfluous(name, args string) error {
	switch {
	case args == "" || c.Args != "" || c.Custom || c.Words:
		return nil
	case len(c.Sub) > 0:
		return c.checkArgs(name, args)
	}
	return misused("/%s takes no words behind it", name)
}

// checkArgs returns an error that lists the sub-commands of c, and names the word that is not a
// sub-command. The name is c's, behind the names of its parent commands.
func (c *Command) checkArgs(name, args string) error {
	names := lists.Map(c.Sub, func(sub *Command) string { return sub.Name })
	if word, _, _ := strings.Cut(args, " "); word != "" {
		return misused("/%s has no sub-command %q; there are: %s", name, word, strings.Join(names, ", "))
	}
	return misused("/%s needs one of: %s", name, strings.Join(names, ", "))
}

// sentences writes lines that a terminal may break between words.
func sentences(w io.Writer, ls ...string) error {
	if len(ls) == 0 {
		return nil
	}
	if p, ok := w.(interface{ Paragraphs(text string) error }); ok {
		return p.Paragraphs(strings.Join(ls, "\n") + "\n")
	}
	return lines(w, ls...)
}

// lines writes each line and a line end.
func lines(w io.Writer, ls ...string) error {
	_, err := io.WriteString(w, strings.Join(ls, "\n")+"\n")
	return err
}
