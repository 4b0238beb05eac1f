package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/journal/export"
	"gemline/engine/journal/saved"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
)

// Sessions is what is kept beside the conversation that is held.
type Sessions struct {
	Dir   string                   // of the project's session files
	Saved saved.Store              // of conversations under tags
	Auth  string                   // how the user signs in
	Clean func(text string) string // takes out what is secret

	// Resume puts another conversation in the place of this one, and says where it
	// stands. It is nil where there is one prompt and no session.
	Resume func(ctx context.Context, c journal.Choice) (*Conversation, error)

	// Summarize has a model say in a line what sessions are about that nobody has said
	// it of, as far as that takes a moment.
	Summarize func(ctx context.Context, list []journal.Session)

	// Confirm asks something that is answered yes or no, and Choose for one of a few
	// numbers; 0 is none of them. They are nil where nobody can be asked.
	Confirm func(ctx context.Context, question string) (bool, error)
	Choose  func(ctx context.Context, question string, numbers []int) (int, error)
}

// errOnePrompt is the error of a command that is about the conversation of a session.
var errOnePrompt = unavailable("this works in a session only; gemline sessions and gemline --resume do it from outside")

// chats returns /chat or /resume, which are the same.
func chats(name, summary string) *Command {
	inner := Set{
		{Name: "list", Summary: "list the conversations that were saved under a tag", Run: listSaved},
		{Name: "save", Args: "TAG", Summary: "save the conversation so far under a tag", Run: save, Complete: tags},
		{Name: "resume", Aliases: []string{"load"}, Args: "TAG", Summary: "go on with one that was saved", Run: load, Complete: tags},
		{Name: "delete", Args: "TAG", Summary: "delete one that was saved", Run: deleteSaved, Complete: tags},
		{Name: "share", Args: "[FILE]", Summary: "write the conversation to a file: .md, .html, or .json, a list of messages", Run: share},
	}
	nested := slices.Clone(inner)
	inner = append(inner, &Command{Name: "checkpoints", Aliases: []string{"checkpoint"},
		Summary: "the same commands once more", Sub: nested})
	return &Command{Name: name, Usual: name == "resume", Args: "[NUMBER|ID|NAME|TEXT]",
		Summary: summary, Run: resume, Sub: inner, Complete: sessionNames}
}

