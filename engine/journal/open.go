package journal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/engine/parallel"
)

// OpenOptions choose the session to resume or to begin.
type OpenOptions struct {
	Resume   bool               // resume a stored session
	Selector string             // see [Find]
	Session  string             // the id of a session to resume, or to begin if it is new
	ID       string             // of a new session; made up if empty
	Import   string             // a session file to copy
	Fork     bool               // a copy of the resumed session
	Copy     *File              // an open session to copy
	Turns    int                // the number of turns to copy; 0 is all
	Saved    *SavedConversation // the conversation that the session begins with
}

// SavedConversation is a conversation that was saved beside the sessions.
type SavedConversation struct {
	Title   string
	Session string // the conversation's session, "" if unknown
	At      time.Time
	History []*genai.Content
}

// OpenedSession is an open session.
type OpenedSession struct {
	File        *File
	History     []*genai.Content
	Directories []string       // further directories of the workspace
	Fresh       bool           // a new session, since the session to resume does not exist
	From        *LoadedSession // the resumed conversation; nil if there is none
	Copy        bool           // a copy, which [File.StoreCopy] writes
	Damaged     []string       // damaged files that may be the session to resume: see [Damaged]
	CopyOf      string         // the id of the copied session of this directory, "" for other sessions
}

// Open returns the session in cfg.Dir that choice names, or a new one with choice's ID. If
// another process works with the session, the error is a [BusyError].
func Open(cfg Config, choice OpenOptions) (opened OpenedSession, err error) {
	cfg.ID = uuid.NewString() // of a new session, or a copy
	if choice.Copy != nil {
		sessions, _ := List(cfg.Dir) // whose names are used
		return fork(cfg, choice.Copy.load, sessions, choice.Turns)
	}
	if choice.Resume {
		if o, ok := resumeLast(cfg, choice); ok {
			return o, nil
		}
		defer func() { opened.Damaged = Damaged(cfg.Dir) }()
		found, sessions, err := find(cfg.Dir, choice)
		if err == nil && choice.Fork {
			return fork(cfg, func() (*LoadedSession, *record, error) { return loadRecord(found.Path, true) }, sessions, choice.Turns)
		}
		if err == nil {
			return resume(found, cfg.Now)
		}
		if !errors.Is(err, ErrNoSessions) {
			return OpenedSession{}, err
		}
	}
	named := cmp.Or(choice.Session, choice.ID)
	if named == "" {
		switch {
		case choice.Import != "":
			return importFile(cfg, choice.Import)
		case choice.Saved != nil:
			return restored(cfg, *choice.Saved)
		}
		return OpenedSession{File: New(cfg), Fresh: choice.Resume}, nil
	}
	switch cfg.ID = named; {
	case !validID(named):
		return OpenedSession{}, errors.New("the id of a session is made of letters, digits, - and _")
	case selects(named):
		return OpenedSession{}, fmt.Errorf("%q can't be the id of a session: it says which session of the list is meant; --resume %s goes on with that session", named, named)
	}
	return openNamed(cfg, choice.Session != "")
}

// find returns the session that choice names, and the sessions of dir. The files that are named after
// the id suffice, unless a copy has to have a name of its own.
func find(dir string, choice OpenOptions) (found Session, sessions []Session, err error) {
	if id := strings.TrimSpace(choice.Selector); len(id) >= 8 && !choice.Fork {
		sessions, _ = list(dir, idPrefix(id))
		if found, err = Find(sessions, id); err == nil && strings.HasPrefix(found.ID, id) {
			return found, sessions, nil
		}
	}
	if sessions, err = List(dir); err == nil {
		found, err = Find(sessions, choice.Selector)
	}
	return found, sessions, err
}

// resumeLast returns the latest session, if choice names it and the first lines of the files
// suffice to find it. Then only one file is read, once.
func resumeLast(cfg Config, choice OpenOptions) (o OpenedSession, ok bool) {
	names, err := sessionNames(cfg.Dir)
	if which := strings.TrimSpace(choice.Selector); err != nil || choice.Fork || which != "" && which != "latest" {
		return OpenedSession{}, false
	}
	found := make([]Session, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0),
		func(i int) { found[i] = begins(filepath.Join(cfg.Dir, names[i])) })
	var last Session
	seen := map[string]bool{}
	for _, s := range found {
		if s.ID == "" || s.Start.IsZero() || seen[s.ID] {
			return OpenedSession{}, false
		}
		seen[s.ID] = true
		if s.Kind != "subagent" && !s.Start.Before(last.Start) {
			last = s
		}
	}
	if last.ID == "" {
		return OpenedSession{}, false
	}
	if o, err = resume(last, cfg.Now); err != nil {
		return OpenedSession{}, false
	}
	if is := o.From; is.ID != last.ID || !is.Start.Equal(last.Start) || is.Kind == "subagent" || is.empty() {
		o.File.Close()
		return OpenedSession{}, false
	}
	return o, true
}

// begins returns the session in the first line of a file, with an empty id if there is none.
func begins(path string) Session {
	if !strings.HasSuffix(path, ".jsonl") {
		return Session{}
	}
	f, err := disk.Open(path)
	if err != nil {
		return Session{}
	}
	defer f.Close()
	var r record
	if b, err := bufio.NewReader(f).ReadSlice('\n'); err == nil { // else the line is long, or has no end
		r.line(b)
	}
	s := r.summary()
	s.Path = path
	return s
}

// openNamed returns a new session cfg.ID. If the session exists, it is resumed if goOn is true,
// otherwise an error is returned.
func openNamed(cfg Config, goOn bool) (OpenedSession, error) {
	return locked(cfg.Dir, cfg.ID, func() (OpenedSession, error) {
		files, _ := sessionsIn(cfg.Dir, fileName(idPrefix(cfg.ID)))
		files = slices.DeleteFunc(files, func(s Session) bool { return s.ID != cfg.ID })
		kept := newest(slices.DeleteFunc(slices.Clone(files), func(s Session) bool { return s.empty() }))
		switch {
		case goOn && len(kept) > 0:
			return reopen(kept[0].Path, cfg.Now)
		case !goOn && len(files) > 0:
			return OpenedSession{}, fmt.Errorf("there is a session %s already; --resume %s resumes it", cfg.ID, cfg.ID)
		}
		return OpenedSession{File: New(cfg)}, nil
	})
}

// locked locks a session, and opens it.
func locked(dir, id string, open func() (OpenedSession, error)) (OpenedSession, error) {
	lock, err := lockSession(dir, id)
	if err != nil {
		return OpenedSession{}, err
	}
	o, err := open()
	if err != nil {
		unlock(lock)
		return OpenedSession{}, err
	}
	o.File.disk.lock = lock
	return o, nil
}

// resume returns a stored session.
func resume(s Session, now func() time.Time) (OpenedSession, error) {
	return locked(filepath.Dir(s.Path), s.ID, func() (OpenedSession, error) { return reopen(s.Path, now) })
}

func reopen(path string, now func() time.Time) (OpenedSession, error) {
	talk, r, err := loadRecord(path, strings.HasSuffix(path, ".json"))
	if err != nil {
		return OpenedSession{}, err
	}
	f, err := talk.resume(now)
	if err != nil {
		return OpenedSession{}, err
	}
	f.known = r.known(talk.History)
	return OpenedSession{File: f, History: talk.History, Directories: talk.Directories, From: talk}, nil
}
