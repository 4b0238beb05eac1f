package engine

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"
	"google.golang.org/genai"

	"gemline/engine/text"
)

// A Tool is a function that the model can call.
type Tool struct {
	// Declaration is what the model is told about the tool.
	Declaration *genai.FunctionDeclaration

	// OldName is the tool's former name, by which models may still call it; may be empty.
	OldName string

	// Label is the name that people read, such as "ReadFile".
	Label string

	// Kind is the class of the tool. KindOf, if not nil, returns the class of a call with
	// args.
	Kind   Kind
	KindOf func(args map[string]any) Kind

	// Parallel says that calls of kind Think keep no notes, and so may run side by side.
	Parallel bool

	// Server is the name of the MCP server that the tool comes from, empty for a tool of our
	// own, ServerTool the tool's name on the server, and Annotations are the server's claims
	// about the tool, which nobody has checked.
	Server      string
	ServerTool  string
	Annotations map[string]any

	// Origin describes the connection to the server, for hooks: command, args and cwd, or url.
	Origin map[string]any

	// Agent is the agent that the tool is declared to, empty for the user's conversation.
	Agent string

	// When reports whether the tool is available at the moment; nil means always. It is
	// called before every request.
	When func() bool

	// Fit, if not nil, returns args in the form that the tool takes, with types mended, and
	// a note to the model about arguments that were left out. It is called before anything else reads
	// the arguments. If Fit fails, Prepare gets args as they are and reports the error.
	Fit func(args map[string]any) (fitted map[string]any, note string, err error)

	// Prepare checks args and returns the call, ready to be judged. It may
	// read but never changes anything. Its error is for the model; beside an error only the
	// Title of the Call's Intent counts.
	Prepare func(ctx context.Context, args map[string]any) (Call, error)
}

// Name returns the name the model calls the tool by.
func (t Tool) Name() string { return t.Declaration.Name }

// Of returns t with the Kind of a call with args.
func (t Tool) Of(args map[string]any) Tool {
	if t.KindOf != nil {
		t.Kind = t.KindOf(args)
	}
	return t
}

// Fitted returns args in the form that t takes, and the note about arguments that were left out. If Fit
// fails, args are unchanged, and Prepare reports the error.
func (t Tool) Fitted(args map[string]any) (map[string]any, string) {
	if t.Fit == nil {
		return args, ""
	}
	fitted, note, err := t.Fit(args)
	if err != nil {
		return args, ""
	}
	return fitted, note
}

// A Call is one use of a Tool, checked but not yet run.
type Call struct {
	// Intent says what Run will do.
	Intent Intent

	// Args are the arguments that Run goes by, nil if they are the model's.
	Args map[string]any

	// Idle says that the call would change nothing. It runs without a question unless a rule
	// denies it.
	Idle bool

	// Rehearsed says that Run does not carry out the call, and at most collects its edits.
	Rehearsed bool

	// Run carries the call out. An error is for the model to read and never ends the
	// conversation; a Result beside an error holds the work done before the error. Run must
	// not use host after it has returned.
	Run func(ctx context.Context, host Host) (Result, error)

	// Extend, if not nil, adds the file changes since Run returned to the call's own changes:
	// hooks may change files after the call.
	Extend func(ctx context.Context)
}

// A Host offers a running Call the services of its runner. A [Proposal] without an ID is
// given the ID of the call.
type Host interface {
	Approver

	// Emit shows ev to the user, not to the model. An [Output] or [NestedEvent]
	// without an ID is given the ID of the call.
	Emit(ev Event)
}

// An Intent describes a call before it runs. The policy judges the Intent, the approver shows it,
// and the printer takes the call's title from it.
type Intent struct {
	Title  string   // one line, such as "edit main.go"
	Detail string   // the whole action: a diff, a command
	Paths  []string // absolute paths that will be touched
	Secret string   // the path whose content is shown and may hold secrets, as the user knows it
	Grants []Grant  // what "always" may mean here, narrowest first
	Ask    string   // why the user must be asked, whatever the policy says; else empty
	Draft  *Draft   // how the user may change the call, nil if they can't

	// Edit is the call's change of a text file, nil for other calls.
	Edit *TextEdit

	// Yes and No describe these answers, if they do more than allow or refuse the call.
	Yes, No string

	// Plan describes the programs that the call runs. It is empty if the call runs none.
	Plan Plan

	// Questions are what the call wants to know from the user. A running
	// call puts them by its [Host], and reads the Replies of the Answer.
	Questions []Question
}

// A TextEdit is a file before and after a call.
type TextEdit struct {
	Path          string // absolute
	Created       bool   // the call creates it
	Before, After string
}

