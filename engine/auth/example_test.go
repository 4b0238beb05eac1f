package auth_test

import (
	"errors"
	"fmt"

	"gemline/engine/auth"
)

// The environment decides unless the settings do, and an error says what to do about it.
func Example() {
	env := map[string]string{"GEMINI_API_KEY": "the-key"}
	cfg := auth.Config{GOOS: "linux", Getenv: func(name string) string { return env[name] }}
	c, err := auth.Choose(cfg)
	fmt.Println(c.Method, "with the key of", c.Key.From, err)

	cfg.Enforced = string(auth.Vertex)
	_, err = auth.Choose(cfg)
	if e, ok := errors.AsType[*auth.Error](err); ok {
		fmt.Printf("%v\nhint: %s\n", e, e.Hint())
	}
	// Output:
	// gemini-api-key with the key of GEMINI_API_KEY <nil>
	// security.auth.enforcedType allows only vertex-ai, and GEMINI_API_KEY says gemini-api-key
	// hint: gemline auth use vertex-ai, or ask the administrator who set it
}
