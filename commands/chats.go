package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/commands/cli"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/journal/export"
	"gemline/engine/journal/saved"
	"gemline/engine/lists"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/repl/question"
)

// chatCommands are about sessions, and conversations that are stored under tags.
type chatCommands struct {
	c        *Conversation
	out      io.Writer
	home     string
	pickOne  func(ctx context.Context, ask, enter string, list []question.MenuItem) (at int, err error)
	sessions Sessions
	confirm  func(ctx context.Context, about string) (bool, error)
}

// Sessions holds the stored sessions beside the present conversation.
type Sessions struct {
	Dir   string                   // of the project's session files
	Saved saved.Store              // of conversations under tags
	Auth  string                   // how the user signs in
	Clean func(text string) string // removes secrets

	// Resume replaces this conversation by another, and prints how far the other conversation has
	// come. It is nil in a run of a single prompt.
	Resume func(ctx context.Context, c journal.OpenOptions) (*Conversation, error)

	// Summarize has a model write a line about each session without a summary. It stops after a
	// moment.
	Summarize func(ctx context.Context, list []journal.Session)
}

// errOnePrompt is the error of a command that needs a session, in a run of one prompt.
var errOnePrompt = unavailable("this works in a session only; gemline sessions and gemline --resume do it from outside")

func (cmd chatCommands) set() Set {
	return Set{
		cmd.chats("chat", "resume another session, as /resume does"),
		cmd.chats("resume", "resume another session"),
		{Name: "export", Aliases: []string{"export-session"}, Args: "FILE", Run: cmd.export,
			Summary: "write the session to a file, as Markdown (.md), HTML (.html) or JSON (.json)"},
		{Name: "fork", Args: "[TURN]", Run: cmd.inSession(cmd.fork),
			Summary: "resume a copy of the session, whole or until a turn, and leave the session as it is"},
		{Name: "name", Args: "[NAME|--remove]", Run: cmd.name,
			Summary: "say how the session is called, or call it something that --resume takes"},
	}
}

// chats returns /chat or /resume, which are the same.
func (cmd chatCommands) chats(name, summary string) *Command {
	inner := Set{
		{Name: "list", Summary: "list the conversations that were saved under a tag", Run: cmd.listSaved},
		{Name: "save", Args: "TAG", Summary: "save the conversation so far under a tag", Run: cmd.inSession(cmd.save), Complete: cmd.tags},
		{Name: "resume", Aliases: []string{"load"}, Args: "TAG", Summary: "resume a saved conversation", Run: cmd.inSession(cmd.load), Complete: cmd.tags},
		{Name: "delete", Args: "TAG", Summary: "delete one that was saved", Run: cmd.inSession(cmd.deleteSaved), Complete: cmd.tags},
		{Name: "share", Args: "[FILE]", Summary: "write the conversation to a file: .md, .html, or .json, a list of messages", Run: cmd.inSession(cmd.share)},
	}
	nested := slices.Clone(inner)
	inner = append(inner, &Command{Name: "checkpoints", Aliases: []string{"checkpoint"},
		Summary: "the same commands once more", Sub: nested})
	return &Command{Name: name, Usual: name == "resume", Args: "[NUMBER|ID|NAME|TEXT]",
		Summary: summary, Run: cmd.inSession(cmd.resume), Sub: inner, Complete: cmd.sessionNames}
}

// inSession returns a command that works in a session only.
func (cmd chatCommands) inSession(run func(context.Context, string) error) func(context.Context, string) error {
	if cmd.sessions.Resume == nil {
		return func(context.Context, string) error { return errOnePrompt }
	}
	return run
}

// tags completes the tag of a conversation that was saved.
func (cmd chatCommands) tags(_ context.Context, _, _ string) (names []string) {
	list, _ := cmd.sessions.Saved.List()
	return lists.Map(list, func(t saved.Tag) string { return t.Name })
}

// sessionNames completes the name or id of a session.
func (cmd chatCommands) sessionNames(_ context.Context, _, _ string) (names []string) {
	list, _ := journal.List(cmd.sessions.Dir)
	for _, s := range slices.Backward(list) {
		names = append(names, s.ID)
		if s.Name != "" {
			names = append(names, s.Name)
		}
	}
	return names
}