// A Plan is the predicted effect of a call that runs programs.
type Plan struct {
	// Commands are the commands that may run, in order; Class says how well they are known,
	// and Why the reason if the class is not the best. Writes are the paths that
	// redirections, and programs such as cp, write to, as written: relative to Dir, the
	// working directory.
	Commands []Command
	Class    Class
	Why      string
	Writes   []string
	Dir      string

	// Confined reports whether the kernel, or another program, confines writes to the user's
	// workspace, and denies the network. Limits says what programs without Rights can do, such
	// as "have no network"; it is empty if they are not confined.
	Confined bool
	Limits   string

	// Rights are the rights that the call asks for beyond those of every call.
	Rights Rights

	// Failure is the previous attempt, if the call is proposed again.
	Failure FailedAttempt

	// Revertible reports whether the commands are confined, can neither write to guarded files
	// nor read files that may hold secrets, and change only files that can be restored.
	Revertible bool

	// MustAsk, called once the program's own rules allow the call, returns what the user must
	// be asked first, "" for nothing. It may be nil.
	MustAsk func(context.Context) string

	// IsReadOnly reports whether the commands are confined to read-only: they can write nothing,
	// have no network, and see no secrets.
	IsReadOnly bool

	// ReadOnlyArgs are the arguments of the same call as read-only, nil if it can't be offered.
	ReadOnlyArgs map[string]any

	// NetworkArgs are the arguments of the same call with the network, nil if it can't be offered,
	// and NetworkPrograms the programs that will need the network.
	NetworkArgs     map[string]any
	NetworkPrograms []string
}

// A FailedAttempt is a previous failed run of a call that is proposed again. The zero
// FailedAttempt means that there was none.
type FailedAttempt struct {
	// Reason names the missing rights; after a read-only attempt, it says why that failed.
	Reason   string
	ReadOnly bool // the attempt was read-only

	// Unwritable are the paths that the call could not write to, if the requested rights cover
	// more.
	Unwritable []string
}

// A Question is a question of the model to the user. Its words are the model's.
type Question struct {
	Header  string // its subject, in a word or two
	Text    string
	Kind    QuestionKind
	Options []Option // of a MultipleChoice
	Multi   bool     // of a MultipleChoice: several may be chosen
	Closed  bool     // of a MultipleChoice: only the options may be chosen
	Hint    string   // an example of an answer in words; may be empty
}

// An Option is one possible answer to a MultipleChoice.
type Option struct{ Label, Description string }

// QuestionKind is the form of the answer. A MultipleChoice that is
// not closed also accepts words beside the options.
type QuestionKind int

// The kinds of questions.
const (
	MultipleChoice QuestionKind = iota
	FreeText
	YesNo // the reply is [Yes] or [No]
)

// The replies to a YesNo question.
const (
	Yes = "Yes"
	No  = "No"
)

// A Draft lets the user change a proposal in an editor before allowing it.
type Draft struct {
	Name string                           // a file name, for the editor to choose a mode by
	Text string                           // the text to edit
	Args func(text string) map[string]any // the arguments of the changed call
}

// Kind is the class of what a tool does. The zero Kind is the least trusted.
type Kind int

// The kinds of tools.
const (
	Other    Kind = iota // unknown; asked about and run alone
	Read                 // reads files
	Search               // looks through files
	Fetch                // reads from the network
	Think                // changes only the model's own notes
	Edit                 // changes files
	Execute              // runs programs
	AskUser              // asks the user, and changes nothing
	Planning             // begins and ends planning, and changes nothing else
	Query                // queries a server; read-only according to the server
)

// String returns the kind in a word.
func (k Kind) String() string {
	return [...]string{"other", "read", "search", "fetch", "think", "edit", "execute", "converse", "plan", "query"}[k]
}

// ReadOnly reports whether calls of kind k change nothing but the model's own notes.
func (k Kind) ReadOnly() bool {
	return k == Read || k == Search || k == Fetch || k == Think || k == Query
}

// ServerPrefix returns the prefix of the names of an MCP server's tools.
func ServerPrefix(server string) string {
	return "mcp_" + strings.TrimPrefix(FunctionName(server), "mcp_") + "_"
}

// FunctionName returns s as a valid name of a function: other characters become underscores.
func FunctionName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-.:", r):
			return r
		}
		return '_'
	}, s)
}

// A Result is the outcome of a call: what the model reads and what the user
// sees, which are seldom the same.
type Result struct {
	Text    string        // for the model
	Media   []*genai.Part // images and the like, for the model
	Display string        // for the user; may be empty
	Changes []Change      // the changed files
	Cut     Cut           // of Text
	Verdict string        // the outcome, for the user; "" is ok
	Tails   []TailCall    // the calls that took its place, in order
}

// A TailCall is a call that replaced another and supplied its result.
type TailCall struct {
	Name    string
	Args    map[string]any
	State   CallState
	Display string // for the user
}

