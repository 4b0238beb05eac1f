package hook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Hooks that were written for Claude Code run at the events that gemline has for its own,
// for the tools that its names stand for, and as many seconds as they say.
func TestClaudeHooks(t *testing.T) {
	for in, want := range map[string]string{
		`{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"c","timeout":5}]}]}`:                                "BeforeTool run_shell_command 5s",
		`{"PostToolUse":[{"matcher":"Edit|MultiEdit|Write","hooks":[{"type":"command","command":"c"}]}]}`:                           "AfterTool replace|replace|write_file 1m0s",
		`{"PreToolUse":[{"matcher":"mcp__git__.*|Read","hooks":[{"type":"command","command":"c","timeout":0.5}]}]}`:                 "BeforeTool mcp_git_.*|read_file 500ms",
		`{"PreToolUse":[{"matcher":"NotebookEdit","hooks":[{"type":"command","command":"c"}]}]}`:                                    "BeforeTool NotebookEdit 1m0s",
		`{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"c"}]}],"Stop":[{"hooks":[{"type":"command","command":"c"}]}]}`: "AfterAgent  1m0s, BeforeAgent  1m0s",
		`{"BeforeTool":[{"matcher":"Bash","hooks":[{"type":"command","command":"c","timeout":5000}]}]}`:                             "BeforeTool run_shell_command 5s",
		`{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"c","timeout":5000}]}]}`:                        "SessionStart startup 5s",
	} {
		var value map[string]any
		if err := json.Unmarshal([]byte(in), &value); err != nil {
			t.Fatal(err)
		}
		hooks, wrong := Parse(value, User, File{Path: "F"})
		var got []string
		for _, h := range hooks {
			got = append(got, fmt.Sprint(h.Event, " ", h.Matcher, " ", h.Timeout))
		}
		if s := strings.Join(got, ", "); s != want || wrong != nil {
			t.Errorf("%s: %s, %v\nwant %s", in, s, wrong, want)
		}
	}
}
