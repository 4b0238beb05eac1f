//go:build !linux

package disk

import (
	"io/fs"
	"os"
)

// A quick is nothing here: every name is walked.
type quick struct{}

func (quick) open(*os.Root) {}
func (quick) close()        {}

func (d *Dir) lstat(name string) (fs.FileInfo, error)          { return d.lstatSlow(name) }
func (d *Dir) file(name string) (*os.File, fs.FileInfo, error) { return d.fileSlow(name) }
func (d *Dir) list(name string) ([]fs.DirEntry, error)         { return d.listSlow(name) }

// made has nothing to find here.
func made(*os.File) error { return nil }

// A RawFile is an open file.
type RawFile struct{ *os.File }

// RawFile opens the regular file called name, as File does, and tells its size.
func (d *Dir) RawFile(name string) (RawFile, int64, error) {
	f, info, err := d.File(name)
	if err != nil {
		return RawFile{}, 0, err
	}
	return RawFile{f}, info.Size(), nil
}
