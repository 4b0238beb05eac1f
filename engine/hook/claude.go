package hook

import (
	"cmp"

	"gemline/engine/policy"
	"gemline/engine/text"
)

// ClaudeEvents are Claude Code's names of events. The timeouts of its hooks are in seconds.
var ClaudeEvents = map[string]Event{
	"PreToolUse":       BeforeTool,
	"PostToolUse":      AfterTool,
	"UserPromptSubmit": BeforeAgent,
	"Stop":             AfterAgent,
	"SubagentStop":     AfterAgent,
	"SubAgentStop":     AfterAgent,
	"PreCompact":       PreCompress,
	"SessionStart":     SessionStart,
	"SessionEnd":       SessionEnd,
	"Notification":     Notification,
}

var (
	claudeTool   = text.Pattern(`\b[A-Z][A-Za-z]+\b`)
	claudeServer = text.Pattern(`\bmcp__(\w+?)__`)
)

// ToolMatcher translates a matcher for tools of Claude Code to gemline's names, and returns
// the names without an equivalent.
func ToolMatcher(matcher string) (moved string, unknown []string) {
	moved = claudeTool().ReplaceAllStringFunc(matcher, func(name string) string {
		tool := policy.ToolOf(name)
		if tool == "" {
			unknown = append(unknown, name)
		}
		return cmp.Or(tool, name)
	})
	return claudeServer().ReplaceAllString(moved, "mcp_${1}_"), unknown
}
