// Package pipes tries runs that nobody watches: prompts on the command line, pipes, records and exit codes.
package pipes

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
