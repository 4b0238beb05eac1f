package commands

func detail() *Command {
	return &Command{Name: "detail", Usual: true, Args: "[short|normal|full]", Summary: "how much gemline says about what the model does",
		Complete: words("short", "normal", "full"),
		Run:      state(func(s *Screen) func(string) (string, error) { return s.Detail })}
}
