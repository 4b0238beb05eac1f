package hook_test

import (
	"encoding/json"
	"regexp"
	"slices"
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
		{hook.BeforeTool, "search_file_content", "grep_search", true},
		{hook.BeforeTool, "^(ReadFileTool|LSTool)$", "list_directory", true},
		{hook.BeforeTool, "content", "grep_search", false},
		{hook.BeforeTool, " * ", "a", true},
		{hook.AfterTool, " ", "a", true},
		{hook.SessionStart, " * ", "startup", true},
		{hook.SessionStart, " startup\n", "startup", true},
		{hook.BeforeTool, " write_file ", "write_file", true},
		{hook.BeforeTool, "glob | write_file", "write_file", true},
		{hook.BeforeTool, "glob | write_file", "read_file", false},
		{hook.BeforeTool, "glob, write_file", "write_file", true},
		{hook.BeforeTool, "glob, write_file", "read_file", false},
		{hook.BeforeTool, "l{1,2}s", "lls", true},
		{hook.BeforeTool, "(", "(", true}, // which is no expression, and so a name
		{hook.BeforeTool, "(", "a(b", false},
		{hook.BeforeTool, "[", "read_file", false},
		{hook.BeforeTool, "*_file", "write_file", true},
		{hook.BeforeTool, "*_file", "write_files", false},
		{hook.BeforeTool, "*|nothing", "glob", true},
		{hook.BeforeTool, "glob|*_file", "glob", true},
		{hook.BeforeTool, "glob|*_file", "read_file", true},
		{hook.BeforeTool, "glob|*_file", "ls", false},
		{hook.BeforeTool, "(|glob", "glob", true},
		{hook.BeforeTool, "(|glob", "ls", false},
		{hook.BeforeTool, "^(?!read_)", "write_file", true}, // an expression, and not one of Go's
		{hook.BeforeTool, "^(?!read_)", "read_file", true},
		{hook.AfterTool, "(?<=write)_file", "ls", true},
		{hook.AfterTool, `(a)\1`, "ls", true},
		{hook.AfterTool, "x{1,1001}", "ls", true},
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

// TestEmpty tells a hook that has nothing to run from one whose command stands elsewhere.
func TestEmpty(t *testing.T) {
	for value, unguarded := range map[string]bool{
		`null`: false, `[]`: false, `{}`: false, `[{}]`: false, `[null]`: false, `[{"matcher": "x", "hooks": []}]`: false,
		`[{"hooks": [{"type": "command"}]}]`:                                                false,
		`[{"hooks": [{"type": "command", "name": "n", "timeout": 5, "command": " "}, {}]}]`: false,
		`[{"hooks": [{"type": "command", "cmd": "guard"}]}]`:                                true,
		`[{"hooks": [{"type": "prompt"}]}]`:                                                 true,
		`[{"hooks": [{"command": ["guard"]}]}]`:                                             true,
		`[{"hooks": {"command": "guard"}}]`:                                                 true,
		`["guard"]`:                                                                         true,
		`{"command": "guard"}`:                                                              true,
		`true`:                                                                              true,
	} {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
		_, wrong := hook.Parse(map[string]any{"BeforeTool": v}, hook.User, hook.File{Path: "F"})
		if got := slices.ContainsFunc(wrong, hook.Problem.Unguarded); got != unguarded {
			t.Errorf("%s: %v, %+v", value, got, wrong)
		}
	}
}

func FuzzMatches(f *testing.F) {
	f.Add("a|b", "x")
	f.Add("(a+)+$", "aaaa")
	f.Add("[", "[")
	f.Add("\xdb", "0")
	f.Fuzz(func(t *testing.T, matcher, subject string) {
		for _, e := range hook.Events {
			got := hook.Hook{Event: e, Matcher: matcher}.Matches(subject)
			re, err := regexp.Compile(matcher)
			if tool := e == hook.BeforeTool || e == hook.AfterTool; tool && strings.TrimSpace(matcher) != "" &&
				!strings.Contains(matcher, " ") && strings.TrimSpace(matcher) == matcher &&
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
			map[string]any{"matcher": "(", "hooks": []any{good}}, map[string]any{"matcher": "*", "hooks": []any{good}}, map[string]any{"matcher": "*_file", "hooks": []any{good}},
			map[string]any{"matcher": "x{1,1001}", "hooks": []any{good}},
			map[string]any{"matcher": "x", "sequential": true, "hooks": []any{good}}},
		"AfterTool": group(map[string]any{"type": "plugin"}), "BeforeAgent": "x", "AfterAgent": []any{1.0}, "SessionEnd": group(map[string]any{"type": "command"}),
		"before_model": group(map[string]any{"command": "y"}), "aftermodel": []any{map[string]any{"command": "z", "matcher": "m"}},
		"PreCompress": []any{map[string]any{"matchre": "auto", "sequential": "yes", "hooks": []any{
			map[string]any{"type": "command", "command": "x", "name": 1.0, "timeuot": 1.0, "env": map[string]any{"L": []any{}, "N": true}}}}},
		"SessionStart": []any{map[string]any{"matcher": "startup|Resume", "hooks": []any{good}}},
		"Later":        []any{}, "enabled": true, "disabled": []any{}, "notifications": 1.0, "Notification": group("x"),
	}, hook.User, hook.File{Path: "F", Line: func(path ...string) int { return 10*len(path) + strings.Count(path[0], "T") }})
	if n := len(hooks); n != 10 || hooks[8].Event+hooks[9].Event != hook.AfterModel+hook.BeforeModel {
		t.Fatalf("%+v", hooks)
	}
	if hooks[5].Matcher != "x" || !hooks[5].Sequential ||
		hooks[5].Timeout != 1500*time.Millisecond || hooks[5].Env["N"] != "1" || hooks[5].Source != hook.User {
		t.Errorf("%+v", hooks)
	}
	var text string
	for _, p := range wrong {
		text += p.Text + map[bool]string{true: " (runs)"}[p.StillRuns] + map[bool]string{true: " (ends)"}[p.Unguarded()] + "\n"
	}
	const want = `F:20: hooks.AfterAgent: item 1 has no list of hooks (ends)
F:21: hooks.AfterTool: item 1: a hook of the type "plugin" can't be run, only commands can (ends)
F:10: hooks.BeforeAgent: it is not a list (ends)
F:21: hooks.BeforeTool: the matcher "(?!x)" is an expression that gemline does not have (it can't look around or back); its hooks run for every tool (runs)
F:21: hooks.BeforeTool: the matcher "(" is no regular expression, and taken for a name (runs)
F:21: hooks.BeforeTool: the matcher "*_file" is no regular expression, and taken for a name in which * stands for anything (as an expression: ^.*_file$) (runs)
F:21: hooks.BeforeTool: the matcher "x{1,1001}" is an expression that gemline does not have (it can't look around or back); its hooks run for every tool (runs)
F:10: hooks.Later: there is no such event; its hooks do not run
F:20: hooks.Notification: item 1: a hook is not an object
F:20: hooks.PreCompress: item 1: "matchre" is no key of a hook; did you mean matcher? (runs)
F:20: hooks.PreCompress: item 1: its sequential must be true or false, and is passed over (runs)
F:20: hooks.PreCompress: item 1: env.L must be a string; it is not set (runs)
F:20: hooks.PreCompress: item 1: its name must be a string, and is passed over (runs)
F:20: hooks.PreCompress: item 1: "timeuot" is no key of a hook; did you mean timeout? (runs)
F:20: hooks.SessionEnd: item 1: a hook has no command
F:20: hooks.SessionStart: the matcher "startup|Resume" matches nothing; it can be one of startup, resume, clear (runs)
F:20: hooks.AfterModel: the matcher "m" means nothing at this event; its hooks run always (runs)
`
	if text != want {
		t.Error(text)
	}
}

// What hooks of an extension have for other programs is not told, nor what means what it does.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	said := map[string]any{"BeforeAgent": []any{map[string]any{"matcher": ".*", "comment": "x",
		"hooks": []any{map[string]any{"command": "x", "async": true}}}}}
	for source, want := range map[hook.Source]int{hook.Extension: 0, hook.User: 2} {
		if _, wrong := hook.Parse(said, source, hook.File{}); len(wrong) != want {
			t.Errorf("%v: %v", source, wrong)
		}
	}
}

