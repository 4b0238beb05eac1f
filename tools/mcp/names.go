package mcp

import (
	"fmt"

	"gemline/engine"
)

// longestName limits the name of a function, in characters.
const longestName = 63

// declaredName returns the name under which a server's tool is declared to the model.
func declaredName(server, tool string) string {
	name := engine.ServerPrefix(server) + engine.FunctionName(tool)
	if len(name) > longestName {
		const half = 30
		name = name[:half] + "..." + name[len(name)-half:]
	}
	return name
}

// uniqueName returns name, with a number if it is taken.
func uniqueName(name string, taken map[string]bool) string {
	for i, tried := 2, name; ; i++ {
		if !taken[tried] {
			return tried
		}
		end := fmt.Sprintf("_%d", i)
		tried = name[:min(len(name), longestName-len(end))] + end
	}
}
