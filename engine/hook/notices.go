package hook

import (
	"fmt"
	"sync"

	"gemline/engine"
	"gemline/engine/text"
)

// notices holds the unread messages of hooks.
type notices struct {
	mu      sync.Mutex
	list    []engine.Notice
	failing map[string]bool // hooks whose failure was already reported
}

// Notices returns the new notices for the user.
func (h *Hooks) Notices() []engine.Notice {
	if h == nil {
		return nil
	}
	n := &h.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.list
	n.list = nil
	return list
}

// longest is the maximum length of a shown message of a hook, in characters.
const longest = 4000

// warn adds a warning for the user.
func (n *notices) warn(format string, args ...any) {
	n.keep(engine.Notice{Text: text.OneLine(fmt.Sprintf(format, args...), longest)})
}

// keep adds a notice for the user.
func (n *notices) keep(notice engine.Notice) {
	const most = 100
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) < most {
		n.list = append(n.list, notice)
	}
}

// first reports whether a failure of a hook is new to the user.
func (n *notices) first(k Hook, status string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := string(k.Event) + "\x00" + k.key() + "\x00" + status
	if n.failing[key] {
		return false
	}
	n.failing[key] = true
	return true
}
