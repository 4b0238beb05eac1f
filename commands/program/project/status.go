package project

import (
	"context"
	"slices"
	"sync/atomic"

	"gemline/engine"
	"gemline/repl"
	"gemline/repl/report"
	"gemline/settings"
	"gemline/tools/launch"
)

// A Status prints warnings and notices beside the answers, and knows the state of the run for
// records. It is safe for concurrent use: after a signal, the last record is printed while the run
// still works.
type Status struct {
	PrintWarning func(string) // prints at once; see Notify
	PrintInfo    func(string) // prints a note that is no warning

	// Wait runs work outside of a turn, and may print its progress (doing). It returns an error if
	// the user stops the work.
	Wait func(ctx context.Context, doing func() string, work repl.Work) error

	Queue    EventQueue                      // yielded with a turn's next event
	launcher atomic.Pointer[launch.Launcher] // nil before it is made
	unused   atomic.Pointer[[]settings.Unused]
	Session  atomic.Pointer[SessionInfo] // of the front end's conversation; empty without a conversation
}

// Limits for printed texts from a settings file.
const (
	MaxNoticeLength = 500 // characters
	MaxNameLength   = 60  // characters
)

// A SessionInfo holds facts for the records about the front end's conversation.
type SessionInfo struct {
	ID, Mode, ResumeCommand func() string
	Stored                  func() bool          // the session file has messages
	Collected               func() report.DryRun // the changes that a dry run would have made
}

// NewStatus returns a status that prints nothing, until its functions are set.
func NewStatus() *Status {
	s := &Status{PrintWarning: func(string) {}, PrintInfo: func(string) {},
		Wait: func(ctx context.Context, _ func() string, work repl.Work) error {
			work(ctx, func(f func()) { f() })
			return nil
		}}
	none := func() string { return "" }
	s.Session.Store(&SessionInfo{ID: none, Mode: none, ResumeCommand: none, Stored: func() bool { return false },
		Collected: func() (d report.DryRun) { return d }})
	return s
}

// Notify prints a warning: with the next event of a running turn, or at once.
func (s *Status) Notify(text string) {
	if !s.Queue.Offer(engine.Notice{Text: text}) {
		s.PrintWarning(text)
	}
}

// Sandbox describes the sandbox of commands, nil before it is known.
func (s *Status) Sandbox() *report.Sandbox {
	if l := s.launcher.Load(); l != nil {
		st := l.State()
		return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
	}
	return nil
}

// Unused counts, by feature, settings that have no effect yet.
func (s *Status) Unused() (list []report.UnusedFeature) {
	all := s.unused.Load()
	if all == nil {
		return nil
	}
	for _, u := range *all {
		i := slices.IndexFunc(list, func(c report.UnusedFeature) bool { return c.Feature == u.Feature })
		if i < 0 {
			i, list = len(list), append(list, report.UnusedFeature{Feature: u.Feature})
		}
		list[i].Count++
	}
	return list
}

// Mode returns the approval mode of the conversation, "" if there is none.
func (s *Status) Mode() string { return s.Session.Load().Mode() }

// ResumeCommand returns the command that resumes the conversation, "" if there is none.
func (s *Status) ResumeCommand() string { return s.Session.Load().ResumeCommand() }

// StoredResumeCommand returns the command that resumes the conversation, "" if nothing of the
// conversation is stored.
func (s *Status) StoredResumeCommand() string {
	if c := s.Session.Load(); c.Stored() {
		return c.ResumeCommand()
	}
	return ""
}

// Collected returns the changes that a dry run would have made.
func (s *Status) Collected() report.DryRun { return s.Session.Load().Collected() }
