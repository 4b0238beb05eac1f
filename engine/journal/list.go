package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/parallel"
	"gemline/engine/text"
)

// A Session describes a session that is not loaded.
type Session struct {
	ID          string
	Path        string
	ProjectHash string
	Kind        string // main or subagent
	Title       string // one line: the name, the summary or the first question
	Name        string // given by the user, or empty
	Summary     string // written by a model, or the name; empty if there is none
	ForkOf      string // the id of the original session, if this is a copy
	Start       time.Time
	Updated     time.Time
	Messages    int      // questions and answers
	Partial     bool     // Messages counts only the first and last messages of a long file
	Directories []string // further directories of the workspace
	NewerFormat bool     // written by a newer gemline, so that messages may be unreadable

	// RemoteTasks has the places of conversations with agents on other servers, by name.
	RemoteTasks map[string]RemoteTask
}

// A RemoteTask is the place of a conversation with an agent on another server.
type RemoteTask struct {
	Context string `json:"contextId,omitempty"`
	Task    string `json:"taskId,omitempty"`
}

// List returns the sessions in dir that have messages, oldest first. It skips other files and, of
// several files of a session, all but the last written. A missing directory has no sessions.
func List(dir string) ([]Session, error) { return list(dir, "") }

// list is List for the files whose names hold part.
func list(dir, part string) ([]Session, error) {
	found, err := sessionsIn(dir, part)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newest(slices.DeleteFunc(found, func(s Session) bool { return s.Kind == "subagent" || s.empty() })), nil
}

// Damaged returns the reason for each session file in dir that can't be read as a session. Empty
// files are ignored.
func Damaged(dir string) (all []string) {
	names, _ := sessionNames(dir) // List reports an unreadable directory
	for _, name := range names {
		path := filepath.Join(dir, name)
		if validID(begins(path).ID) {
			continue
		}
		s, err := glance(path)
		if info, serr := os.Stat(path); s.ID != "" || serr != nil || info.Size() == 0 {
			continue
		}
		why := "it is damaged, and holds no session that can be read"
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			why = disk.Cause(err).Error()
		}
		all = append(all, fmt.Sprintf("the session file %s is not used: %s", text.PrintableLine(path), why))
	}
	return all
}

// empty reports whether a session has no messages.
func (s Session) empty() bool { return s.Messages == 0 && !s.NewerFormat }

// sessionsIn returns the sessions of the files in dir whose names contain part. It reads only
// what a list needs.
func sessionsIn(dir, part string) ([]Session, error) {
	names, err := sessionNames(dir)
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, part) })
	found := make([]Session, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0), func(i int) { found[i], _ = glance(filepath.Join(dir, names[i])) })
	return slices.DeleteFunc(found, func(s Session) bool { return s.ID == "" }), err
}

// glance returns the session in a file. It reads only what a list needs.
func glance(path string) (Session, error) { return (&record{glance: true}).read(path) }

// newest sorts sessions and keeps the newest of each id.
func newest(found []Session) []Session {
	slices.SortStableFunc(found, func(a, b Session) int { return a.Updated.Compare(b.Updated) })
	latest := map[string]Session{}
	for _, s := range found { // the copy in lines sorts after the .json
		latest[s.ID] = s
	}
	return slices.SortedFunc(maps.Values(latest), func(a, b Session) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Path, b.Path))
	})
}

// sessionNames returns the names of the files in dir that may hold sessions.
func sessionNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name, ending := e.Name(), filepath.Ext(e.Name())
		if e.Type().IsRegular() && strings.HasPrefix(name, "session-") && (ending == ".jsonl" || ending == ".json") {
			names = append(names, name)
		}
	}
	return names, err
}

// summary returns the session, described by its messages.
func (r *record) summary() Session {
	m := &r.meta
	s := Session{ID: m.SessionID, ProjectHash: m.ProjectHash, Kind: cmp.Or(m.Kind, "main"), Name: title(m.Name),
		Summary: m.Summary, ForkOf: title(m.ForkOf), Start: r.start, Updated: r.updated, Directories: m.Directories,
		RemoteTasks: m.RemoteTasks, Partial: r.partial, NewerFormat: m.Format > FormatVersion}
	for _, m := range r.said {
		if m.question() != "" || m.Type == "gemini" && len(m.Content)+len(m.Parts)+len(m.Thoughts)+len(m.Calls) > 0 {
			s.Messages++
		}
	}
	question := title(asTyped(firstQuestionOf(r.said)))
	s.Title = cmp.Or(s.Name, title(s.Summary), question, "(no question)")
	return s
}

