// Package cli holds the sub-commands of the command line: gemline config,
// gemline trust and so on, a file each. A first caller calls [Run].
//
// # One grammar
//
// A sub-command is a kong struct. The names, flags and help texts in its tags are the only
// ones: completion, the manual page and the slash commands of a session ([Session]) are made
// from the grammar.
//
// # A command takes its dependencies
//
// The parameters of a Run method name the three to six things that the command uses: an
// [Output] to print, a [Folder] with its settings, an [Asker], a [Project] and so on. [Run]
// passes them by their types. A struct that several commands of a family share is made by a
// Provide method.
//
// # A document and lines say the same
//
// The result goes to the [Output] in one call: as lines, or with --json as one
// document. A fault is the error.
//
// # Nothing happens
//
// No model is talked to and no conversation begins. Nothing of a [Folder] that is not
// trusted is used.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/model/provider"
	"gemline/engine/network"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/repl/attach"
	"gemline/settings/extension"
	"gemline/settings/flags"
	"gemline/tools/checkpoint"
	"gemline/tools/launch"
)

// An Asker asks the user.
type Asker struct {
	In  io.Reader // standard input; nil inside a session
	Err io.Writer // standard error, where questions are asked

	// Secret asks the user for something that is not shown while it is typed.
	// It is nil where nobody can be asked.
	Secret func(ctx context.Context, question string) (string, error)

	// Confirm asks something that is answered yes or no. It is nil outside of a session,
	// where it is asked on In.
	Confirm func(ctx context.Context, about string) (bool, error)

	// Line asks the user of a session for a line. It is nil where nobody can be asked so.
	Line func(ctx context.Context, question string) (string, error)

	// Browse opens an address with the user's browser, where there is one to be seen or the
	// user wants it, and says so, "" if it does not. It is nil where nobody sits.
	Browse func(address string, wanted bool) (said string)

	typed *bufio.Reader // of In, once something was asked that may be followed by more
}

// What else commands take.
type (
	// API returns what requests to the server would be made with.
	API func() (model.Options, error)

	// Providers returns the providers of models.
	Providers func() *provider.Set

	// Builtin returns the tools that come with the program.
	Builtin func() engine.Tools

	// Extensions returns the installed extensions, and the faults of others.
	Extensions func() ([]extension.Extension, []string)

	// Network returns how other machines are reached.
	Network func() network.Network

	// Redact redacts secrets in texts that are written to files.
	Redact func(text string) string

	// Attach shows a live session at the terminal. It is nil in a session, and without a
	// terminal.
	Attach func(context.Context, *attach.Conn) error

	// Environ is the environment of programs that are asked which version they have.
	Environ []string
)

// A Project is what a run in the working directory would have.
type Project interface {
	// Rules returns the rules, as they judge in a run without a user where none is there. What
	// is wrong with them is told, unless Problems was asked before.
	Rules() (*policy.Policy, error)

	// Trial begins a conversation in which no model is asked and no hook runs. It waits
	// for MCP servers. Headless begins it as a run without a user does.
	Trial(ctx context.Context, headless bool) (*Trial, error)

	// Launcher returns what starts commands.
	Launcher() (*launch.Launcher, error)

	// Problems returns the problems of files beside the settings that a run reads.
	Problems() []Problem

	// Keeper returns the store of files for undo, with the Keeper of the session. Outside of a
	// session [checkpoint.Keeper.For] has to name a session first.
	Keeper() (*Kept, error)
}

// Kept holds the stored states of files.
type Kept struct {
	Keeper *checkpoint.Keeper
	Rel    func(path string) string // how paths are shown
	Done   func()                   // ends the work with it
}

// A Trial is a conversation as a run would begin it.
type Trial struct {
	Tools   engine.Toolset
	Policy  *policy.Policy
	Offers  func(engine.Tool) bool // whether the model is told about a tool
	Explain func(context.Context, engine.Proposal) policy.Explanation
	Close   func()
}

// ProvideRules returns the rules of the project.
func (*grammar) ProvideRules(project Project) (*policy.Policy, error) { return project.Rules() }

// A Problem is what a run says about a file when it begins.
type Problem struct {
	About   string `json:"about"` // its subject, such as rules or network
	Message string `json:"message"`
	Next    string `json:"next,omitempty"`
	Err     error  `json:"-"` // it ends the run; nil if it does not
}

