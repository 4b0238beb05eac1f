// Package servers tries the program with servers and what others publish: MCP, hooks, extensions, skills, log-ins.
package servers

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
