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
		"settings":                      {"config", "list"},
		"config list --origin":          {"config", "list", "--origin"},
		"settings get model.name":       {"config", "get", "model.name"},
		"settings unset --scope=user x": {"config", "unset", "--scope=user", "x"},
		"settings path":                 {"config", "path"},
		"settings validate":             {"config", "validate"},
		"settings set a.b c d --json":   {"config", "set", "a.b", "c", "d", "--json"},
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
		"settings set":          "/settings set needs KEY VALUE",
		"settings set ui.ascii": "/settings set needs KEY VALUE",
		"settings get x":        failed.Error(), "settings set a b": failed.Error(),
	} {
		o := &Deps{Out: &bytes.Buffer{}, Manage: func(context.Context, ...string) error { return failed }}
		c, args := Builtin(o).Find(line)
		if err := c.Run(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("/%s: %v; want %s", line, err, want)
		}
	}
}
