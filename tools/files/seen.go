package files

import (
	"crypto/sha256"
	"sync"

	"gemline/engine"
	"gemline/tools/edit"
	"gemline/tools/workspace"
)

// longestSeen limits the diff of changes by others.
const longestSeen = 4000

// A KnownFiles records the contents of files when the model last read or wrote them, or got
// them with a prompt. It is safe for concurrent use. A nil KnownFiles records nothing.
type KnownFiles struct {
	mu    sync.Mutex
	files map[string]seen // by real path
}

type seen struct {
	none bool // there was no file
	sum  [sha256.Size]byte
	text string // "" if it is long
}

// note records the content of the file at a real path.
func (s *KnownFiles) note(path, text string, f workspace.Format) {
	b, err := f.Encode(text)
	if s == nil || err != nil {
		return
	}
	is := seen{sum: sha256.Sum256(b)}
	if len(text) < 1<<16 {
		is.text = text
	}
	s.remember(path, is)
}

// missed records that the model knows of no file at path.
func (s *KnownFiles) missed(ws *workspace.Workspace, path string) {
	if p, err := ws.Locate(path); err == nil && s != nil {
		s.remember(p.Path(), seen{none: true})
	}
}

func (s *KnownFiles) remember(path string, is seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string]seen{}
	}
	s.files[path] = is
}

// noteRead records the text of a file that the model reads.
func (s *KnownFiles) noteRead(ws *workspace.Workspace, path, text string, f workspace.Format) {
	if p, err := ws.Locate(path); err == nil {
		s.note(p.Path(), text, f)
	}
}

// changed returns, once, an error with the changes if others have changed or created a file
// since the model saw it.
func (s *KnownFiles) changed(r *Revision) error {
	if s == nil || r.File == nil {
		return nil
	}
	s.mu.Lock()
	was, known := s.files[r.place.Path()]
	s.mu.Unlock()
	b, err := r.File.Format.Encode(r.File.Text)
	if !known || err != nil || !was.none && was.sum == sha256.Sum256(b) {
		return nil
	}
	s.note(r.place.Path(), r.File.Text, r.File.Format)
	how, since := " Read it again before you replace it.", "The file was changed since you last saw it"
	display := "nothing written: the file was changed since the model saw it"
	if was.none {
		since = "There was no such file when you last looked, and somebody has made it since"
		display = "nothing written: the file was made since the model looked for it"
	}
	if was.none && len(r.File.Text) < longestSeen || was.text != "" {
		diff, _ := edit.Diff("when you saw it", "now", r.readable(was.text), r.readable(r.File.Text))
		if len(diff) <= longestSeen {
			how = " Keep these changes, unless they are to go:\n" + diff
		}
	}
	return &engine.CallError{Type: r.class,
		Message: since + ", so nothing was written: " + r.Path + "." + how,
		Display: display}
}
