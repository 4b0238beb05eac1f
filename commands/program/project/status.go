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

// A Status prints what is no part of an answer, and knows the state of the run for records.
// It may be asked at any time: after a signal the last record is printed while the run still
// goes on.
type Status struct {
	Warn func(string)
	Tell func(string) // prints a note that is no warning

	// wait does work outside of a turn, and may print what it waits for. It returns an
	// error if the user ends it.
	Wait func(ctx context.Context, doing func() string, work repl.Work) error

	Events   EventQueue                      // printed with a turn's next event
	launcher atomic.Pointer[launch.Launcher] // nil before it is known
	unused   atomic.Pointer[[]settings.Unused]
	Session  atomic.Pointer[SessionInfo] // of a front end; nil if it has no conversation
}

// How many characters are printed of a text and of a name from a settings file.
const (
	LongestNotice = 500
	LongestName   = 60
)

// A SessionInfo is what a record says of the conversation that a front end holds.
type SessionInfo struct {
	ID, Mode, Resume func() string
	Kept             func() bool // some of it is in its file
	Collected        func() report.Collected
}

// NewStatus returns a status that tells nobody anything.
func NewStatus() *Status {
	return &Status{Warn: func(string) {}, Tell: func(string) {},
		Wait: func(ctx context.Context, _ func() string, work repl.Work) error {
			work(ctx, func(f func()) { f() })
			return nil
		}}
}

// Notify tells what is odd but no error.
func (s *Status) Notify(text string) {
	if !s.Events.Offer(engine.Notice{Text: text}) {
		s.Warn(text)
	}
}

// Sandbox returns what confines commands, nil before that is known.
func (s *Status) Sandbox() *report.Sandbox {
	if l := s.launcher.Load(); l != nil {
		st := l.Last()
		return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
	}
	return nil
}

// NotInUse counts what is set up and not in use yet, feature by feature.
func (s *Status) NotInUse() (list []report.Unused) {
	all := s.unused.Load()
	if all == nil {
		return nil
	}
	for _, u := range *all {
		i := slices.IndexFunc(list, func(c report.Unused) bool { return c.Feature == u.Feature })
		if i < 0 {
			i, list = len(list), append(list, report.Unused{Feature: u.Feature})
		}
		list[i].Count++
	}
	return list
}

// Mode returns the approval mode.
func (s *Status) Mode() string {
	if c := s.Session.Load(); c != nil {
		return c.Mode()
	}
	return ""
}

// Resume returns the command that goes on with the conversation, "" if there is
// none.
func (s *Status) Resume() string {
	if c := s.Session.Load(); c != nil {
		return c.Resume()
	}
	return ""
}

// Kept is resume where something of the conversation is kept.
func (s *Status) Kept() string {
	if c := s.Session.Load(); c != nil && c.Kept() {
		return c.Resume()
	}
	return ""
}

// Collected returns what the conversation would have done, if it changes nothing.
func (s *Status) Collected() report.Collected {
	if c := s.Session.Load(); c != nil {
		return c.Collected()
	}
	return report.Collected{}
}
