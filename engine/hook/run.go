package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Process is the command of a hook as it is run.
type Process struct {
	Hook    Hook
	Command string // with quoted variables
	Env     []string
	Input   []byte
}

// An Outcome is how a Process ended.
type Outcome struct {
	Stdout, Stderr string
	Code           int
	Signal         string // the signal that ended it, else empty
	TimedOut       bool   // it ran longer than its Timeout, and was ended
	IgnoredOutput  string // the reason why its output does not count, else empty
	Err            error  // why it did not start, or was not allowed to
}

// failed reports whether the process failed, so that its output is no answer.
func (o Outcome) failed() bool { return o.Err != nil || o.TimedOut || o.Signal != "" }

// missing reports whether the shell could not run the command.
func (o Outcome) missing() bool { return o.Code == 126 || o.Code == 127 }

// Status describes the failure of a process, "" if it succeeded.
func (o Outcome) Status(h Hook) string {
	switch {
	case o.Err != nil:
		return o.Err.Error()
	case o.TimedOut:
		return fmt.Sprintf("Hook timed out after %dms", h.Timeout.Milliseconds())
	case o.Signal != "":
		return "it was ended by " + o.Signal
	case o.IgnoredOutput != "":
		return o.IgnoredOutput + ", so its answer is not used"
	case o.misread() != "":
		return o.misread()
	case o.ineffective(h.Event):
		return "its stop or block has no effect at this event"
	case o.Code != 0:
		return fmt.Sprintf("exit %d", o.Code)
	}
	return ""
}

// ineffective reports whether the output has a stop or a block, and e allows neither.
func (o Outcome) ineffective(e Event) bool {
	object, _ := parseJSON(o.output())
	a := newAnswer(object)
	return !e.CanBlock() && (a.Stop || a.Decision == block)
}

// ErrChanged is the reason why a project's hook no longer runs in this session. The user is asked
// about a call that the hook guards; a prompt or a request is blocked.
var ErrChanged = errors.New("it has changed since it was agreed to; the next session asks about it")

// A Runner runs the commands of hooks. It must be safe for concurrent use.
type Runner func(ctx context.Context, p Process) Outcome

// A Call is the record of a hook's run.
type Call struct {
	Hook    Hook
	Input   []byte
	Answer  Answer
	Outcome Outcome
	Start   time.Time
	Took    time.Duration
}

// A Session has the properties of a session that hooks get.
type Session struct {
	ID, Transcript string // Transcript is the path of its file
	Cwd, Plans     string
}

// Config is what [Hooks] need from the world.
type Config struct {
	Hooks []Hook // of two equal hooks, the first counts

	// Enabled reports whether a hook is switched on; nil means that all are.
	Enabled func(Hook) bool

	Run     Runner
	Session func() Session

	// Record, if not nil, is called after every run of a hook. It must be safe for concurrent
	// use.
	Record func(Call)

	// Add puts a message of the user's into the history, and Clear empties it.
	Add   func(ctx context.Context, parts ...*genai.Part) error
	Clear func() error
}

// Hooks are the hooks of a conversation. A nil Hooks is empty.
type Hooks struct {
	cfg     Config
	tails   atomic.Int64 // the number of calls that replaced others
	notices notices
	stopped atomic.Pointer[end] // why the run must end; nil if it continues

	mu      sync.Mutex
	running []string // the names of the running hooks
}

// New returns the hooks of a conversation.
func New(cfg Config) *Hooks {
	return &Hooks{cfg: cfg, notices: notices{failing: map[string]bool{}}}
}

// any reports whether any of the events has a hook.
func (h *Hooks) any(events ...Event) bool {
	return h != nil && slices.ContainsFunc(h.cfg.Hooks, func(k Hook) bool { return slices.Contains(events, k.Event) })
}

// Start runs the hooks at the beginning of a session, and returns their context for the model
// before the first prompt, "" if there is none. The source is startup, resume or clear.
func (h *Hooks) Start(ctx context.Context, source string) string {
	return h.fire(ctx, SessionStart, source, fields{{"source", source}}).context()
}

// End runs the hooks at the end of a session, whose reason is exit or clear.
func (h *Hooks) End(ctx context.Context, reason string) {
	h.fire(ctx, SessionEnd, reason, fields{{"reason", reason}})
}

