package flags

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"
)

// A Set is a parsed command line. The names are those of the Gemini CLI, so that scripts keep
// working; the groups are the sections of the help text.
type Set struct {
	Prompt            string   `short:"p" aliases:"print,message" placeholder:"TEXT" group:"Run" help:"Answer this prompt and exit. Standard input is put in front of it."`
	PromptInteractive string   `short:"i" placeholder:"TEXT" group:"Run" help:"Run this prompt, then stay for more."`
	Model             string   `short:"m" placeholder:"NAME" complete:"model" group:"Run" help:"Model or alias: auto, pro, flash, flash-lite, or a full name."`
	ApprovalMode      string   `aliases:"permission-mode" enum:",default,auto_edit,auto,yolo,plan" default:"" placeholder:"MODE" group:"Run" help:"What runs unasked: default, auto_edit, auto, yolo or plan."`
	Yolo              bool     `short:"y" aliases:"dangerously-skip-permissions,yes-always" group:"Run" help:"Run everything unasked; short for --approval-mode yolo."`
	Policy            []string `name:"policy" placeholder:"FILE" group:"Run" help:"Go by the rules of a file or directory instead of your own; repeat, or separate by commas. See gemline help policy."`
	AdminPolicy       []string `name:"admin-policy" placeholder:"FILE" group:"Run" help:"The same for rules that come before yours, where the machine has none."`
	Servers           []string `name:"allowed-mcp-server-names" placeholder:"NAME" group:"Run" help:"Use only these MCP servers, instead of mcp.allowed in the settings. Repeat, or separate by commas."`
	AllowedTools      []string `name:"allowed-tools" placeholder:"TOOL" group:"Run" help:"Run these tools unasked, as tools.allowed in the settings says, instead of those; older than --policy. Repeat, or separate by commas."`
	Worktree          Optional `short:"w" placeholder:"NAME" group:"Run" help:"Work in a new worktree of the git repository, on a branch of its own; see gemline help worktrees."`
	IncludeDirs       []string `name:"include-directories" aliases:"add-dir" placeholder:"DIR" group:"Run" help:"More directories to work in; repeat, or separate by commas."`
	Extensions        []string `short:"e" placeholder:"NAME" group:"Run" help:"Use no extension but these; none is none at all. Repeat, or separate by commas."`
	ListExtensions    bool     `short:"l" name:"list-extensions" group:"Run" help:"List the installed extensions and exit."`
	FailOnAsk         bool     `group:"Run" help:"Without a terminal: stop with exit code 60 when a call needs approval."`
	FailOnDeny        bool     `group:"Run" help:"Stop with exit code 61 when a rule denies a call."`
	IgnoreUnsupported bool     `name:"ignore-unsupported" group:"Run" help:"Run although a hook that may block something can't be used. Without it such a run ends with 52 where nobody watches."`
	NoInput           bool     `name:"no-input" group:"Run" help:"Ask nothing, as if nobody were there."`
	AskTTY            bool     `name:"ask-tty" group:"Run" help:"Ask at the terminal, even if standard input or output is none."`
	AskTrust          bool     `name:"ask-trust" group:"Run" help:"With --input-format stream-json: ask the client whether the folder is trusted, and whether its commands may run."`
	DryRun            bool     `name:"dry-run" group:"Run" help:"Change nothing: print what would be run, and the edits as a patch."`
	Patch             bool     `group:"Run" help:"Change nothing: print the edits as a patch for git apply."`
	Sandbox           Attached `short:"s" placeholder:"HOW" complete:"sandbox" group:"Run" help:"Confine commands by on, kernel, docker, podman, runsc or sandbox-exec; on if nothing is said, off for not at all. See gemline help sandbox."`
	NoNetwork         bool     `name:"no-network" group:"Run" help:"Give no command the network, in any case."`
	Offline           bool     `name:"offline" group:"Run" help:"Reach nothing but this machine, and give no command the network; see gemline help models."`
	SkipTrust         bool     `group:"Run" help:"Use the folder's files (settings, .env, context files) for this run, unasked."`
	Trust             bool     `group:"Run" help:"The same, and trust the folder from now on."`
	Check             string   `placeholder:"CMD" group:"Run" help:"When the model has changed something, run this command, and let the model mend its findings; exit code 71 if it still fails."`
	CheckRounds       *int     `name:"check-rounds" placeholder:"N" group:"Run" help:"With --check: let the model mend its findings N times; 3 if not given."`
	NoLoopCheck       bool     `name:"no-loop-check" group:"Run" help:"Let a model that goes in circles go on."`
	MaxAttempts       int      `placeholder:"N" group:"Run" help:"Make a request that gets no answer at most N times; 10 if not given, and at most."`

	Timeout      Duration `placeholder:"TIME" group:"Limits" help:"Stop with exit code 63 after a time: 90s, 5m, 1h30m, or a number of seconds."`
	MaxTurns     int      `placeholder:"N" group:"Limits" help:"Stop with exit code 53 after N requests to the model."`
	MaxToolCalls int      `name:"max-tool-calls" placeholder:"N" group:"Limits" help:"Stop with exit code 64 when the model wants more than N calls."`
	MaxTokens    int      `name:"max-tokens" placeholder:"N" group:"Limits" help:"Stop with exit code 62 when N tokens are used up."`
	MaxCost      float64  `name:"max-cost" aliases:"max-budget-usd" placeholder:"AMOUNT" group:"Limits" help:"Stop with exit code 62 when so many US dollars are used up, for models that have a price."`

	AllowRestart bool     `name:"allow-restart" group:"Output" help:"With --stream token into a pipe or file: when an answer breaks off, let the whole answer follow the written part, instead of ending with exit code 68."`
	OutputFormat string   `short:"o" enum:",text,json,stream-json" default:"" placeholder:"FORMAT" group:"Output" help:"text, json or stream-json."`
	JSON         bool     `name:"json" group:"Output" help:"Short for --output-format json."`
	Quiet        bool     `short:"q" group:"Output" help:"Nothing on standard error but errors."`
	Extract      Attached `short:"x" placeholder:"LANG" group:"Output" help:"Print nothing but the first code block of the answer, or the first of a language."`
	JSONSchema   string   `name:"json-schema" aliases:"output-schema" placeholder:"FILE|JSON" group:"Output" help:"Print nothing but a JSON value that fits this schema; exit code 65 if there is none."`
	MaxRepairs   int      `name:"max-repairs" default:"2" placeholder:"N" group:"Output" help:"With --json-schema: let the model mend an answer that does not fit N times; 2 if not given."`
	Output       string   `short:"O" aliases:"output-last-message" placeholder:"FILE" group:"Output" help:"Write to a file instead of standard output: all of it, or nothing."`
	JSONFd       *int     `name:"json-fd" placeholder:"N" group:"Output" help:"Write JSON to this descriptor, and text to standard output."`
	PipeOK       bool     `name:"pipe-ok" group:"Output" help:"End with 0 when nobody reads the output any more."`
	RawOutput    bool     `name:"raw-output" group:"Output" help:"Leave escape sequences in the model's text."`
	AcceptRaw    bool     `name:"accept-raw-output-risk" hidden:"" group:"Output" help:"Accepted for scripts; means nothing."`

	Plain        *bool  `group:"Session" help:"Plain mode: no colour, no escape sequence, output only appended. --no-plain beats the settings."`
	ScreenReader *bool  `aliases:"accessible" group:"Session" help:"The same, for screen readers and braille displays."`
	Stream       string `enum:",token,sentence,paragraph,final" default:"" placeholder:"PACE" group:"Session" help:"How much of an answer is shown at a time: token, sentence, paragraph or final. In a run without a session only token has a meaning: into a pipe or file, too, the answer is written as it comes."`
	Detail       string `enum:",short,normal,full" default:"" placeholder:"LEVEL" group:"Session" help:"How much gemline says about the model's actions: short, normal or full."`
	PromptFormat string `enum:",plain,stable" default:"" placeholder:"FORMAT" group:"Session" help:"stable: prompts that a program can wait for, and no line editor."`
	NoEcho       bool   `name:"no-echo" group:"Session" help:"Have the terminal show no typed text."`
	ASCII        bool   `name:"ascii" group:"Session" help:"Show everything in ASCII."`

	Stdin       bool   `group:"Input" help:"Read standard input of any kind; so does the word - alone."`
	NoStdin     bool   `short:"n" group:"Input" help:"Leave standard input alone, as in a while-read loop."`
	InputFormat string `name:"input-format" enum:",text,stream-json" default:"" placeholder:"FORMAT" group:"Input" help:"text, or stream-json: a conversation in lines of JSON; see gemline help protocol."`
	ACP         bool   `name:"acp" aliases:"experimental-acp" group:"Input" help:"Be the agent of an editor, by the Agent Client Protocol on standard input and output; see gemline help acp."`
	KeyFile     string `name:"key-file" type:"path" placeholder:"FILE" group:"Input" help:"Read the key for the Gemini API from a file; it beats those in the environment."`

	Batch       string `placeholder:"FILE" group:"Batch" help:"Answer each prompt of a file, or of standard input if it is -, with a line of JSON."`
	Jobs        int    `short:"j" placeholder:"N" group:"Batch" help:"Work on N prompts at once; 1 if not given."`
	BatchFormat string `name:"batch-format" enum:",lines,nul,jsonl" default:"" placeholder:"FORMAT" group:"Batch" help:"lines, nul or jsonl; jsonl for a name that ends so, else lines."`
	Unordered   bool   `group:"Batch" help:"Print results as they come, instead of in the order of the prompts."`
	BatchState  string `name:"batch-state" placeholder:"FILE" group:"Batch" help:"Store the finished lines in this file, for good; a later run does the rest."`
	BatchFresh  bool   `name:"batch-fresh" group:"Batch" help:"Begin anew instead of continuing a batch that was interrupted."`
	BatchAPI    bool   `name:"batch-api" group:"Batch" help:"Leave the prompts to the server's batch service: cheaper, within a day, without tools."`

	Resume        Optional `short:"r" placeholder:"ID" complete:"session" group:"Sessions" help:"Go on with a session: latest, a number of --list-sessions, an id or a name."`
	Fork          bool     `group:"Sessions" help:"With --resume: resume a copy, and leave the session as it is."`
	Export        string   `type:"path" placeholder:"FILE" group:"Sessions" help:"With --resume: write the session to FILE, by its name as Markdown (.md), HTML (.html) or JSON (.json), and exit."`
	Session       string   `placeholder:"ID" complete:"session" group:"Sessions" help:"Go on with the session of this id, or begin it."`
	SessionID     string   `name:"session-id" placeholder:"ID" group:"Sessions" help:"Give a fresh session this id."`
	SessionFile   string   `name:"session-file" type:"path" placeholder:"FILE" group:"Sessions" help:"Begin a session with the conversation of a session file, which stays as it is."`
	ListSessions  bool     `group:"Sessions" help:"List this project's sessions and exit."`
	DeleteSession string   `name:"delete-session" placeholder:"ID" complete:"session" group:"Sessions" help:"Delete one of this project's sessions and exit."`

	FakeResponses   string `type:"path" placeholder:"FILE" group:"Recording" help:"Answer from a recording instead of a server, line by line."`
	FakeNonStrict   string `name:"fake-responses-non-strict" type:"path" placeholder:"FILE" group:"Recording" help:"The same, taking the first line that fits."`
	RecordResponses string `type:"path" placeholder:"FILE" group:"Recording" help:"Append the server's answers to a recording."`

	Debug   bool `short:"d" group:"Other" help:"Write a debug log to standard error, or to the file that GEMINI_DEBUG_LOG_FILE names."`
	Help    bool `short:"h" group:"Other" help:"Print this and exit."`
	Version bool `short:"v" group:"Other" help:"Print the version and exit."`

	Words []string `arg:"" optional:"" name:"prompt"`
}