// resume resumes the named session, or lets the user choose a session from a list.
func (cmd chatCommands) resume(ctx context.Context, arg string) error {
	list, err := journal.List(cmd.sessions.Dir)
	if err != nil {
		return err
	}
	if arg == "" {
		return cmd.pick(ctx, list)
	}
	s, err := journal.Find(list, arg)
	if nf := (*journal.NotFoundError)(nil); errors.As(err, &nf) {
		return cmd.pickFound(ctx, list, arg, nf)
	} else if err != nil {
		return &Error{Message: err.Error()}
	}
	return cmd.resumeSession(ctx, s)
}

// pick lists sessions and resumes the chosen session.
func (cmd chatCommands) pick(ctx context.Context, list []journal.Session) error {
	if n := len(journal.Damaged(cmd.sessions.Dir)); n > 0 {
		if err := sentences(cmd.out, text.Count(n, "session")+" can't be read; gemline sessions says why"); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return sentences(cmd.out, "no session of this directory is stored yet")
	}
	if cmd.sessions.Summarize != nil {
		cmd.sessions.Summarize(ctx, list)
		if again, err := journal.List(cmd.sessions.Dir); err == nil && len(again) > 0 {
			list = again
		}
	}
	menu := make([]question.MenuItem, len(list))
	for i, s := range list {
		menu[i] = cmd.sessionChoice(s, i+1)
		if i == len(list)-1 && len(list) > 1 {
			menu[i].Text += " newest"
		}
	}
	return cmd.choose(ctx, list, menu)
}

// sessionChoice returns the line of a list that stands for a session.
func (cmd chatCommands) sessionChoice(s journal.Session, n int) question.MenuItem {
	_, line, _ := strings.Cut(s.Line(n, cmd.c.Journal.ID(), time.Now()), " ")
	return question.MenuItem{Number: n, Name: s.Name, Text: line}
}

// pickFound resumes the session whose title has all words, or else the session whose text has
// them. If there are several, they are listed, and the user chooses.
func (cmd chatCommands) pickFound(ctx context.Context, all []journal.Session, words string, none *journal.NotFoundError) error {
	current := func(f journal.SearchResult) bool { return f.ID == cmd.c.Journal.ID() }
	found := slices.DeleteFunc(titled(all, words), current)
	if len(found) == 0 {
		var err error
		if found, err = journal.Search(cmd.sessions.Dir, words); err != nil {
			return err
		}
		found = slices.DeleteFunc(found, current)
	}
	switch len(found) {
	case 0:
		return misused("%s, and no other in which that was said; /resume lists them", none.Error())
	case 1:
		return cmd.resumeSession(ctx, found[0].Session)
	}
	var list []journal.Session
	var menu []question.MenuItem
	for _, f := range found {
		c := cmd.sessionChoice(f.Session, f.Number)
		c.Below = cli.HitLines(f.Hits)
		list, menu = append(list, f.Session), append(menu, c)
	}
	return cmd.choose(ctx, list, menu)
}

// titled returns the sessions whose title has all words, in any order and case.
func titled(all []journal.Session, words string) (found []journal.SearchResult) {
	for i, s := range all {
		title := strings.ToLower(s.Title)
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(words)),
			func(w string) bool { return !strings.Contains(title, w) }) {
			found = append(found, journal.SearchResult{Session: s, Number: i + 1})
		}
	}
	return found
}

// choose asks for a session in a menu, and resumes it.
func (cmd chatCommands) choose(ctx context.Context, list []journal.Session, menu []question.MenuItem) error {
	if cmd.pickOne == nil {
		var ls []string
		for _, c := range menu {
			ls = append(append(ls, fmt.Sprintf("%d. %s", c.Number, c.Text)), c.Below...)
		}
		return sentences(cmd.out, append(ls, "/resume NUMBER resumes a session")...)
	}
	at, err := cmd.pickOne(ctx, "resume which session?", "none", menu)
	if err != nil || at < 0 {
		return err
	}
	return cmd.resumeSession(ctx, list[at])
}

