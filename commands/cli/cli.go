// Package cli holds the sub-commands of the command line: gemline config,
// gemline trust and so on, a file each. A first caller calls [Run].
//
// # One grammar
//
// A sub-command is a kong struct. Its tags hold the names, flags and help texts. Completion, the
// manual page and the slash commands of a session ([Session]) are made from the same grammar.
//
// # A command takes its dependencies
//
// The parameters of a Run method name the three to six things that the command uses: an
// [Output] to print, a [Folder] with its settings, an [Asker], a [Project] and so on. [Run]
// passes them by their types. A struct that several commands of a family share is made by a
// Provide method.
//
// # A document and lines have the same content
//
// The result goes to the [Output] in one call: as lines, or with --json as one document. A failure
// is the error.
//
// # No model is asked
//
// No request goes to a model and no conversation begins. No file of an untrusted [Folder] is used.
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
	Err io.Writer // standard error, for questions

	// Secret asks the user for a text without echo. It is nil if no user can be asked.
	Secret func(ctx context.Context, question string) (string, error)

	// Confirm asks a question with the answer yes or no. It is nil outside of a session, where the
	// answer is read from In.
	Confirm func(ctx context.Context, about string) (bool, error)

	// Line asks the user of a session for a line. It is nil outside of a session.
	Line func(ctx context.Context, question string) (string, error)

	// Browse opens an address with the user's browser, if the user can see it or asks for it
	// (wanted), and reports so, otherwise "". It is nil without a terminal.
	Browse func(address string, wanted bool) (said string)

	typed *bufio.Reader // buffers In between questions
}

// Further dependencies of commands.
type (
	// API returns what requests to the server would be made with.
	API func() (model.Options, error)

	// Providers returns the providers of models.
	Providers func() *provider.Set

	// Builtin returns the tools that come with the program.
	Builtin func() engine.Tools

	// Extensions returns the installed extensions, and problems of broken extensions.
	Extensions func() ([]extension.Extension, []string)

	// Network returns the way to other machines.
	Network func() network.Network

	// Redact redacts secrets in texts that are written to files.
	Redact func(text string) string

	// Attach shows a live session at the terminal. It is nil in a session, and without a
	// terminal.
	Attach func(context.Context, *attach.Conn) error

	// Environ is the environment of programs that are asked for their version.
	Environ []string
)

// A Project holds the parts that a run in the working directory would use.
type Project interface {
	// Rules returns the rules of the session, or else of a run without a user. It prints problems
	// of the rules, unless Problems was called before.
	Rules() (*policy.Policy, error)

	// Trial begins a conversation that asks no model and runs no hook. It waits for MCP servers. A
	// headless trial has the rules of a run without a user.
	Trial(ctx context.Context, headless bool) (*Trial, error)

	// Launcher returns the launcher of commands.
	Launcher() (*launch.Launcher, error)

	// Problems returns the problems of files that a run reads beside the settings.
	Problems() []Problem

	// Keeper returns the store of files for undo, with the Keeper of the session. Outside of a
	// session, the caller must first name a session, with [checkpoint.Keeper.For].
	Keeper() (*Kept, error)
}

// Kept holds the stored states of files.
type Kept struct {
	Keeper *checkpoint.Keeper
	Rel    func(path string) string // returns a path for display
	Done   func()                   // ends the use of the store
}

// A Trial is a conversation as at the start of a run.
type Trial struct {
	Tools   engine.Toolset
	Policy  *policy.Policy
	Offers  func(engine.Tool) bool // whether the model gets a tool
	Explain func(context.Context, engine.Proposal) policy.Explanation
	Close   func()
}

// ProvideRules returns the rules of the project.
func (*grammar) ProvideRules(project Project) (*policy.Policy, error) { return project.Rules() }

// A Problem is a warning or an error about a file at the start of a run.
type Problem struct {
	About   string `json:"about"` // its subject, such as rules or network
	Message string `json:"message"`
	Next    string `json:"next,omitempty"`
	Err     error  `json:"-"` // the error that ends the run, or nil
}

// grammar holds the sub-commands, in the order of the help text.
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

// table returns the grammar as a table. It is made once.
var table = sync.OnceValue(func() *kong.Node {
	k, err := parser(&grammar{}, io.Discard)
	if err != nil {
		panic(err) // a mistake in the tags
	}
	return k.Model.Node
})

// Names returns the names of the sub-commands, in the order of the grammar. Each start needs them,
// so they are read from the tags: kong's parser is slow.
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

// Means reports whether the words of a command line are a sub-command rather than a prompt. The
// first word is one of [Names]. The words are a sub-command in these cases: the first word begins
// no prompt; at most one word follows it; the first two words name a sub-command; the sub-command
// accepts all words, or the words before the first flag.
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
	switch plain[0] { // the second word may be anything
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
	// A flag that the sub-command lacks, such as a flag of the program, is a mistake.
	flag := slices.IndexFunc(before, isFlag)
	if flag < 2 {
		return false
	}
	_, err = k.Parse(before[:flag])
	return isCommand(err)
}

func isFlag(word string) bool { return strings.HasPrefix(word, "-") }

// isCommand reports whether words are a sub-command, by the parser's error. A wrong value of a
// flag, or a missing word, is a mistake in a sub-command.
func isCommand(err error) bool {
	return err == nil || isFlag(err.Error()) || strings.HasPrefix(err.Error(), `expected "`)
}

// skipTrust is the program's flag that may also follow a sub-command.
const skipTrust = "--skip-trust"

// CutSkipTrust removes skipTrust from the words of a sub-command. It returns the flag, if it was
// there, and the other words. It leaves words behind the name of a new server alone: they are the
// server's.
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

// Run runs a sub-command, given as on the command line. A mistake in args is a [flags.UsageError].
// Each sub-command gets its dependencies from the things, by their types.
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

// misused returns the error of a command line that names something that does not exist.
func misused(format string, args ...any) error {
	return &flags.UsageError{Message: fmt.Sprintf(format, args...)}
}

// missingWords rewrites the parser's message about a missing word as advice.
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

// promptHint says how to send words to the model that were taken for a sub-command.
func (ask *Asker) promptHint(words []string) string {
	rare := slices.Contains([]string{"config", "trust", "auth", "mcp", "a2a", "policy"}, words[0]) // few prompts begin with these words
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

// usage prints the usage of the command at the start of args.
func (out *Output) usage(args []string) error {
	k, err := parser(&grammar{}, out.Out)
	if err != nil {
		return err
	}
	for _, n := range k.Model.Children {
		if len(n.Children) > 1 {
			n.DefaultCmd = nil // otherwise the usage lists only the default command
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