// The time that a hook has is said where it is hardly what was meant.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said any
		want time.Duration
		note string
	}{
		{nil, time.Minute, ""},
		{60000.0, time.Minute, ""},
		{json.Number("60000"), time.Minute, ""},
		{100.0, 100 * time.Millisecond, ""},
		{json.Number("5"), 5 * time.Millisecond, "its timeout of 5 is in ms; 5 s are 5000"},
		{30.0, 30 * time.Millisecond, "its timeout of 30 is in ms; 30 s are 30000"},
		{0.5, 500 * time.Microsecond, "its timeout of 0.5 is in ms; 0.5 s are 500"},
		{"5s", time.Minute, `its timeout "5s" is no number of ms; it has 60000 ms`},
		{-1.0, time.Minute, `its timeout "-1" is no number of ms; it has 60000 ms`},
	} {
		hooks, wrong := hook.Parse(map[string]any{"BeforeTool": []any{map[string]any{"hooks": []any{
			map[string]any{"type": "command", "command": "x", "timeout": tt.said}}}}}, hook.User, hook.File{Path: "F"})
		note := ""
		for _, p := range wrong {
			note += strings.TrimPrefix(p.Text, "F: hooks.BeforeTool: item 1: ")
		}
		if len(hooks) != 1 || hooks[0].Timeout != tt.want || note != tt.note {
			t.Errorf("%v: %v %q", tt.said, hooks, note)
		}
	}
}
