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
// records. It may be asked at any time: after a signal the last record is printed while the run
// still goes on.
type Status struct {
	PrintWarning func(string) // prints at once; see Notify
	PrintInfo    func(string) // prints a note that is no warning

	// Wait does work outside of a turn, and may print what it waits for. It returns an
	// error if the user ends it.
	Wait func(ctx context.Context, doing func() string, work repl.Work) error

	Queue    EventQueue                      // printed with a turn's next event
	launcher atomic.Pointer[launch.Launcher] // nil before it is known
	unused   atomic.Pointer[[]settings.Unused]
	Session  atomic.Pointer[SessionInfo] // of the front end's conversation; empty if it has none
}

// Limits for texts from a settings file that are printed.
const (
	MaxNoticeLength = 500 // characters
	MaxNameLength   = 60  // characters
)

// A SessionInfo is what a record says of the conversation that a front end holds.
type SessionInfo struct {
	ID, Mode, ResumeCommand func() string
	Stored                  func() bool          // the session file has messages
	Collected               func() report.DryRun // what a dry run would have done
}

// NewStatus returns a status that prints nothing, until its fields say where.
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

// Notify prints a warning: with the next event of a turn that runs, or at once.
func (s *Status) Notify(text string) {
	if !s.Queue.Offer(engine.Notice{Text: text}) {
		s.PrintWarning(text)
	}
}

// Sandbox returns what confines commands, nil before that is known.
func (s *Status) Sandbox() *report.Sandbox {
	if l := s.launcher.Load(); l != nil {
		st := l.State()
		return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
	}
	return nil
}

// Unused counts what is set up and not in use yet, feature by feature.
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

// Collected returns what the conversation would have done, if it changes nothing.
func (s *Status) Collected() report.DryRun { return s.Session.Load().Collected() }
