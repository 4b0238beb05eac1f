package policy

import (
	"slices"
	"strings"
)

// foreignTools maps other agents' names of tools, in small letters, to gemline's names.
var foreignTools = map[string]string{
	"bash":      Shell,
	"edit":      "replace",
	"multiedit": "replace",
	"write":     "write_file",
	"read":      "read_file",
	"glob":      "glob",
	"grep":      "grep_search",
	"ls":        "list_directory",
	"list":      "list_directory",
	"webfetch":  "web_fetch",
	"websearch": "google_web_search",
	"todowrite": "write_todos",
	"todoread":  "write_todos",
}

// Renamed returns the present name of the tool with the former name old; "" if there is none.
func Renamed(old string) string {
	for name, names := range oldNames {
		if slices.Contains(names, old) {
			return name
		}
	}
	return ""
}

// ToolOf returns gemline's name for a tool of other agents, such as Bash; "" if gemline lacks
// the tool.
func ToolOf(name string) string { return foreignTools[strings.ToLower(name)] }