// Format returns the output format of the flags, "" without one.
func (f *Set) Format() string {
	switch {
	case f.OutputFormat != "":
		return f.OutputFormat
	case f.JSON:
		return "json"
	case f.Talks():
		return "stream-json"
	}
	return ""
}

// Talks reports whether the run is a conversation in lines of JSON.
func (f *Set) Talks() bool { return f.InputFormat == "stream-json" }

// Mode returns the approval mode of the flags, "" without one.
func (f *Set) Mode() string {
	switch {
	case f.ApprovalMode != "":
		return f.ApprovalMode
	case f.Yolo:
		return "yolo"
	}
	return ""
}

// PlainFlag returns the flag about plain mode, "" without one, and whether it switches plain mode
// off.
func (f *Set) PlainFlag() (name string, off bool) {
	name, off = "", true
	for _, fl := range []struct {
		name string
		on   *bool
	}{{"--plain", f.Plain}, {"--screen-reader", f.ScreenReader}} {
		if fl.on != nil && (*fl.on || off) { // if both are given, the flag that switches on counts
			name, off = fl.name, !*fl.on
		}
	}
	return name, name != "" && off
}

// Dash reports whether the prompt is a single hyphen, which means standard input.
func (f *Set) Dash() bool { return slices.Equal(f.Words, []string{"-"}) }