// resumeSession resumes a session, or a copy of it if another process has it open.
func (cmd chatCommands) resumeSession(ctx context.Context, s journal.Session) error {
	if s.ID == cmd.c.Journal.ID() {
		return unavailable("that is the session you are in; /fork resumes a copy of it")
	}
	choice := journal.OpenOptions{Resume: true, Selector: s.ID}
	next, err := cmd.sessions.Resume(ctx, choice)
	if busy := (*journal.BusyError)(nil); errors.As(err, &busy) && cmd.confirm != nil {
		yes, asked := cmd.confirm(ctx, busy.Error()+"; resume a copy?")
		if asked != nil || !yes {
			return asked
		}
		choice.Fork = true
		next, err = cmd.sessions.Resume(ctx, choice)
	}
	if err != nil {
		return err
	}
	*cmd.c = *next
	return nil
}

func (cmd chatCommands) fork(ctx context.Context, arg string) error {
	turn := 0
	if arg != "" {
		var err error
		if turn, err = strconv.Atoi(arg); err != nil || turn < 1 {
			return misused("/fork takes the number of a question, which /rewind lists; not %q", arg)
		}
	}
	next, err := cmd.sessions.Resume(ctx, journal.OpenOptions{Copy: cmd.c.Journal, Turns: turn})
	if err != nil {
		return err
	}
	before := cmd.c.Journal
	*cmd.c = *next
	if !before.Stored() {
		return sentences(cmd.out, "a copy of this session, which is not saved")
	}
	of := "this session"
	if list, err := journal.List(cmd.sessions.Dir); err == nil {
		if s, err := journal.Find(list, before.ID()); err == nil {
			of = strconv.Quote(s.Title)
		}
	}
	return sentences(cmd.out, fmt.Sprintf("a copy of %s; the original stays (/resume %s goes back)", of, text.ShortID(before.ID())))
}

func (cmd chatCommands) name(_ context.Context, arg string) error {
	list, err := journal.List(cmd.sessions.Dir)
	if err != nil {
		return err
	}
	if arg == "" {
		at := slices.IndexFunc(list, func(s journal.Session) bool { return s.ID == cmd.c.Journal.ID() })
		if at < 0 || list[at].Name == "" {
			return sentences(cmd.out, "this session has no name; /name NAME gives it one")
		}
		return sentences(cmd.out, "name: "+list[at].Name)
	}
	name := ""
	if strings.HasPrefix(arg, "--remove ") {
		return misused("/name takes NAME, --remove or nothing")
	}
	if arg != "--remove" {
		if name, err = journal.Name(list, cmd.c.Journal.ID(), cmd.sessions.Clean(arg)); err != nil {
			return &Error{Message: err.Error(), Misused: true}
		}
	}
	if err = cmd.c.Journal.SetName(name); err == nil {
		err = journal.Lock(cmd.c.Journal)
	}
	if err != nil {
		return fmt.Errorf("the name is not stored: %w", err)
	}
	if name == "" {
		return sentences(cmd.out, "the session has no name any more")
	}
	return sentences(cmd.out, "name: "+name)
}

func (cmd chatCommands) export(ctx context.Context, name string) error {
	if name == "" {
		return misused("to which file? /export FILE.md, FILE.html or FILE.json")
	}
	talk, messages, err := journal.LoadOpen(cmd.c.Journal)
	if err != nil {
		return err
	}
	if talk.Messages == 0 {
		return unavailable("nothing of this session is stored yet")
	}
	if yes, err := cmd.mayWrite(ctx, name); err != nil || !yes {
		return err
	}
	format, err := export.FormatOf(name)
	if err != nil {
		return err
	}
	b, err := export.Session(talk, messages, format, cmd.sessions.Clean)
	if err == nil {
		err = export.Write(ctx, cmd.path(name), b)
	}
	if err != nil {
		return err
	}
	return sentences(cmd.out, "wrote session "+text.ShortID(talk.ID)+" to "+text.PrintableLine(cmd.path(name)))
}

// mayWrite asks before a file is overwritten.
func (cmd chatCommands) mayWrite(ctx context.Context, name string) (bool, error) {
	if _, err := export.FormatOf(name); err != nil {
		return false, &Error{Message: err.Error(), Misused: true}
	}
	if _, err := os.Lstat(cmd.path(name)); err != nil || cmd.confirm == nil {
		return true, nil
	}
	return cmd.confirm(ctx, text.PrintableLine(name)+" is there already; write over it?")
}

