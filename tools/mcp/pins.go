package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"sync"
	"time"

	"gemline/engine/disk"
)

// ToolPins is the file that pins the descriptions of tools: a tool is pinned when it is first
// seen, and again when the user allows a call after a change. Nil ToolPins pin nothing.
type ToolPins struct {
	Path   string
	Failed func(error) // receives errors of writing; may be nil

	mu sync.Mutex
}

// A pin is the description of a tool, with a fingerprint of its description and schema.
type pin struct {
	Print       string `json:"print"`
	Description string `json:"description"`
}

// compare sets the stored description of each changed tool, pins new tools, and returns the
// names of the changed tools.
func (s *ToolPins) compare(server Server, tools []tool) (changed []string) {
	if s == nil || s.Path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.read()[server.identity()]
	fresh := map[string]pin{}
	for i := range tools {
		t := &tools[i]
		before, known := was[t.Name]
		switch {
		case !known:
			fresh[t.Name] = pin{t.print, t.Description}
		case before.Print != t.print:
			t.before = before.Description
			if t.before == "" || t.before == t.Description {
				t.before += "\n(and other arguments)"
			}
			changed = append(changed, t.Name)
		}
	}
	if len(fresh) > 0 {
		s.keep(server, fresh)
	}
	return changed
}

// agree pins the current t, after a call was allowed.
func (s *ToolPins) agree(server Server, t tool) {
	if s == nil || s.Path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(server, map[string]pin{t.Name: {t.print, t.Description}})
}

func (s *ToolPins) read() map[string]map[string]pin {
	all := map[string]map[string]pin{}
	if b, err := os.ReadFile(s.Path); err == nil && disk.WritableByOthers(s.Path) == "" {
		json.Unmarshal(b, &all) // an invalid entry counts as missing
	}
	return all
}

// keep adds pins to the file.
func (s *ToolPins) keep(server Server, more map[string]pin) {
	const wait = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := s.write(ctx, server, more); err != nil && s.Failed != nil {
		s.Failed(err)
	}
}

func (s *ToolPins) write(ctx context.Context, server Server, more map[string]pin) error {
	return disk.Change(ctx, s.Path, 0o600, func() ([]byte, error) {
		all := s.read()
		if all == nil {
			all = map[string]map[string]pin{}
		}
		id := server.identity()
		if all[id] == nil {
			all[id] = map[string]pin{}
		}
		maps.Copy(all[id], more)
		b, err := json.MarshalIndent(all, "", " ")
		return append(b, '\n'), err
	})
}