// Text returns the prompt of the command line, "" if there is none.
func (f *Set) Text() string {
	switch {
	case f.Prompt != "":
		return f.Prompt
	case strings.TrimSpace(f.PromptInteractive) != "":
		return f.PromptInteractive
	case f.Dash():
		return ""
	}
	return strings.Join(f.Words, " ")
}

// Interactive reports whether the program runs a session: both streams are terminals, and neither a
// flag nor the environment of a CI system asks for a single answer.
func (f *Set) Interactive(stdin, stdout bool, getenv func(string) string) bool {
	switch {
	case !stdin || !stdout:
		return false
	case f.PromptInteractive != "":
		return true
	case f.Prompt != "", f.Dash(), f.Stdin, f.NoInput, f.Format() == "json", f.Format() == "stream-json",
		f.Batch != "", f.Talks(), f.ACP, f.Patch, f.DryRun, f.JSONSchema != "", f.Extract.Set,
		f.Output != "", f.JSONFd != nil:
		return false
	}
	return getenv("CI") != "true" && getenv("GITHUB_ACTIONS") != "true"
}

// An Optional is a flag with an optional value.
type Optional struct {
	Set   bool
	Value string
}

// Decode implements kong.MapperValue.
func (o *Optional) Decode(ctx *kong.DecodeContext) error {
	o.Set = true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		o.Value, _ = ctx.Scan.Pop().Value.(string)
	}
	return nil
}

