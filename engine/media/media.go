// Package media stores the images, sounds and films in a model's answers as files. A first caller
// wraps a Run with [Store].
//
// The user reads a line with the file's path, at the place of the picture or after the text of
// the answer. The conversation does not change.
package media

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// errNowhere is the error of a session that has no directory.
var errNowhere = errors.New("this session keeps no files")

// Store returns a Run around run that stores the media of answers in the directory that dir
// returns; "" stores nothing. The function history returns the history of the engine.
func Store(run engine.Run, history func() []*genai.Content, dir func() string) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		line := true // the shown text ends with its line
		for ev, err := range run(ctx, parts...) {
			switch said := ev.(type) {
			case engine.Text:
				line = strings.HasSuffix(said.Delta, "\n")
			case engine.RequestStarted:
				line = true
			case engine.AnswerFinished:
				for _, told := range storeMedia(history(), dir(), line) {
					if !yield(told, nil) {
						return
					}
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	})
}

// storeMedia writes the media of a history's last message to files, and returns the events that
// show them.
func storeMedia(history []*genai.Content, dir string, line bool) (shown []engine.Event) {
	if len(history) == 0 {
		return nil
	}
	c := history[len(history)-1]
	for _, p := range c.Parts {
		if c.Role != genai.RoleModel || p == nil || p.Thought || p.InlineData == nil && p.FileData == nil {
			continue
		}
		name, kind := "", ""
		if p.FileData != nil {
			name, kind = p.FileData.FileURI, p.FileData.MIMEType
		} else {
			kind = p.InlineData.MIMEType
			var err error
			if name, err = write(dir, noun(kind), ending(kind), p.InlineData.Data); err != nil {
				shown = append(shown, engine.Notice{Text: fmt.Sprintf("the %s of the answer is not kept: %v", noun(kind), err)})
				continue
			}
		}
		said := noun(kind) + ": " + text.Words(name) + "\n"
		if !line {
			said = "\n" + said
		}
		shown, line = append(shown, engine.Text{Delta: said}), true
	}
	return shown
}

// write writes a file that only the user may read, under the first free number, and returns its
// path.
func write(dir, name, ending string, data []byte) (path string, err error) {
	if dir == "" {
		return "", errNowhere
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", disk.Cause(err)
	}
	for n := 1; err == nil; n++ {
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, ending))
		_, err = os.Lstat(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", disk.Cause(err)
	}
	if err := disk.Replace(path, data, 0o600); err != nil {
		return "", disk.Cause(err)
	}
	return path, nil
}

// noun returns a word for a MIME type.
func noun(kind string) string {
	switch word, _, _ := strings.Cut(strings.ToLower(kind), "/"); word {
	case "image", "audio", "video":
		return word
	}
	return "file"
}

// endings are the file name endings of the MIME types in models' answers. The system's table
// is not used, since it differs by machine.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/gif": ".gif", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/aac": ".aac",
	"video/mp4": ".mp4", "video/webm": ".webm", "application/pdf": ".pdf", "application/json": ".json",
	"text/plain": ".txt", "text/html": ".html", "text/csv": ".csv",
}

// ending returns the ending of files of a MIME type.
func ending(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	if e, ok := endings[strings.TrimSpace(kind)]; ok {
		return e
	}
	return ".bin"
}
