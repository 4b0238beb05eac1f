package program

import (
	"context"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/check"
	"gemline/engine/hook"
	"gemline/repl"
)

// newHooks makes the hooks of the conversation.
func (s *Session) newHooks() {
	cfg := s.opts.Found.Hooks.Config(s.project.launcher, func() hook.Session {
		plans := ""
		if s.families.Plans != nil { // which is made after the hooks
			plans = s.families.Plans.Dir
		}
		return hook.Session{ID: s.chat.file.ID(), Transcript: s.chat.file.Path(), Cwd: s.opts.Paths.Cwd,
			Plans: plans}
	})
	if len(cfg.Hooks) == 0 {
		return
	}
	cfg.Add = func(ctx context.Context, parts ...*genai.Part) error { return s.engine.Add(ctx, parts...) }
	cfg.Clear = func() error { return s.engine.Rewrite(nil) }
	cfg.Record = func(c hook.Call) { recordHook(s.recorder, c) }
	s.hooks = hook.New(cfg)
}

// start runs the hooks of the beginning of the conversation, and returns what the model is
// to know before the first prompt.
func (s *Session) start(ctx context.Context, source string) string {
	more := ""
	s.project.status.wait(ctx, s.forHook, func(ctx context.Context, _ func(func())) { more = s.hooks.Start(ctx, source) })
	s.tellNotices()
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
	s.project.status.wait(ctx, s.forHook, func(ctx context.Context, _ func(func())) { s.hooks.End(ctx, reason) })
	s.tellNotices()
}

// forHook says which hook is waited for.
func (s *Session) forHook() string { return repl.ForHook(s.hooks.Running()) }

// tellNotices tells what hooks have said outside of a run.
func (s *Session) tellNotices() {
	for _, n := range s.hooks.Notices() {
		if n.Info {
			s.project.status.tell(n.Text)
		} else {
			s.notify(n.Text)
		}
	}
}

// addContext has the model know what the hooks of the beginning have said.
func (s *Session) addContext(ctx context.Context, more string) {
	if more == "" {
		return
	}
	if err := s.engine.Add(ctx, genai.NewPartFromText(more)); err != nil {
		s.notify(err.Error())
	}
}

// checked returns the check of what is done in the conversation.
func (s *Session) checked() check.Config {
	if s.rehearsal != nil || s.Generator != nil {
		return check.Config{}
	}
	mends := 3
	if n := s.opts.Flags.CheckRounds; n != nil {
		mends = *n
	}
	return check.Config{Command: s.project.brought.check, Mends: mends,
		Kind: func(name string) engine.Kind { return engine.KindOf(s.tools, name) },
		Run: func(ctx context.Context) (engine.Result, int, error) {
			return s.families.Commands.Check(ctx, s.project.brought.check)
		}}
}
