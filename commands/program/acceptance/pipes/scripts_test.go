// Package pipes tests the program where no terminal is: in pipelines, with JSON, in batches,
// and by its exit codes.
package pipes

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestScripts(t *testing.T) { pt.Scripts(t, "pipes") }
