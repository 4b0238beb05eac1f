package cli

// trustCommand is gemline trust.
type trustCommand struct {
	List trustList `cmd:"" help:"List the folders that were decided about."`
}

type trustList struct{}

// Run prints the decisions.
func (*trustList) Run(w *World) error { return nil }
