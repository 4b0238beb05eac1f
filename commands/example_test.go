package commands_test

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/genai"

	"gemline/commands"
	"gemline/commands/custom"
	"gemline/repl/input"
)

// A slash command answers a line itself. A slip is told, and other lines go to the model.
func ExampleStep() {
	greet := &commands.Command{Name: "greet", Args: "[NAME]", Summary: "Greets",
		Run: func(_ context.Context, args string) error {
			_, err := fmt.Println("Hello,", args)
			return err
		}}
	o := &commands.Deps{Out: os.Stdout,
		Customs: &commands.Customs{Library: &custom.Library{Dirs: func() []custom.Dir { return nil }},
			Served: func() commands.Set { return commands.Set{greet} }},
		LocateCommand: func(string) string { return "" },
	}
	chain := input.Chain(commands.Step(o))
	for _, line := range []string{"/greet Ada", "/gret Ada", "/usr/bin is full"} {
		parts, err := chain(context.Background(), []*genai.Part{genai.NewPartFromText(line)})
		fmt.Println("for the model:", len(parts), err)
	}
	// Output:
	// Hello, Ada
	// for the model: 0 <nil>
	// for the model: 0 unknown command /gret; did you mean /greet?
	// for the model: 1 <nil>
}
