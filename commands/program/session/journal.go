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

// A Journal stores a conversation: in the session's file, with the conversation that the session
// resumes.
type Journal struct {
	opts    *project.Options
	store   dirs.Store
	File    *journal.File          // of the session
	saver   *journal.Saver         // writes it; nil if nothing is recorded
	Resumed *journal.LoadedSession // the resumed conversation, nil for a new one
	history []*genai.Content       // of the resumed conversation, nil once the engine has it
	copyOf  string                 // the session that was copied, "" for no copy
}

// openJournal opens the conversation to resume, or begins another. It adds the directories of a
// resumed conversation to the workspace.
func openJournal(p *project.Project, c Config, notify func(string)) (*Journal, error) {
	o, err := journal.Open(journal.Config{Dir: p.Store.Chats(), ProjectHash: p.Store.Hash, Directories: c.directories}, c.Open)
	text.Each(o.Damaged, notify)
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
	at := &Journal{opts: p.Options, store: p.Store, File: o.File, Resumed: o.From, history: o.History, copyOf: o.CopyOf}
	if p.Store.Temp == "" || c.Trial {
		return at, nil
	}
	at.saver = journal.NewSaver(o.File, func(n engine.Notice) { p.Status.Queue.Add(n) })
	at.saver.Expected = p.Store.Unsaved
	if o.Copy { // the user has asked for the copy
		if err := o.File.StoreCopy(); err != nil {
			notify(fmt.Sprintf("the copy is not saved yet: %v", err))
		}
	}
	return at, nil
}

// close releases the file.
func (j *Journal) close() {
	j.saver.WriteMissing() // the last attempt
	j.File.Close()
}

// Missing tries once more to write pending records. It describes the records that are still missing
// in the file, "" if there are none.
func (j *Journal) Missing() string { return j.saver.WriteMissing() }

// Recorded reports whether the conversation is written to the file.
func (j *Journal) Recorded() bool { return j.saver != nil }

// continues reports whether the conversation is recorded in the session that it resumes. A copy
// has a session of its own.
func (j *Journal) continues() bool { return j.Resumed != nil && j.Resumed.ID == j.File.ID() }

// Source returns how the conversation began, in the words of hooks: resume or startup.
func (j *Journal) Source() string {
	if j.Resumed != nil {
		return "resume"
	}
	return "startup"
}

// ResumeCommand returns the command that resumes the session, "" if there is none.
func (j *Journal) ResumeCommand() string {
	if j.store.Temp == "" {
		return ""
	}
	return j.opts.WorktreePrefix() + "gemline --resume " + text.ShortID(j.File.ID())
}

// outputDir returns the directory for the session's other files, "" if there is none.
func (j *Journal) outputDir() string {
	if j.store.Temp == "" {
		return ""
	}
	return filepath.Join(j.store.Temp, "tool-outputs", "session-"+j.File.ID())
}

// sync flushes the session to the disk, unless the settings leave that to the system.
func (j *Journal) sync() error { return j.syncFunc(j.File)() }

// syncFunc returns a function that flushes a file of the conversation or of an agent's to the disk,
// unless the settings leave that to the system.
func (j *Journal) syncFunc(f *journal.File) func() error {
	return func() error {
		if !j.opts.Settings.SyncSession {
			return nil
		}
		return f.Sync()
	}
}
