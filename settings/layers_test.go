package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine/text"
	"gemline/settings/flags"
	"gemline/settings/jsonc"
)

// together returns what texts say together, the weakest first, as JSON.
func together(t *testing.T, texts ...string) string {
	t.Helper()
	var layers []Layer
	for _, text := range texts {
		l := layer(text, env())
		if l.Err != nil {
			t.Fatal(l.Err)
		}
		layers = append(layers, l)
	}
	return text.Compact(mergeAll(layers))
}

func TestMergeStrategies(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"nothing", nil, `{}`},
		{"one file", []string{`{"model":{"name":"a"}}`}, `{"model":{"name":"a"}}`},
		{"the stronger scalar", []string{`{"model":{"name":"a"}}`, `{"model":{"name":"b"}}`}, `{"model":{"name":"b"}}`},
		{"objects key by key", []string{`{"model":{"name":"a","maxSessionTurns":1}}`, `{"model":{"name":"b"}}`}, `{"model":{"maxSessionTurns":1,"name":"b"}}`},
		{"deep objects", []string{`{"modelConfigs":{"aliases":{"x":{"modelConfig":{"generateContentConfig":{"a":1,"b":{"c":1}}}}}}}`, `{"modelConfigs":{"aliases":{"x":{"modelConfig":{"generateContentConfig":{"b":{"d":2}}}}}}}`}, `{"modelConfigs":{"aliases":{"x":{"modelConfig":{"generateContentConfig":{"a":1,"b":{"c":1,"d":2}}}}}}}`},
		{"an object over a word", []string{`{"tools":{"sandbox":"docker"}}`, `{"tools":{"sandbox":{"enabled":true}}}`}, `{"tools":{"sandbox":{"enabled":true}}}`},
		{"a word over an object", []string{`{"tools":{"sandbox":{"enabled":true}}}`, `{"tools":{"sandbox":false}}`}, `{"tools":{"sandbox":false}}`},
		{"lists replace", []string{`{"tools":{"core":["a","b"]}}`, `{"tools":{"core":["c"]}}`}, `{"tools":{"core":["c"]}}`},
		{"an empty list replaces", []string{`{"tools":{"core":["a","b"]}}`, `{"tools":{"core":[]}}`}, `{"tools":{"core":[]}}`},
		{"concat", []string{`{"context":{"includeDirectories":["a","b"]}}`, `{"context":{"includeDirectories":["b","c"]}}`, `{"context":{"includeDirectories":["a"]}}`}, `{"context":{"includeDirectories":["a","b","b","c","a"]}}`},
		{"hooks", []string{`{"hooks":{"BeforeTool":[{"matcher":"a"}]}}`, `{"hooks":{"BeforeTool":[{"matcher":"b"}],"AfterTool":[]}}`}, `{"hooks":{"AfterTool":[],"BeforeTool":[{"matcher":"a"},{"matcher":"b"}]}}`},
		{"hooks of an unknown event", []string{`{"hooks":{"Later":[{"matcher":"a"}]}}`, `{"hooks":{"Later":[{"matcher":"a"}]}}`}, `{"hooks":{"Later":[{"matcher":"a"},{"matcher":"a"}]}}`},
		{"servers are taken whole", []string{`{"mcpServers":{"a":{"command":"x","args":["1"]},"b":{"command":"y"}}}`, `{"mcpServers":{"a":{"url":"z"},"c":{}}}`}, `{"mcpServers":{"a":{"url":"z"},"b":{"command":"y"},"c":{}}}`},
		{"allowed servers", []string{`{"mcp":{"allowed":["A","b "," c"]}}`, `{"model":{}}`, `{"mcp":{"allowed":["C","a"]}}`}, `{"mcp":{"allowed":["A"," c"]},"model":{}}`},
		{"no allowed server is left", []string{`{"mcp":{"allowed":["a"]}}`, `{"mcp":{"allowed":["b"]}}`}, `{"mcp":{"allowed":[]}}`},
		{"excluded servers", []string{`{"mcp":{"excluded":["a"]}}`, `{"mcp":{"excluded":["a","b"]}}`}, `{"mcp":{"excluded":["a","a","b"]}}`},
		{"the administrator's keys", []string{`{"admin":{"mcp":{"enabled":false}},"model":{"name":"a"}}`}, `{"model":{"name":"a"}}`},
		{"names of JavaScript", []string{`{"__proto__":{"x":1},"mcpServers":{"constructor":{"command":"x"},"a":{"env":{"prototype":"y","z":"1"}}}}`}, `{"mcpServers":{"a":{"env":{"z":"1"}}}}`},
		{"mistakes hide nothing", []string{`{"tools":{"exclude":["a"]},"mcpServers":{"a":{"command":"x"}}}`, `{"tools":{"exclude":"b"},"mcpServers":["c"]}`}, `{"mcpServers":{"a":{"command":"x"}},"tools":{"exclude":["a","b"]}}`},
		{"unknown keys", []string{`{"nonsense":{"a":1}}`}, `{}`},
	} {
		if got := together(t, c.files...); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	// Each of the lists of which a file gets every item once.
	for _, key := range []string{"policyPaths", "adminPolicyPaths", "tools.exclude", "advanced.excludedEnvVars", "context.fileFiltering.customIgnoreFilePaths",
		"extensions.disabled", "extensions.workspacesWithMigrationNudge", "skills.disabled", "hooksConfig.disabled"} {
		file := func(items string) string {
			out := items
			path, _ := SplitKey(key)
			for i := len(path) - 1; i >= 0; i-- {
				out = `{"` + path[i] + `":` + out + `}`
			}
			return out
		}
		if got, want := together(t, file(`["a","b"]`), file(`["b","c"]`)), file(`["a","b","c"]`); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}

func TestMigrate(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"disableAutoUpdate", `{"general":{"disableAutoUpdate":true}}`, `{"general":{"enableAutoUpdate":false}}`},
		{"disableUpdateNag", `{"general":{"disableUpdateNag":"false"}}`, `{"general":{"enableAutoUpdateNotification":true}}`},
		{"disableLoadingPhrases", `{"ui":{"accessibility":{"disableLoadingPhrases":true}}}`, `{"ui":{"accessibility":{"enableLoadingPhrases":false},"loadingPhrases":"off"}}`},
		{"enableLoadingPhrases", `{"ui":{"accessibility":{"enableLoadingPhrases":false}}}`, `{"ui":{"accessibility":{"enableLoadingPhrases":false},"loadingPhrases":"off"}}`},
		{"loadingPhrases as well", `{"ui":{"accessibility":{"enableLoadingPhrases":false},"loadingPhrases":"all"}}`, `{"ui":{"accessibility":{"enableLoadingPhrases":false},"loadingPhrases":"all"}}`},
		{"disableFuzzySearch", `{"context":{"fileFiltering":{"disableFuzzySearch":true}}}`, `{"context":{"fileFiltering":{"enableFuzzySearch":false}}}`},
		{"approvalMode", `{"tools":{"approvalMode":"auto_edit"}}`, `{"general":{"defaultApprovalMode":"auto_edit"}}`},
		{"approvalMode as well", `{"tools":{"approvalMode":"auto_edit"},"general":{"defaultApprovalMode":"plan"}}`, `{"general":{"defaultApprovalMode":"plan"}}`},
		{"codebaseInvestigatorSettings", `{"experimental":{"codebaseInvestigatorSettings":{"enabled":true,"maxNumTurns":1,"maxTimeMinutes":2,"thinkingBudget":3,"model":"m"}}}`,
			`{"agents":{"overrides":{"codebase_investigator":{"enabled":true,"modelConfig":{"generateContentConfig":{"thinkingConfig":{"thinkingBudget":3}},"model":"m"},"runConfig":{"maxTimeMinutes":2,"maxTurns":1}}}}}`},
		{"cliHelpAgentSettings", `{"experimental":{"cliHelpAgentSettings":{"enabled":false}}}`, `{"agents":{"overrides":{"cli_help":{"enabled":false}}}}`},
		{"plan", `{"experimental":{"plan":false}}`, `{"general":{"plan":{"enabled":false}}}`},
		{"VS", `{"ui":{"theme":"VS"}}`, `{"ui":{"theme":"Default Light"}}`},
		{"VS2015", `{"theme":"VS2015"}`, `{"ui":{"theme":"Default"}}`},
		{"flat and renamed since", `{"disableAutoUpdate":true,"accessibility":{"disableLoadingPhrases":false}}`, `{"general":{"enableAutoUpdate":false},"ui":{"accessibility":{"enableLoadingPhrases":true}}}`},
		{"flat beside the new", `{"fileFiltering":{"respectGitIgnore":false,"respectGeminiIgnore":false},"context":{"fileFiltering":{"respectGitIgnore":true}}}`,
			`{"context":{"fileFiltering":{"respectGeminiIgnore":false,"respectGitIgnore":true}}}`},
		{"a flat model", `{"model":"m"}`, `{"model":{"name":"m"}}`},
		{"a flat model beside what is below it today", `{"maxSessionTurns":2,"model":"m","skipNextSpeakerCheck":false}`, `{"model":{"maxSessionTurns":2,"name":"m","skipNextSpeakerCheck":false}}`},
		{"a model of today", `{"model":{"name":"m"}}`, `{"model":{"name":"m"}}`},
		{"something in the way", `{"contextFileName":"A.md","context":"x"}`, `{"context":"x"}`},
		{"the switch of hooks", `{"hooks":{"enabled":false,"disabled":["a"]}}`, `{"hooksConfig":{"disabled":["a"],"enabled":false}}`},
		{"events of such names", `{"hooks":{"disabled":[{"matcher":"x"}]}}`, `{"hooks":{"disabled":[{"matcher":"x"}]}}`},
		{"an older list beside the new", `{"excludeTools":["a"],"tools":{"exclude":["b"]},"coreTools":["c"]}`, `{"tools":{"core":["c"],"exclude":["a","b"]}}`},
		{"chatCompression", `{"chatCompression":{"contextPercentageThreshold":0.6}}`, `{"model":{"compressionThreshold":0.6}}`},
	} {
		doc, err := jsonc.Parse("f", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		migrate(doc.Tree)
		if got := text.Compact(doc.Tree); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		again := text.Compact(doc.Tree)
		if migrate(doc.Tree); text.Compact(doc.Tree) != again {
			t.Errorf("%s: a second time, it becomes %s", c.name, text.Compact(doc.Tree))
		}
	}
}

