package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/hook"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/jsonc"
)

// Hooks are the hooks of the working directory.
type Hooks interface {
	// List returns all hooks, also hooks that do not run, and problems of unusable hooks.
	List() ([]ListedHook, []hook.Problem)

	// Try runs the hooks of an event with test input.
	Try(ctx context.Context, e hook.Event, subject string, input map[string]any) ([]hook.Call, error)

	// Turn switches a hook on or off in the running session.
	Turn(id string, on bool)
}

// A ListedHook is a hook in gemline hooks --json.
type ListedHook struct {
	hook.Hook
	Source  string `json:"source"` // project, user, system or extension
	Timeout int64  `json:"timeout_ms"`
	Enabled bool   `json:"enabled"`
	Rights  string `json:"rights"` // all, confined, none, or "" without a decision
}

// hooksCommand is gemline hooks.
type hooksCommand struct {
	List       hooksList    `cmd:"" default:"withargs" help:"List the hooks that are set, and which of them run." slash:"panel,list,show"`
	Test       hooksTest    `cmd:"" help:"Run the hooks of an event with a made-up input, and show their answers." slash:"test"`
	Enable     hooksTurn    `cmd:"" help:"Switch a hook on again." slash:"enable" rest:""`
	Disable    hooksTurn    `cmd:"" help:"Switch a hook off." slash:"disable" rest:""`
	EnableAll  hooksTurnAll `cmd:"" name:"enable-all" aliases:"enableall" help:"Switch all hooks on." slash:"enable-all,enableall"`
	DisableAll hooksTurnAll `cmd:"" name:"disable-all" aliases:"disableall" help:"Switch all hooks off." slash:"disable-all,disableall"`
	Migrate    hooksMigrate `cmd:"" help:"Take over the hooks of Claude Code's settings in this folder."`
}

type (
	hooksList struct{}

	hooksTest struct {
		Event   string `arg:"" complete:"event" help:"The event, such as BeforeTool."`
		Subject string `arg:"" optional:"" help:"What matchers look at, such as the name of a tool."`
		Input   string `placeholder:"JSON" help:"An object with values in place of the made-up ones."`
	}

	hooksTurn struct {
		Name string `arg:"" complete:"hook" help:"The hook's name, or its command if it has none."`
	}
	hooksTurnAll struct{}

	hooksMigrate struct {
		From bool `name:"from-claude" help:"From Claude Code, which is all there is."`
	}
)

// lines returns a hook's lines of the list.
func (h ListedHook) lines() []string {
	at := string(h.Event)
	if h.Matcher != "" {
		at += " of " + h.Matcher
	}
	lines := []string{fmt.Sprintf("%s: %s (%s, %s)", h.ID(), at, h.Source, h.state())}
	if h.Name != "" {
		lines = append(lines, "  "+h.Command)
	}
	return lines
}

// Run lists the hooks.
func (*hooksList) Run(out *Output, here *Folder, hooks Hooks) error {
	list, wrong := hooks.List()
	l := listingOf("hooks", list).add("problems", "not used: ")
	for _, p := range wrong {
		l.add("problems", map[bool]string{true: "to look at: ", false: "not used: "}[p.StillRuns], p.Text)
	}
	if why := here.unread(); why != "" {
		l.add("problems", "not used: ", why)
	}
	return out.list(l, "no hooks are set; gemline help hooks says how")
}

// unread says that the folder's settings are not read, "" if they are, or if there are none.
func (here *Folder) unread() string {
	path := here.Paths.Workspace("settings.json")
	if _, err := os.Stat(path); err != nil || here.Trusted || here.Paths.AtHome() {
		return ""
	}
	return text.PrintableLine(path) + ", since this folder is not trusted; gemline trust add trusts it"
}

// state describes whether and how the hook runs.
func (h ListedHook) state() string {
	switch {
	case !h.Enabled:
		return "switched off"
	case h.Rights == "all":
		return "runs with your rights"
	case h.Rights == "confined":
		return "runs like the commands of the model"
	case h.Rights == "none":
		return "never runs, as you have said; gemline trust remove takes that back"
	}
	return "does not run, since nobody has agreed to it as it is now"
}

