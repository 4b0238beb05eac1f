package repl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/engine/redact"
	"gemline/engine/text"
	"gemline/repl/internal/line"
)

// InputHistory holds earlier inputs. It is read at its first use.
type InputHistory = line.History

// HistoryConfig is the configuration of a history.
type HistoryConfig struct {
	// Path is the file, or empty to store inputs only while the program runs.
	Path string

	// Secrets finds inputs that are not stored: inputs with a secret in them. Nil finds only the
	// forms of keys.
	Secrets *redact.Redactor

	Session func() string    // the id of the session; nil for a history of commands
	Now     func() time.Time // nil for a history of commands
	Warn    func(string)     // called once if the file can't be used
}

const (
	// The most prompts and shell commands that are stored.
	mostPrompts  = 2000
	mostCommands = 100

	// largestHistory is the largest size of a history file.
	largestHistory = 32 << 20

	// historyWait limits how long the program waits for the lock of the file.
	historyWait = 5 * time.Second
)

// A historyFile is an InputHistory in a file.
type historyFile struct {
	HistoryConfig
	form historyFormat

	mu      sync.Mutex
	loaded  bool
	warned  bool
	entries []string
}

// A historyFormat reads and writes the inputs of a file.
type historyFormat interface {
	// read returns the inputs in b, the latest last.
	read(b []byte) ([]string, error)
	// append returns b with another input.
	append(b []byte, text string) ([]byte, error)
}

// PromptHistory returns the history of prompts: a list of JSON objects, which other programs also
// write.
func PromptHistory(c HistoryConfig) InputHistory {
	return &historyFile{HistoryConfig: c, form: promptFormat{c}}
}

// CommandHistory returns the history of shell commands. A command is one line; a backslash stands
// before each line break in it.
func CommandHistory(c HistoryConfig) InputHistory {
	return &historyFile{HistoryConfig: c, form: shellFormat{}}
}

// Histories returns a history that uses prompts, or commands while shell returns true.
func Histories(prompts, commands InputHistory, shell func() bool) InputHistory {
	return histories{prompts, commands, shell}
}

type histories struct {
	prompts, commands InputHistory
	shell             func() bool
}

func (e histories) Entries() []string {
	if e.shell() {
		return e.commands.Entries()
	}
	return e.prompts.Entries()
}

// Add adds text to both histories if it is a command in a prompt.
func (e histories) Add(text string) {
	if e.shell() {
		e.commands.Add(text)
		return
	}
	e.prompts.Add(text)
	if command, ok := strings.CutPrefix(strings.TrimSpace(text), "!"); ok && strings.TrimSpace(command) != "" {
		e.commands.Add(strings.TrimSpace(command))
	}
}

// Entries implements [InputHistory].
func (r *historyFile) Entries() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load()
	return slices.Clone(r.entries)
}

// load reads the file once, before what this program has added.
func (r *historyFile) load() {
	if r.loaded || r.Path == "" {
		return
	}
	r.loaded = true
	b, err := readHistory(r.Path)
	r.warn(cmp.Or(err, r.take(b)))
}

// take adds the inputs of the file.
func (r *historyFile) take(b []byte) error {
	old, err := r.form.read(b)
	if err == nil {
		r.entries, r.loaded = slices.Compact(append(old, r.entries...)), true
	}
	return err
}

// Add implements [InputHistory].
func (r *historyFile) Add(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.entries); n > 0 && r.entries[n-1] == text {
		return
	}
	if r.Path != "" && r.Secrets.Text(text) == text {
		r.warn(r.append(text))
	}
	r.entries = append(r.entries, text)
	if n := len(r.entries) - mostPrompts; n > 0 {
		r.entries = slices.Clone(r.entries[n:])
	}
}

// warn warns once that the file can't be used.
func (r *historyFile) warn(err error) {
	if err != nil && !r.warned && r.Warn != nil {
		r.warned = true
		r.Warn(fmt.Sprintf("your input is not stored: %v", disk.AsFull(err)))
	}
}

// append appends text to the file, completely, while it holds the lock.
func (r *historyFile) append(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), historyWait)
	defer cancel()
	return disk.Change(ctx, r.Path, 0o600, func() ([]byte, error) {
		b, err := readHistory(r.Path)
		if err != nil {
			return nil, err
		}
		if !r.loaded { // the contents are here anyway
			r.take(b)
		}
		if b, err = r.form.append(b, text); err == nil {
			disk.Restrict(r.Path)
		}
		return b, err
	})
}

// readHistory returns the contents of a file, nil if the file does not exist.
func readHistory(path string) ([]byte, error) {
	b, err := disk.Read(path, largestHistory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, new(disk.TooLargeError)):
		return nil, fmt.Errorf("%w; move it away", err)
	}
	return b, err
}

// promptFormat is the format of prompts.
type promptFormat struct{ HistoryConfig }

// A promptEntry is one prompt. Other programs write more fields.
type promptEntry struct {
	Session string `json:"sessionId"`
	ID      int    `json:"messageId"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Time    string `json:"timestamp"`
}

func (p promptFormat) parse(b []byte) ([]json.RawMessage, []promptEntry, error) {
	var all []json.RawMessage
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil, nil
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, nil, fmt.Errorf("%s is not a list of JSON objects (%w); move it away", p.Path, err)
	}
	entries := make([]promptEntry, len(all))
	for i, raw := range all {
		json.Unmarshal(raw, &entries[i]) // an entry that is no object has no type
	}
	return all, entries, nil
}

func (p promptFormat) read(b []byte) ([]string, error) {
	_, entries, err := p.parse(b)
	slices.SortStableFunc(entries, func(a, b promptEntry) int { return strings.Compare(a.Time, b.Time) })
	var texts []string
	for _, e := range entries {
		if e.Type == "user" && strings.TrimSpace(e.Message) != "" {
			texts = append(texts, e.Message)
		}
	}
	return slices.Compact(texts), err
}

func (p promptFormat) append(b []byte, entered string) ([]byte, error) {
	all, entries, err := p.parse(b)
	if err != nil {
		return nil, err
	}
	next := promptEntry{Session: p.Session(), Type: "user", Message: entered, Time: text.Timestamp(p.Now())}
	for _, e := range entries {
		if e.Session == next.Session {
			next.ID = max(next.ID, e.ID+1)
		}
	}
	raw, err := text.JSON(next, "")
	if err != nil {
		return nil, err
	}
	all = append(all, raw)
	if n := len(all) - mostPrompts; n > 0 {
		all = all[n:]
	}
	return text.JSON(all, "  ")
}

// shellFormat is the format of shell commands.
type shellFormat struct{}

func (shellFormat) read(b []byte) ([]string, error) {
	var texts []string
	open := false
	for l := range strings.Lines(string(b)) {
		l = strings.TrimRight(l, "\r\n")
		before, more := strings.CutSuffix(l, `\`)
		switch {
		case open:
			texts[len(texts)-1] += "\n" + before
		case before != "" || more:
			texts = append(texts, before)
		}
		open = more
	}
	return slices.Compact(texts), nil
}

func (f shellFormat) append(b []byte, text string) ([]byte, error) {
	texts, _ := f.read(b)
	texts = append(texts, text)
	if n := len(texts) - mostCommands; n > 0 {
		texts = texts[n:]
	}
	var out strings.Builder
	for _, t := range texts {
		out.WriteString(strings.ReplaceAll(strings.TrimRight(t, `\`), "\n", "\\\n") + "\n")
	}
	return []byte(out.String()), nil
}