// path returns the path of a file that the user names.
func (cmd chatCommands) path(name string) string {
	return disk.Absolute(name, cmd.c.Workspace.Roots()[0], cmd.home)
}

func (cmd chatCommands) listSaved(context.Context, string) error {
	list, err := cmd.sessions.Saved.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return sentences(cmd.out, "no conversation is saved under a tag; /chat save TAG saves this one. Sessions are stored by themselves: /resume lists them")
	}
	ls := []string{"List of saved conversations:"}
	for _, t := range list {
		ls = append(ls, fmt.Sprintf("  - %s (%s)", text.PrintableLine(t.Name), t.At.Local().Format(time.DateTime)))
	}
	return sentences(cmd.out, ls...)
}

func (cmd chatCommands) save(ctx context.Context, tag string) error {
	switch {
	case tag == "":
		return misused("under which tag? /chat save TAG")
	case len(journal.Turns(journal.Transcript(cmd.c.Journal, cmd.c.Engine.History()))) == 0:
		return unavailable("nothing was said that could be saved")
	}
	if cmd.sessions.Saved.Has(tag) {
		if cmd.confirm == nil {
			return unavailable("a conversation is saved as %q already; /chat delete %s deletes it",
				tag, text.PrintableLine(tag))
		}
		yes, err := cmd.confirm(ctx,
			"a conversation is saved as "+text.PrintableLine(tag)+" already; write over it?")
		if err != nil || !yes {
			return err
		}
	}
	if err := cmd.sessions.Saved.Save(ctx, tag, cmd.history(), cmd.sessions.Auth, cmd.c.Journal.ID()); err != nil {
		return err
	}
	return sentences(cmd.out, "saved as "+text.PrintableLine(tag)+"; /chat resume "+text.PrintableLine(tag)+" goes on with it")
}

// history returns the conversation so far, without secrets.
func (cmd chatCommands) history() []*genai.Content {
	return lists.Map(cmd.c.Engine.History(), func(c *genai.Content) *genai.Content { return wrap.Content(c, cmd.sessions.Clean) })
}

func (cmd chatCommands) load(ctx context.Context, tag string) error {
	if tag == "" {
		return misused("which one? /chat resume TAG; /chat list lists them")
	}
	kept, err := cmd.sessions.Saved.Load(tag, cmd.sessions.Auth)
	if err != nil {
		return err
	}
	next, err := cmd.sessions.Resume(ctx, journal.OpenOptions{Saved: kept})
	if err != nil {
		return err
	}
	*cmd.c = *next
	return nil
}

func (cmd chatCommands) deleteSaved(ctx context.Context, tag string) error {
	if tag == "" {
		return misused("which one? /chat delete TAG; /chat list lists them")
	}
	if cmd.confirm != nil && cmd.sessions.Saved.Has(tag) {
		yes, err := cmd.confirm(ctx, "delete the conversation that is saved as "+text.PrintableLine(tag)+"?")
		if err != nil || !yes {
			return err
		}
	}
	if err := cmd.sessions.Saved.Delete(tag); err != nil {
		return err
	}
	return sentences(cmd.out, "deleted: "+text.PrintableLine(tag))
}

func (cmd chatCommands) share(ctx context.Context, name string) error {
	whole := journal.Transcript(cmd.c.Journal, cmd.c.Engine.History())
	said := journal.Turns(whole)
	switch {
	case len(said) == 0:
		return unavailable("nothing was said that could be shared")
	case name == "":
		name = fmt.Sprintf("gemini-conversation-%d.json", time.Now().UnixMilli())
	}
	if yes, err := cmd.mayWrite(ctx, name); err != nil || !yes {
		return err
	}
	format, err := export.FormatOf(name)
	var b []byte
	if format == export.JSON {
		b, err = text.JSON(cmd.history(), "  ")
	} else if err == nil {
		b, err = export.History(journal.Session{ID: cmd.c.Journal.ID(), Title: said[0].Question},
			whole, format, cmd.sessions.Clean)
	}
	if err == nil {
		err = export.Write(ctx, cmd.path(name), b)
	}
	if err != nil {
		return err
	}
	return sentences(cmd.out, "wrote "+text.Count(len(said), "turn")+" to "+text.PrintableLine(cmd.path(name)))
}
