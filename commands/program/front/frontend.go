package front

import (
	"context"
	"fmt"
	"iter"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine"
	"gemline/engine/text"
	"gemline/repl/attach"
	"gemline/repl/input"
	"gemline/tools/files"
)

// A frontend holds conversations, one after the other, with a person or a program.
type frontend struct {
	opts         *project.Options
	run          *Run
	session      *session.Session // nil before it has begun
	notify       func(string)     // prints a warning
	startContext string           // text of hooks for the model, before the first prompt
	discard      bool             // the session is deleted at its end
	confirm      confirm          // asks on behalf of a command; nil if no user can be asked
	closers      []func()
	hub          *attach.Hub // lets other terminals reach a session at a terminal; nil if they can't
}

// newFrontend returns a front end that has begun no conversation yet.
func newFrontend(r *Run) *frontend { return &frontend{opts: r.Options, run: r, notify: r.notify} }

// frontendOf returns a front end for a conversation that another front end owns.
func frontendOf(r *Run, s *session.Session) *frontend {
	return &frontend{opts: r.Options, run: r, session: s, notify: s.Notices.Notify}
}

// setSession makes s the conversation of the front end.
func (f *frontend) setSession(s *session.Session) {
	f.session = s
	f.run.count.Begin(s.Config.Tally)
	f.run.Status.Session.Store(s.Info())
	if hub := f.hub; hub != nil {
		hub.Move()
	}
}

// say is the [engine.Run] of the current conversation.
func (f *frontend) say(ctx context.Context, parts ...*genai.Part) iter.Seq2[engine.Event, error] {
	return f.session.Run(ctx, parts...)
}

// confirm asks a question with the answer yes or no.
type confirm func(ctx context.Context, about string) (bool, error)

// files returns the step that reads files behind an @.
func (f *frontend) files() input.Files {
	return input.Files{Workspace: f.session.Project.Workspace, Notify: f.notify, Search: f.opts.Settings.FileSearch,
		Contents: func(ctx context.Context, paths []string) ([]*genai.Part, error) {
			parts, skipped, err := f.session.Tools.Families.Files.ReadMany(ctx, paths, f.session.Memory.Discover)
			for _, sk := range skipped {
				if sk.Path == "" {
					f.notify(sk.Reason)
					continue
				}
				f.notify(fmt.Sprintf("%s is not read: %s", f.session.Project.Workspace.Rel(sk.Path), sk.Reason))
			}
			if said := attachedNotice(parts); said != "" && f.opts.User.Interactive {
				f.run.Status.PrintInfo(said)
			}
			return parts, err
		}}
}

// attachedNotice says how much is attached to a prompt, "" if it is no more than a screenful.
func attachedNotice(parts []*genai.Part) string {
	const screen = 24 * 80 / 4 // tokens
	tokens, _ := engine.EstimateTokens(parts)
	if tokens <= screen {
		return ""
	}
	attached := 0
	for _, p := range parts {
		if _, label := files.FileLabel(p); label || p.InlineData != nil {
			attached++
		}
	}
	return fmt.Sprintf("attached: %s, about %s tokens", text.Count(attached, "file"), text.Number(tokens))
}
