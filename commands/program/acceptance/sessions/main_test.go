// Package sessions tries what is kept of a conversation, and going on with it.
package sessions

import (
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
)

func TestMain(m *testing.M) { pt.Main(m) }
