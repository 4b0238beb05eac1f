package program

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/repl/attach"
)

// A frontend is a front end: it holds conversations, one after the other, with a
// person or a program.
type frontend struct {
	opts    *project.Options
	run     *run
	session *Session     // once it has begun
	notify  func(string) // tells what is odd but no error
	first   string       // what hooks want the model to know before the first prompt
	discard bool         // the session is deleted when it is over
	confirm confirm      // asks in the name of a command; nil if nobody can be asked
	closers []func()
	hub     *attach.Hub // by which other terminals reach a session at one; nil if they can't
}

// newFrontend returns a front end that has begun no conversation yet.
func newFrontend(r *run) *frontend { return &frontend{opts: r.opts, run: r, notify: r.notify} }

// frontendOf returns a front end for a conversation that another front end owns.
func frontendOf(r *run, s *Session) *frontend {
	return &frontend{opts: r.opts, run: r, session: s, notify: s.notices.notify}
}

// setSession makes s the conversation of the front end.
func (f *frontend) setSession(s *Session) {
	f.session = s
	f.run.count.Begin(s.Tally)
	f.run.status.session.Store(s.held())
	if hub := f.hub; hub != nil {
		hub.Move()
	}
}

// say is the [engine.Run] of the conversation that is held.
func (f *frontend) say(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return f.session.Run(ctx, parts...)
}

// confirm asks something that is answered yes or no.
type confirm func(ctx context.Context, about string) (bool, error)
