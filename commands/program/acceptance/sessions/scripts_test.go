// Package sessions tests what outlives a run: sessions, undo, worktrees, detached terminals,
// crashes.
package sessions

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestScripts(t *testing.T) { pt.Scripts(t, "sessions") }
