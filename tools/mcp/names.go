package mcp

import (
	"fmt"

	"gemline/engine"
)

// longestName is how many characters the name of a function may have.
const longestName = 63

// declaredName returns what the model calls a tool of a server.
func declaredName(server, tool string) string {
	name := engine.ServerPrefix(server) + engine.FunctionName(tool)
	if len(name) > longestName {
		const half = 30
		name = name[:half] + "..." + name[len(name)-half:]
	}
	return name
}

// uniqueName returns a name that is not among those taken: the name, or one with a number.
func uniqueName(name string, taken map[string]bool) string {
	for i, tried := 2, name; ; i++ {
		if !taken[tried] {
			return tried
		}
		end := fmt.Sprintf("_%d", i)
		tried = name[:min(len(name), longestName-len(end))] + end
	}
}
