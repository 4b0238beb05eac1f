package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/journal/export"
)

type sessionsExport struct {
	ID   string `arg:"" complete:"session" help:"latest, a number of the list, an id or a name."`
	File string `arg:"" type:"path" help:"Where it is written: Markdown (.md), HTML (.html) or JSON (.json), by the name."`
}

// Run writes a session to a file: all of it, or nothing.
func (c *sessionsExport) Run(ctx context.Context, w *World) error {
	format, err := export.FormatOf(c.File)
	if err != nil {
		return err
	}
	s, _, _, err := w.session(c.ID)
	if err != nil {
		return err
	}
	b, err := export.Session(s.Path, format, w.Clean)
	if err == nil {
		err = Write(ctx, c.File, b)
	}
	if err != nil {
		return err
	}
	return w.show(map[string]any{"exported": s.ID, "file": c.File, "format": strings.ToLower(string(format))},
		"wrote session "+s.ID+" to "+c.File)
}

// Write makes b the content of a file of the user's: all of it, or nothing. Directories that
// are not there are made.
func Write(ctx context.Context, path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := disk.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	return disk.Replace(path, b, 0o600)
}
