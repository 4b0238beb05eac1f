package commands

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A line in a session becomes the words of gemline config.
func TestSettingsWords(t *testing.T) {
	for line, want := range map[string][]string{
		"settings":                                 {"config", "list"},
		"config list --origin":                     {"config", "list", "--origin"},
		"settings get model.name":                  {"config", "get", "model.name"},
		"settings unset --scope=user x":            {"config", "unset", "--scope=user", "x"},
		"settings path":                            {"config", "path"},
		"settings validate":                        {"config", "validate"},
		"settings set a.b c":                       {"config", "set", "--", "a.b", "c"},
		"settings set a.b -5":                      {"config", "set", "--", "a.b", "-5"},
		"settings set a.b c d, e":                  {"config", "set", "--", "a.b", "c d, e"},
		`settings set a.b "c d"`:                   {"config", "set", "--", "a.b", "c d"},
		"settings set a.b null":                    {"config", "set", "--", "a.b", "null"},
		"settings set --scope workspace a.b c":     {"config", "set", "--scope", "workspace", "--", "a.b", "c"},
		"settings set a.b c --scope user":          {"config", "set", "--scope", "user", "--", "a.b", "c"},
		"settings set --json a.b c --scope=user":   {"config", "set", "--json", "--scope=user", "--", "a.b", "c"},
		`settings set a.b {"command": "x"} --json`: {"config", "set", "--json", "--", "a.b", `{"command": "x"}`},
	} {
		var got []string
		o := &Deps{Out: &bytes.Buffer{}, Manage: func(_ context.Context, args ...string) error { got = args; return nil }}
		c, args := Builtin(o).Find(line)
		if c == nil {
			t.Fatalf("there is no /%s", line)
		}
		if err := c.Run(t.Context(), args); err != nil || !slices.Equal(got, want) {
			t.Errorf("/%s: %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestSettingsRefuses(t *testing.T) {
	failed := errors.New("no such key")
	for line, want := range map[string]string{
		"settings set": "which key", "settings set a.b": "which key", "settings set --scope user a.b": "which key", "settings set a.b --json": "which key",
		"settings get x": failed.Error(), "settings set a b": failed.Error(),
	} {
		o := &Deps{Out: &bytes.Buffer{}, Manage: func(context.Context, ...string) error { return failed }}
		c, args := Builtin(o).Find(line)
		if err := c.Run(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("/%s: %v; want %s", line, err, want)
		}
	}
}