// Metadata returns the session's properties for a file.
func (s Session) Metadata() Metadata {
	return Metadata{SessionID: s.ID, ProjectHash: s.ProjectHash, StartTime: text.Timestamp(s.Start), LastUpdated: text.Timestamp(s.Updated),
		Kind: s.Kind, Directories: s.Directories, Summary: s.Summary, Name: s.Name, ForkOf: s.ForkOf, RemoteTasks: s.RemoteTasks}
}

// asTyped returns the beginning of a question as the user typed it: without piped text before it,
// if its end is visible, and with a shell command after !.
func asTyped(text string) string {
	if command, ok := strings.CutPrefix(text, engine.ShellCommand); ok {
		command, _, _ = strings.Cut(command, "\n```\n")
		return "!" + command
	}
	tag := piped().FindString(text)
	if _, words, ok := strings.Cut(text, "\n</stdin>\n\n"); ok && tag != "" && strings.TrimSpace(words) != "" {
		return words
	}
	return text[len(tag):]
}

// piped is the mark before piped text.
var piped = text.Pattern(`^<stdin [^>]*>`)

// noQuestion matches a slash command, a single question mark, and blanks. The name of a command
// has no second slash.
var noQuestion = text.Pattern(`^\s*(/[^/\s]*(\s|$)|\??\s*$)`)

// isQuestion reports whether text is a question to the model, and neither a command nor text of
// the program.
func isQuestion(text string) bool {
	return !noQuestion().MatchString(text) && engine.NoteText(strings.TrimSpace(text)) == ""
}

// title turns text into a line for lists.
func title(s string) string {
	s = text.Words(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
	if _, more := text.First(s, 100); more {
		return text.Shorten(s, 97)
	}
	return s
}

// validID reports whether id is safe as a session's id, which becomes part of paths.
func validID(id string) bool {
	return id != "" && len(id) <= 128 && fileName(id) == id
}

// ErrNoSessions means that there are no sessions to resume.
var ErrNoSessions = errors.New("no previous sessions found for this project")

// A NotFoundError means that no session matches the argument.
type NotFoundError struct {
	Arg   string // the argument
	Count int    // the number of sessions
}

// Error names the argument and the number of sessions.
func (e *NotFoundError) Error() string {
	what := fmt.Sprintf("no session %q", e.Arg)
	if e.Count == 0 {
		return what + ": this project has none"
	}
	return fmt.Sprintf("%s: this project has %d", what, e.Count)
}

// Hint says how to name a session.
func (e *NotFoundError) Hint() string {
	if e.Count == 0 {
		return "leave out --resume to begin one"
	}
	return "name one by its number in --list-sessions, its id or how that begins, its name, or latest"
}

// shortestID is the minimum length of an id's prefix.
const shortestID = 6

// Find returns the session that arg names: by its full id, its number in the list, counted from
// 1, its name, or a unique prefix of its id. For "latest" or "" it returns the session begun
// last. The error is [ErrNoSessions] if there is no latest session, and a [*NotFoundError] if
// none matches.
func Find(sessions []Session, arg string) (Session, error) {
	arg = strings.TrimSpace(arg)
	if arg == "" || arg == "latest" {
		if len(sessions) == 0 {
			return Session{}, ErrNoSessions
		}
		return sessions[len(sessions)-1], nil
	}
	for _, s := range sessions {
		if s.ID == arg {
			return s, nil
		}
	}
	if n, err := strconv.Atoi(arg); err == nil && n >= 1 && n <= len(sessions) {
		return sessions[n-1], nil
	}
	for _, s := range slices.Backward(sessions) {
		if s.Name != "" && strings.EqualFold(s.Name, arg) {
			return s, nil
		}
	}
	begin := slices.DeleteFunc(slices.Clone(sessions),
		func(s Session) bool { return len(arg) < shortestID || !strings.HasPrefix(s.ID, arg) })
	switch len(begin) {
	case 0:
		return Session{}, &NotFoundError{Arg: arg, Count: len(sessions)}
	case 1:
		return begin[0], nil
	}
	return Session{}, fmt.Errorf("%d sessions have an id that begins with %s; say more of it", len(begin), arg)
}

// Line returns the session as the n-th of a list. It is marked if it is current.
func (s Session) Line(n int, current string, now time.Time) string {
	mark := ""
	if s.ForkOf != "" {
		mark = ", fork of " + idPrefix(s.ForkOf)
	}
	if s.ID == current {
		mark += ", current"
	}
	if s.NewerFormat {
		mark += ", of a newer gemline"
	}
	return fmt.Sprintf("%d. %s (%s%s) [%s]", n, s.Title, text.Ago(s.Updated, now), mark, text.ShortID(s.ID))
}
