package commands

func streaming() *Command {
	return &Command{Name: "stream", Args: "[token|sentence|paragraph|final]", Summary: "how much of an answer is shown at a time",
		Complete: words("token", "sentence", "paragraph", "final"),
		Run:      state(func(s *Screen) func(string) (string, error) { return s.Stream })}
}