// grammar is the sub-commands, in the order of the help text.
type grammar struct {
	JSON bool `name:"json" help:"Print one JSON document."`

	Config      configCommand     `cmd:"" help:"Show and change the settings." slash:"settings,config"`
	Trust       trustCommand      `cmd:"" help:"Show and change which folders are trusted." slash:"permissions"`
	Auth        authCommand       `cmd:"" help:"Show how you sign in, and keep a key." slash:"auth"`
	Schema      schemaCommand     `cmd:"" help:"Print the JSON Schema of an output, or of the settings."`
	Sessions    sessionsCommand   `cmd:"" help:"List, print, search, export and delete sessions."`
	Attach      attachCommand     `cmd:"" help:"Look at a live session of another terminal; answer it."`
	Worktree    worktreeCommand   `cmd:"" help:"List and remove the worktrees that gemline -w has made."`
	Models      modelsCommand     `cmd:"" help:"List the names of models, and their meanings."`
	Policy      policyCommand     `cmd:"" help:"List the rules, and say how they judge a command." slash:"policies"`
	Tools       toolsCommand      `cmd:"" help:"List the model's tools, and which calls are asked about."`
	Sandbox     sandboxCommand    `cmd:"" help:"Say what confines commands, and run one so."`
	Undo        undoCommand       `cmd:"" help:"Take back what a session's last turn changed in files."`
	Trash       trashCommand      `cmd:"" help:"List files that calls deleted or overwrote; restore one." slash:"trash"`
	MCP         mcpCommand        `cmd:"" name:"mcp" help:"Set up MCP servers, log in to them, list their tools." slash:"mcp"`
	A2A         a2aCommand        `cmd:"" name:"a2a" help:"Be an A2A server, for other agents."`
	Agents      agentsCommand     `cmd:"" help:"List and check the agents that the model may call." slash:"agents"`
	Hooks       hooksCommand      `cmd:"" aliases:"hook" help:"List and try commands that run at events of a session." slash:"hooks"`
	Extensions  extensionsCommand `cmd:"" aliases:"extension" help:"Install, update and switch extensions." slash:"extensions,extension"`
	Skills      skillsCommand     `cmd:"" aliases:"skill" help:"List, install and switch skills." slash:"skills"`
	SetupGitHub setupGitHub       `cmd:"" name:"setup-github" help:"Write the Gemini CLI's workflows for a GitHub repository." slash:"setup-github"`
	Inspect     inspectCommand    `cmd:"" help:"Show what a session did, and how long that took."`
	Doctor      doctorCommand     `cmd:"" help:"Check that everything is in place."`

	Help helpCommand `cmd:"" help:"Print a page about a topic, or list the topics."`

	Completion completionCommand `cmd:"" help:"Print a script that completes gemline's words in a shell."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
	Update     updateCommand     `cmd:"" help:"Say how gemline was installed, and what updates it."`
}

// table returns the grammar as a table, which is made once.
var table = sync.OnceValue(func() *kong.Node {
	k, err := parser(&grammar{}, io.Discard)
	if err != nil {
		panic(err) // a mistake in the tags
	}
	return k.Model.Node
})

// Names returns the names of the sub-commands, in the order of the grammar. Each start
// needs them, so the tags are read here: kong takes long to read all of the grammar.
func Names() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[grammar]()) {
		if _, is := f.Tag.Lookup("cmd"); is {
			names = append(names, cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
			names = append(names, strings.FieldsFunc(f.Tag.Get("aliases"), comma)...)
		}
	}
	return names
}

func comma(r rune) bool { return r == ',' }

// Commands returns the sub-commands for the help text.
func Commands() []flags.Line {
	return lists.Map(table().Children, func(n *kong.Node) flags.Line {
		return flags.Line{Name: "gemline " + n.Name, Help: strings.TrimSuffix(n.Help, ".")}
	})
}

// Means reports whether the words of a command line are meant for a sub-command
// rather than for the model. The first word is one of [Names]. The words are meant for
// the sub-command if no prompt begins with the first one, if at most one word follows
// it, if the first two name a sub-command, or if the sub-command can be carried out with all
// that follow, or with those before the first flag.
func Means(words []string) bool {
	if slices.Contains([]string{"config", "trust", "auth"}, words[0]) {
		return true
	}
	before := words
	if i := slices.Index(words, "--"); i >= 0 {
		before = words[:i]
	}
	plain := slices.DeleteFunc(slices.Clone(before), isFlag)
	if len(plain) <= 2 || find(plain[:2]) != nil {
		return true
	}
	switch plain[0] { // whose words are any
	case "help":
		return find(plain[1:]) != nil
	case "completion":
		return plain[1] == "words"
	}
	k, err := parser(&grammar{}, io.Discard)
	if err != nil {
		return false
	}
	if _, err = k.Parse(words); isCommand(err) {
		return true
	}
	// Flags that the sub-command does not have, such as those of the program, are a mistake.
	flag := slices.IndexFunc(before, isFlag)
	if flag < 2 {
		return false
	}
	_, err = k.Parse(before[:flag])
	return isCommand(err)
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

// isCommand reports whether words belong to a sub-command, by the parser's error. A flag with a
// wrong value, or a missing word, is a mistake in a sub-command.
func isCommand(err error) bool {
	return err == nil || isFlag(err.Error()) || strings.HasPrefix(err.Error(), `expected "`)
}

