package project

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"gemline/commands/cli"
	"gemline/engine/hook"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/question"
	"gemline/settings"
	"gemline/settings/consent"
	"gemline/tools/launch"
)

// A HookSet holds the hooks of a directory, and the switches for them.
type HookSet struct {
	opts     *Options
	list     []hook.Hook
	wrong    []hook.Problem
	switched sync.Map // whether it is on, by [hook.Hook.ID], of hooks switched in this run
}

// Hooks returns the hooks of the directory. In a session, they are those of the session.
func (o *Options) Hooks() *HookSet {
	if o.found.hooks == nil { // otherwise the question of consent has found them
		o.found.hooks = findHooks(o)
	}
	return o.found.hooks
}

// HookProblems reads the hooks in the files of the directory again, and returns their problems.
func HookProblems(o *Options) []hook.Problem { return findHooks(o).wrong }

// findHooks returns the hooks of the settings files and the extensions. It leaves out a project's
// hook that repeats another hook. The project's hooks come last, so that none of them can displace
// another hook of the same name and command.
func findHooks(o *Options) *HookSet {
	h := &HookSet{opts: o}
	add := func(value any, whose hook.Source, file hook.File) {
		list, wrong := hook.Parse(value, whose, file)
		h.list, h.wrong = append(h.list, list...), append(h.wrong, wrong...)
	}
	of := map[settings.Scope]hook.Source{settings.User: hook.User, settings.Workspace: hook.Project}
	o.Settings.EachHooks(func(src settings.Source, value any, line func(...string) int) {
		whose, ok := of[src.Scope]
		if !ok {
			whose = hook.System
		}
		add(value, whose, hook.File{Path: src.Path, Line: line})
	})
	for _, x := range o.ActiveExtensions() {
		before := len(h.list)
		add(x.Contents.Hooks, hook.Extension, hook.File{Path: x.HooksFile()})
		for i := before; i < len(h.list); i++ {
			h.list[i].Env = merged(x.Variables(o.Paths.Cwd), merged(extensionValues(o, x), h.list[i].Env))
		}
	}
	ids := lists.Map(h.list, hook.Hook.ID)
	for _, off := range o.Settings.DisabledHooks {
		if near := text.Misspelled(off, o.Settings.DisabledHooks, ids); near != "" {
			h.wrong = append(h.wrong, hook.Problem{Text: fmt.Sprintf("hooksConfig.disabled: no hook is called %q; did you mean %s?", off, near)})
		}
	}
	projects := func(k hook.Hook) bool { return k.Source == hook.Project }
	others := slices.DeleteFunc(slices.Clone(h.list), projects)
	own := slices.DeleteFunc(h.list, func(k hook.Hook) bool {
		return !projects(k) || slices.ContainsFunc(others, func(o hook.Hook) bool {
			o.Source, o.File = k.Source, k.File
			return reflect.DeepEqual(o, k)
		})
	})
	h.list = append(others, own...)
	if len(own) > 0 {
		if err := o.consents.readStored(); err != nil {
			h.wrong = append(h.wrong, hook.Problem{Text: err.Error()})
		}
	}
	return h
}

// item returns a hook as an item for consent.
func (h *HookSet) item(k hook.Hook) item {
	env := sortedVariables(k.Env)
	title := "hook " + string(k.Event)
	if k.Matcher != "" {
		title += " of " + k.Matcher
	}
	if k.Name != "" {
		title += ", " + k.Name
	}
	for _, kv := range env {
		title += ", with " + kv
	}
	return item{name: k.ID(), ofProject: k.Source == hook.Project, consent: question.ConsentItem{Title: title, Command: k.Command},
		findStarted: func() (consent.Started, string) {
			start := startOf(h.opts, h.opts.Paths.Cwd, k.Env, nil, k.Command)
			start.Reads = k.Event.Guards() // a guard may read a list of forbidden commands
			s := start.Find()
			return s, s.Fingerprint(append(slices.Clone(env), "hook", string(k.Event), k.Matcher, k.Name, k.Command,
				fmt.Sprint(k.Timeout, k.Sequential, len(env)))...)
		}}
}

// items returns the hooks that are switched on, as items for consent.
func (h *HookSet) items() []item { return lists.Map(lists.Filter(h.list, h.isOn), h.item) }

// rights returns a hook's rights, "" if the user has not decided about its present form.
func (h *HookSet) rights(k hook.Hook) consent.Rights { return h.opts.consents.rights(h.item(k)) }

// isOn reports whether a hook is switched on. A project can switch off only its own hooks.
func (h *HookSet) isOn(k hook.Hook) bool {
	if on, ok := h.switched.Load(k.ID()); ok {
		return on.(bool)
	}
	said := []*settings.Settings{h.opts.userSettings}
	if k.Source == hook.Project {
		said = append(said, h.opts.Settings)
	}
	return !slices.ContainsFunc(said, func(s *settings.Settings) bool {
		return !s.Hooks || slices.Contains(s.DisabledHooks, k.ID())
	})
}

// IDs returns the names of the hooks that are switched on, or off. It leaves out names that can't
// be typed.
func (h *HookSet) IDs(on bool) []string {
	list := lists.Filter(h.list, func(k hook.Hook) bool { return h.isOn(k) == on && text.PrintableLine(k.ID()) == k.ID() })
	return slices.Compact(slices.Sorted(slices.Values(lists.Map(list, hook.Hook.ID))))
}

