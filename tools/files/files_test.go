package files

import (
	"testing"

	"gemline/tools/toolstest"
)

// A place is a workspace with the tools for its files.
type place struct {
	toolstest.Place
	ts Tools
}

func newPlace(t testing.TB, files map[string]string) place {
	t.Helper()
	p := toolstest.NewPlace(t, files)
	return place{p, Tools{Workspace: p.Workspace}}
}
