package hook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemline/engine/text"
)

// An Event is a point in a session at which hooks run.
type Event string

// The events.
const (
	SessionStart        Event = "SessionStart"
	SessionEnd          Event = "SessionEnd"
	BeforeAgent         Event = "BeforeAgent"
	AfterAgent          Event = "AfterAgent"
	BeforeModel         Event = "BeforeModel"
	AfterModel          Event = "AfterModel"
	BeforeToolSelection Event = "BeforeToolSelection"
	BeforeTool          Event = "BeforeTool"
	AfterTool           Event = "AfterTool"
	PreCompress         Event = "PreCompress"
	Notification        Event = "Notification"
)

// Events are all events, in the order of a session.
var Events = []Event{SessionStart, BeforeAgent, BeforeModel, BeforeToolSelection, AfterModel,
	BeforeTool, Notification, AfterTool, AfterAgent, PreCompress, SessionEnd}

// CanBlock reports whether a hook of e can block an action.
func (e Event) CanBlock() bool {
	return slices.Contains([]Event{BeforeAgent, AfterAgent, BeforeModel, AfterModel, BeforeTool, AfterTool}, e)
}

// Guards reports whether hooks of e can prevent a prompt, a request or a call.
func (e Event) Guards() bool {
	return slices.Contains([]Event{BeforeAgent, BeforeModel, BeforeTool}, e)
}

// A Source is the origin of a hook. Hooks of the first source run first.
type Source int

// The sources.
const (
	Project Source = iota
	User
	System
	Extension
)

// String returns the source in a word.
func (s Source) String() string {
	return [...]string{"project", "user", "system", "extension"}[s]
}

// A Hook is a command that runs at an event.
type Hook struct {
	Event       Event             `json:"event"`
	Matcher     string            `json:"matcher,omitempty"` // "" and "*" match all
	Sequential  bool              `json:"sequential,omitempty"`
	Name        string            `json:"name,omitempty"`
	Command     string            `json:"command"`
	Description string            `json:"description,omitempty"`
	Timeout     time.Duration     `json:"-"`
	Env         map[string]string `json:"env,omitempty"`
	Source      Source            `json:"-"`
	File        string            `json:"file"` // the file of settings
}

// ID returns the hook's id for the user: its name, or else its command.
func (h Hook) ID() string { return cmp.Or(h.Name, h.Command) }

// key identifies a hook: two hooks of an event with one key are the same.
func (h Hook) key() string { return h.Name + ":" + h.Command }

// timeout is how long a hook without a limit of its own may run.
const timeout = time.Minute

// A Problem is a mistake in a hook of a file.
type Problem struct {
	Event     Event
	StillRuns bool   // the hook runs all the same, in the way that Text says
	Empty     bool   // there is no command
	Text      string // with the file that sets the hook, and the line if it is known
}

// Unguarded reports whether an action may happen that the hook was meant to block.
func (p Problem) Unguarded() bool { return p.Event.CanBlock() && !p.StillRuns && !p.Empty }

// A File is a file that sets hooks.
type File struct {
	Path string
	Line func(path ...string) int // the line of a key below "hooks", 0 if unknown; may be nil
}

// Parse returns the hooks of a file of settings: value is its object "hooks", with the
// groups of each event.
func Parse(value any, source Source, file File) (hooks []Hook, wrong []Problem) {
	p := parser{file: file}
	events, ok := value.(map[string]any)
	if !ok {
		p.broken(value, "it is not an object")
		p.wrong[0].Event = BeforeTool // hooks of any event may have been meant
		return nil, p.wrong
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		groups, ok := events[name].([]any)
		p.event, p.path, p.seconds = Event(name), []string{name}, false
		if e := ClaudeEvents[name]; e != "" && string(e) != name {
			p.event, p.seconds = e, true
		}
		for _, e := range Events { // before_tool, beforeTool
			if strings.EqualFold(strings.ReplaceAll(name, "_", ""), string(e)) {
				p.event = e
			}
		}
		switch {
		case slices.Contains([]string{"enabled", "disabled", "notifications"}, name): // keys of older versions
			continue
		case !slices.Contains(Events, p.event):
			p.complain(false, "there is no such event; its hooks do not run")
			continue
		case !ok:
			p.broken(events[name], "it is not a list")
			continue
		}
		for i, g := range groups {
			p.path = []string{name, strconv.Itoa(i)}
			hooks = append(hooks, p.group(i+1, g, source)...)
		}
	}
	return hooks, p.wrong
}

