package session

import (
	"context"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/check"
	"gemline/engine/hook"
	"gemline/engine/telemetry"
	"gemline/repl"
)

// newHooks makes the hooks of the conversation.
func (s *Session) newHooks(r *telemetry.Recorder) {
	cfg := s.Project.Options.Hooks().Config(s.Project.Launcher, func() hook.Session {
		plans := ""
		if s.Tools != nil && s.Tools.Families.Plans != nil { // the plans are made after the hooks
			plans = s.Tools.Families.Plans.Dir
		}
		return hook.Session{ID: s.Journal.File.ID(), Transcript: s.Journal.File.Path(), Cwd: s.Project.Options.Paths.Cwd,
			Plans: plans}
	})
	if len(cfg.Hooks) == 0 {
		return
	}
	cfg.Add = func(ctx context.Context, parts ...*genai.Part) error { return s.Engine.Add(ctx, parts...) }
	cfg.Clear = func() error { return s.Engine.Rewrite(nil) }
	cfg.Record = func(c hook.Call) { recordHook(r, c) }
	s.Hooks = hook.New(cfg)
}

// RunStartHooks runs the hooks for the start of the conversation, and returns the text that the
// model reads before the first prompt, "" for none.
func (s *Session) RunStartHooks(ctx context.Context, source string) string {
	more := ""
	s.waitForHooks(ctx, func(ctx context.Context) { more = s.Hooks.Start(ctx, source) })
	return more
}

// RunEndHooks runs the hooks for the end of the conversation. If ctx is done, they have two
// seconds.
func (s *Session) RunEndHooks(ctx context.Context, reason string) {
	const moment = 2 * time.Second
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), moment)
		defer cancel()
	}
	s.waitForHooks(ctx, func(ctx context.Context) { s.Hooks.End(ctx, reason) })
}

// waitForHooks waits for hooks that run outside of a turn.
func (s *Session) waitForHooks(ctx context.Context, run func(context.Context)) {
	which := func() string { return repl.HookWait(s.Hooks.Running()) }
	s.Project.Status.Wait(ctx, which, func(ctx context.Context, _ func(func())) { run(ctx) })
	s.Notices.PrintHooks(s.Hooks)
}

// AddContext adds the text of the start hooks to the conversation; "" adds nothing.
func (s *Session) AddContext(ctx context.Context, more string) {
	if more == "" {
		return
	}
	if err := s.Engine.Add(ctx, genai.NewPartFromText(more)); err != nil {
		s.Notices.Notify(err.Error())
	}
}

// checkConfig returns the configuration of the check of the model's work.
func (s *Session) checkConfig() check.Config {
	if s.Tools.Rehearsal != nil || s.Config.Generator != nil {
		return check.Config{}
	}
	mends := 3
	if n := s.Project.Options.Flags.CheckRounds; n != nil {
		mends = *n
	}
	return check.Config{Command: s.Project.Check, MaxRepairs: mends,
		Kind: func(name string) engine.Kind { return engine.KindOf(s.Tools.Toolset, name) },
		Run: func(ctx context.Context) (engine.Result, int, error) {
			return s.Tools.Families.Commands.Check(ctx, s.Project.Check)
		}}
}
