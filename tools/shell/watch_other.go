//go:build !unix

package shell

// A watch does nothing on systems without process groups.
type watch struct{}

func (*watch) ready()          {}
func (*watch) add(int, string) {}
func (*watch) drop(int)        {}
func (*watch) close()          {}
