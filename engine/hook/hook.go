package hook

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"time"
)

// An Event is when hooks run.
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

// Events are all events, in the order in which a session comes to them.
var Events = []Event{SessionStart, BeforeAgent, BeforeModel, BeforeToolSelection, AfterModel,
	BeforeTool, Notification, AfterTool, AfterAgent, PreCompress, SessionEnd}

// Blocks reports whether a hook of e can keep something from happening.
func (e Event) Blocks() bool {
	return slices.Contains([]Event{BeforeAgent, AfterAgent, BeforeModel, AfterModel, BeforeTool, AfterTool}, e)
}

// A Source is whose a hook is. Hooks of the first source run first.
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
	File        string            `json:"file"` // that sets it
}

// ID returns what the user calls the hook by: its name, or else its command.
func (h Hook) ID() string { return cmp.Or(h.Name, h.Command) }

// key returns what makes two hooks of an event the same one.
func (h Hook) key() string { return h.Name + ":" + h.Command }

// timeout is how long a hook may run that does not say so itself.
const timeout = time.Minute

// A Problem is what is wrong with a hook that is passed over.
type Problem struct {
	Event Event
	Text  string // with the file that sets the hook
}

// Parse returns the hooks of a file of settings: value is its object "hooks", with the
// groups of each event.
func Parse(value map[string]any, source Source, file string) (hooks []Hook, wrong []Problem) {
	complain := func(event, format string, args ...any) {
		what := fmt.Sprintf("%s: hooks.%s: ", file, event) + fmt.Sprintf(format, args...)
		wrong = append(wrong, Problem{Event(event), what})
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		groups, ok := value[name].([]any)
		switch {
		case slices.Contains([]string{"enabled", "disabled", "notifications"}, name): // of older versions
			continue
		case !slices.Contains(Events, Event(name)):
			complain(name, "there is no such event; its hooks do not run")
			continue
		case !ok:
			complain(name, "it is not a list")
			continue
		}
		for i, g := range groups {
			group, ok := g.(map[string]any)
			list, isList := group["hooks"].([]any)
			if !ok || !isList {
				complain(name, "item %d has no list of hooks", i+1)
				continue
			}
			matcher, _ := group["matcher"].(string)
			sequential, _ := group["sequential"].(bool)
			for _, v := range list {
				h, err := parse(v)
				if err != nil {
					complain(name, "item %d: %v", i+1, err)
					continue
				}
				h.Event, h.Matcher, h.Sequential, h.Source, h.File = Event(name), matcher, sequential, source, file
				if h.byName() {
					if _, err := regexp.Compile(matcher); err != nil {
						complain(name, "the matcher %.100q %s", matcher, unusable(matcher, err))
						continue
					}
				}
				hooks = append(hooks, h)
			}
		}
	}
	return hooks, wrong
}

func parse(value any) (h Hook, err error) {
	v, _ := value.(map[string]any)
	text := func(key string) string { s, _ := v[key].(string); return s }
	h = Hook{Name: text("name"), Command: text("command"), Description: text("description"), Timeout: timeout}
	switch kind := text("type"); {
	case v == nil:
		return h, fmt.Errorf("a hook is not an object")
	case kind != "command":
		return h, fmt.Errorf("a hook of the type %q can't be run, only commands can", kind)
	case h.Command == "":
		return h, fmt.Errorf("a hook has no command")
	}
	if ms, err := strconv.ParseFloat(fmt.Sprint(v["timeout"]), 64); err == nil && ms > 0 {
		h.Timeout = time.Duration(min(ms, float64(24*time.Hour/time.Millisecond))) * time.Millisecond
	}
	env, _ := v["env"].(map[string]any)
	for name, value := range env {
		if h.Env == nil {
			h.Env = map[string]string{}
		}
		h.Env[name] = fmt.Sprint(value)
	}
	return h, nil
}

// unusable says why an expression is none here. A hook whose matcher is one must not be
// taken for one that matches nothing.
func unusable(matcher string, err error) string {
	if foreign.MatchString(matcher) {
		return "looks around or back, which matchers can't do here"
	}
	why := err.Error()
	if se := (*syntax.Error)(nil); errors.As(err, &se) {
		why = string(se.Code)
	}
	return "is no regular expression: " + why
}

// foreign are expressions that JavaScript has and Go has not.
var foreign = regexp.MustCompile(`\(\?<?[=!]|\\[1-9]|\\k<`)

// byName reports whether h's matcher is an expression for names of tools.
func (h Hook) byName() bool { return h.Event == BeforeTool || h.Event == AfterTool }

// Matches reports whether h is for what happens to subject: a tool by its name, the
// source of a session or the reason of its end, the trigger of a compression.
func (h Hook) Matches(subject string) bool {
	if h.Matcher == "" || h.Matcher == "*" {
		return true
	}
	if h.byName() {
		re, err := regexp.Compile(h.Matcher)
		return err == nil && re.MatchString(subject)
	}
	exact := h.Event == SessionStart || h.Event == SessionEnd || h.Event == PreCompress
	return !exact || h.Matcher == subject
}

// For returns those of hooks that run at e for subject, in the order of their sources. Of
// hooks with one [Hook.Key] the first of the list runs.
func For(hooks []Hook, e Event, subject string) []Hook {
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
