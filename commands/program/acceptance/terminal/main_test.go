// Package terminal tries dialogues at a terminal.
package terminal

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