// IsBool tells kong that the flag may stand alone.
func (*Optional) IsBool() bool { return true }

// Attached is a flag with an optional value, which follows an equals sign in the same word.
type Attached struct{ Optional }

// A Duration is a duration such as 90s or 1h30m, or a number of seconds.
type Duration time.Duration

// Decode implements kong.MapperValue.
func (d *Duration) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if n, nerr := strconv.ParseFloat(text, 64); nerr == nil && math.Abs(n) < 1e9 {
		v, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || v <= 0 {
		return fmt.Errorf("must be a time above zero such as 90s or 5m, not %q", text)
	}
	*d = Duration(v)
	return nil
}

// A UsageError is the error of an invalid command line, in one line.
type UsageError struct{ Message, Advice string }

// Error returns the message.
func (e *UsageError) Error() string { return e.Message }

// Hint returns the advice.
func (e *UsageError) Hint() string { return e.Advice }

func usage(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

// A parsing is a parser with its result. It can be used once.
type parsing struct {
	set  *Set
	kong *kong.Kong
	err  error
}

func newParsing() parsing {
	var f Set
	k, err := parser(&f)
	return parsing{&f, k, err}
}

// prepared returns the parsing of [Prepare]; taken says whether a [Parse] has used it.
var (
	prepared = sync.OnceValue(newParsing)
	taken    atomic.Bool
)

// Prepare makes the parser of the first [Parse], which takes a millisecond.
func Prepare() { prepared() }

// Parse reads the command line args, without the program's name. The
// error is a [UsageError].
func Parse(args []string) (*Set, error) {
	begin := prepared
	if taken.Swap(true) {
		begin = newParsing
	}
	p := begin()
	if p.err != nil {
		return nil, p.err
	}
	args, err := arrange(p.kong, args)
	if err != nil {
		return p.set, err
	}
	if _, err := p.kong.Parse(args); err != nil {
		var pe *kong.ParseError
		if errors.As(err, &pe) {
			return p.set, usage("%s", Reword(pe.Error()))
		}
		return p.set, err
	}
	return p.set, p.set.agree()
}

// Reword translates the parser's messages into gemline's words.
func Reword(message string) string { return ours.Replace(message) }

var ours = strings.NewReplacer("\n", " ", `must be one of "",`, "must be one of ", `","`, `", "`,
	"expected a valid 64 bit int but got", "must be a whole number, not",
	"expected a float but got", "must be a number, not", `" (string)`, `"`, " but got ", ", not ")

func parser(f *Set) (*kong.Kong, error) {
	return kong.New(f, kong.Name("gemline"), kong.NoDefaultHelp(),
		kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}),
		kong.KindMapper(reflect.String, verbatim{}), kong.NamedMapper("path", verbatim{path: true}))
}

