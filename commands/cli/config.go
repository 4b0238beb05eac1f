package cli

// configCommand is gemline config.
type configCommand struct {
	Path configPath `cmd:"" help:"Say where the files of settings are."`
}

type configPath struct{}

// Run prints the paths of the files, the weakest first.
func (*configPath) Run(w *World) error {
	for _, src := range w.Paths.Sources(w.Lookup, w.Trusted) {
		if err := w.line("%s", src.Path); err != nil {
			return err
		}
	}
	return nil
}
