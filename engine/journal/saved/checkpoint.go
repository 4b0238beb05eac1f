package saved

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/text"
)

// A Checkpoint is the Gemini CLI's record before a call that changes files. The Gemini CLI
// deletes it at its next start.
type Checkpoint struct {
	History *journal.SavedConversation
	Commit  string // in the shadow repository of the files
	Tool    string // the tool to be called
}

// Checkpoints returns the names of the existing checkpoints, the oldest first.
func (s Store) Checkpoints() (names []string) {
	entries, _ := os.ReadDir(filepath.Join(s.Dir, checkpoints))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), suffix); ok && s.Dir != "" && e.Type().IsRegular() {
			names = append(names, name) // names begin with the time
		}
	}
	return names
}

const checkpoints = "checkpoints"

// Checkpoint returns the checkpoint with a name from [Store.Checkpoints].
func (s Store) Checkpoint(name string) (*Checkpoint, error) {
	path := filepath.Join(s.Dir, checkpoints, name+suffix)
	b, err := disk.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	var f struct {
		Said   []*genai.Content `json:"clientHistory"`
		Commit string           `json:"commitHash"`
		Call   struct {
			Name string `json:"name"`
		} `json:"toolCall"`
	}
	if err := text.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("%s is no checkpoint: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &Checkpoint{&journal.SavedConversation{Title: name, At: info.ModTime(), History: f.Said}, f.Commit, f.Call.Name}, nil
}