// Compress runs the hooks of a compression, whose trigger is auto or manual.
func (h *Hooks) Compress(ctx context.Context, trigger string) {
	h.fire(ctx, PreCompress, trigger, fields{{"trigger", trigger}})
}

// A field is a member of the object that a hook reads. Fields keep their order.
type field struct {
	name  string
	value any
}

type fields []field

// get returns the value of a field.
func (f fields) get(name string) any {
	for _, x := range f {
		if x.name == name {
			return x.value
		}
	}
	return nil
}

// with returns f with another value for the field name.
func (f fields) with(name string, value any) fields {
	out := slices.Clone(f)
	for i := range out {
		if out[i].name == name {
			out[i].value = value
		}
	}
	return out
}

func (f fields) json() []byte {
	var b bytes.Buffer
	for i, x := range f {
		b.WriteString([...]string{"{", ","}[min(i, 1)])
		fmt.Fprintf(&b, "%q:", x.name)
		value, err := text.JSON(x.value, "")
		if err != nil {
			value = []byte("null")
		}
		b.Write(bytes.TrimSpace(value))
	}
	b.WriteString("}")
	return b.Bytes()
}

// input returns the input of a hook of e in s at now; more are the members that only this event
// has.
func input(s Session, e Event, now time.Time, more fields) fields {
	return append(fields{{"session_id", s.ID}, {"transcript_path", s.Transcript}, {"cwd", s.Cwd},
		{"hook_event_name", string(e)}, {"timestamp", text.Timestamp(now)}}, more...)
}

// atOnce is the maximum number of hooks of an event that run concurrently.
const atOnce = 16

// fire runs the hooks of an event and returns their joint answer.
func (h *Hooks) fire(ctx context.Context, e Event, subject string, more fields) Answer {
	return h.settle(ctx, e, h.calls(ctx, e, subject, more))
}

// calls runs the hooks of an event.
func (h *Hooks) calls(ctx context.Context, e Event, subject string, more fields) []Call {
	if !h.any(e) {
		return nil
	}
	hooks := Matching(h.cfg.Hooks, e, subject)
	hooks = slices.DeleteFunc(hooks, func(k Hook) bool { return h.cfg.Enabled != nil && !h.cfg.Enabled(k) })
	if len(hooks) == 0 {
		return nil
	}
	calls := make([]Call, len(hooks))
	in := input(h.cfg.Session(), e, time.Now(), more)
	if slices.ContainsFunc(hooks, func(k Hook) bool { return k.Sequential }) {
		for i, k := range hooks {
			if ctx.Err() != nil {
				return calls[:i]
			}
			calls[i] = h.call(ctx, k, in)
			if calls[i].Outcome.Code == 0 && !calls[i].Outcome.failed() {
				in = chained(e, in, calls[i].Answer)
			}
		}
		return calls
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, k := range hooks {
		slots <- struct{}{}
		wg.Go(func() { calls[i] = h.call(ctx, k, in); <-slots })
	}
	wg.Wait()
	return calls
}

// settle shows the user the messages of an event's hooks, and returns their joint answer.
func (h *Hooks) settle(ctx context.Context, e Event, calls []Call) Answer {
	if len(calls) == 0 || ctx.Err() != nil { // the answers of cancelled hooks don't count
		return Answer{}
	}
	var answers []Answer
	for _, c := range calls {
		answer, ok := c.answer()
		if e == AfterAgent && c.Outcome.missing() { // the model could not fix it
			answer, ok = Answer{Reason: answer.Reason}, false
		}
		status := c.Outcome.Status(c.Hook)
		said := answer.Message != "" && c.Outcome.misread() == "" && !c.Outcome.ineffective(e) || answer.Decision == block && e.CanBlock() &&
			(c.Outcome.misread() == "" || strings.HasSuffix(answer.Reason, status))
		if status != "" && !said && h.notices.first(c.Hook, status) {
			if why := cmp.Or(answer.StopReason, answer.Reason); why != "" && !strings.HasSuffix(why, status) {
				status += ": " + why
			}
			h.notices.warn("hook %s failed at %s: %s", name(c.Hook), e, status)
		}
		if !ok {
			continue
		}
		message, warning := strings.CutPrefix(answer.Message, warningMark)
		for line := range strings.Lines(text.Shorten(message, longest)) {
			if line = strings.TrimSpace(line); line != "" {
				h.notices.keep(engine.Notice{Info: !warning, Text: "hook " + name(c.Hook) + ": " + line})
			}
		}
		answer.HookNames = name(c.Hook)
		answers = append(answers, answer)
	}
	return united(e, answers)
}

// name returns a hook's name in messages.
func name(k Hook) string {
	const most = 60
	return text.OneLine(k.ID(), most)
}

// begin marks a hook as running until end is called.
func (h *Hooks) begin(name string) (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, name)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		at := slices.Index(h.running, name)
		h.running = slices.Delete(h.running, at, at+1)
	}
}

