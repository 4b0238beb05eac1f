package settings

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
)

// Flags are the command line. The names are those of the Gemini CLI, so that
// scripts keep working; the groups are the sections of the help text.
type Flags struct {
	Prompt            string   `short:"p" placeholder:"TEXT" group:"Run" help:"Answer this prompt and exit. Standard input is put in front of it."`
	PromptInteractive string   `short:"i" placeholder:"TEXT" group:"Run" help:"Run this prompt, then stay for more."`
	Model             string   `short:"m" placeholder:"NAME" group:"Run" help:"Model or alias: auto, pro, flash, flash-lite, or a full name."`
	ApprovalMode      string   `enum:",default,auto_edit,yolo,plan" default:"" placeholder:"MODE" group:"Run" help:"What runs unasked: default, auto_edit, yolo or plan."`
	Yolo              bool     `short:"y" group:"Run" help:"Run everything unasked; short for --approval-mode yolo."`
	IncludeDirs       []string `name:"include-directories" placeholder:"DIR" group:"Run" help:"More directories to work in; repeat, or separate by commas."`
	Extensions        []string `short:"e" placeholder:"NAME" group:"Run" help:"Use no extension but these; none is none at all. Repeat, or separate by commas."`
	FailOnAsk         bool     `group:"Run" help:"Without a terminal: stop with exit code 60 when a call needs approval."`
	MaxTurns          int      `placeholder:"N" group:"Run" help:"Stop with exit code 53 after N requests to the model."`

	SkipTrust   bool `group:"Run" help:"Use what the folder brings (settings, .env, context files) for this run, unasked."`
	Trust       bool `group:"Run" help:"The same, and trust the folder from now on."`
	MaxAttempts int  `placeholder:"N" group:"Run" help:"Make a request that gets no answer at most N times; 10 if not given, and at most."`

	OutputFormat string `short:"o" enum:",text,json,stream-json" default:"" placeholder:"FORMAT" group:"Output" help:"text, json or stream-json."`
	JSON         bool   `name:"json" group:"Output" help:"Short for --output-format json."`
	Quiet        bool   `short:"q" group:"Output" help:"Nothing on standard error but errors."`
	Plain        *bool  `group:"Session" help:"Plain mode: no colour, no escape sequence, output only appended. --no-plain beats the settings."`
	ScreenReader *bool  `aliases:"accessible" group:"Session" help:"The same, for screen readers and braille displays."`
	Stream       string `enum:",token,sentence,paragraph,final" default:"" placeholder:"PACE" group:"Session" help:"How much of an answer is shown at a time: token, sentence, paragraph or final."`
	Detail       string `enum:",short,normal,full" default:"" placeholder:"LEVEL" group:"Session" help:"How much is told of what the model does: short, normal or full."`
	PromptFormat string `enum:",plain,stable" default:"" placeholder:"FORMAT" group:"Session" help:"stable: prompts that a program can wait for, and no line editor."`
	NoEcho       bool   `name:"no-echo" group:"Session" help:"Have the terminal show nothing of what is typed."`
	ASCII        bool   `name:"ascii" group:"Session" help:"Show everything in ASCII."`

	Stdin   bool `group:"Input" help:"Read standard input, whatever it is; so does the word - alone."`
	NoStdin bool `short:"n" group:"Input" help:"Leave standard input alone, as in a while-read loop."`

	Resume       Optional `short:"r" placeholder:"ID" group:"Sessions" help:"Go on with a session: latest, a number of --list-sessions, or an id."`
	SessionID    string   `name:"session-id" placeholder:"ID" group:"Sessions" help:"Give a fresh session this id."`
	ListSessions bool     `group:"Sessions" help:"List this project's sessions and exit."`

	FakeResponses   string `type:"path" placeholder:"FILE" group:"Recording" help:"Answer from a recording instead of a server, line by line."`
	FakeNonStrict   string `name:"fake-responses-non-strict" type:"path" placeholder:"FILE" group:"Recording" help:"The same, taking the first line that fits."`
	RecordResponses string `type:"path" placeholder:"FILE" group:"Recording" help:"Append what the server answers to a recording."`

	Debug   bool `short:"d" group:"Other" help:"Write a debug log to standard error, or to the file that GEMINI_DEBUG_LOG_FILE names."`
	Help    bool `short:"h" group:"Other" help:"Print this and exit."`
	Version bool `short:"v" group:"Other" help:"Print the version and exit."`

	Words []string `arg:"" optional:"" name:"prompt"`
}

// Format returns the output format the flags ask for, "" if none.
func (f *Flags) Format() string {
	if f.JSON && f.OutputFormat == "" {
		return "json"
	}
	return f.OutputFormat
}

// Mode returns the approval mode the flags ask for, "" if none.
func (f *Flags) Mode() string {
	switch {
	case f.ApprovalMode != "":
		return f.ApprovalMode
	case f.Yolo:
		return "yolo"
	}
	return ""
}

