// Package saved stores conversations under tags of the user, beside the sessions.
//
// # The Gemini CLI's files
//
// A conversation is a file checkpoint-TAG.json with its messages and the user's way to sign in,
// or with a bare list of messages. The tag is escaped as by JavaScript's encodeURIComponent. In
// file names of older releases the tag is unescaped.
//
// # The Gemini CLI's checkpoints
//
// A checkpoint before a call that changes files is a conversation, too, with the id of a commit
// of the files.
//
// # Files are untrusted
//
// Anybody may have written a file, so [gemline/engine/journal.SavedConversation] turns its
// messages into a valid history. No tag leads out of the directory, and only regular files are
// read.
package saved

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/text"
)

const (
	prefix, suffix = "checkpoint-", ".json"

	// maxFile is the maximum size of a file.
	maxFile = 256 << 20
)

// A Store is the directory of a project in which conversations are saved.
type Store struct{ Dir string }

// A Tag is a conversation that was saved.
type Tag struct {
	Name string
	At   time.Time
}

// List returns the saved conversations, the oldest first.
func (s Store) List() ([]Tag, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var tags []Tag
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		info, err := e.Info()
		if name, json := strings.CutSuffix(name, suffix); ok && json && err == nil &&
			info.Mode().IsRegular() && name != "" {
			tags = append(tags, Tag{decode(name), info.ModTime()})
		}
	}
	slices.SortStableFunc(tags, func(a, b Tag) int { return a.At.Compare(b.At) })
	return tags, nil
}

// decode returns the tag in a file's name.
func decode(name string) string {
	if tag, err := url.PathUnescape(name); err == nil {
		return tag
	}
	return name
}

// encode returns the file's name for a tag.
func encode(tag string) string {
	return kept.Replace(url.QueryEscape(tag))
}

// kept turns the escapes of queries into the escapes of encodeURIComponent.
var kept = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// path returns the file of a tag, and whether the file exists.
func (s Store) path(tag string) (path string, there bool) {
	if s.Dir == "" {
		return "", false
	}
	path = filepath.Join(s.Dir, prefix+encode(tag)+suffix)
	if ordinary(path) {
		return path, true
	}
	if older := prefix + tag + suffix; !strings.ContainsAny(tag, "/\\\x00") &&
		filepath.IsLocal(older) && ordinary(filepath.Join(s.Dir, older)) {
		return filepath.Join(s.Dir, older), true
	}
	return path, false
}

func ordinary(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Has reports whether a conversation is saved under a tag.
func (s Store) Has(tag string) bool {
	_, there := s.path(tag)
	return there
}

// A file is the content of a file.
type file struct {
	History []*genai.Content `json:"history"`
	Auth    string           `json:"authType,omitempty"`
	Session string           `json:"sessionId,omitempty"` // the conversation's session
}

// Save stores a conversation under a tag and replaces an earlier one. The user's way of
// signing in and the conversation's session are stored with it.
func (s Store) Save(ctx context.Context, tag string, history []*genai.Content, auth, session string) error {
	switch {
	case strings.TrimSpace(tag) == "":
		return errors.New("a conversation is saved under a tag")
	case s.Dir == "":
		return errors.New("there is no directory to keep it in")
	}
	b, err := text.JSON(file{history, auth, session}, "  ")
	if err != nil {
		return err
	}
	path, _ := s.path(tag)
	return disk.Change(ctx, path, 0o600, func() ([]byte, error) { return b, nil })
}

// A NotFoundError is the error of a tag without a conversation.
type NotFoundError struct{ Tag string }

// Error names the tag.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no conversation is saved as %q", e.Tag)
}

// An AuthError means that a conversation was saved under another way to sign in, so another
// server may have answered.
type AuthError struct{ Tag, SavedWith, Current string }

// Error names both.
func (e *AuthError) Error() string {
	return fmt.Sprintf("%q was saved under %s, and you sign in with %s", e.Tag, text.PrintableLine(e.SavedWith), e.Current)
}

// Hint says what to do about it.
func (e *AuthError) Hint() string {
	return "/auth use " + text.PrintableLine(e.SavedWith) + " changes to it"
}

// Load returns the conversation that is saved under a tag. A conversation that was saved under
// another way to sign in is an [*AuthError].
func (s Store) Load(tag, auth string) (*journal.SavedConversation, error) {
	path, there := s.path(tag)
	if !there {
		return nil, &NotFoundError{tag}
	}
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	f, err := read(b)
	if err != nil {
		return nil, fmt.Errorf("%s holds no conversation: %w", path, err)
	}
	// The Gemini CLI's usual log-in is not available here.
	if f.Auth != "" && auth != "" && f.Auth != auth && f.Auth != "oauth-personal" {
		return nil, &AuthError{tag, f.Auth, auth}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &journal.SavedConversation{Title: tag, At: info.ModTime(), Session: f.Session, History: f.History}, nil
}

// read reads the content of a file.
func read(b []byte) (f file, err error) {
	if b = bytes.TrimSpace(b); bytes.HasPrefix(b, []byte("[")) {
		err = text.Unmarshal(b, &f.History)
	} else {
		err = text.Unmarshal(b, &f)
	}
	if err == nil && len(f.History) == 0 {
		err = errors.New("nothing is said in it")
	}
	return f, err
}

// Delete deletes the conversation that is saved under a tag.
func (s Store) Delete(tag string) error {
	path, there := s.path(tag)
	if !there {
		return &NotFoundError{tag}
	}
	return os.Remove(path)
}
