// Package protocol tries the program as editors, agents and other programs talk with it.
package protocol

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