// Running returns the name of the running hook that began first, "" if none is running.
func (h *Hooks) Running() string {
	if h == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.running) == 0 {
		return ""
	}
	return h.running[0]
}

// call runs one hook.
func (h *Hooks) call(ctx context.Context, k Hook, in fields) Call {
	c := Call{Hook: k, Input: in.json(), Start: time.Now()}
	defer h.begin(name(k))()
	c.Outcome = h.cfg.Run(ctx, process(h.cfg.Session(), k, c.Input))
	c.Took = time.Since(c.Start)
	c.Answer, _ = c.answer()
	if h.cfg.Record != nil {
		h.cfg.Record(c)
	}
	return c
}

// process returns the command of a hook, with the session's properties in its environment. No
// value is inserted into the text of the command: the shell would run it.
func process(s Session, k Hook, input []byte) Process {
	p := Process{Hook: k, Input: input, Command: worded(k.Command)}
	for v := range slices.Chunk([]string{"GEMINI_PROJECT_DIR", s.Cwd, "GEMINI_CWD", s.Cwd, "GEMINI_PLANS_DIR", s.Plans,
		"GEMINI_SESSION_ID", s.ID, "CLAUDE_PROJECT_DIR", s.Cwd}, 2) {
		p.Env = append(p.Env, v[0]+"="+v[1])
	}
	for name, value := range k.Env {
		p.Env = append(p.Env, name+"="+value)
	}
	return p
}

// chained returns the input of the next hook, for hooks that run in sequence.
func chained(e Event, in fields, a Answer) fields {
	switch e {
	case BeforeAgent:
		if more := a.text("additionalContext"); more != "" {
			prompt, _ := in.get("prompt").(string)
			return in.with("prompt", prompt+"\n\n"+more)
		}
	case BeforeModel:
		if changes := a.object("llm_request"); changes != nil {
			request, _ := in.get("llm_request").(modelRequest)
			request, _ = request.with(changes)
			return in.with("llm_request", request)
		}
	case BeforeTool:
		if changes := a.object("tool_input"); changes != nil {
			args, _ := in.get("tool_input").(map[string]any)
			return in.with("tool_input", merged(args, changes))
		}
	}
	return in
}

// worded returns a command with quotes around the variables that gemline sets. Each is then a
// single word, as in the Gemini CLI, even if a directory has a blank in its name.
func worded(command string) string {
	if strings.Contains(command, "<<") { // in a here-document, quotes would become text
		return command
	}
	var b strings.Builder
	at := 0
	for _, piece := range append(quoted().FindAllStringIndex(command, -1), []int{len(command), len(command)}) {
		b.WriteString(ownVariables().ReplaceAllString(command[at:piece[0]], `"${0}"`))
		b.WriteString(command[piece[0]:piece[1]])
		at = piece[1]
	}
	return b.String()
}

// quoted matches quoted text, and characters that a backslash quotes.
var quoted = text.Pattern(`\\.|"(?:\\.|[^"\\])*"|'[^']*'`)

// ownVariables matches the variables that gemline sets for a session and for an extension.
var ownVariables = text.Pattern(`\$(?:` + ownNames + `\b|\{` + ownNames + `\})`)

const ownNames = `(?:GEMINI_PROJECT_DIR|GEMINI_CWD|GEMINI_PLANS_DIR|GEMINI_SESSION_ID|CLAUDE_PROJECT_DIR|extensionPath|workspacePath)`
