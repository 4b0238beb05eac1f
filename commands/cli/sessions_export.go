package cli

import (
	"context"
	"strings"

	"gemline/engine/journal"
	"gemline/engine/journal/export"
	"gemline/engine/text"
)

type sessionsExport struct {
	sessionID
	File string `arg:"" type:"path" help:"Where it is written: Markdown (.md), HTML (.html) or JSON (.json), by the name."`
}

// Run writes a session to a file. After an error, the file is unchanged.
func (c *sessionsExport) Run(ctx context.Context, out *Output, s *storedSession, redact Redact) error {
	format, err := export.FormatOf(c.File)
	if err != nil {
		return err
	}
	talk, messages, err := journal.LoadMessages(s.Path)
	if err != nil {
		return err
	}
	b, err := export.Session(talk, messages, format, redact)
	if err == nil {
		err = export.Write(ctx, c.File, b)
	}
	if err != nil {
		return err
	}
	return out.show(map[string]any{"exported": s.ID, "file": c.File, "format": strings.ToLower(string(format))},
		"wrote session "+text.ShortID(s.ID)+" to "+c.File)
}
