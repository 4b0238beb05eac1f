// Package terminal tests the program at terminals, plain and smart, by dialogues.
package terminal

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestScripts(t *testing.T) { pt.Scripts(t, "terminal") }