// tags completes the tag of a conversation that was saved.
func tags(_ context.Context, app *App, _, _ string) (names []string) {
	list, _ := app.Sessions.Saved.List()
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// sessionNames completes the name or id of a session.
func sessionNames(_ context.Context, app *App, _, _ string) (names []string) {
	list, _ := journal.List(app.Sessions.Dir)
	for _, s := range slices.Backward(list) {
		names = append(names, s.ID)
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// resume goes on with the session that is named, or with one of a list.
func resume(ctx context.Context, app *App, arg string) error {
	if app.Sessions.Resume == nil {
		return errOnePrompt
	}
	list, err := journal.List(app.Sessions.Dir)
	if err != nil {
		return err
	}
	if arg == "" {
		return app.pick(ctx, list)
	}
	s, err := journal.Find(list, arg)
	if nf := (*journal.NotFoundError)(nil); errors.As(err, &nf) {
		return app.pickFound(ctx, list, arg, nf)
	} else if err != nil {
		return &Error{Message: err.Error()}
	}
	return app.resume(ctx, s)
}

// pick lists sessions and goes on with the one that is chosen.
func (app *App) pick(ctx context.Context, list []journal.Session) error {
	if len(list) == 0 {
		return sentences(app.Out, "no session of this directory is kept yet")
	}
	if app.Sessions.Summarize != nil {
		app.Sessions.Summarize(ctx, list)
		if again, err := journal.List(app.Sessions.Dir); err == nil && len(again) > 0 {
			list = again
		}
	}
	var ls []string
	numbers := make([]int, len(list))
	for i, s := range list {
		numbers[i] = i + 1
		line := s.Line(i+1, app.Journal.ID(), time.Now())
		if i == len(list)-1 && len(list) > 1 {
			line += " newest"
		}
		ls = append(ls, line)
	}
	if err := sentences(app.Out, ls...); err != nil {
		return err
	}
	return app.choose(ctx, list, numbers)
}

// pickFound goes on with the session whose title has all words, or else with the one that holds
// them. If there are several, they are listed, and the user chooses.
func (app *App) pickFound(ctx context.Context, all []journal.Session, words string, none *journal.NotFoundError) error {
	current := func(f journal.Found) bool { return f.ID == app.Journal.ID() }
	found := slices.DeleteFunc(titled(all, words), current)
	if len(found) == 0 {
		var err error
		if found, err = journal.Search(app.Sessions.Dir, words); err != nil {
			return err
		}
		found = slices.DeleteFunc(found, current)
	}
	switch len(found) {
	case 0:
		return misused("%s, and no other in which that was said; /resume lists them", none.Error())
	case 1:
		return app.resume(ctx, found[0].Session)
	}
	var list []journal.Session
	var numbers []int
	var ls []string
	for _, f := range found {
		list, numbers = append(list, f.Session), append(numbers, f.Number)
		ls = append(append(ls, f.Line(f.Number, app.Journal.ID(), time.Now())), f.HitLines()...)
	}
	if err := sentences(app.Out, ls...); err != nil {
		return err
	}
	return app.choose(ctx, list, numbers)
}

// titled returns the sessions whose title has all words, in any order and case.
func titled(all []journal.Session, words string) (found []journal.Found) {
	for i, s := range all {
		title := strings.ToLower(s.Title)
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(words)),
			func(w string) bool { return !strings.Contains(title, w) }) {
			found = append(found, journal.Found{Session: s, Number: i + 1})
		}
	}
	return found
}

// choose asks for the number of a session that was listed, and goes on with it.
func (app *App) choose(ctx context.Context, list []journal.Session, numbers []int) error {
	if app.Sessions.Choose == nil {
		return sentences(app.Out, "/resume NUMBER goes on with one")
	}
	n, err := app.Sessions.Choose(ctx, "go on with which session?", numbers)
	if i := slices.Index(numbers, n); err == nil && i >= 0 {
		return app.resume(ctx, list[i])
	}
	return err
}

// resume goes on with a session, or with a copy of one that another process has.
func (app *App) resume(ctx context.Context, s journal.Session) error {
	if s.ID == app.Journal.ID() {
		return unavailable("that is the session you are in; /fork goes on with a copy of it")
	}
	choice := journal.Choice{Resume: true, Which: s.ID}
	next, err := app.Sessions.Resume(ctx, choice)
	if busy := (*journal.BusyError)(nil); errors.As(err, &busy) && app.Sessions.Confirm != nil {
		yes, asked := app.Sessions.Confirm(ctx, busy.Error()+"; go on with a copy?")
		if asked != nil || !yes {
			return asked
		}
		choice.Fork = true
		next, err = app.Sessions.Resume(ctx, choice)
	}
	if err != nil {
		return err
	}
	app.Conversation = next
	return nil
}

func forking() *Command {
	return &Command{Name: "fork", Args: "[TURN]",
		Summary: "go on with a copy of the session, of all of it or until a turn, and leave it as it is",
		Run: func(ctx context.Context, app *App, arg string) error {
			if app.Sessions.Resume == nil {
				return errOnePrompt
			}
			turn := 0
			if arg != "" {
				var err error
				if turn, err = strconv.Atoi(arg); err != nil || turn < 1 {
					return misused("/fork takes the number of a question, which /rewind lists; not %q", arg)
				}
			}
			next, err := app.Sessions.Resume(ctx,
				journal.Choice{Resume: true, Which: app.Journal.ID(), Fork: true, Turns: turn})
			if nf := (*journal.NotFoundError)(nil); errors.As(err, &nf) {
				return unavailable("nothing was said in this session yet")
			} else if err != nil {
				return err
			}
			before := app.Journal.ID()
			app.Conversation = next
			of := "this session"
			if list, err := journal.List(app.Sessions.Dir); err == nil {
				if s, err := journal.Find(list, before); err == nil {
					of = strconv.Quote(s.Title)
				}
			}
			return sentences(app.Out, fmt.Sprintf("a copy of %s; the original stays (/resume %s goes back)", of, text.ShortID(before)))
		}}
}

func naming() *Command {
	return &Command{Name: "name", Args: "[NAME|--remove]",
		Summary: "say how the session is called, or call it something that --resume takes",
		Run: func(_ context.Context, app *App, arg string) error {
			list, err := journal.List(app.Sessions.Dir)
			if err != nil {
				return err
			}
			if arg == "" {
				at := slices.IndexFunc(list, func(s journal.Session) bool { return s.ID == app.Journal.ID() })
				if at < 0 || list[at].Name == "" {
					return sentences(app.Out, "this session has no name; /name NAME gives it one")
				}
				return sentences(app.Out, "name: "+list[at].Name)
			}
			name := ""
			if arg != "--remove" {
				if name, err = journal.Name(list, app.Journal.ID(), app.Sessions.Clean(arg)); err != nil {
					return &Error{Message: err.Error(), Misused: true}
				}
			}
			if err := app.Journal.SetName(name); err != nil {
				return err
			}
			if name == "" {
				return sentences(app.Out, "the session has no name any more")
			}
			return sentences(app.Out, "name: "+name)
		}}
}

func exporting() *Command {
	return &Command{Name: "export", Aliases: []string{"export-session"}, Args: "FILE",
		Summary: "write the session to a file, as Markdown (.md), HTML (.html) or JSON (.json)",
		Run: func(ctx context.Context, app *App, name string) error {
			if name == "" {
				return misused("to which file? /export FILE.md, FILE.html or FILE.json")
			}
			if _, err := os.Stat(app.Journal.Path()); err != nil {
				return unavailable("nothing of this session is kept yet")
			}
			if yes, err := app.mayWrite(ctx, name); err != nil || !yes {
				return err
			}
			return app.Manage(ctx, "sessions", "export", "--", app.Journal.ID(), name)
		}}
}

// mayWrite asks before a file is written over.
func (app *App) mayWrite(ctx context.Context, name string) (bool, error) {
	if _, err := export.FormatOf(name); err != nil {
		return false, &Error{Message: err.Error(), Misused: true}
	}
	if _, err := os.Lstat(app.path(name)); err != nil || app.Sessions.Confirm == nil {
		return true, nil
	}
	return app.Sessions.Confirm(ctx, text.EscapeLine(name)+" is there already; write over it?")
}

// path returns where a file is that the user names.
func (app *App) path(name string) string {
	return disk.Absolute(name, app.Workspace.Roots()[0], app.Home)
}

func listSaved(_ context.Context, app *App, args string) error {
	if args != "" {
		return chats("chat", "").wants(args)
	}
	list, err := app.Sessions.Saved.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return sentences(app.Out, "no conversation is saved under a tag; /chat save TAG saves this one. Sessions are kept by themselves: /resume lists them")
	}
	ls := []string{"List of saved conversations:"}
	for _, t := range list {
		ls = append(ls, fmt.Sprintf("  - %s (%s)", text.EscapeLine(t.Name), t.At.Local().Format(time.DateTime)))
	}
	return sentences(app.Out, ls...)
}

