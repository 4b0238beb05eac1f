package commands

func accessible() *Command {
	return &Command{Name: "accessible", Args: "[on|off]", Summary: "plain mode, for screen readers and braille displays, from here on",
		Complete: words("on", "off"),
		Run:      state(func(s *Screen) func(string) (string, error) { return s.Accessible })}
}
