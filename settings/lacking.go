package settings

import "slices"

// lacking are flags of the Gemini CLI that are about what there is not yet,
// and what to do instead. Nobody who gives one is left to believe that it
// holds.
var lacking = []struct {
	names   []string
	instead string
}{
	{[]string{"acp", "experimental-acp"}, "this version speaks no ACP yet; --input-format stream-json holds a conversation with a program, see gemline help protocol"},
	{[]string{"allowed-mcp-server-names"}, "this version has no MCP servers yet, so there is none to choose; leave it out"},
	{[]string{"worktree", "w"}, "this version makes no worktrees yet; make one with git worktree add, and start gemline in it"},
}

// lacks returns the error of a flag that there is not yet, nil if name is none.
func lacks(name string) error {
	for _, l := range lacking {
		if slices.Contains(l.names, kebab(bare(name))) {
			return usage("%.100s: %s", name, l.instead)
		}
	}
	return nil
}
