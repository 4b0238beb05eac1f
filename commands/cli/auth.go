package cli

// authCommand is gemline auth.
type authCommand struct {
	Status authStatus `cmd:"" help:"Say which credentials the next request would use."`
}

type authStatus struct{}

// Run prints the choice.
func (*authStatus) Run(w *World) error { return nil }
