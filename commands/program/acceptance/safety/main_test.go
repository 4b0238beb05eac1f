// Package safety tries what is asked about, denied, confined and undone.
package safety

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
