package pipes

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"modelConfigs.modelIdResolutions.<name>.default": "flash", "modelConfigs.modelIdResolutions.<name>.contexts": []any{},
	"modelConfigs.classifierIdResolutions.<name>.default": "flash", "modelConfigs.classifierIdResolutions.<name>.contexts": []any{},
}

// filled are values of lists and objects that name something, of a form that the page about
// settings has; other lists of words hold "x".
var filled = map[string]string{
	"adminPolicyPaths": `["~/rules.toml"]`, "policyPaths": `["~/rules.toml"]`, "advanced.excludedEnvVars": `["DEBUG"]`,
	"admin.mcp.config": `{"s": {"url": "http://127.0.0.1:1/"}}`, "admin.mcp.requiredConfig": `{"s": {"url": "http://127.0.0.1:1/"}}`,
	"agents.allowPrivateAddresses": `["10.0.0.5:8443", "localhost"]`, "agents.browser.allowedDomains": `["*.example.com"]`,
	"agents.overrides":                     `{"generalist": {"enabled": true, "tools": ["read_file"], "runConfig": {"maxTurns": 3}}}`,
	"commands.markdownFolders":             `[".claude/commands", "~/commands"]`,
	"context.fileName":                     `["GEMINI.md", "AGENTS.md"]`,
	"context.includeDirectories":           `["~", "not-there"]`,
	"experimental.jitContext":              `true`,
	"general.previewFeatures":              `true`,
	"hooks.<Event>":                        `[{"matcher": "*", "hooks": [{"type": "command", "command": "true"}]}]`,
	"mcp.allowed":                          `["name"]`,
	"mcpServers.<name>.env":                `{"A": "b", "C": "$NOT_SET"}`,
	"mcpServers.<name>.headers":            `{"A": "b"}`,
	"mcpServers.<name>.extension":          `{"name": "x"}`,
	"mcpServers.<name>.command":            `"false"`,
	"model.chatCompression":                `{"contextPercentageThreshold": 0.6}`,
	"model.summarizeToolOutput":            `{"run_shell_command": {"tokenBudget": 100}}`,
	"modelConfigs.aliases":                 `{"calm": {"extends": "chat-base-3", "modelConfig": {"model": "gemini-3.8-flash"}}}`,
	"modelConfigs.customAliases":           `{"mine": {"modelConfig": {"model": "gemini-3.8-flash", "generateContentConfig": {"temperature": 0.2}}}}`,
	"modelConfigs.overrides":               `[{"match": {"model": "calm"}, "modelConfig": {"generateContentConfig": {"topP": 0.9}}}]`,
	"modelConfigs.customOverrides":         `[{"match": {"model": "calm", "overrideScope": "core", "isRetry": false}, "modelConfig": {"generateContentConfig": {"maxOutputTokens": 900}}}]`,
	"modelConfigs.modelDefinitions":        `{"mine": {"tier": "custom", "family": "gemini-3", "isPreview": false, "isVisible": true, "displayName": "my own", "features": {"thinking": true}}}`,
	"modelConfigs.modelIdResolutions":      `{"mine": {"default": "gemini-3.8-flash", "contexts": [{"condition": {"useGemini3_1": true}, "target": "gemini-3.7-flash"}]}}`,
	"modelConfigs.classifierIdResolutions": `{"flash": {"default": "flash", "contexts": [{"condition": {"requestedModels": ["pro"]}, "target": "pro"}]}}`,
	"modelConfigs.modelChains":             `{"own": [{"model": "gemini-3.8-flash", "actions": {"terminal": "silent"}}, {"model": "flash", "isLastResort": true}]}`,
	"providers":                            `{"mine": {"protocol": "openai", "baseUrl": "http://127.0.0.1:1/v1"}}`,
	"security.allowedExtensions":           `["^https://github.com/mine/"]`,
	"tools.allowed":                        `["run_shell_command(git)", "ReadFileTool", "Bash(x *)"]`,
	"tools.confirmationRequired":           `["write_file"]`,
	"tools.core":                           `["read_file", "run_shell_command(git status)"]`,
	"tools.exclude":                        `["web_fetch", "run_shell_command(rm -rf)"]`,
	"tools.sandbox":                        `{"enabled": true, "command": "docker", "allowedPaths": ["~/x"], "networkAccess": false}`,
	"tools.sandboxAllowedPaths":            `["~/x", "/not-there"]`,
	"tools.truncateToolOutputLines":        `100`,
	"ui.customThemes":                      `{"mine": {"name": "mine", "type": "custom", "Background": "#000"}}`,
	"ui.footer.items":                      `["model"]`,
}

// A home that sets every documented key, to what holds anyway, to what else there is, or to
// each of its words and to lists and objects that hold something, starts: nothing in it is
// unknown or of the wrong type.
func TestEveryKey(t *testing.T) {
	t.Parallel()
	values := map[string]func(settings.Key) any{"defaults": plain, "others": other}
	known, words := map[string]bool{}, 0
	for _, k := range settings.Keys() {
		known[k.Name] = true
		words = max(words, len(k.Enum))
	}
	for name := range filled {
		if !known[name] {
			t.Errorf("%s is not a setting", name)
		}
	}
	for i := range words {
		values[fmt.Sprint("word ", i)] = func(k settings.Key) any { return word(t, k, i) }
	}
	for name, value := range values {
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
			pt.Write(t, home, map[string]string{".gemini/settings.json": string(text), "rules.toml": "[[rule]]\ntoolName = \"glob\"\ndecision = \"allow\"\npriority = 5\n"})
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

// word returns the i-th word of a key that has words, and else a value that holds something.
func word(t *testing.T, k settings.Key, i int) any {
	if len(k.Enum) > 0 && samples[k.Name] == nil {
		return k.Enum[i%len(k.Enum)]
	}
	if text, ok := filled[k.Name]; ok {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		return v
	}
	if strings.HasPrefix(k.Type, "list of strings") {
		return []any{"x"}
	}
	return plain(k)
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
