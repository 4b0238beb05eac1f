package policy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"gemline/engine"
)

// A Tier is the origin of a rule. Among rules that allow or ask, the rule of the highest tier
// wins. Extensions and projects can only narrow the permissions of the others.
type Tier int

// The tiers, the weakest first. The zero Tier is none.
const (
	BuiltIn Tier = iota + 1
	Extension
	Project
	User
	Admin
)

// String returns the tier in a word.
func (t Tier) String() string {
	return [...]string{"none", "built-in", "extension", "project", "user", "admin"}[t]
}

// narrows reports whether rules of the tier can only narrow permissions.
func (t Tier) narrows() bool { return t == Extension || t == Project }

// deniesFirst reports whether a denial of the tier precedes all other rules.
func (t Tier) deniesFirst() bool { return t == User || t == Admin }

// Shell is the name by which rules are about commands, whichever tool runs them.
const Shell = "run_shell_command"

// saved is the priority of rules from answers "always".
const saved = 950

// A Rule is a verdict on the calls that it matches. The zero Rule matches none.
type Rule struct {
	Tier   Tier
	Origin Origin

	Tools       []string      // names and patterns
	Kinds       []engine.Kind // nil for all
	Server      string        // an MCP server, * for any server, empty for any tool
	Annotations map[string]any
	Commands    Commands
	Args        *regexp.Regexp // matches the arguments as JSON; nil for all
	Target      string         // the call's target in the tool's words, in a rule that allows; empty for all
	When        When

	// Network says that a rule that allows also covers calls that ask for the network, and
	// that any other rule covers only these calls.
	Network bool

	Verdict  engine.Verdict
	Priority int    // 0 to 999, the strongest last
	Message  string // for the model, when the rule denies

	except []Rule // exceptions: a rule that denies matches no call that they match
}

// An Origin is the place of a rule.
type Origin struct {
	File string // the file's name, for messages
	Line int    // 0 if File is no file
	text string // the rule as written, if not in a file of rules
}

// Commands are the commands that a rule applies to. The zero Commands are all.
type Commands struct {
	Prefixes   [][]string     // words that a command begins with; nil for all commands
	Pattern    *regexp.Regexp // what a command begins with; nil for all
	exact      *regexp.Regexp // Pattern up to the end of a word
	Line       string         // a whole command line, in a rule that allows; empty for all
	Dir        string         // the directory in which Line runs; empty for any
	Safe       bool           // only commands that are safe, and confined
	Revertible bool           // only commands whose changes can be undone
}

// When says in which modes, and for which caller, a rule applies. The zero When is always.
type When struct {
	Modes       []Mode // nil for all
	Interactive *bool  // nil for both
	Agent       string // the agent that calls the tool; empty for all
}

// Where names the rule by its place.
func (r *Rule) Where() string {
	o := r.Origin
	at := o.File
	if o.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, o.Line)
	}
	if o.text != "" {
		at += ", " + o.text
	}
	return at
}

// Learned reports whether the rule comes from an answer "always".
func (r Rule) Learned() bool {
	return r.Tier == User && r.Verdict == engine.Allow && r.Priority == saved
}

// bounded reports whether the rule applies only to some calls of a tool.
func (r *Rule) bounded() bool {
	c := &r.Commands
	return c.Prefixes != nil || c.Pattern != nil || c.Line != "" || c.Safe || c.Revertible ||
		r.Args != nil || r.Target != "" || r.except != nil || r.Network
}

// coversRights reports whether the rule covers calls that request the rights x. A rule that
// allows grants only its own rights.
func (r *Rule) coversRights(x engine.Rights) bool {
	if r.Verdict != engine.Allow {
		return !r.Network || x.Network
	}
	if r.Tier == BuiltIn && r.Network { // further paths, too, unless hidden or protected
		return !x.Protected && len(x.Read) == 0
	}
	return x.Empty() || r.Network && !x.HasPaths()
}

// rank orders rules, the strongest last.
func (r *Rule) rank() int { return int(r.Tier)*1000 + r.Priority }

// stronger returns the rule that takes precedence. Among rules of equal rank this is the stricter
// rule, and then a rule about arguments, which may apply to a whole call. The order of rules does
// not matter.
func stronger(a, b *Rule) *Rule {
	if a == nil || b != nil && cmp.Or(cmp.Compare(b.rank(), a.rank()),
		cmp.Compare(strictness(b.Verdict), strictness(a.Verdict)), cmp.Compare(b.broad(), a.broad())) > 0 {
		return b
	}
	return a
}

// broad is 1 if the rule is about arguments, else 0.
func (r *Rule) broad() int {
	if r.Args != nil {
		return 1
	}
	return 0
}

// stricter returns the stricter rule, or a if both are equally strict.
func stricter(a, b *Rule) *Rule {
	if a == nil || b != nil && strictness(b.Verdict) > strictness(a.Verdict) {
		return b
	}
	return a
}

func strictness(v engine.Verdict) int {
	return map[engine.Verdict]int{engine.Allow: 0, engine.Ask: 1, engine.Deny: 2}[v]
}

