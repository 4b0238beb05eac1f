package program

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

// A chat is where a conversation is stored: the file of its session, and the conversation that
// the session continues.
type chat struct {
	opts   *project.Options
	store  dirs.Store
	file   *journal.File
	saver  *journal.Saver        // writes it; nil if nothing is recorded
	past   *journal.Conversation // the resumed conversation, nil for a new one
	said   []*genai.Content      // in the resumed conversation, nil once the engine has it
	copyOf string                // the session that was copied, "" for no copy
}

// openChat finds the conversation that is resumed, or begins another. The directories that it
// was about are worked in again.
func openChat(p *Project, c Choice, notify func(string)) (*chat, error) {
	o, err := journal.Open(journal.Config{Dir: p.store.Chats(), ProjectHash: p.store.Hash, Directories: c.Directories}, c.OpenOptions)
	if err != nil {
		return nil, &input.Error{Message: err.Error(), Err: err}
	}
	for _, c := range o.History {
		wrap.Content(c, func(text string) string { p.opts.Secrets.AddFrom(text); return text })
	}
	if o.Fresh {
		notify("there is no session to resume; this is a new one")
	}
	for _, dir := range o.Directories {
		p.add(dir)
	}
	p.once.complain()
	if dirs := p.workspace.Roots()[1:]; len(dirs) > 0 {
		if err := o.File.SetDirectories(dirs); err != nil {
			notify(fmt.Sprintf("the directories were not saved with the session: %v", err))
		}
	}
	chat := &chat{opts: p.opts, store: p.store, file: o.File, past: o.From, said: o.History, copyOf: o.CopyOf}
	if p.store.Temp == "" || c.Trial {
		return chat, nil
	}
	chat.saver = journal.NewSaver(o.File, func(n engine.Notice) { p.status.turn.add(n) })
	if o.Copy { // which the user has asked for
		if err := o.File.Keep(); err != nil {
			notify(fmt.Sprintf("the copy is not saved yet: %v", err))
		}
	}
	return chat, nil
}

// close leaves the file to others.
func (c *chat) close() {
	c.saver.Missing() // the last attempt
	c.file.Close()
}

// recorded reports whether the conversation is written to the file.
func (c *chat) recorded() bool { return c.saver != nil }

// continues reports whether the session of the resumed conversation goes on. That of a copy
// does not.
func (c *chat) continues() bool { return c.past != nil && c.past.ID == c.file.ID() }

// source is how the conversation has begun, as hooks are told.
func (c *chat) source() string {
	if c.past != nil {
		return "resume"
	}
	return "startup"
}

// resume returns the command that resumes the session, "" if there is none.
func (c *chat) resume() string {
	if c.store.Temp == "" {
		return ""
	}
	return c.opts.InTree() + "gemline --resume " + text.ShortID(c.file.ID())
}

// outputs returns the directory of files that belong to the session, "" if there is none.
func (c *chat) outputs() string {
	if c.store.Temp == "" {
		return ""
	}
	return filepath.Join(c.store.Temp, "tool-outputs", "session-"+c.file.ID())
}

// sync has the disk keep the session, unless the settings leave that to the system.
func (c *chat) sync() error { return c.syncing(c.file)() }

// syncing returns what has the disk keep a file of the conversation or of an agent's.
func (c *chat) syncing(f *journal.File) func() error {
	return func() error {
		if !c.opts.Settings.SyncSession {
			return nil
		}
		return f.Sync()
	}
}