// A parser reads the hooks of a file, and collects problems.
type parser struct {
	file    File
	event   Event
	path    []string // of the value that is read
	seconds bool     // the event has Claude Code's name, so timeouts are in seconds
	wrong   []Problem
}

// complain records a problem with the value at the path, or at a key below it.
func (p *parser) complain(runs bool, format string, args ...any) {
	at := p.file.Path
	if p.file.Line != nil {
		if line := p.file.Line(p.path...); line > 0 {
			at += ":" + strconv.Itoa(line)
		}
	}
	at += ": " + strings.TrimSuffix("hooks."+string(p.event), ".") + ": "
	p.wrong = append(p.wrong, Problem{Event: p.event, StillRuns: runs, Text: at + fmt.Sprintf(format, args...)})
}

// broken records a problem with a value that results in no hook.
func (p *parser) broken(value any, format string, args ...any) {
	p.complain(false, format, args...)
	p.wrong[len(p.wrong)-1].Empty = empty(value)
}

// empty reports whether a value has no command under any key, but at most descriptions.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !empty(v) })
	case map[string]any:
		for key, v := range v {
			about := slices.Contains([]string{"matcher", "sequential", "name", "description", "timeout", "env"}, key)
			if !about && !(key == "type" && v == "command") && !empty(v) {
				return false
			}
		}
		return true
	}
	return false
}

// group returns the hooks of a group, the n-th of its event.
func (p *parser) group(n int, value any, source Source) (hooks []Hook) {
	group, ok := value.(map[string]any)
	list, isList := group["hooks"].([]any)
	if command, is := group["command"].(string); is && command != "" && group["hooks"] == nil {
		list, isList = []any{group}, true // a hook in the place of its group
	}
	if !ok || !isList {
		p.broken(value, "item %d has no list of hooks", n)
		return nil
	}
	matcher, isText := group["matcher"].(string)
	if group["matcher"] != nil && !isText {
		p.complain(true, "the matcher of item %d is no text; its hooks run for all", n)
	}
	sequential, _ := group["sequential"].(bool)
	if group["hooks"] != nil {
		p.misread(n, group, groupFields, source)
	}
	for _, v := range list {
		if p.seconds {
			v = inMilliseconds(v)
		}
		h, err := parse(v)
		if err != nil {
			p.broken(v, "item %d: %v", n, err)
			continue
		}
		h.Event, h.Matcher = p.event, matcher
		if h.byName() {
			h.Matcher, _ = ToolMatcher(matcher)
		}
		h.Sequential, h.Source, h.File = sequential, source, p.file.Path
		if why := hasty(h, v); why != "" {
			p.complain(true, "item %d: %s", n, why)
		}
		p.misread(n, v.(map[string]any), hookFields, source)
		hooks = append(hooks, h)
	}
	if len(hooks) > 0 {
		if why := misfit(hooks[0], matcher); why != "" {
			p.complain(true, "the matcher %.100q %s", matcher, why)
		}
	}
	return hooks
}

// groupFields and hookFields are the keys of a group of hooks and of a hook, which may take the
// place of its group. They have the types of the values that are checked nowhere else.
var (
	groupFields = map[string]string{"matcher": "", "sequential": "true or false", "hooks": ""}
	hookFields  = map[string]string{"type": "", "command": "", "timeout": "", "matcher": "", "sequential": "true or false",
		"name": "a string", "description": "a string", "env": "an object"}
)

// misread records the values of a group, or of a hook in it, that are not understood. The hook
// runs nevertheless. An extension may have keys for other programs.
func (p *parser) misread(n int, object map[string]any, fields map[string]string, source Source) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		kind, known := fields[key]
		is := map[string]bool{}
		switch v := object[key].(type) {
		case string:
			is["a string"] = true
		case bool:
			is["true or false"] = true
		case map[string]any:
			is["an object"] = true
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if _, ok := variable(v[name]); !ok && key == "env" {
					p.complain(true, "item %d: env.%.40s must be a string; it is not set", n, name)
				}
			}
		}
		switch near := text.Nearest(key, slices.Sorted(maps.Keys(fields))); {
		case !known && near != "":
			p.complain(true, "item %d: %.40q is no key of a hook; did you mean %s?", n, key, near)
		case !known && source != Extension:
			p.complain(true, "item %d: %.40q is no key of a hook", n, key)
		case kind != "" && object[key] != nil && !is[kind]:
			p.complain(true, "item %d: its %s must be %s, and is passed over", n, key, kind)
		}
	}
}

