//go:build !unix

package shell

// A watch does nothing where groups of processes have no names.
type watch struct{}

func (*watch) ready()          {}
func (*watch) add(int, string) {}
func (*watch) drop(int)        {}
func (*watch) close()          {}
