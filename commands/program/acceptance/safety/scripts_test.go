// Package safety tests what the program refuses, asks about and confines: rules, trust, the
// sandbox, secrets.
package safety

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestScripts(t *testing.T) { pt.Scripts(t, "safety") }
