package hook_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"gemline/engine/hook"
)

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		e                hook.Event
		matcher, subject string
		want             bool
	}{
		{hook.BeforeTool, "", "a", true},
		{hook.BeforeTool, "*", "a", true},
		{hook.BeforeTool, "file", "write_file", true},
		{hook.AfterTool, "^file", "write_file", false},
		{hook.AfterTool, "replace|write_.*", "write_file", true},
		{hook.BeforeTool, "mcp_git_.*", "mcp_git_log", true},
		{hook.BeforeTool, "(", "(", false},
		{hook.BeforeTool, "(", "a(b", false},
		{hook.BeforeTool, "(a+)+$", strings.Repeat("a", 1<<16) + "b", false}, // never ends where a matcher backtracks
		{hook.SessionStart, "startup", "startup", true},
		{hook.SessionStart, "start", "startup", false},
		{hook.SessionEnd, "exit|clear", "exit", false},
		{hook.PreCompress, "auto", "manual", false},
		{hook.BeforeAgent, "anything", "", true},
		{hook.Notification, "anything", "", true},
	} {
		if got := (hook.Hook{Event: tt.e, Matcher: tt.matcher}).Matches(tt.subject); got != tt.want {
			t.Errorf("%s %q of %.20q: %v", tt.e, tt.matcher, tt.subject, got)
		}
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("a|b", "x")
	f.Add("(a+)+$", "aaaa")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, matcher, subject string) {
		for _, e := range hook.Events {
			got := hook.Hook{Event: e, Matcher: matcher}.Matches(subject)
			re, err := regexp.Compile(matcher)
			if tool := e == hook.BeforeTool || e == hook.AfterTool; tool && matcher != "" && matcher != "*" &&
				err == nil && got != re.MatchString(subject) {
				t.Errorf("%s: %q of %q is %v", e, matcher, subject, got)
			}
		}
	})
}

// TestParse has the settings say what they must not.
func TestParse(t *testing.T) {
	t.Parallel()
	group := func(h any) []any { return []any{map[string]any{"hooks": []any{h}}} }
	good := map[string]any{"type": "command", "command": "x", "timeout": 1500.0, "env": map[string]any{"N": 1.0}}
	hooks, wrong := hook.Parse(map[string]any{
		"BeforeTool": []any{map[string]any{"matcher": "(?!x)", "hooks": []any{good}},
			map[string]any{"matcher": "(", "hooks": []any{good}}, map[string]any{"matcher": "*_file", "hooks": []any{good}},
			map[string]any{"matcher": "x{1,1001}", "hooks": []any{good}},
			map[string]any{"matcher": "x", "sequential": true, "hooks": []any{good}}},
		"AfterTool": group(map[string]any{"type": "plugin"}), "BeforeAgent": "x", "AfterAgent": []any{1.0}, "SessionEnd": group(map[string]any{"type": "command"}),
		"Later": []any{}, "enabled": true, "disabled": []any{}, "notifications": 1.0, "Notification": group("x"),
	}, hook.User, "F")
	if len(hooks) != 1 || hooks[0].Matcher != "x" || !hooks[0].Sequential ||
		hooks[0].Timeout != 1500*time.Millisecond || hooks[0].Env["N"] != "1" || hooks[0].Source != hook.User {
		t.Errorf("%+v", hooks)
	}
	var text string
	for _, p := range wrong {
		text += p.Text + "\n"
	}
	const want = `F: hooks.AfterAgent: item 1 has no list of hooks
F: hooks.AfterTool: item 1: a hook of the type "plugin" can't be run, only commands can
F: hooks.BeforeAgent: it is not a list
F: hooks.BeforeTool: the matcher "(?!x)" looks around or back, which matchers can't do here
F: hooks.BeforeTool: the matcher "(" is no regular expression: missing closing )
F: hooks.BeforeTool: the matcher "*_file" is no regular expression: missing argument to repetition operator
F: hooks.BeforeTool: the matcher "x{1,1001}" is no regular expression: invalid repeat count
F: hooks.Later: there is no such event; its hooks do not run
F: hooks.Notification: item 1: a hook is not an object
F: hooks.SessionEnd: item 1: a hook has no command
`
	if text != want {
		t.Error(text)
	}
}