// PlainFlag returns the flag that is about plain mode, "" if there is none, and
// whether it says no.
func (f *Flags) PlainFlag() (name string, off bool) {
	name, off = "", true
	for _, fl := range []struct {
		name string
		on   *bool
	}{{"--plain", f.Plain}, {"--screen-reader", f.ScreenReader}} {
		if fl.on != nil && (*fl.on || off) { // of two, the one that says yes
			name, off = fl.name, !*fl.on
		}
	}
	return name, name != "" && off
}

// Dash reports whether the prompt is a lone hyphen: read standard input.
func (f *Flags) Dash() bool { return slices.Equal(f.Words, []string{"-"}) }

// Text returns the prompt of the command line, "" if there is none.
func (f *Flags) Text() string {
	switch {
	case f.Prompt != "":
		return f.Prompt
	case f.PromptInteractive != "":
		return f.PromptInteractive
	case f.Dash():
		return ""
	}
	return strings.Join(f.Words, " ")
}

// Interactive reports whether the program is a session: somebody sits at both
// ends, and nothing asks for a single answer.
func (f *Flags) Interactive(stdin, stdout bool, getenv func(string) string) bool {
	switch {
	case !stdin || !stdout:
		return false
	case f.PromptInteractive != "":
		return true
	case f.Prompt != "", f.Dash(), f.Stdin, f.Format() == "json", f.Format() == "stream-json":
		return false
	}
	return getenv("CI") != "true" && getenv("GITHUB_ACTIONS") != "true"
}

// An Optional is a flag whose value may be left out.
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

// A UsageError is a command line that makes no sense. It is one line long.
type UsageError struct{ Message string }

// Error returns the message.
func (e *UsageError) Error() string { return e.Message }

func usage(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

// ParseFlags reads the command line args, without the program's name. The
// error is a [UsageError].
func ParseFlags(args []string) (*Flags, error) {
	var f Flags
	k, err := parser(&f)
	if err != nil {
		return nil, err
	}
	args, err = arrange(k, args)
	if err != nil {
		return &f, err
	}
	if _, err := k.Parse(args); err != nil {
		var pe *kong.ParseError
		if errors.As(err, &pe) {
			return &f, usage("%s", Reword(pe.Error()))
		}
		return &f, err
	}
	return &f, f.agree()
}

// Reword puts what the parser says about a command line into our words.
func Reword(message string) string { return ours.Replace(message) }

var ours = strings.NewReplacer("\n", " ", `must be one of "",`, "must be one of ", `","`, `", "`,
	"expected a valid 64 bit int but got", "must be a whole number, not", " but got ", ", not ")

func parser(f *Flags) (*kong.Kong, error) {
	return kong.New(f, kong.Name("gemline"), kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
}

// agree refuses flags that contradict each other.
func (f *Flags) agree() error {
	switch {
	case f.Prompt != "" && f.PromptInteractive != "":
		return usage("--prompt and --prompt-interactive can't be used together")
	case f.Prompt != "" && len(f.Words) > 0 && !slices.Equal(f.Words, []string{"-"}):
		return usage("--prompt and a prompt in words can't be used together")
	case f.Yolo && f.ApprovalMode != "":
		return usage("--yolo and --approval-mode can't be used together")
	case f.Resume.Set && f.SessionID != "":
		return usage("--resume and --session-id can't be used together")
	case f.Stdin && f.NoStdin:
		return usage("--stdin and --no-stdin can't be used together")
	case f.JSON && f.OutputFormat != "" && f.OutputFormat != "json":
		return usage("--json and --output-format %s can't be used together", f.OutputFormat)
	case f.MaxAttempts < 0:
		return usage("--max-attempts must not be negative")
	case f.MaxTurns < 0:
		return usage("--max-turns must not be negative")
	}
	return nil
}

// arrange puts the flags in front of the words, each with its value in the
// same argument. So words and flags may be mixed, a value may begin with a
// hyphen, and every mistake is told in our own words.
func arrange(k *kong.Kong, args []string) ([]string, error) {
	long, short := map[string]*kong.Flag{}, map[string]*kong.Flag{}
	for _, fl := range k.Model.Flags {
		long[fl.Name] = fl
		for _, a := range fl.Aliases {
			long[a] = fl
		}
		if fl.Short != 0 {
			short[string(fl.Short)] = fl
		}
	}
	var flags, words []string
	seen := map[string]bool{}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			words = append(words, args...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		var fl *kong.Flag
		switch {
		case strings.HasPrefix(name, "--"):
			fl = long[kebab(name[2:])]
			if off := strings.TrimPrefix(kebab(name[2:]), "no-"); fl == nil && long[off] != nil && long[off].IsBool() && !given {
				fl, value, given = long[off], "false", true
			}
		case len(name) > 2 && short[name[1:2]] != nil: // -ovalue, or switches run together
			rest := strings.TrimPrefix(arg, name[:2])
			fl = short[name[1:2]]
			if fl.IsBool() && !optional(fl) {
				args = append([]string{"-" + rest}, args...)
				value, given = "", false
			} else {
				value, given = strings.TrimPrefix(rest, "="), true
			}
		default:
			fl = short[name[1:]]
		}
		if fl == nil {
			return nil, unknown(name, long)
		}
		switch {
		case fl.IsBool() && !optional(fl):
		case given:
		case optional(fl):
			if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
				value, given, args = args[0], true, args[1:]
			}
		case len(args) == 0:
			return nil, usage("--%s needs a value", fl.Name)
		default:
			value, given, args = args[0], true, args[1:]
		}
		if seen[fl.Name] && (fl.Name == "prompt" || fl.Name == "prompt-interactive") {
			return nil, usage("--%s is given twice", fl.Name)
		}
		seen[fl.Name] = true
		flag := "--" + fl.Name
		if given {
			flag += "=" + value
		}
		flags = append(flags, flag)
	}
	if len(words) > 0 {
		flags = append(append(flags, "--"), words...)
	}
	return flags, nil
}

// Subcommand finds the sub-command of a command line, which is its first word
// if that is one of names. It returns what stands before and what follows from
// there.
func Subcommand(args, names []string) (before, from []string, ok bool) {
	k, err := parser(&Flags{})
	if err != nil {
		return nil, nil, false
	}
	wants := map[string]bool{} // flags whose value is the next argument
	for _, fl := range k.Model.Flags {
		if fl.IsBool() {
			continue
		}
		wants["--"+fl.Name] = true
		if fl.Short != 0 {
			wants["-"+string(fl.Short)] = true
		}
	}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--", arg == "-":
			return nil, nil, false
		case !strings.HasPrefix(arg, "-"):
			return args[:i:i], args[i:], slices.Contains(names, arg)
		case wants[kebab(arg)]:
			i++
		}
	}
	return nil, nil, false
}