// A Cut says how much of an output the model gets. It is zero for a complete output.
type Cut struct {
	Total, Shown int // characters
}

// A Change counts what a call did to one file.
type Change struct {
	Path           string // absolute
	Created        bool   // the call created it
	Added, Removed int    // lines
}

// A CallError is the error of a failed call, with texts for the model and for the user.
type CallError struct {
	Type    string // the class of the failure, such as "file_not_found"
	Message string // for the model
	Display string // for the user; Message if empty

	// If nobody could be asked, MissingRights names the rights that the call lacked, "" if the
	// call itself needed approval, and Advice says how to grant them. Otherwise both are empty.
	MissingRights, Advice string

	Rule *Rule // of a call that a rule denies

	// Cause is the error that ended an agent's conversation inside the call, or nil.
	Cause error
}

// Error returns the message for the model.
func (e *CallError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Cause }

// Classes of failures that the engine itself reports; tools have their own.
const (
	PolicyViolation   = "policy_violation"
	InvalidToolParams = "invalid_tool_params"
	ToolNotRegistered = "tool_not_registered"
	ExecutionFailed   = "execution_failed"
	NeedsConfirmation = "unhandled_exception" // the wire name scripts know
)

// NoSpaceLeft is the class of failures for want of disk space, the only failures that end an
// unattended run.
const NoSpaceLeft = "no_space_left"

// A Toolset is a changing set of tools. The engine asks for it before each request.
type Toolset interface{ Tools() []Tool }

// Tools is a Toolset of its currently available tools.
type Tools []Tool

// Tools implements [Toolset].
func (ts Tools) Tools() []Tool {
	there := make([]Tool, 0, len(ts))
	for _, t := range ts {
		if t.When == nil || t.When() {
			there = append(there, t)
		}
	}
	return there
}

// Join returns the tools of all sets, one set after the other.
func Join(sets ...Toolset) Toolset { return joined(sets) }

type joined []Toolset

// Tools implements [Toolset].
func (j joined) Tools() (list []Tool) {
	for _, ts := range j {
		list = append(list, ts.Tools()...)
	}
	return list
}

// Map returns a Toolset of the current tools of ts, each wrapped by wrap.
func Map(ts Toolset, wrap func(Tool) Tool) Toolset { return mapped{ts, wrap} }

type mapped struct {
	set  Toolset
	wrap func(Tool) Tool
}

// Tools implements [Toolset].
func (m mapped) Tools() []Tool {
	tools := slices.Clone(m.set.Tools())
	for i, t := range tools {
		tools[i] = m.wrap(t)
	}
	return tools
}

// ReportTool is the name of the tool with which an agent submits its report.
const ReportTool = "complete_task"

// KindOf returns the kind of the named tool in ts, [Other] if ts has no such tool now.
func KindOf(ts Toolset, name string) Kind {
	return find(ts.Tools(), name).Kind
}

// declare tells the model about the tools that the policy offers.
func declare(tools []Tool, policy Policy) []*genai.Tool {
	var fds []*genai.FunctionDeclaration
	for _, t := range tools {
		if policy.Offers(t) {
			fds = append(fds, t.Declaration)
		}
	}
	if fds == nil {
		return nil
	}
	return []*genai.Tool{{FunctionDeclarations: fds}}
}

// find returns the named tool, the zero Tool if there is none.
func find(tools []Tool, name string) Tool {
	for _, t := range tools {
		if t.Name() == name {
			return t
		}
	}
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.OldName == name && name != "" })
	if i < 0 {
		return Tool{}
	}
	return tools[i]
}

// notFound answers a call of a tool that does not exist with the nearest names.
// Tools that a server has under this name come first, then names of a similar
// spelling. A very long name is compared and shown by its beginning.
func notFound(tools []Tool, name string) error {
	name = text.Shorten(name, 100)
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name()
	}
	distance := func(other string) int {
		if strings.HasSuffix(other, "_"+name) {
			return 0
		}
		return levenshtein.ComputeDistance(name, other)
	}
	sort.SliceStable(names, func(i, j int) bool { return distance(names[i]) < distance(names[j]) })
	msg := fmt.Sprintf("Tool %q not found.", name)
	switch names = names[:min(3, len(names))]; len(names) {
	case 0:
	case 1:
		msg += fmt.Sprintf(" Did you mean %q?", names[0])
	default:
		for i, n := range names {
			names[i] = fmt.Sprintf("%q", n)
		}
		msg += " Did you mean one of: " + strings.Join(names, ", ") + "?"
	}
	return &CallError{Type: ToolNotRegistered, Message: msg}
}

// size returns roughly how many bytes v takes on the wire.
func size(v any) int {
	b, _ := text.JSON(v, "") // a value that has no JSON form is not sent
	return len(b)
}