// verbatim decodes a text byte by byte: the parser's own way through JSON loses bytes that are not
// UTF-8, which file names may contain.
type verbatim struct{ path bool }

// Decode implements kong.Mapper.
func (v verbatim) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("text")
	if err != nil {
		return err
	}
	text := t.String()
	if s, ok := t.Value.(string); ok {
		text = s
	}
	if v.path && text != "-" && text != "" {
		text = kong.ExpandPath(text)
	}
	target.SetString(text)
	return nil
}

// agree returns an error for flags that contradict each other.
func (f *Set) agree() error {
	given := f.given()
	switch {
	case (f.Prompt != "" || f.PromptInteractive != "") && len(f.Words) > 0 && !f.Dash():
		return usage("%s and a prompt in words can't be used together; a prompt of several words needs quotation marks",
			f.First("--prompt", "--prompt-interactive"))
	case f.Fork && !f.Resume.Set:
		return usage("--fork needs --resume, which names the session to copy")
	case f.Export != "" && !f.Resume.Set:
		return usage("--export needs --resume, which names the session to export")
	case f.Export != "" && (given["a prompt"] || given[talks]):
		return usage("--export and a prompt can't be used together")
	case f.AskTrust && !f.Talks():
		return usage("--ask-trust needs --input-format stream-json, whose client is asked")
	case f.JSON && f.OutputFormat != "" && f.OutputFormat != "json":
		return usage("--json and --output-format %s can't be used together", f.OutputFormat)
	case f.KeyFile == "-":
		return usage("--key-file names a file: standard input is for the prompt")
	case !(f.MaxCost >= 0) || math.IsInf(f.MaxCost, 0):
		return usage("--max-cost must be an amount")
	case f.Check != "" && strings.TrimSpace(f.Check) == "":
		return usage("--check needs a command, and has only blanks")
	case f.Jobs < 0 || f.Jobs > MaxJobs:
		return usage("--jobs must be between 1 and %d", MaxJobs)
	case f.JSONFd != nil && *f.JSONFd < 3:
		return usage("--json-fd must be 3 or more: 1 and 2 are standard output and standard error")
	case f.Batch == "" && (f.Jobs > 0 || f.BatchFormat != "" || f.Unordered || f.BatchState != "" || f.BatchFresh || f.BatchAPI):
		return usage("--jobs, --unordered and the flags that begin with --batch- need --batch")
	}
	for _, row := range exclusive {
		for _, other := range row[1:] {
			if given[row[0]] && given[other] {
				return usage("%s and %s can't be used together", row[0], other)
			}
		}
	}
	return nil
}

