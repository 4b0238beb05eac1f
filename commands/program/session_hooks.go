package program

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
	cfg := s.project.opts.Found.Hooks.Config(s.project.launcher, func() hook.Session {
		plans := ""
		if s.tools != nil && s.tools.families.Plans != nil { // which are made after the hooks
			plans = s.tools.families.Plans.Dir
		}
		return hook.Session{ID: s.chat.file.ID(), Transcript: s.chat.file.Path(), Cwd: s.project.opts.Paths.Cwd,
			Plans: plans}
	})
	if len(cfg.Hooks) == 0 {
		return
	}
	cfg.Add = func(ctx context.Context, parts ...*genai.Part) error { return s.engine.Add(ctx, parts...) }
	cfg.Clear = func() error { return s.engine.Rewrite(nil) }
	cfg.Record = func(c hook.Call) { recordHook(r, c) }
	s.hooks = hook.New(cfg)
}

// start runs the hooks of the beginning of the conversation, and returns what the model is
// to know before the first prompt.
func (s *Session) start(ctx context.Context, source string) string {
	more := ""
	s.forHooks(ctx, func(ctx context.Context) { more = s.hooks.Start(ctx, source) })
	return more
}

// end runs the hooks of the end of the conversation. Of a run that was told to stop they
// do not have long.
func (s *Session) end(ctx context.Context, reason string) {
	const moment = 2 * time.Second
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), moment)
		defer cancel()
	}
	s.forHooks(ctx, func(ctx context.Context) { s.hooks.End(ctx, reason) })
}

// forHooks waits for hooks that run outside of a turn.
func (s *Session) forHooks(ctx context.Context, run func(context.Context)) {
	which := func() string { return repl.ForHook(s.hooks.Running()) }
	s.project.status.wait(ctx, which, func(ctx context.Context, _ func(func())) { run(ctx) })
	s.notices.hooks(s.hooks)
}

// addContext has the model know what the hooks of the beginning have said.
func (s *Session) addContext(ctx context.Context, more string) {
	if more == "" {
		return
	}
	if err := s.engine.Add(ctx, genai.NewPartFromText(more)); err != nil {
		s.notices.notify(err.Error())
	}
}

// checked returns the check of what is done in the conversation.
func (s *Session) checked() check.Config {
	if s.tools.rehearsal != nil || s.Generator != nil {
		return check.Config{}
	}
	mends := 3
	if n := s.project.opts.Flags.CheckRounds; n != nil {
		mends = *n
	}
	return check.Config{Command: s.project.brought.check, Mends: mends,
		Kind: func(name string) engine.Kind { return engine.KindOf(s.tools.all, name) },
		Run: func(ctx context.Context) (engine.Result, int, error) {
			return s.tools.families.Commands.Check(ctx, s.project.brought.check)
		}}
}