// A triedHook is a hook in gemline hooks test --json.
type triedHook struct {
	Hook     string         `json:"hook"`
	Command  string         `json:"command"`
	ExitCode int            `json:"exit_code"`
	Failure  string         `json:"failure,omitempty"`
	Took     int64          `json:"duration_ms"`
	Stdout   string         `json:"stdout"`
	Stderr   string         `json:"stderr"`
	Continue bool           `json:"continue"`
	Decision string         `json:"decision,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Message  string         `json:"system_message,omitempty"`
	Specific map[string]any `json:"hook_specific_output,omitempty"`
}

// Run runs the hooks of an event.
func (c *hooksTest) Run(ctx context.Context, out *Output, here *Folder, hooks Hooks) error {
	e := hook.Event(c.Event)
	if !slices.Contains(hook.Events, e) {
		names := lists.Map(hook.Events, func(e hook.Event) string { return string(e) })
		return misused("%.100q is no event; there are %s", c.Event,
			strings.Join(names, ", "))
	}
	var input map[string]any
	if c.Input != "" && json.Unmarshal([]byte(c.Input), &input) != nil {
		return misused("--input needs an object of JSON")
	}
	calls, err := hooks.Try(ctx, e, c.Subject, input)
	if err != nil {
		return err
	}
	l := listingOf("hooks", lists.Map(calls, tried))
	l.doc["event"] = c.Event
	if len(calls) == 0 {
		l.lines = []string{"no hook that is switched on and agreed to runs then; gemline hooks list lists all"}
		if why := here.unread(); why != "" {
			l.lines = append(l.lines, "not used: "+why)
		}
	}
	return out.show(l.doc, l.lines...)
}

// tried returns the output of a hook, and how it ended.
func tried(call hook.Call) triedHook {
	a, o := call.Answer, call.Outcome
	t := triedHook{Hook: call.Hook.ID(), Command: call.Hook.Command, ExitCode: o.Code, Failure: o.Status(call.Hook),
		Took: call.Took.Milliseconds(), Stdout: o.Stdout, Stderr: o.Stderr,
		Continue: !a.Stop, Decision: a.Decision, Message: a.Message, Specific: a.Specific}
	if a.Stop || a.Decision != "" && a.Decision != "allow" {
		t.Reason = a.Why()
	}
	return t
}

// lines returns the output of a hook as text.
func (t triedHook) lines() []string {
	said := "says nothing"
	switch {
	case !t.Continue:
		said = "stops the run: " + t.Reason
	case t.Decision != "" && t.Reason != "":
		said = t.Decision + ": " + t.Reason
	case t.Decision != "":
		said = t.Decision
	case t.Message != "" || len(t.Specific) > 0:
		said = "has something to say"
	}
	how := cmp.Or(t.Failure, fmt.Sprintf("exit %d", t.ExitCode))
	lines := []string{fmt.Sprintf("%s: %s (%s, %d ms)", t.Hook, said, how, t.Took)}
	for l := range strings.Lines(t.Message) {
		lines = append(lines, "  message: "+strings.TrimSpace(l))
	}
	if len(t.Specific) > 0 {
		b, _ := text.JSON(t.Specific, "")
		lines = append(lines, "  "+string(b))
	}
	return lines
}

// Run switches all hooks on or off.
func (*hooksTurnAll) Run(ctx context.Context, out *Output, here *Folder, hooks Hooks, on toggle) error {
	return (&hooksTurn{}).Run(ctx, out, here, hooks, on)
}

// Run switches the hooks of a name on or off, or all for "": the project's hooks in its settings,
// others in the user's settings.
func (c *hooksTurn) Run(ctx context.Context, out *Output, here *Folder, hooks Hooks, on toggle) error {
	f := hookFamily(hooks)
	list := f.all
	if c.Name != "" {
		h, err := f.find(c.Name)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(o ListedHook) bool { return o.ID() != h.ID() })
	}
	slices.SortFunc(list, func(a, b ListedHook) int { return strings.Compare(a.ID(), b.ID()) })
	var lines []string
	for _, scope := range []settings.Scope{settings.User, settings.Workspace} {
		elsewhere := func(h ListedHook) bool {
			return (h.Source == hook.Project.String()) != (scope == settings.Workspace)
		}
		names := slices.Compact(lists.Map(slices.DeleteFunc(slices.Clone(list), elsewhere), ListedHook.ID))
		if len(names) == 0 {
			continue
		}
		exactly := func(a, b string) bool { return a == b }
		done, err := here.switchIn(ctx, scope, "hooksConfig.disabled", names, exactly, on)
		if err != nil {
			return err
		}
		for _, name := range names {
			hooks.Turn(name, bool(on))
			lines = append(lines, fmt.Sprintf("%s is %s, in %s", name, on, done.Path))
		}
	}
	ids := slices.Compact(lists.Map(list, ListedHook.ID))
	return out.listing(map[string]any{"hooks": ids, "enabled": on}, lines, "no hooks are set")
}

// Run writes the hooks of Claude Code's settings into the project's.
func (c *hooksMigrate) Run(ctx context.Context, out *Output, here *Folder) error {
	var doc *jsonc.Document
	var from string
	for _, name := range []string{"settings.local.json", "settings.json"} {
		from = here.Paths.Folder(".claude/" + name)
		b, err := os.ReadFile(from)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			doc, err = jsonc.Parse(from, b)
		}
		if err != nil {
			return err
		}
		break
	}
	if doc == nil {
		return fmt.Errorf("there is no .claude/settings.local.json and no .claude/settings.json here")
	}
	hooks, notes := fromClaude(doc.Tree)
	src, err := here.file(settings.Workspace)
	if err != nil {
		return err
	}
	old, err := written[map[string]any](src, "hooks")
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range hook.Events {
		added := hooks[e]
		if len(added) == 0 {
			continue
		}
		all, _ := old[string(e)].([]any)
		before := len(all)
		for _, g := range added {
			if !slices.ContainsFunc(all, func(o any) bool { return text.Compact(o) == text.Compact(g) }) {
				all = append(all, g)
			}
		}
		done, err := src.SetKey(ctx, "hooks."+string(e), all)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("hooks.%s: %d in %s", e, len(all)-before, done.Path)
		if len(all) == before {
			line = fmt.Sprintf("hooks.%s: all are in %s already", e, done.Path)
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 && !here.Trusted {
		notes = append(notes, unusedHere)
	}
	text.Each(notes, out.Notify)
	return out.listing(map[string]any{"from": from, "hooks": hooks, "notes": notes}, lines, from+" has no hooks")
}

// fromClaude converts the hooks in a settings file of Claude Code, by event, and returns notes for
// the user.
func fromClaude(tree map[string]any) (hooks map[hook.Event][]any, notes []string) {
	hooks = map[hook.Event][]any{}
	events, _ := tree["hooks"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(events)) {
		e, known := hook.ClaudeEvents[name]
		if !known {
			notes = append(notes, "there is no event for "+text.PrintableLine(name)+"; its hooks are left out")
			continue
		}
		groups, _ := events[name].([]any)
		for _, g := range groups {
			group, _ := g.(map[string]any)
			list, _ := group["hooks"].([]any)
			var out []any
			for _, v := range list {
				h, _ := v.(map[string]any)
				command, ok := h["command"].(string)
				if !ok {
					notes = append(notes, text.PrintableLine(name)+": a hook that is no command is left out")
					continue
				}
				command = strings.ReplaceAll(command, "$CLAUDE_PROJECT_DIR", "$GEMINI_PROJECT_DIR")
				moved := map[string]any{"type": "command", "command": command}
				if seconds, err := strconv.ParseFloat(fmt.Sprint(h["timeout"]), 64); err == nil {
					moved["timeout"] = seconds * 1000
				}
				out = append(out, moved)
			}
			if out == nil {
				continue
			}
			matcher, _ := group["matcher"].(string)
			matchers, unknown := fromClaudeMatcher(e, matcher)
			for _, tool := range unknown {
				notes = append(notes, text.PrintableLine(tool)+" in a matcher of "+name+" is no tool here; it matches nothing")
			}
			for _, matcher := range matchers {
				moved := map[string]any{"hooks": out}
				if matcher != "" {
					moved["matcher"] = matcher
				}
				hooks[e] = append(hooks[e], moved)
			}
		}
	}
	return hooks, notes
}

// fromClaudeMatcher converts a matcher of Claude Code for the event e. It also returns the tools
// that gemline lacks. A text that is no valid expression becomes a matcher for each of its words.
func fromClaudeMatcher(e hook.Event, matcher string) (matchers, unknown []string) {
	switch e {
	case hook.BeforeTool, hook.AfterTool:
		moved, unknown := hook.ToolMatcher(matcher)
		return []string{moved}, unknown
	case hook.SessionStart, hook.SessionEnd, hook.PreCompress:
		return strings.Split(matcher, "|"), nil
	}
	return []string{matcher}, nil
}
