package program

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

// A status prints what is no part of an answer, and knows the state of the run for records.
// It may be asked at any time: after a signal the last record is printed while the run still
// goes on.
type status struct {
	warn func(string)
	tell func(string) // prints a note that is no warning

	// wait does work outside of a turn, and may print what it waits for. It returns an
	// error if the user ends it.
	wait func(ctx context.Context, doing func() string, work repl.Work) error

	turn     eventQueue                      // printed with a turn's next event
	launcher atomic.Pointer[launch.Launcher] // nil before it is known
	unused   atomic.Pointer[[]settings.Unused]
	session  atomic.Pointer[held] // of a front end; nil if it has no conversation
}

// A held is what a record says of the conversation that a front end holds.
type held struct {
	id, mode, resume func() string
	kept             func() bool // some of it is in its file
	collected        func() report.Collected
}

// newStatus returns a status that tells nobody anything.
func newStatus() *status {
	return &status{warn: func(string) {}, tell: func(string) {},
		wait: func(ctx context.Context, _ func() string, work repl.Work) error {
			work(ctx, func(f func()) { f() })
			return nil
		}}
}

// notify tells what is odd but no error.
func (s *status) notify(text string) {
	if !s.turn.offer(engine.Notice{Text: text}) {
		s.warn(text)
	}
}

// sandbox returns what confines commands, nil before that is known.
func (s *status) sandbox() *report.Sandbox {
	if l := s.launcher.Load(); l != nil {
		st := l.Last()
		return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
	}
	return nil
}

// notInUse counts what is set up and not in use yet, feature by feature.
func (s *status) notInUse() (list []report.Unused) {
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

// mode returns the approval mode.
func (s *status) mode() string {
	if c := s.session.Load(); c != nil {
		return c.mode()
	}
	return ""
}

// resume returns the command that goes on with the conversation, "" if there is
// none.
func (s *status) resume() string {
	if c := s.session.Load(); c != nil {
		return c.resume()
	}
	return ""
}

// kept is resume where something of the conversation is kept.
func (s *status) kept() string {
	if c := s.session.Load(); c != nil && c.kept() {
		return c.resume()
	}
	return ""
}

// collected returns what the conversation would have done, if it changes nothing.
func (s *status) collected() report.Collected {
	if c := s.session.Load(); c != nil {
		return c.collected()
	}
	return report.Collected{}
}