func optional(fl *kong.Flag) bool {
	return fl.Target.Type() == reflect.TypeOf(Optional{})
}

// kebab turns the camelCase spelling of a flag into the usual one.
func kebab(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unknown refuses a flag and names the one that comes nearest.
func unknown(name string, long map[string]*kong.Flag) error {
	bare := strings.TrimLeft(name, "-")
	best, least := "", 1+max(2, len(bare)/3)
	for n, fl := range long {
		if d := levenshtein.ComputeDistance(bare, n); !fl.Hidden && (d < least || d == least && best != "" && n < best) {
			best, least = n, d
		}
	}
	if best == "" {
		return usage("unknown flag %.100s; see gemline --help", name)
	}
	return usage("unknown flag %.100s; did you mean --%s?", name, best)
}

// Help writes the help text, 80 columns wide, examples first.
func Help(w io.Writer) error {
	k, err := parser(&Flags{})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(`gemline: a coding agent for plain terminals

  gemline                                talk to the model, line by line
  gemline -p "what does main.go do?"     print one answer and exit
  git diff | gemline -p "review this"    put standard input before the prompt
  gemline --json -p "..." | jq .response one JSON document
  gemline --resume latest                go on with the last session

usage: gemline [flags] [prompt ...]

Commands, each with a --help of its own
  gemline config   show and change the settings
  gemline trust    show and change which folders are trusted
  gemline auth     show how requests are paid for, and keep a key
`)
	group := ""
	for _, fl := range k.Model.Flags {
		if fl.Hidden {
			continue
		}
		if fl.Group != nil && fl.Group.Key != group {
			group = fl.Group.Key
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		name := "    --" + fl.Name
		if fl.Short != 0 {
			name = "-" + string(fl.Short) + ", --" + fl.Name
		}
		if !fl.IsBool() || optional(fl) {
			name += " " + fl.FormatPlaceHolder()
		}
		fmt.Fprintf(&b, "  %s\n", name)
		for _, line := range wrap(fl.Help, 70) {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	b.WriteString(`
Environment
  GEMINI_API_KEY, GOOGLE_API_KEY   the key for the Gemini API
  GOOGLE_GEMINI_BASE_URL           another server that speaks the Gemini API
  GEMINI_MODEL                     the model, if no -m is given

Inside a session, /help lists the commands.
`)
	_, err = io.WriteString(w, b.String())
	return err
}

// wrap breaks a sentence into lines of at most width characters.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// WantedFormat returns the output format that a command line asks for, even
// one that can't be parsed: whoever asked for JSON is told so in JSON.
func WantedFormat(args []string) string {
	format := ""
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch kebab(name) {
		case "--":
			return format
		case "--json":
			format = "json"
		case "-o", "--output-format":
			if !given && i+1 < len(args) {
				value = args[i+1]
			}
			format = value
		}
	}
	return format
}
