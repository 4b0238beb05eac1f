package pipes

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
	"gemline/settings"
)

// samples are the values of keys that can't be set to anything: what they name has to be
// there, or they are about each other.
var samples = map[string]any{
	"security.auth.selectedType": "gemini-api-key", "security.auth.enforcedType": "gemini-api-key",
	"policyPaths": []any{}, "adminPolicyPaths": []any{}, "mcp.serverCommand": "true", "tools.sandbox": false,
	"tools.discoveryCommand": "echo []", "tools.core": []any{"read_file"},
}

// A home that sets every documented key, to what holds anyway or to what else there is,
// starts: nothing in it is unknown or of the wrong type.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]func(settings.Key) any{"defaults": plain, "others": other} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := et.NewServer(et.Says("Hello."))
			t.Cleanup(s.Close)
			c := pt.Terminal(t, s)
			home := pt.HomeOf(c)
			tree := map[string]any{}
			n := 0
			for _, k := range settings.Keys() {
				if v := value(k); v != nil {
					set(tree, strings.Split(k.Name, "."), v)
					n++
				}
			}
			if n < 150 {
				t.Fatalf("%d keys", n)
			}
			text, err := json.MarshalIndent(tree, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			pt.Write(t, home, map[string]string{".gemini/settings.json": string(text)})
			var out, errs bytes.Buffer
			run := pt.Headless(t, s, filepath.Join(home), &out, &errs, "-p", "hi")
			run.Env = c.Env
			err = run.Run()
			said := errs.String()
			if err != nil || !strings.Contains(out.String(), "Hello.") {
				t.Errorf("%v: %s%s", err, out.String(), said)
			}
			for _, bad := range []string{"is not a setting", " must be ", "not understood"} {
				if strings.Contains(said, bad) {
					t.Errorf("%s", said)
				}
			}
		})
	}
}

// plain returns the value that a key has anyway, or any of its type.
func plain(k settings.Key) any {
	if v, ok := samples[k.Name]; ok {
		return v
	}
	switch v := k.Default().(type) {
	case nil:
	default:
		return v
	}
	switch kind, _, _ := strings.Cut(k.Type, " or "); {
	case len(k.Enum) > 0:
		return k.Enum[0]
	case kind == "boolean":
		return false
	case kind == "string":
		return ""
	case kind == "number", kind == "whole number":
		return 1
	case strings.HasPrefix(kind, "list"):
		return []any{}
	case kind == "object":
		return map[string]any{}
	}
	return nil
}

// other returns another value than plain where that is a switch or a word.
func other(k settings.Key) any {
	v := plain(k)
	on, isSwitch := v.(bool)
	if _, fixed := samples[k.Name]; fixed || strings.HasPrefix(k.Name, "telemetry.") || strings.HasPrefix(k.Name, "admin.") ||
		slices.Contains([]string{"security.toolSandboxing", "general.plan.enabled"}, k.Name) {
		return v
	}
	switch {
	case isSwitch && k.Type == "boolean":
		return !on
	case len(k.Enum) > 1 && v != k.Enum[len(k.Enum)-1]:
		return k.Enum[len(k.Enum)-1]
	}
	return v
}

// set puts a value into a tree; a part of the path that is any name becomes one.
func set(tree map[string]any, path []string, v any) {
	name := strings.Trim(path[0], "<>")
	if path[0] == "<Event>" {
		name = "SessionEnd"
	}
	if len(path) == 1 {
		if _, holds := tree[name].(map[string]any); !holds {
			tree[name] = v
		}
		return
	}
	below, ok := tree[name].(map[string]any)
	if !ok {
		below = map[string]any{}
		tree[name] = below
	}
	set(below, path[1:], v)
}