// variable returns the text of an environment variable for a hook.
func variable(value any) (text string, ok bool) {
	switch value.(type) {
	case nil, []any, map[string]any:
		return "", false
	}
	return fmt.Sprint(value), true
}

// hasty describes a timeout that is too short for the start of a command, perhaps meant in
// seconds, or that is no number.
func hasty(h Hook, value any) string {
	const least = 100 * time.Millisecond
	said := value.(map[string]any)["timeout"]
	n, err := milliseconds(said)
	switch ms := timeout.Milliseconds(); {
	case said == nil || h.Timeout >= least && h.Timeout != timeout:
		return ""
	case h.Timeout < least:
		return fmt.Sprintf("its timeout of %v is in ms; %[1]v s are %v", n, 1000*n)
	case err == nil && n == float64(ms):
		return ""
	default:
		return fmt.Sprintf("its timeout %.40q is no number of ms; it has %d ms", fmt.Sprint(said), ms)
	}
}

// inMilliseconds converts the timeout of a hook from seconds to milliseconds.
func inMilliseconds(value any) any {
	h, _ := value.(map[string]any)
	seconds, err := milliseconds(h["timeout"])
	if err != nil {
		return value
	}
	h = maps.Clone(h)
	h["timeout"] = 1000 * seconds
	return h
}

// milliseconds returns a timeout as a number.
func milliseconds(value any) (ms float64, err error) {
	return strconv.ParseFloat(fmt.Sprint(value), 64)
}

func parse(value any) (h Hook, err error) {
	v, _ := value.(map[string]any)
	said := func(key string) string { s, _ := v[key].(string); return s }
	h = Hook{Name: said("name"), Command: said("command"), Description: said("description"), Timeout: timeout}
	switch kind := said("type"); {
	case v == nil:
		return h, fmt.Errorf("a hook is not an object")
	case kind != "command" && (v["type"] != nil || h.Command == ""):
		return h, fmt.Errorf("a hook of the type %q can't be run, only commands can", kind)
	case h.Command == "":
		return h, fmt.Errorf("a hook has no command")
	}
	if ms, err := milliseconds(v["timeout"]); err == nil && ms > 0 {
		h.Timeout = time.Duration(min(ms, float64(24*time.Hour/time.Millisecond)) * float64(time.Millisecond))
	}
	env, _ := v["env"].(map[string]any)
	for name, value := range env {
		if h.Env == nil {
			h.Env = map[string]string{}
		}
		if text, ok := variable(value); ok {
			h.Env[name] = text
		}
	}
	return h, nil
}

// byName reports whether h's matcher matches names of tools.
func (h Hook) byName() bool { return h.Event == BeforeTool || h.Event == AfterTool }

// Matches reports whether h matches subject: the name of a tool, the source of a session or the
// reason of its end, or the trigger of a compression.
func (h Hook) Matches(subject string) bool {
	matcher := strings.TrimSpace(h.Matcher)
	if matcher == "" || matcher == "*" {
		return true
	}
	if h.byName() {
		return slices.ContainsFunc(alternatives(matcher), func(a alternative) bool { return a.matches(subject) })
	}
	return subjects[h.Event] == nil || matcher == subject
}

// subjects are the values that matchers match at events without a tool.
var subjects = map[Event][]string{SessionStart: {"startup", "resume", "clear"}, SessionEnd: {"exit", "clear", "other"},
	PreCompress: {"auto", "manual"}}

// Matching returns the hooks that run at e for subject, in the order of their sources. If hooks
// have the same key, the first in the list runs.
func Matching(hooks []Hook, e Event, subject string) []Hook {
	var out []Hook
	for _, h := range hooks {
		same := func(o Hook) bool { return o.key() == h.key() }
		if h.Event == e && h.Matches(subject) && !slices.ContainsFunc(out, same) {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Hook) int { return cmp.Compare(a.Source, b.Source) })
	return out
}
