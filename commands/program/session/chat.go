package session

import (
	"fmt"
	"path/filepath"

	"google.golang.org/genai"

	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
	"gemline/repl/input"
	dirs "gemline/settings/project"
)

// A Chat is where a conversation is stored: the file of its session, and the conversation that
// the session continues.
type Chat struct {
	opts    *project.Options
	store   dirs.Store
	File    *journal.File
	Saver   *journal.Saver         // writes it; nil if nothing is recorded
	Resumed *journal.LoadedSession // the resumed conversation, nil for a new one
	said    []*genai.Content       // in the resumed conversation, nil once the engine has it
	copyOf  string                 // the session that was copied, "" for no copy
}

// openChat finds the conversation that is resumed, or begins another. The directories that it
// was about are worked in again.
func openChat(p *project.Project, c Choice, notify func(string)) (*Chat, error) {
	o, err := journal.Open(journal.Config{Dir: p.Store.Chats(), ProjectHash: p.Store.Hash, Directories: c.Directories}, c.OpenOptions)
	if err != nil {
		return nil, &input.Error{Message: err.Error(), Err: err}
	}
	for _, c := range o.History {
		wrap.Content(c, func(text string) string { p.Options.Secrets.AddFrom(text); return text })
	}
	if o.Fresh {
		notify("there is no session to resume; this is a new one")
	}
	for _, dir := range o.Directories {
		p.AddDirectory(dir)
	}
	p.Once.WarnIgnoreFiles()
	if dirs := p.Workspace.Roots()[1:]; len(dirs) > 0 {
		if err := o.File.SetDirectories(dirs); err != nil {
			notify(fmt.Sprintf("the directories were not saved with the session: %v", err))
		}
	}
	chat := &Chat{opts: p.Options, store: p.Store, File: o.File, Resumed: o.From, said: o.History, copyOf: o.CopyOf}
	if p.Store.Temp == "" || c.Trial {
		return chat, nil
	}
	chat.Saver = journal.NewSaver(o.File, func(n engine.Notice) { p.Status.Queue.Add(n) })
	if o.Copy { // which the user has asked for
		if err := o.File.Keep(); err != nil {
			notify(fmt.Sprintf("the copy is not saved yet: %v", err))
		}
	}
	return chat, nil
}

// close leaves the file to others.
func (c *Chat) close() {
	c.Saver.Missing() // the last attempt
	c.File.Close()
}

// Recorded reports whether the conversation is written to the file.
func (c *Chat) Recorded() bool { return c.Saver != nil }

// continues reports whether the session of the resumed conversation goes on. That of a copy
// does not.
func (c *Chat) continues() bool { return c.Resumed != nil && c.Resumed.ID == c.File.ID() }

// Source is how the conversation has begun, as hooks are told.
func (c *Chat) Source() string {
	if c.Resumed != nil {
		return "resume"
	}
	return "startup"
}

// ResumeCommand returns the command that resumes the session, "" if there is none.
func (c *Chat) ResumeCommand() string {
	if c.store.Temp == "" {
		return ""
	}
	return c.opts.WorktreePrefix() + "gemline --resume " + text.ShortID(c.File.ID())
}

// outputs returns the directory of files that belong to the session, "" if there is none.
func (c *Chat) outputs() string {
	if c.store.Temp == "" {
		return ""
	}
	return filepath.Join(c.store.Temp, "tool-outputs", "session-"+c.File.ID())
}

// sync has the disk keep the session, unless the settings leave that to the system.
func (c *Chat) sync() error { return c.syncing(c.File)() }

// syncing returns what has the disk keep a file of the conversation or of an agent's.
func (c *Chat) syncing(f *journal.File) func() error {
	return func() error {
		if !c.opts.Settings.SyncSession {
			return nil
		}
		return f.Sync()
	}
}
