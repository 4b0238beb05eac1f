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

// The modes of new files: for the user, and for everybody on the machine.
const (
	privateFile fs.FileMode = 0o600
	publicFile  fs.FileMode = 0o644
)

// save passes the text of a settings file to edit, and writes the result unless it is unchanged. A
// missing file has an empty text. Other programs that save the same file wait meanwhile, and
// readers see either the old or the new text.
//
// If the old or the new text is not an object, the file stays unchanged, with a [jsonc.Error]. Edit
// must not modify its argument.
//
// Mode is the mode of a new file. New directories are accessible for everybody who may read the
// file.
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

// saveWait is the timeout of the lock, with many programs and a slow disk.
const saveWait = 30 * time.Second
