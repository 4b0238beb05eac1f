package memory

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gemline/engine/disk"
	"gemline/engine/text"
)

// addedHeading is the heading of facts that a command added.
const addedHeading = "## Gemini Added Memories"

// maxNotes is the size of a file above which no facts are added.
const maxNotes = 20 << 20

// Add appends a fact to the user's own context file, uses it from now on, and returns the path of
// the file. The other content of the file stays unchanged byte for byte; after an error the whole
// file is unchanged.
func (m *Memory) Add(fact string) (path string, err error) {
	fact = oneLine(fact)
	if fact == "" {
		return "", errors.New("there is nothing to remember")
	}
	if m.cfg.User == "" {
		return "", errors.New("there is no home directory to keep it in")
	}
	m.mu.Lock()
	path = filepath.Join(m.cfg.User, DefaultName)
	err = m.rewrite(path, func(old []byte) ([]byte, error) { return withFact(old, fact) })
	var warnings []string
	if err == nil {
		warnings = m.reloadUser()
	}
	m.mu.Unlock()
	m.warn(warnings)
	return path, err
}

// reloadUser reads only the user's files again.
func (m *Memory) reloadUser() []string {
	if !m.read {
		return nil
	}
	l := m.loader()
	l.user()
	others := slices.DeleteFunc(slices.Clone(m.files), func(f File) bool { return f.Tier == Global })
	m.files = append(l.files, others...)
	m.loadedFiles = append(m.loadedFiles, l.seen...)
	return m.tell(l.allWarnings())
}

// oneLine returns fact as a list item on one line.
func oneLine(fact string) string {
	fact = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(fact, "\ufffd"))
	fact = text.Words(fact)
	for bare, ok := strings.CutPrefix(fact, "- "); ok; bare, ok = strings.CutPrefix(fact, "- ") {
		fact = strings.TrimSpace(bare)
	}
	if fact == "-" {
		return ""
	}
	return fact
}

// withFact returns old with fact at the end of the section of added facts. A missing section is
// appended.
func withFact(old []byte, fact string) ([]byte, error) {
	if !utf8.Valid(old) || bytes.IndexByte(old, 0) >= 0 {
		return nil, errors.New("it is not UTF-8 text, and stays as it is")
	}
	text := string(old)
	eol := "\n"
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		eol = "\r\n"
	}
	at := sectionEnd(text)
	if at < 0 {
		gap := ""
		switch {
		case strings.Trim(text, "\ufeff") == "":
		case !strings.HasSuffix(text, "\n"):
			gap = eol + eol
		case !strings.HasSuffix(text, "\n\n") && !strings.HasSuffix(text, "\n\r\n"):
			gap = eol
		}
		return []byte(text + gap + addedHeading + eol + "- " + fact + eol), nil
	}
	line := "- " + fact + eol
	if at > 0 && text[at-1] != '\n' {
		line = eol + line
	}
	return []byte(text[:at] + line + text[at:]), nil
}

// sectionEnd returns the index in text after the last line, not counting blank lines, of the
// section of added facts, or -1 if there is no such section.
func sectionEnd(text string) int {
	at, end, fence := 0, -1, ""
	for line := range strings.Lines(text) {
		at += len(line)
		bare := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		marks := len(bare) - len(strings.TrimLeft(bare, "`~"))
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && marks == len(bare) {
				fence = ""
			}
		case marks >= 3:
			fence = bare[:marks]
		case end < 0 && bare == addedHeading:
			end = at
		case end >= 0 && (strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ")):
			return end
		}
		if end >= 0 && bare != "" {
			end = at
		}
	}
	return end
}

// rewrite replaces the content of the file at path, which need not exist, by the result of edit.
// The file changes atomically or, after an error, not at all.
func (m *Memory) rewrite(path string, edit func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return fmt.Errorf("%s is a link to nowhere", path)
		}
		real, err = path, nil
	}
	if err != nil {
		return err
	}
	for range 10 { // another program may change it at the same time
		old, info, err := current(real)
		if err != nil {
			return err
		}
		next, err := edit(old)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if done, err := m.swap(real, old, next, info); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is being written to by someone else", path)
}

// current returns the content of the file real, nothing if there is no such file.
func current(real string) ([]byte, os.FileInfo, error) {
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil {
		err = disk.Regular(info)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", real, err)
	}
	f, err := os.OpenFile(real, os.O_RDWR|disk.NoFollow, 0) // a read-only file is not replaced
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := disk.ReadOpen(f, maxNotes)
	return b, info, err
}

// swap replaces the file at real, whose content was old, by a file with the content next. It does
// nothing if the content is no longer old; a write of another program between this check and the
// replacement is lost.
func (m *Memory) swap(real string, old, next []byte, info os.FileInfo) (done bool, err error) {
	f, err := m.cfg.Ledger.Create(real, info)
	if err != nil {
		return false, err
	}
	defer f.Discard()
	if info == nil {
		err = f.Chmod(0o600)
	}
	_, werr := f.Write(next)
	if err := cmp.Or(err, werr, f.Sync()); err != nil {
		return false, err
	}
	if now, _, err := current(real); err != nil || !bytes.Equal(now, old) {
		return false, err
	}
	return true, f.Commit(real)
}
