package program

import (
	"slices"
	"sync/atomic"

	"gemline/repl"
	"gemline/settings"
)

// A report is told what is no part of an answer, and knows what a record says of
// the run. It may be asked at any time: the last word after a signal is said
// while the run goes on.
type report struct {
	warn func(string)
	tell func(string) // of what is no warning

	confinement atomic.Pointer[confinement] // nil before it is known
	unused      atomic.Pointer[[]settings.Unused]
	session     atomic.Pointer[Session] // that a front end holds, if it does
}

// newReport returns a report that tells nobody anything.
func newReport() *report { return &report{warn: func(string) {}, tell: func(string) {}} }

// notify tells what is odd but no error.
func (r *report) notify(text string) { r.warn(text) }

// sandbox returns what confines commands, nil before that is known.
func (r *report) sandbox() *repl.Sandbox {
	if c := r.confinement.Load(); c != nil {
		return c.record()
	}
	return nil
}

// notInUse counts what is set up and not in use yet, feature by feature.
func (r *report) notInUse() (list []repl.Unused) {
	all := r.unused.Load()
	if all == nil {
		return nil
	}
	for _, u := range *all {
		i := slices.IndexFunc(list, func(c repl.Unused) bool { return c.Feature == u.Feature })
		if i < 0 {
			i, list = len(list), append(list, repl.Unused{Feature: u.Feature})
		}
		list[i].Count++
	}
	return list
}

// mode returns the approval mode.
func (r *report) mode() string {
	if s := r.session.Load(); s != nil {
		return string(s.policy.Mode())
	}
	return ""
}

// resume returns the command that goes on with the conversation, "" if there is
// none.
func (r *report) resume() string {
	if s := r.session.Load(); s != nil {
		return s.goOn()
	}
	return ""
}

// collected returns what the conversation would have done, if it changes nothing.
func (r *report) collected() repl.Collected {
	if s := r.session.Load(); s != nil {
		return s.collected()
	}
	return repl.Collected{}
}
