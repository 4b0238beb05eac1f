package policy_test

import (
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
)

// What allows the tools of one server allows none of another whose name reads the same in
// the names of tools; what denies them denies both.
func TestServersThatReadTheSame(t *testing.T) {
	tool := func(server string) engine.Tool {
		n := named(engine.ServerPrefix(server)+"status", engine.Other)
		n.Server, n.ServerTool = server, "status"
		return n
	}
	for _, c := range []struct {
		rule, server string
		allows       bool
	}{
		{`toolName = "mcp_git_*"`, "git", true},
		{`toolName = "mcp_git_*"`, "mcp_git", false},
		{`toolName = "mcp_git_status"`, "git", true},
		{`toolName = "mcp_git_status"`, "mcp_git", false},
		{`toolName = "mcp_my_server_*"`, "my_server", true},
		{`toolName = "mcp_my_server_*"`, "my server", false},
		{"toolName = \"*\"\nmcpName = \"mcp_git\"", "mcp_git", true},
		{"toolName = \"*\"\nmcpName = \"git\"", "mcp_git", false},
		{"toolName = \"mcp_git_*\"\nmcpName = \"mcp_git\"", "mcp_git", true},
		{"toolName = \"status\"\nmcpName = \"my server\"", "my server", true},
	} {
		for verdict, catches := range map[string]bool{"allow": c.allows, "deny": true} {
			rules := parse(t, policy.User, "[[rule]]\n"+c.rule+"\ndecision = \""+verdict+"\"\npriority = 100\n")
			got, _ := policy.New(policy.Default, rules...).Judge(t.Context(), engine.Proposal{Tool: tool(c.server)})
			if verdict == "deny" && c.rule == "toolName = \"*\"\nmcpName = \"git\"" {
				catches = false // it names the server
			}
			want := map[bool]engine.Verdict{true: map[string]engine.Verdict{"allow": engine.Allow, "deny": engine.Deny}[verdict], false: engine.Ask}[catches]
			if got != want {
				t.Errorf("%s %s, of the server %q: %s", verdict, c.rule, c.server, policy.VerdictName(got))
			}
		}
	}
}
