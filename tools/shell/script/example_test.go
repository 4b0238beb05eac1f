package script_test

import (
	"fmt"

	"gemline/engine"
	"gemline/tools/shell/script"
)

// Each command of a line is told, also inside of wrappers and loops, and what keeps it from that.
func Example() {
	for _, line := range []string{
		`cd src && go test ./...`,
		`for f in *.log; do sudo -u web rm "$f" > out.txt; done`,
		`eval "$setup"`,
	} {
		s := script.Read(line)
		var programs []string
		for _, c := range s.Commands {
			program, _ := c.Program()
			programs = append(programs, program)
		}
		fmt.Println(s.Class, programs, "write", s.Writes)
		if s.Class == engine.Opaque {
			fmt.Println("because", s.Why)
		}
	}
	// Output:
	// plain [cd go] write []
	// readable [sudo rm] write [out.txt]
	// opaque [eval] write []
	// because which script eval runs is known only when it runs ("$setup")
}
