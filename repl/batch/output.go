package batch

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"gemline/engine/disk"
	"gemline/repl/input"
	"gemline/repl/report"
)

// An Output is the destination of a batch's records. Until the end of the batch, they go to a
// temporary file beside the requested file. Then they replace the requested file as a whole.
type Output struct {
	to      io.Writer
	name    string   // the user's spelling
	file    *os.File // nil if the output belongs to the caller
	partial string   // the temporary file; "" for a pipe or a device, which is written directly
	path    string
}

// Create returns the Output for the file path, of a batch from source. If path is empty or a
// hyphen, the Output is w. The error is an [*input.Error].
func Create(path string, w io.Writer, source Source) (*Output, error) {
	if path == "" || path == "-" {
		return &Output{to: w}, nil
	}
	o := &Output{name: path, path: path}
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		o.path = disk.ResolveLinks(path)
	}
	mode := fs.FileMode(0o666)
	switch {
	case err == nil && info.IsDir():
		err = errors.New(path + " is a directory")
	case source.is(o.path), source.is(o.path + ".partial"):
		err = errors.New(path + " is the batch itself; name another file for the output")
	case err == nil && !info.Mode().IsRegular():
		o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if info != nil {
			mode = info.Mode().Perm()
		}
		o.partial = o.path + ".partial"
		o.file, err = os.OpenFile(o.partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	}
	if err != nil {
		return nil, &input.Error{Message: "--output: " + err.Error(), Err: err}
	}
	o.to = o.file
	return o, nil
}

// Write writes to the file. The error of a file is a [*report.DestinationError].
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil && o.file != nil {
		err = o.lost(err)
	}
	return n, err
}

func (o *Output) lost(err error) error {
	return &report.DestinationError{Name: o.name, Err: disk.Cause(err)}
}

// Finish renames the temporary file, if the batch is complete. Otherwise the temporary file
// remains, and Finish returns its path.
func (o *Output) Finish(whole bool) (left string, err error) {
	switch {
	case o.file == nil:
		return "", nil
	case o.partial == "":
		return "", o.file.Close()
	case !whole:
		return o.partial, o.file.Close()
	}
	if err = cmp.Or(o.file.Sync(), o.file.Close()); err == nil {
		err = os.Rename(o.partial, o.path)
	}
	if err != nil {
		return o.partial, o.lost(err)
	}
	return "", nil
}
