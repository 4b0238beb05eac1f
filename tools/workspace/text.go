package workspace

import (
	"cmp"
	"io/fs"
	"time"

	"gemline/engine/charset"
)

// Format is the encoding of a text in a file.
type Format = charset.Format

// Errors of [charset.Decode] and [charset.Format.Encode].
var (
	ErrBinary = charset.ErrBinary
	ErrLossy  = charset.ErrLossy
)

// Decode decodes b, the content of the file at path, as [charset.Decoder.Decode] does. If
// the bytes do not show their charset, the .editorconfig files above and the files beside it
// decide.
func (w *Workspace) Decode(path string, b []byte) (string, Format, error) {
	text, format, err := w.charsets.Decode(b)
	if err == nil && !format.Guessed {
		return text, format, nil
	}
	d := w.charsets
	d.Declared = cmp.Or(editorConfig(w, path), d.Declared)
	if err == nil {
		d.Neighbours = beside(w, path)
	}
	return d.Decode(b)
}

// A File is a text as it was read.
type File struct {
	Text    string // line ends as in the file
	Format  Format
	Size    int64 // in bytes, in the file
	Mode    fs.FileMode
	ModTime time.Time
}

// decoded returns the text of the file at path.
func (w *Workspace) decoded(path string, b []byte, info fs.FileInfo) (*File, error) {
	text, format, err := w.Decode(path, b)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return &File{Text: text, Format: format, Size: int64(len(b)), Mode: info.Mode(), ModTime: info.ModTime()}, nil
}