// skipTrust is the flag of the program that may stand behind a sub-command, too.
const skipTrust = "--skip-trust"

// CutSkipTrust returns that flag, if it is among the words of a sub-command, and the others.
// Words behind the name of a server that is added are the server's.
func CutSkipTrust(words []string) (flag, rest []string) {
	for i, w := range words {
		if w == "--" || i > 2 && words[0] == "mcp" && words[1] == "add" {
			return flag, append(rest, words[i:]...)
		}
		if w == skipTrust {
			flag = []string{w}
		} else {
			rest = append(rest, w)
		}
	}
	return flag, rest
}

// Run carries out a sub-command, given as on the command line. A mistake in args is a
// [flags.UsageError]. Each sub-command takes its dependencies among the things, by their types.
func Run(ctx context.Context, out *Output, ask *Asker, args []string, things ...any) error {
	before := args
	if i := slices.Index(args, "--"); i >= 0 {
		before = args[:i]
	}
	if slices.ContainsFunc(before, wantsHelp) {
		return out.usage(before)
	}
	var g grammar
	k, err := parser(&g, out.Out)
	if err != nil {
		return err
	}
	words, err := flagsFirst(args)
	if err != nil {
		return err
	}
	kctx, err := k.Parse(words)
	if pe := (*kong.ParseError)(nil); errors.As(err, &pe) {
		return misused("%s", missingWords(flags.Reword(pe.Error()), args)+ask.promptHint(args))
	} else if err != nil {
		return err
	}
	own := *out
	own.JSON = out.JSON || g.JSON
	kctx.Bind(&own, ask)
	kctx.Bind(things...)
	kctx.BindTo(ctx, (*context.Context)(nil))
	for _, t := range things {
		for _, as := range []any{(*Project)(nil), (*Hooks)(nil), (*Agents)(nil), (*Servers)(nil)} {
			if reflect.TypeOf(t).Implements(reflect.TypeOf(as).Elem()) {
				kctx.BindTo(t, as)
			}
		}
	}
	return kctx.Run()
}

// misused is the error about a command line that asks for something that there is not.
func misused(format string, args ...any) error {
	return &flags.UsageError{Message: fmt.Sprintf(format, args...)}
}

// missingWords turns the parser's message about a missing word into advice.
func missingWords(message string, args []string) string {
	what, ok := strings.CutPrefix(message, "expected ")
	if !ok {
		return message
	}
	end := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if end < 0 {
		end = len(args)
	}
	name := "gemline " + text.PrintableLine(shorten(strings.Join(args[:end], " ")))
	return fmt.Sprintf("%s needs %s; %s --help says more", name, strings.ReplaceAll(what, `"`, ""), name)
}

// promptHint says how words that are taken for a sub-command reach the model.
func (ask *Asker) promptHint(words []string) string {
	rare := slices.Contains([]string{"config", "trust", "auth", "mcp", "a2a", "policy"}, words[0]) // few prompts begin so
	if ask.In == nil || rare || len(words) < 2 || slices.ContainsFunc(words, isFlag) {
		return ""
	}
	return "; gemline -- " + text.PrintableLine(shorten(strings.Join(words, " "))) + " would be a prompt"
}

func parser(g *grammar, out io.Writer) (*kong.Kong, error) {
	return kong.New(g, kong.Name("gemline"), kong.NoDefaultHelp(), kong.Writers(out, out), kong.Exit(func(int) {}),
		kong.WithHyphenPrefixedParameters(true), kong.ConfigureHelp(kong.HelpOptions{Compact: true,
			WrapUpperBound: 80, NoExpandSubcommands: true}))
}

func wantsHelp(arg string) bool { return arg == "--help" || arg == "-h" }

// usage prints the usage of the command that args begin with.
func (out *Output) usage(args []string) error {
	k, err := parser(&grammar{}, out.Out)
	if err != nil {
		return err
	}
	for _, n := range k.Model.Children {
		if len(n.Children) > 1 {
			n.DefaultCmd = nil // else nothing would be said of the others
		}
	}
	words := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	for ; ; words = words[:len(words)-1] {
		kctx, err := kong.Trace(k, words)
		if err == nil && kctx.Error == nil || len(words) == 0 {
			if err != nil {
				return err
			}
			return kctx.PrintUsage(false)
		}
	}
}
