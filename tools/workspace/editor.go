package workspace

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Editor has files open for the user. It may have a newer text of a file than the disk.
// Each write is reported to the Editor, which would otherwise overwrite the file. A nil
// function means that the Editor lacks the ability.
//
// It is asked about existing UTF-8 texts below the roots. A file that the Editor reports as
// missing does not exist, even if it is on the disk.
type Editor struct {
	// Read returns the text of a file. If its error is an [errors.ErrUnsupported], the text
	// of the disk counts; another error is the reader's, [fs.ErrNotExist] among them.
	Read func(path string) (text string, err error)

	// Write makes text the content of a file, on the disk, too. If its error is an
	// [errors.ErrUnsupported], the file is written as if there were no Editor.
	Write func(path, text string) error
}

// mostEdited is the size of the largest file that an Editor is asked about.
const mostEdited = 4 << 20

// editor returns the Editor for p, the zero Editor if there is none.
func (p ResolvedPath) editor() Editor {
	w := p.w
	own := func(dir string) bool { _, in := below(dir, p.real); return dir != "" && in }
	if w.Overlay != nil || p.readOnly || own(w.dirs.temp) || w.dirs.file != "" && own(filepath.Dir(w.dirs.file)) ||
		!slices.Contains(w.dirs.list(), p.dir) {
		return Editor{}
	}
	return w.editor
}

var byteOrderMark = []byte("\ufeff")

// edited returns the content of the file at p in the user's editor, or b, the content on the
// disk, if the file is not open there.
func (p ResolvedPath) edited(b []byte) ([]byte, error) {
	ed := p.editor()
	if ed.Read == nil || len(b) > mostEdited || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return b, nil
	}
	switch text, err := ed.Read(p.real); {
	case errors.Is(err, errors.ErrUnsupported):
		return b, nil
	case err != nil:
		return nil, err
	case len(text) > mostEdited, !utf8.ValidString(text):
		return b, nil
	default:
		return asIn(b, text), nil
	}
}

// asIn returns an editor's text with the byte order mark and the line ends of b, the content on
// the disk.
func asIn(b []byte, text string) []byte {
	mark := []byte(nil)
	if bytes.HasPrefix(b, byteOrderMark) { // editors do not show it
		mark, text = byteOrderMark, strings.TrimPrefix(text, string(byteOrderMark))
	}
	if n := bytes.Count(b, []byte("\r\n")); n > 0 && n == bytes.Count(b, []byte("\n")) &&
		!strings.Contains(text, "\r") { // likewise
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return append(slices.Clip(mark), text...)
}

// hand lets the editor write b, and reports false if the caller must write b instead.
func (p ResolvedPath) hand(b []byte) (done bool, err error) {
	ed := p.editor()
	if ed.Write == nil || len(b) > mostEdited || !utf8.Valid(b) ||
		bytes.HasPrefix(b, byteOrderMark) || bytes.IndexByte(b, 0) >= 0 {
		return false, nil
	}
	at, end, err := p.dir.Make(filepath.Dir(p.rel))
	if err != nil {
		return true, err
	}
	defer func() { end(err != nil) }()
	if _, err := replaceable(at, filepath.Base(p.rel)); err != nil {
		return true, err
	}
	err = ed.Write(p.real, string(b))
	if errors.Is(err, errors.ErrUnsupported) {
		return true, p.replace(at, b)
	}
	return true, err
}
