package ide

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"google.golang.org/genai"

	"gemline/engine/text"
)

// A File is a file that is open in the editor.
type File struct {
	Path   string
	Active bool // the file has the focus
	Cursor *Cursor
	Text   string // the selection
	Hidden bool   // a selection exists, but is withheld from the model
}

// A Cursor is a position in a file. Lines and characters count from 1.
type Cursor struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

const (
	mostOpen    = 10      // files of an update that are used
	mostText    = 16384   // characters of the selection
	longestPath = 4 << 10 // bytes
	truncated   = "... [TRUNCATED]"
)

// An openFile is an open file in the form of an update.
type openFile struct {
	Path         string
	Timestamp    float64
	IsActive     bool
	SelectedText string
	Cursor       *Cursor
}

// read returns the open files of an update, and whether the editor distrusts its folder.
// Only the last viewed file may be active.
func (c *Client) read(update json.RawMessage) (files []File, doubts bool) {
	if update == nil {
		return nil, false
	}
	var said struct {
		WorkspaceState struct {
			OpenFiles []openFile
			IsTrusted *bool
		}
	}
	json.Unmarshal(update, &said) // fields of a wrong type are omitted
	state := said.WorkspaceState
	slices.SortStableFunc(state.OpenFiles, func(a, b openFile) int { return cmp.Compare(b.Timestamp, a.Timestamp) })
	for i, f := range state.OpenFiles {
		if len(files) == mostOpen {
			break
		}
		if len(f.Path) > longestPath || !filepath.IsAbs(f.Path) ||
			slices.ContainsFunc(files, func(o File) bool { return o.Path == f.Path }) {
			continue
		}
		file := File{Path: f.Path}
		if i == 0 && f.IsActive {
			file.Active, file.Cursor, file.Text = true, f.Cursor, f.SelectedText
			if file.Text != "" && c.cfg.Hidden != nil && c.cfg.Hidden(f.Path) {
				file.Text, file.Hidden = "", true
			}
			if r := []rune(file.Text); len(r) > mostText {
				file.Text = string(r[:mostText]) + truncated
			}
		}
		files = append(files, file)
	}
	return files, state.IsTrusted != nil && !*state.IsTrusted
}

// A knowledge is the editor's state as sent to a conversation: the full state, then the
// changes.
type knowledge struct {
	files       []File
	first, last *genai.Part // the messages, nil if there is none
}

// A position is an open file in the form for the model.
type position struct {
	Path   string  `json:"path"`
	Cursor *Cursor `json:"cursor,omitempty"`
	Text   string  `json:"selectedText,omitempty"`
}

func (f File) position() *position { return &position{f.Path, f.Cursor, f.Text} }

type everything struct {
	Active *position `json:"activeFile,omitempty"`
	Others []string  `json:"otherOpenFiles,omitempty"`
}

type changes struct {
	Opened   []string  `json:"filesOpened,omitempty"`
	Closed   []string  `json:"filesClosed,omitempty"`
	Active   any       `json:"activeFileChanged,omitempty"` // a position or a closed
	Moved    *position `json:"cursorMoved,omitempty"`
	Selected *selected `json:"selectionChanged,omitempty"`
}

// A closed is the formerly active file, when no file is active.
type closed struct {
	Path     *string `json:"path"`
	Previous string  `json:"previousPath"`
}

type selected struct {
	Path string `json:"path"`
	Text string `json:"selectedText"`
}

// ContextUpdate returns the message about the editor that a conversation gets before its
// next prompt: the whole state, or only the changes if the history holds an earlier message.
// It is nil if there are no changes. The caller adds it to the history.
func (c *Client) ContextUpdate(history []*genai.Content) *genai.Part {
	l := c.link()
	if l == nil {
		return nil
	}
	c.mu.Lock()
	said, t := l.said, c.told
	c.mu.Unlock()
	if said == nil {
		return nil
	}
	files, _ := c.read(said)
	var words string
	switch {
	case !containsPart(history, t.first) || !containsPart(history, t.last):
		t.first = nil
		words = full(files)
	default:
		words = since(t.files, files)
	}
	if words == "" {
		return nil
	}
	part := c.cfg.Note(words)
	t.files, t.first, t.last = files, cmp.Or(t.first, part), part
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = t
	return part
}

// containsPart reports whether a history has a part, which is not nil.
func containsPart(history []*genai.Content, part *genai.Part) bool {
	return part != nil && slices.ContainsFunc(history,
		func(c *genai.Content) bool { return slices.Contains(c.Parts, part) })
}

// full describes the open files, "" if none is open.
func full(files []File) string {
	var all everything
	for _, f := range files {
		if f.Active {
			all.Active = f.position()
		} else {
			all.Others = append(all.Others, f.Path)
		}
	}
	if all.Active == nil && all.Others == nil {
		return ""
	}
	return block("What the user has open in the editor", all)
}

// since describes the changes, "" if there is none.
func since(before, now []File) string {
	ch := changes{Opened: missing(before, now), Closed: missing(now, before)}
	switch was, active := activeOf(before), activeOf(now); {
	case active == nil && was != nil:
		ch.Active = closed{Previous: was.Path}
	case active == nil:
	case was == nil || was.Path != active.Path:
		ch.Active = active.position()
	default:
		if active.Cursor != nil && (was.Cursor == nil || *was.Cursor != *active.Cursor) {
			ch.Moved = &position{Path: active.Path, Cursor: active.Cursor}
		}
		if was.Text != active.Text {
			ch.Selected = &selected{active.Path, active.Text}
		}
	}
	if ch.Opened == nil && ch.Closed == nil && ch.Active == nil && ch.Moved == nil && ch.Selected == nil {
		return ""
	}
	return block("What has changed in the user's editor", map[string]changes{"changes": ch})
}

// missing returns the paths of files that are in others, but not in files.
func missing(files, others []File) (paths []string) {
	for _, o := range others {
		if !slices.ContainsFunc(files, func(f File) bool { return f.Path == o.Path }) {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

func activeOf(files []File) *File {
	if len(files) > 0 && files[0].Active {
		return &files[0]
	}
	return nil
}

// block returns a value for the model, with its subject.
func block(about string, v any) string {
	b, _ := text.JSON(v, "  ") // texts and numbers have a form in JSON
	return about + ", as JSON. It is there to know what the user may mean, and asks for nothing.\n```json\n" + string(b) + "\n```"
}