// verdicts are the words for verdicts in files of rules.
var verdicts = map[string]engine.Verdict{"allow": engine.Allow, "ask_user": engine.Ask, "deny": engine.Deny}

// VerdictName returns the word for a verdict in files of rules.
func VerdictName(v engine.Verdict) string {
	for word, is := range verdicts {
		if is == v {
			return word
		}
	}
	return "ask_user"
}

// kinds are the words for kinds of tools in files of rules.
var kinds = map[string]engine.Kind{"other": engine.Other, "read": engine.Read,
	"search": engine.Search, "fetch": engine.Fetch,
	"think": engine.Think, "edit": engine.Edit, "execute": engine.Execute,
	"converse": engine.AskUser, "plan": engine.Planning, "query": engine.Query}

// modeWords are the words for modes in files of rules. Two words are for the same mode.
var modeWords = map[string]Mode{"default": Default, "autoEdit": AutoEdit, "auto_edit": AutoEdit,
	"auto": Auto, "yolo": Yolo, "plan": Plan}

// oldNames are the former names of tools, which other programs may still use.
var oldNames = map[string][]string{
	Shell:               {"ShellTool", "shell"},
	"read_file":         {"ReadFileTool"},
	"read_many_files":   {"ReadManyFilesTool"},
	"write_file":        {"WriteFileTool"},
	"replace":           {"EditTool", "edit"},
	"list_directory":    {"LSTool", "ls"},
	"glob":              {"GlobTool", "FindFiles"},
	"grep_search":       {"search_file_content", "GrepTool", "RipGrepTool"},
	"web_fetch":         {"WebFetchTool"},
	"google_web_search": {"WebSearchTool"},
	"write_todos":       {"WriteTodosTool"},
}

// OldNames returns the former names of the tool called name, which other programs may still use.
func OldNames(name string) []string { return oldNames[name] }

// otherTools are the names of further tools, here or in other programs.
var otherTools = []string{"ask_user", "save_memory", "list_background_processes",
	"read_background_output", "activate_skill", "enter_plan_mode",
	"exit_plan_mode", invokeAgent, "update_topic", "complete_task", "codebase_investigator", "cli_help", "get_internal_docs",
	"read_mcp_resource", "list_mcp_resources", "mcp_sampling"}

// agents are the otherTools that invoke_agent calls.
var agents = []string{"codebase_investigator", "cli_help"}

// Misspelled returns the tool with a name similar to a misspelled name, "" if there is none. A
// name without a similar name may belong to a future tool.
func Misspelled(name string) (near string) {
	if near := foreign(name); near != "" {
		return near
	}
	if len(name) < 5 || strings.HasSuffix(name, "*") || slices.Contains(otherTools, name) {
		return ""
	}
	for _, known := range append(slices.Sorted(maps.Keys(oldNames)), otherTools...) {
		if sameTool(name, known) {
			return ""
		}
		if levenshtein.ComputeDistance(name, known) <= 3 || near == "" && strings.HasPrefix(known, name+"_") {
			near = known
		}
	}
	return near
}

// sameTool reports whether a name in a rule is the tool's name.
func sameTool(pattern, name string) bool {
	return pattern == name || slices.Contains(oldNames[name], pattern)
}

// About describes the rule on one line.
func (r *Rule) About() string {
	parts := []string{strings.Join(r.Tools, ", ")}
	add := func(name string, list ...string) {
		if len(list) > 0 && list[0] != "" {
			parts = append(parts, name+" "+strings.Join(list, ", "))
		}
	}
	c, w := r.Commands, r.When
	var prefixes []string
	for _, p := range c.Prefixes {
		prefixes = append(prefixes, quotedWords(p))
	}
	add("commands", prefixes...)
	if c.Pattern != nil {
		add("commands like", strings.TrimSuffix(strings.TrimPrefix(c.Pattern.String(), "^(?:"), ")"))
	}
	if r.Args != nil {
		add("arguments like", r.Args.String())
	}
	if c.Line != "" {
		add("the command line", quoted(c.Line))
		add("in", c.Dir)
	}
	add("of", r.Target)
	if c.Safe {
		add("commands", "that only look")
	}
	if c.Revertible {
		add("commands", "that can be taken back")
	}
	var kinds, modes []string
	for _, k := range r.Kinds {
		kinds = append(kinds, k.String())
	}
	for _, m := range w.Modes {
		modes = append(modes, string(m))
	}
	add("of kind", kinds...)
	add("of server", r.Server)
	add("called by", w.Agent)
	add("in mode", modes...)
	if w.Interactive != nil {
		add(map[bool]string{true: "with", false: "without"}[*w.Interactive], "a user")
	}
	if r.Network {
		add("with", "the network")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Annotations)) {
		add("annotated", fmt.Sprintf("%s=%v", name, r.Annotations[name]))
	}
	for i := range r.except {
		add("but not", r.except[i].About())
	}
	return oneLine(strings.Join(parts, "; "))
}

// quotedWords returns words on one line, quoted if necessary.
func quotedWords(words []string) string {
	var list []engine.Word
	for _, w := range words {
		list = append(list, engine.Word{Text: w, Known: true})
	}
	return engine.Quote(list)
}
