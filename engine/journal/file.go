package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A Config says which data are stored, and where.
type Config struct {
	Dir         string   // of the project's session files; created when needed
	ID          string   // of the session
	ProjectHash string   // the SHA-256 of the project's directory in hexadecimal
	Directories []string // further directories of the workspace
	Parent      string   // for an agent's conversation: the session it belongs to
	ForkOf      string   // the session of which this session is a copy

	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// A File is an [engine.Journal] that appends to a session file. It writes nothing before the
// first message after the opening message, and buffers nothing afterwards. A File must not be
// used concurrently.
type File struct {
	id      string
	path    string
	now     func() time.Time
	exists  bool     // the file exists
	empty   bool     // nothing was written yet
	opening bool     // an opening message may be recorded
	dirs    []string // the recorded directories of the workspace
	titled  bool     // has a name or a summary
	begins  bool     // beginnings of calls are recorded
	known   *known

	disk    handle
	pending pending
	flush   flushing
	last    lastMessage
}

// A handle is the session file on the disk.
type handle struct {
	lock  *flock.Flock // keeps other processes from the session; nil until needed
	out   stored
	files files
	torn  bool   // the last line may be incomplete
	anew  string // says that the file was deleted, and is written anew
}

// A pending has lines to write with the next record.
type pending struct {
	lines     []byte
	copied    bool // the lines have messages of another session
	unwritten bool // the lines have records that could not be written
}

// A flushing records the writes that are not flushed to the disk yet, and would be lost in a
// power failure.
type flushing struct {
	due      bool // the disk may lack a part of the file
	unlisted int  // how many directories on the path may lack their entry on the disk
	failed   bool // a failure to flush was reported
}

// A lastMessage is the model's last message, to which results of calls belong.
type lastMessage struct {
	line     *messageLine // nil after a later message of the user
	content  *genai.Content
	answered bool // the result of its only call is beside it
}

// New returns a File for a new session.
func New(cfg Config) *File {
	f := &File{id: cfg.ID, now: cfg.Now, opening: true, dirs: cfg.Directories, known: &known{ids: map[string]string{}},
		disk: handle{files: system{}}}
	if f.now == nil {
		f.now = time.Now
	}
	at := f.now()
	kind, name := "main", fmt.Sprintf("session-%s-%s", at.UTC().Format("2006-01-02T15-04"), fileName(idPrefix(cfg.ID)))
	dir := cfg.Dir
	if cfg.Parent != "" {
		kind, name = "subagent", fileName(cfg.ID)
		if dir != "" {
			dir = filepath.Join(dir, fileName(cfg.Parent))
		}
	}
	if dir != "" {
		f.path = filepath.Join(dir, name+".jsonl")
	}
	m := Session{ID: cfg.ID, ProjectHash: cfg.ProjectHash, Start: at, Updated: at, Kind: kind,
		Directories: cfg.Directories, ForkOf: cfg.ForkOf}.Metadata()
	m.Format = FormatVersion
	f.pending.lines, _ = encode(m) // no error for strings
	return f
}

// resume returns a File that continues the session c. A file in the old format, one object, stays
// unchanged; the conversation continues in a copy in the format of lines.
func (c *LoadedSession) resume(now func() time.Time) (f *File, err error) {
	f = &File{id: c.ID, path: c.Path, now: now, exists: true, opening: c.opened,
		dirs: c.Directories, titled: c.Summary != "", disk: handle{files: system{}}}
	if f.now == nil {
		f.now = time.Now
	}
	if !strings.HasSuffix(c.Path, ".json") {
		return f, nil
	}
	f.path, f.exists = c.Path+"l", false
	m := c.Metadata()
	m.Format = FormatVersion
	if f.pending.lines, err = encode(m); err == nil {
		err = f.startWith(c.messages)
	}
	return f, err
}

// startWith adds messages to the head of a file that does not exist yet.
func (f *File) startWith(messages []json.RawMessage) error {
	set, err := encode(map[string]any{"$set": map[string]any{"messages": messages}})
	f.pending.lines, f.pending.copied = append(f.pending.lines, set...), true
	return err
}

// ID returns the id of the session.
func (f *File) ID() string { return f.id }

// Path returns the name of the file, which may not exist yet.
func (f *File) Path() string { return f.path }

// StoreCopy writes the file of a copied session before its first own message, which would also
// write it.
func (f *File) StoreCopy() error {
	if f.exists || !f.pending.copied {
		return nil
	}
	return f.append(nil, f.now())
}

// Stored reports whether the file exists and has messages.
func (f *File) Stored() bool { return f.exists && !f.empty }

// Close closes the file and releases the session's lock. A later Record opens it again.
func (f *File) Close() error {
	defer func() { unlock(f.disk.lock); f.disk.lock = nil }()
	if f.disk.out == nil {
		return nil
	}
	err := f.disk.out.Close()
	f.disk.out = nil
	return err
}

// Record implements [engine.Journal].
func (f *File) Record(e engine.Entry) error {
	if e.Content == nil {
		return nil
	}
	if e.Opening {
		return f.open(e.Content)
	}
	at := f.now()
	line := newMessage(e, at)
	var b []byte
	var err error
	if e.Content.Role == genai.RoleModel {
		line.Begins = f.begins && engine.HasCalls(e.Content)
		f.last = lastMessage{line: &line, content: e.Content}
	} else if len(e.Calls) > 0 && f.last.line != nil && !f.last.answered {
		if b, err = f.withResults(e.Calls); err != nil {
			return err
		}
	}
	if line.Type == "user" {
		f.last = lastMessage{}
	}
	l, err := encode(line)
	if err != nil {
		return err
	}
	f.known.add(e.Content, line.ID)
	return f.append(append(b, l...), at)
}

// Result implements [engine.Journal]. The result of a message's only call is written beside the
// call at once. Results of several calls have lines of their own until all are complete:
// rewriting the message after each result would take space by the square of their number.
func (f *File) Result(r engine.CallRecord) error {
	if f.last.line == nil {
		return nil
	}
	calls := 0
	for _, p := range f.last.content.Parts {
		if p != nil && p.FunctionCall != nil {
			calls++
		}
	}
	one := []engine.CallRecord{r}
	var b []byte
	var err error
	if f.last.answered = calls == 1; f.last.answered {
		b, err = f.withResults(one)
	} else {
		b, err = encode(map[string]any{"$result": resultLine{Message: f.last.line.ID, toolCall: toolCalls(one)[0]}})
	}
	if err != nil {
		return err
	}
	return f.append(b, f.now())
}

// withResults returns a line that replaces the model's last message, with the results of calls
// beside them.
func (f *File) withResults(calls []engine.CallRecord) ([]byte, error) {
	again := *f.last.line
	again.Parts = withoutArgs(f.last.content, calls)
	again.ToolCalls = toolCalls(calls)
	return encode(again)
}

// open records the opening message. It replaces the opening message of an existing file; a file
// without an opening message gets none, since it would not be the first message.
func (f *File) open(c *genai.Content) error {
	if !f.opening {
		return nil
	}
	at := f.now()
	line := messageLine{ID: openingID, Timestamp: text.Timestamp(at), Type: "user", Content: withNamedIDs(c.Parts)}
	if f.exists || f.disk.out != nil || f.pending.copied || f.pending.unwritten {
		b, err := encode(line)
		if err != nil {
			return err
		}
		f.pending.lines = append(f.pending.lines, b...)
		return nil
	}
	b, err := encode(map[string]any{"$set": map[string]any{"messages": []messageLine{line},
		"lastUpdated": text.Timestamp(at)}})
	f.pending.lines = append(f.pending.lines, b...)
	return err
}

// SetDirectories records the further directories of the workspace.
func (f *File) SetDirectories(dirs []string) error {
	if slices.Equal(dirs, f.dirs) {
		return nil
	}
	f.dirs = slices.Clone(dirs)
	return f.set(map[string]any{"directories": dirs})
}

// SetRemoteTasks records the places of conversations with agents on other servers.
func (f *File) SetRemoteTasks(places map[string]RemoteTask) error {
	return f.set(map[string]any{"remoteAgents": places})
}

// append writes whole lines, with the time, at once.
func (f *File) append(b []byte, at time.Time) error {
	tick, err := encode(map[string]any{"$set": map[string]any{"lastUpdated": text.Timestamp(at)}})
	if err != nil {
		return err
	}
	return f.write(append(b, tick...))
}

// write writes whole lines at once, after earlier unwritten lines. If that fails, the error is an
// [UnwrittenError]. If the file was deleted, it is written anew: the open file still has its lines.
func (f *File) write(b []byte) error {
	f.pending.lines = append(f.pending.lines, b...)
	if deleted(f) {
		all, err := io.ReadAll(io.NewSectionReader(f.disk.out, 0, maxFile))
		if err != nil {
			f.pending.unwritten = true
			return &UnwrittenError{err}
		}
		if f.disk.torn {
			all = append(all, '\n')
		}
		f.pending.lines = append(all, f.pending.lines...)
		f.Close()
		f.exists, f.disk.torn, f.disk.anew = false, false, "the file of this session was deleted: "
	}
	if f.disk.out == nil {
		if err := f.openFile(); err != nil {
			f.pending.unwritten = true
			return &UnwrittenError{err}
		}
	}
	b = f.pending.lines
	if f.disk.torn {
		b = append([]byte("\n"), b...)
	}
	if n, err := f.disk.out.Write(b); err != nil {
		whole := bytes.LastIndexByte(b[:n], '\n') + 1 // so that no line is written twice
		f.pending.lines = bytes.TrimPrefix(b[whole:], []byte("\n"))
		f.disk.torn, f.pending.unwritten = true, true
		return &UnwrittenError{err}
	}
	f.pending, f.disk.torn, f.empty, f.flush.due = pending{}, false, false, true
	return nil
}

// deleted reports whether f is open, and no longer at its path.
func deleted(f *File) bool {
	_, err := os.Lstat(f.path)
	return f.exists && f.disk.out != nil && errors.Is(err, fs.ErrNotExist)
}

func (f *File) openFile() error {
	if f.path == "" {
		return errors.New("there is no directory to keep it in")
	}
	if f.disk.lock == nil {
		var err error
		if f.disk.lock, err = lockSession(filepath.Dir(f.path), f.id); err != nil {
			return err
		}
	}
	if !f.exists {
		return f.create()
	}
	info, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", f.path)
	}
	if f.disk.out, err = f.disk.files.open(f.path, os.O_RDWR|os.O_APPEND|noFollow); err != nil {
		f.disk.out = nil
		return err
	}
	end := []byte{'\n'}
	if n := info.Size(); n > 0 {
		if _, err := f.disk.out.ReadAt(end, n-1); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	f.disk.torn = end[0] != '\n'
	return nil
}

// create creates the file under an unused name.
func (f *File) create() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	base := strings.TrimSuffix(f.path, ".jsonl")
	for n := 2; ; n++ {
		out, err := f.disk.files.open(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|noFollow)
		if err == nil {
			f.disk.out, f.exists, f.empty = out, true, true
			f.flush.unlisted = 3 // the parent directories may be new, too
			return nil
		}
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return err
		}
		f.path = fmt.Sprintf("%s-%d.jsonl", base, n)
	}
}

// A stored is an open session file.
type stored interface {
	io.Writer
	io.ReaderAt
	Sync() error
	Close() error
}

// files is the file system of session files: [system], or in tests a file system with faults.
type files interface {
	open(path string, flag int) (stored, error)
	syncDir(path string) error
}

type system struct{}

func (system) open(path string, flag int) (stored, error) { return os.OpenFile(path, flag, 0o600) }

func (system) syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// encode returns v as a line of JSON.
func encode(v any) ([]byte, error) {
	b, err := text.JSON(v, "")
	return append(b, '\n'), err
}

// idPrefix returns the first characters of an id.
func idPrefix(id string) string { return id[:min(8, len(id))] }

// fileName returns s as a valid part of a file name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, s)
}