// loadHooks finds the hooks of the project, and prints which of them do not run. If one of them
// could block an action, an unattended run ends with an [UnusableHookError].
func (o *Options) loadHooks(notify func(string)) error {
	h := o.Hooks()
	watched := o.User.HasUser() && o.Settings.ApprovalMode != "yolo"
	for _, w := range h.wrong {
		if w.Unguarded() && !watched && !o.Flags.IgnoreUnsupported {
			return &UnusableHookError{w.Text}
		}
		notify(text.OneLine(w.Text, MaxNoticeLength))
	}
	for _, x := range o.ActiveExtensions() { // commands may write to a linked extension
		if x.Misread.Hooks != nil && !watched && !o.Flags.IgnoreUnsupported {
			return &UnusableHookError{fmt.Sprintf("extension %s: %v", x.Name, x.Misread.Hooks)}
		}
		o.consents.protect(consent.Started{Files: []string{x.Manifest(), x.HooksFile()}})
	}
	h.printNotAgreed(notify)
	return nil
}

// printNotAgreed prints which hooks do not run because nobody has agreed to them.
func (h *HookSet) printNotAgreed(notify func(string)) {
	printNotAgreed(h.opts, "hooks of this project do not run", h.items(), notify)
}

// An UnusableHookError is a hook that may block and can't be used, in an unattended run.
type UnusableHookError struct{ what string }

// Error returns one line.
func (e *UnusableHookError) Error() string { return e.what }

// Hint says how to proceed.
func (*UnusableHookError) Hint() string {
	return "mend it or take it out (gemline hooks list), or run without it by --ignore-unsupported"
}

const (
	mercy      = 5 * time.Second // between the timeout of a hook and its kill
	mostOutput = 1 << 20         // bytes of a hook's output that are read
)

// run returns a runner of hooks. The user's hooks, and hooks agreed to with all rights, run
// with the user's rights, all others confined like the model's commands.
func (h *HookSet) run(l *launch.Launcher) hook.Runner {
	return func(ctx context.Context, p hook.Process) (out hook.Outcome) {
		rights := h.rights(p.Hook)
		if rights != consent.All && rights != consent.Confined {
			return hook.Outcome{Err: hook.ErrChanged}
		}
		env, clean := p.Env, h.opts.Secrets.RedactKnown
		if p.Hook.Source == hook.Project { // the project must not learn how the user's servers are reached
			p.Input = []byte(clean(string(maskedOrigin(p.Input))))
			env = append(h.opts.Env.projectEnviron(), env...)
		}
		o := l.Run(ctx, launch.Command{Text: p.Command, Dir: h.opts.Paths.Cwd, Env: env, Input: string(p.Input),
			SplitStderr: true, Limit: launch.Limit{Timeout: p.Hook.Timeout, KillGrace: mercy}, Unconfined: rights == consent.All, KillLeftovers: true})
		most := func(s string) string { return s[:min(len(s), mostOutput)] }
		out = hook.Outcome{Stdout: clean(most(o.Output)), Stderr: clean(most(o.Stderr)), Code: o.Code,
			TimedOut: o.Limit > 0, Err: o.Err}
		switch {
		case o.Binary:
			out.IgnoredOutput = "it printed something that is no text"
		case o.Cut, len(o.Output) > mostOutput:
			out.IgnoredOutput = "it printed too much"
		}
		if o.Signal != 0 {
			out.Signal = o.SignalName
		}
		if o.Cancelled {
			out.Err = context.Canceled
		}
		return out
	}
}

// maskedOrigin returns the input of a hook with the secrets of a server's configuration masked, as
// in lists of servers. A redactor would miss a password that is an ordinary word.
func maskedOrigin(input []byte) []byte {
	var in struct {
		Server json.RawMessage `json:"mcp_context"`
	}
	var server map[string]any
	if json.Unmarshal(input, &in) != nil || json.Unmarshal(in.Server, &server) != nil {
		return input
	}
	b, _ := text.JSON(settings.MaskWritten(nil, server), "") // it was parsed from JSON, so it can't fail
	return bytes.ReplaceAll(input, in.Server, b)
}

// Config returns the configuration of the hooks that may run in their present form. L starts them.
func (h *HookSet) Config(l *launch.Launcher, session func() hook.Session) hook.Config {
	runnable := slices.DeleteFunc(slices.Clone(h.list), func(k hook.Hook) bool {
		r := h.rights(k)
		return r == "" || r == consent.None
	})
	return hook.Config{Hooks: runnable, Enabled: h.isOn, Run: h.run(l), Session: session}
}

// ManagedHooks are the hooks of a directory for sub-commands. They are a [cli.Hooks].
type ManagedHooks struct {
	Options  *Options
	Launcher func() (*launch.Launcher, error) // starts a hook for a trial
}

// List implements [cli.Hooks].
func (m ManagedHooks) List() (list []cli.ListedHook, wrong []hook.Problem) {
	h := m.Options.Hooks()
	for _, k := range h.list {
		list = append(list, cli.ListedHook{Hook: k, Source: k.Source.String(), Timeout: k.Timeout.Milliseconds(),
			Enabled: h.isOn(k), Rights: string(h.rights(k))})
	}
	return list, h.wrong
}

// Try implements [cli.Hooks].
func (m ManagedHooks) Try(
	ctx context.Context, e hook.Event, subject string, input map[string]any,
) ([]hook.Call, error) {
	l, err := m.Launcher()
	if err != nil {
		return nil, err
	}
	session := hook.Session{ID: "00000000-0000-0000-0000-000000000000", Cwd: m.Options.Paths.Cwd}
	cfg := m.Options.Hooks().Config(l, func() hook.Session { return session })
	calls := hook.New(cfg).RunTest(ctx, e, subject, input)
	return calls, ctx.Err()
}

// Turn implements [cli.Hooks].
func (m ManagedHooks) Turn(id string, on bool) { m.Options.Hooks().switched.Store(id, on) }
