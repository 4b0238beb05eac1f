package hook_test

import (
	"context"
	"fmt"
	"strings"

	"gemline/engine/hook"
)

// A hook of the end of a session reads why it ends.
func Example() {
	hooks, wrong := hook.Parse(map[string]any{"SessionEnd": []any{
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "./tidy", "name": "tidy"}}},
	}}, hook.User, hook.File{Path: "settings.json"})
	fmt.Println(len(hooks), wrong)
	h := hook.New(hook.Config{Hooks: hooks,
		Session: func() hook.Session { return hook.Session{ID: "1", Cwd: "/work"} },
		Run: func(_ context.Context, p hook.Process) hook.Outcome {
			_, reason, _ := strings.Cut(string(p.Input), `"reason":`)
			fmt.Println(p.Command, reason)
			return hook.Outcome{Stdout: `{"systemMessage":"all tidy"}`}
		}})
	h.End(context.Background(), "exit")
	for _, n := range h.Notices() {
		fmt.Println(n.Text)
	}
	// Output:
	// 1 []
	// ./tidy "exit"}
	// hook tidy: all tidy
}