// MaxJobs is the most prompts of a batch that run at once.
const MaxJobs = 256

// exclusive lists contradictions by the names of [Set.given]: the first name of a row excludes the
// others.
var exclusive = [][]string{
	{"--prompt", "--prompt-interactive"},
	{"--yolo", "--approval-mode"},
	{"--stdin", "--no-stdin"},
	{"--patch", "--dry-run", "--json-schema", "--extract", "--prompt-interactive"},
	{"--dry-run", "--json-schema", "--extract", "--prompt-interactive"},
	{"--json-schema", "--extract", "--prompt-interactive", talks},
	{"--extract", "--prompt-interactive", talks},
	{"--output", "--prompt-interactive"},
	{"--no-input", "--ask-tty", "--ask-trust", "--prompt-interactive"},
	{"--session", "--resume", "--session-id"},
	{"--resume", "--session-id"},
	{"--worktree", "--resume", "--dry-run", "--patch"},
	{"--export", "--fork"},
	{"a prompt", "--list-extensions", "--list-sessions", "--delete-session"},
	{"--batch", talks, "a prompt", "--resume", "--session", "--session-id", "--session-file"},
	{"--session-file", "--resume", "--session", "--session-id"},
	{"--check", "--patch", "--dry-run", "--batch-api"},
	{"--batch", "--patch", "--dry-run", "--json-fd", "--ask-tty", "--output-format text"},
	{"--batch -", "--stdin or --no-stdin"},
	{"--batch-api", "--timeout, --max-turns or --max-tool-calls", "--max-tokens or --max-cost", "--jobs"},
	{talks, "--ask-tty", "a prompt", "--stdin or --no-stdin", "another --output-format", "--json", "--output"},
	{talks, "--patch", "--dry-run"},
}

// talks is the flag for a conversation in lines of JSON.
const talks = "--input-format stream-json"

// given returns the given parts of a command line, by name: flags, and some combinations or values
// of flags.
func (f *Set) given() map[string]bool {
	given := map[string]bool{talks: f.Talks(),
		"a prompt":                f.Prompt != "" || f.PromptInteractive != "" || len(f.Words) > 0,
		"--batch -":               f.Batch == "-",
		"--output-format text":    f.OutputFormat == "text",
		"another --output-format": f.OutputFormat != "" && f.OutputFormat != "stream-json",
		"--stdin or --no-stdin":   f.Stdin || f.NoStdin,
		"--timeout, --max-turns or --max-tool-calls": f.Timeout > 0 || f.MaxTurns > 0 || f.MaxToolCalls > 0,
		"--max-tokens or --max-cost":                 f.MaxTokens > 0 || f.MaxCost > 0,
	}
	for field, value := range reflect.ValueOf(f).Elem().Fields() {
		if _, words := field.Tag.Lookup("arg"); !words {
			given["--"+cmp.Or(field.Tag.Get("name"), kebab(field.Name)[1:])] = !value.IsZero()
		}
	}
	return given
}

// First returns the first of names that the command line contains, "" if none. A name is a flag
// with its hyphens, or "a prompt".
func (f *Set) First(names ...string) string {
	given := f.given()
	if i := slices.IndexFunc(names, func(name string) bool { return given[name] }); i >= 0 {
		return names[i]
	}
	return ""
}
