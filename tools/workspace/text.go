package workspace

import (
	"io/fs"
	"time"

	"gemline/engine/charset"
)

// Format is how a text is written in a file.
type Format = charset.Format

// What [charset.Decode] and [charset.Format.Encode] refuse.
var (
	ErrBinary = charset.ErrBinary
	ErrLossy  = charset.ErrLossy
)

// Decode is [charset.Decode].
func Decode(b []byte) (string, Format, error) { return charset.Decode(b) }

// A File is a text as it was read.
type File struct {
	Text    string // line ends as in the file
	Format  Format
	Size    int64 // in bytes, in the file
	Mode    fs.FileMode
	ModTime time.Time
}

// decoded returns the text of the file at path.
func decoded(path string, b []byte, info fs.FileInfo) (*File, error) {
	text, format, err := Decode(b)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return &File{Text: text, Format: format, Size: int64(len(b)), Mode: info.Mode(), ModTime: info.ModTime()}, nil
}
