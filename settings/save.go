package settings

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gemline/engine/disk"
	"gemline/settings/jsonc"
)

// The modes of new files: the user's, and those for everybody on the machine.
const (
	privateFile fs.FileMode = 0o600
	publicFile  fs.FileMode = 0o644
)

// save lets edit change the text of a file of settings, and writes what it
// returns unless that is the same. A file that is not there has an empty text.
// Other programs that save the same file wait meanwhile, and whoever reads it
// finds the old text or the new one as a whole.
//
// A file that does not hold an object is left as it is, with a [jsonc.Error], and
// so is one that edit makes into something else. Edit must not write into what
// it is given.
//
// Mode is the mode of a new file. New directories are open to everybody who may read the file.
func save(ctx context.Context, path string, mode fs.FileMode, edit func(text []byte) ([]byte, error)) error {
	if path == "" {
		return errors.New("no home directory: there is no place for settings")
	}
	target := disk.ResolveLinks(path)
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, mode|mode&0o444>>2); err != nil {
		return fmt.Errorf("make the directory of the settings: %w", err)
	}
	waiting, cancel := context.WithTimeout(ctx, saveWait)
	defer cancel()
	unlock, err := disk.Lock(waiting, target)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	defer unlock()
	before, err := jsonc.ReadFile(target)
	if err != nil {
		return err
	}
	if _, err := jsonc.Parse(target, before); err != nil {
		return err
	}
	after, err := edit(before)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if len(after) > jsonc.MaxFile {
		return &jsonc.Error{Path: target, Message: "would be larger than 4 MiB"}
	}
	if _, err := jsonc.Parse(target, after); err != nil {
		return fmt.Errorf("the change is not made: %w", err)
	}
	return disk.Replace(target, after, mode)
}

// saveWait is how long a queue of programs that save may be, with a slow disk.
const saveWait = 30 * time.Second