func save(ctx context.Context, app *App, tag string) error {
	switch {
	case app.Sessions.Resume == nil:
		return errOnePrompt
	case tag == "":
		return misused("under which tag? /chat save TAG")
	case len(journal.Turns(app.Engine.History())) == 0:
		return unavailable("nothing was said that could be saved")
	}
	if app.Sessions.Saved.Has(tag) {
		if app.Sessions.Confirm == nil {
			return unavailable("a conversation is saved as %q already; /chat delete %s deletes it",
				tag, text.EscapeLine(tag))
		}
		yes, err := app.Sessions.Confirm(ctx,
			"a conversation is saved as "+text.EscapeLine(tag)+" already; write over it?")
		if err != nil || !yes {
			return err
		}
	}
	if err := app.Sessions.Saved.Save(ctx, tag, app.said(), app.Sessions.Auth, app.Journal.ID()); err != nil {
		return err
	}
	return sentences(app.Out, "saved as "+text.EscapeLine(tag)+"; /chat resume "+text.EscapeLine(tag)+" goes on with it")
}

// said returns the conversation so far, with what is secret taken out.
func (app *App) said() []*genai.Content {
	said := slices.Clone(app.Engine.History())
	for i, c := range said {
		said[i] = wrap.Content(c, app.Sessions.Clean)
	}
	return said
}

func load(ctx context.Context, app *App, tag string) error {
	switch {
	case app.Sessions.Resume == nil:
		return errOnePrompt
	case tag == "":
		return misused("which one? /chat resume TAG; /chat list lists them")
	}
	kept, err := app.Sessions.Saved.Load(tag, app.Sessions.Auth)
	if err != nil {
		return err
	}
	next, err := app.Sessions.Resume(ctx, journal.Choice{Saved: kept})
	if err != nil {
		return err
	}
	app.Conversation = next
	return nil
}

func deleteSaved(ctx context.Context, app *App, tag string) error {
	switch {
	case app.Sessions.Resume == nil:
		return errOnePrompt
	case tag == "":
		return misused("which one? /chat delete TAG; /chat list lists them")
	}
	if app.Sessions.Confirm != nil && app.Sessions.Saved.Has(tag) {
		yes, err := app.Sessions.Confirm(ctx, "delete the conversation that is saved as "+text.EscapeLine(tag)+"?")
		if err != nil || !yes {
			return err
		}
	}
	if err := app.Sessions.Saved.Delete(tag); err != nil {
		return err
	}
	return sentences(app.Out, "deleted: "+text.EscapeLine(tag))
}

func share(ctx context.Context, app *App, name string) error {
	said := journal.Turns(app.Engine.History())
	switch {
	case app.Sessions.Resume == nil:
		return errOnePrompt
	case len(said) == 0:
		return unavailable("nothing was said that could be shared")
	case name == "":
		name = fmt.Sprintf("gemini-conversation-%d.json", time.Now().UnixMilli())
	}
	if yes, err := app.mayWrite(ctx, name); err != nil || !yes {
		return err
	}
	format, err := export.FormatOf(name)
	var b []byte
	if format == export.JSON {
		b, err = text.JSON(app.said(), "  ")
	} else if err == nil {
		b, err = export.History(journal.Session{ID: app.Journal.ID(), Title: said[0].Question},
			app.Engine.History(), format, app.Sessions.Clean)
	}
	if err == nil {
		err = export.Write(ctx, app.path(name), b)
	}
	if err != nil {
		return err
	}
	return sentences(app.Out, "wrote "+text.Count(len(said), "turn")+" to "+text.EscapeLine(app.path(name)))
}