// Every older name leads to one of today, at once or through another.
func TestRenames(t *testing.T) {
	older := map[string]string{}
	for _, o := range olderNames() {
		older[o.from] = o.to
	}
	for from, to := range older {
		for n := 0; older[to] != "" && to != "model"; n++ {
			if to = older[to]; n > 3 {
				t.Fatalf("%s leads in a circle", from)
			}
		}
		if _, ok := FindKey(to); !ok {
			t.Errorf("%s leads to %s, which is no key", from, to)
		}
	}
}

// No value under an older name is in the way of what another leads to.
func TestRenamedTogether(t *testing.T) {
	add := func(tree map[string]any, o legacyName) bool {
		v := map[string]any{o.only: 1, "boolean": true, "string": "s", "list of strings": []any{"s"}}[o.only]
		if o.only == "" {
			if k, _ := FindKey(o.to); k.Type != "" && k.Type != "object" && k.Type != isAny {
				v = "s"
			} else {
				v = map[string]any{}
			}
		}
		return setPath(tree, strings.Split(o.from, "."), v)
	}
	for _, a := range olderNames() {
		for _, b := range olderNames() {
			tree := map[string]any{}
			if a.to == b.to || !add(tree, a) || !add(tree, b) {
				continue
			}
			for _, m := range migrate(tree) {
				if m.lost {
					t.Errorf("%s beside %s: the value of %v is lost", a.from, b.from, m.from)
				}
			}
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(`{"model": {"name": "${A:-b}"}, "tools": {"exclude": ["a", "a"]}}`, `{"tools": {"exclude": ["b"]}, "theme": "x"}`)
	f.Add(`{"theme": "x", "mcpServers": {"github": {"command": "docker", "env": {"T": "$A"}}}, "hooks": {"BeforeTool": [{}], "enabled": true}}`,
		`{"mcpServers": {"github": {"url": "x"}}, "hooks": {"BeforeTool": []}, "mcp": {"allowed": ["a"]}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		la, lb := layer(a, env("A", "1")), layer(b, env("A", "1"))
		if la.tree != nil {
			before := text.Compact(la.tree)
			if one := mergeAll([]Layer{la}); len(la.tree) > 0 && !reflect.DeepEqual(one, la.tree) {
				t.Errorf("one layer: %s", cmp.Diff(la.tree, one))
			}
			both := mergeAll([]Layer{la, lb})
			if text.Compact(la.tree) != before {
				t.Error("merging changes a layer")
			}
			for _, k := range table {
				if k.Type == "" {
					continue
				}
				v, ok := at(both, strings.Split(k.Name, "."))
				if _, err := k.coerce(v); ok && err != nil {
					t.Error(err)
				}
			}
			new(Settings).take(both)
		}
		s := &Settings{layers: []Layer{la, lb}}
		s.take(mergeAll(s.layers))
		for _, e := range s.Explain(Inputs{Lookup: env(), Flags: &flags.Set{}}, true) {
			if _, err := SplitKey(e.Key); err != nil {
				t.Error(err)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzExpand(f *testing.F) {
	f.Add("${A:-$B}$C", "$A")
	f.Fuzz(func(t *testing.T, s, value string) {
		if len(s) > 4<<10 || len(value) > 4<<10 {
			return
		}
		lookup := func(name string) (string, bool) { return value, strings.HasPrefix(name, "A") }
		out, err := expandText(s, lookup, nil)
		if err == nil && len(out) > maxExpanded {
			t.Errorf("%d bytes", len(out))
		}
		if !strings.Contains(s, "$") && out != s {
			t.Errorf("%q becomes %q", s, out)
		}
		if unset, err := expandText(s, env(), nil); err == nil && !strings.Contains(s, ":-") && unset != s {
			t.Errorf("without any variable %q becomes %q", s, unset)
		}
		onlyVariables(s)
	})
}

// All values together can't grow beyond measure.
func TestFilledTogether(t *testing.T) {
	var b strings.Builder
	for range 1000 {
		b.WriteString(`"${LONG}",`)
	}
	l := layer(`{"tools": {"core": [`+b.String()+`]}, "model": {"name": "m"}}`, env("LONG", strings.Repeat("x", maxExpanded-1)))
	if len(l.Problems) != 1 || l.Problems[0].Message != "tools.core is too long once its variables are filled in" {
		t.Error(l.Problems)
	}
	if v, _ := at(l.tree, []string{"model", "name"}); v != "m" {
		t.Error(v)
	}
}

func BenchmarkDefault(b *testing.B) {
	for b.Loop() {
		Default()
	}
}

// BenchmarkCatalogue is what the first file of settings costs.
func BenchmarkCatalogue(b *testing.B) {
	for b.Loop() {
		makeCatalogue()
	}
}

func BenchmarkLoad(b *testing.B) {
	text := `{"model": {"name": "$A"}, "tools": {"exclude": ["a"]}, "mcpServers": {"x": {"command": "y", "args": ["1", "2"]}}, "theme": "x"}`
	for b.Loop() {
		l := layer(text, env("A", "1"))
		s := Default()
		s.take(mergeAll([]Layer{l}))
	}
}

// What is said of a key names it as the file does, whichever of its names that is.
func TestProblemsNameKeysAsWritten(t *testing.T) {
	said := 0
	for _, o := range olderNames() {
		for _, value := range []string{`5.5`, `[{"x": 1}]`, `true`, `"no such word"`} {
			text := value
			for _, part := range slices.Backward(strings.Split(o.from, ".")) {
				text = fmt.Sprintf("{%q: %s}", part, text)
			}
			path := filepath.Join(t.TempDir(), "settings.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, scope := range []Scope{User, Workspace} {
				for _, l := range readLayers([]Source{{Path: path, Scope: scope}}, env()) {
					for _, p := range l.Problems {
						if said++; !strings.Contains(p.Message, strings.Split(o.from, ".")[0]) {
							t.Errorf("%s: %s", text, p.Message)
						}
					}
				}
			}
		}
	}
	if said < 100 {
		t.Errorf("%d problems", said)
	}
}
