package settings

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gemline/engine/text"
	"gemline/settings/flags"
)

// filesOf returns the settings of files of the given scopes.
func filesOf(t *testing.T, files map[Scope]string, lookup func(string) (string, bool)) *Settings {
	t.Helper()
	s := Default()
	for _, scope := range []Scope{SystemDefaults, User, Workspace, System} {
		l := layer(files[scope], lookup)
		if l.Err != nil {
			t.Fatal(l.Err)
		}
		l.Source = Source{Scope: scope, Path: string(scope)}
		if scope == Workspace {
			l.restrictApprovalMode(mergeAll(s.layers))
		}
		s.layers = append(s.layers, l)
	}
	s.take(mergeAll(s.layers))
	return s
}

// brief writes an entry in a line.
func brief(e Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Key, text.Compact(e.Value))
	for i, list := range [][]Origin{e.From, e.Over} {
		for _, o := range list {
			fmt.Fprintf(&b, " %s%s", []string{"<", ">"}[i], o.Scope)
			if o.Line > 0 {
				fmt.Fprintf(&b, ":%d", o.Line)
			}
			if o.Name != "" {
				b.WriteString(" " + o.Name)
			}
			fmt.Fprintf(&b, "=%s", text.Compact(o.Value))
		}
	}
	return b.String()
}

func TestExplain(t *testing.T) {
	none := &flags.Set{}
	for _, c := range []struct {
		name  string
		files map[Scope]string
		vars  []string
		flags *flags.Set
		key   string
		want  string
	}{
		{"everybody speaks", map[Scope]string{SystemDefaults: `{"model":{"name":"a"}}`, User: "{\n\"model\":\n{\"name\":\"b\"}}", Workspace: `{"model":{"name":"c"}}`, System: `{"model":{"name":"d"}}`},
			[]string{"GEMINI_MODEL", "e"}, &flags.Set{Model: "f"}, "model.name",
			`model.name "f" <flag --model="f" >environment GEMINI_MODEL="e" >system:1="d" >workspace:1="c" >user:3="b" >system-defaults:1="a"`},
		{"the environment", map[Scope]string{System: `{"model":{"name":"d"}}`}, []string{"GEMINI_MODEL", "e"}, none, "model.name", `model.name "e" <environment GEMINI_MODEL="e" >system:1="d"`},
		{"an empty variable", map[Scope]string{System: `{"model":{"name":"d"}}`}, []string{"GEMINI_MODEL", ""}, none, "model.name", `model.name "d" <system:1="d"`},
		{"the machine", map[Scope]string{SystemDefaults: `{"model":{"name":"a"}}`, Workspace: `{"model":{"name":"c"}}`, System: `{"model":{"name":"d"}}`}, nil, none, "model.name",
			`model.name "d" <system:1="d" >workspace:1="c" >system-defaults:1="a"`},
		{"the default", nil, nil, none, "general.maxAttempts", `general.maxAttempts 10 <default=10`},
		{"over the default", map[Scope]string{User: `{"general":{"maxAttempts":"3"}}`}, nil, none, "general.maxAttempts", `general.maxAttempts 3 <user:1=3 >default=10`},
		{"a mistake", map[Scope]string{SystemDefaults: `{"general":{"maxAttempts":2}}`, User: `{"general":{"maxAttempts":"x"}}`}, nil, none, "general.maxAttempts",
			`general.maxAttempts 2 <system-defaults:1=2 >user:1="x" >default=10`},
		{"a project that would loosen", map[Scope]string{Workspace: `{"general":{"defaultApprovalMode":"auto_edit"}}`}, nil, none, "general.defaultApprovalMode", `general.defaultApprovalMode "default" <default="default" >workspace:1="auto_edit"`},
		{"a project that tightens", map[Scope]string{User: `{"general":{"defaultApprovalMode":"auto_edit"}}`, Workspace: `{"general":{"defaultApprovalMode":"plan"}}`}, nil, none, "general.defaultApprovalMode", `general.defaultApprovalMode "plan" <workspace:1="plan" >user:1="auto_edit" >default="default"`},
		{"a flag that says more", nil, nil, &flags.Set{Yolo: true}, "general.defaultApprovalMode", `general.defaultApprovalMode "yolo" <flag --yolo="yolo" >default="default"`},
		{"joined", map[Scope]string{User: `{"context":{"includeDirectories":["a"]}}`, Workspace: `{"context":{"includeDirectories":["b"]}}`}, nil, &flags.Set{IncludeDirs: []string{"c"}}, "context.includeDirectories",
			`context.includeDirectories ["a","b","c"] <user:1=["a"] <workspace:1=["b"] <flag --include-directories=["c"]`},
		{"each once, with the default", map[Scope]string{User: `{"advanced":{"excludedEnvVars":["A","DEBUG"]}}`}, nil, none, "advanced.excludedEnvVars",
			`advanced.excludedEnvVars ["DEBUG","DEBUG_MODE","A"] <default=["DEBUG","DEBUG_MODE"] <user:1=["A","DEBUG"]`},
		{"narrowed", map[Scope]string{User: `{"mcp":{"allowed":["a","b"]}}`, Workspace: `{"mcp":{"allowed":["B"]}}`}, nil, none, "mcp.allowed",
			`mcp.allowed ["b"] <user:1=["a","b"] <workspace:1=["B"]`},
		{"two variables", nil, []string{"GEMINI_TELEMETRY_OTLP_ENDPOINT", "http://a", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://b"}, none, "telemetry.otlpEndpoint",
			`telemetry.otlpEndpoint "http://a" <environment GEMINI_TELEMETRY_OTLP_ENDPOINT="http://a" >environment OTEL_EXPORTER_OTLP_ENDPOINT="http://b" >default="http://localhost:4317"`},
		{"a switch", map[Scope]string{User: `{"telemetry":{"enabled":true}}`}, []string{"GEMINI_TELEMETRY_ENABLED", "no"}, none, "telemetry.enabled",
			`telemetry.enabled false <environment GEMINI_TELEMETRY_ENABLED=false >user:1=true >default=false`},
		{"a variable with nonsense", nil, []string{"GEMINI_TELEMETRY_TARGET", "moon"}, none, "telemetry.target", `telemetry.target "local" <default="local" >environment GEMINI_TELEMETRY_TARGET="moon"`},
		{"nonsense above a file", map[Scope]string{SystemDefaults: `{"telemetry":{"target":"local"}}`, User: `{"telemetry":{"target":"gcp"}}`}, []string{"GEMINI_TELEMETRY_TARGET", "moon"}, none, "telemetry.target",
			`telemetry.target "gcp" <user:1="gcp" >environment GEMINI_TELEMETRY_TARGET="moon" >system-defaults:1="local" >default="local"`},
		{"a default of a server", map[Scope]string{User: `{"mcpServers":{"a":{"args":["x"]}}}`, Workspace: `{"mcpServers":{"a":{"url":"y"}}}`}, nil, none, "mcpServers.a.args", `mcpServers.a.args null >user:1=["x"]`},
		{"a server elsewhere", map[Scope]string{User: `{"mcpServers":{"a":{"command":"x"}}}`, Workspace: `{"mcpServers":{"a":{"url":"y"}}}`}, nil, none, "mcpServers.a.command", `mcpServers.a.command null >user:1="x"`},
		{"an unknown key", map[Scope]string{User: `{"modle":1}`}, nil, none, "modle", `modle null >user:1=1`},
		{"the administrator's", map[Scope]string{User: `{"admin":{"secureModeEnabled":true}}`}, nil, none, "admin.secureModeEnabled", `admin.secureModeEnabled false <default=false >user:1=true`},
		{"twice", map[Scope]string{User: "{\"model\":{\"name\":\"a\",\n\"name\":\"b\"}}"}, nil, none, "model.name", `model.name "b" <user:2="b"`},
	} {
		got := ""
		for _, e := range filesOf(t, c.files, env(c.vars...)).Explain(Inputs{Lookup: env(c.vars...), Flags: c.flags}, true) {
			if e.Key == c.key {
				got = brief(e)
			}
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What is explained is what the program goes by.
func TestExplainAgrees(t *testing.T) {
	in := Inputs{Lookup: env("GEMINI_MODEL", "n"), Flags: &flags.Set{MaxTurns: 3, IncludeDirs: []string{"e"}, JSON: true}}
	s := filesOf(t, map[Scope]string{SystemDefaults: `{"tools":{"useRipgrep":false,"exclude":["a"]}}`, User: `{"model":"m","excludedProjectEnvVars":["X"]}`, Workspace: `{"context":{"fileName":"A.md","includeDirectories":["d"]}}`,
		System: `{"general":{"defaultApprovalMode":"auto_edit"}}`}, in.Lookup)
	if err := s.Override(in.Flags, in.Lookup); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for _, e := range s.Explain(in, true) {
		values[e.Key] = e.Value
	}
	for _, k := range table {
		if k.field == nil {
			continue
		}
		v := values[k.Name]
		if word, is := v.(string); is && k.is(isList) {
			v = []any{word}
		}
		got, want := text.Compact(v), text.Compact(reflect.ValueOf(k.field(s)).Elem().Interface())
		if got != want && !(want == "null" && got == "[]") && !(v == nil && (want == `""` || want == "[]")) {
			t.Errorf("%s is %s, and explained as %s", k.Name, want, got)
		}
	}
}

// A large file is explained in a time that grows with its size.
func TestExplainLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"modelConfigs": {"aliases": {`)
	for i := range 20_000 {
		fmt.Fprintf(&b, "\n\"name%d\": {\"extends\": \"%d\"},", i, i)
	}
	b.WriteString("}}}")
	entries := filesOf(t, map[Scope]string{User: b.String()}, env()).Explain(Inputs{Lookup: env(), Flags: &flags.Set{}}, false)
	if len(entries) != 20_000 || entries[19_999].From[0].Line != 10_001 {
		t.Errorf("%d entries, the last %+v", len(entries), entries[len(entries)-1])
	}
}

func TestValue(t *testing.T) {
	s := filesOf(t, map[Scope]string{User: `{"model":{"name":"m"},"mcpServers":{"a.b":{"command":"x"}}}`}, env())
	for key, want := range map[string]string{"model.name": `"m"`, "mcpServers": `{"a.b":{"command":"x"}}`, `mcpServers."a.b"`: `{"command":"x"}`, "output": `{"format":"text"}`, "security.allowedExtensions": "[]", "model.nam": "null"} {
		path, _ := SplitKey(key)
		if got := text.Compact(Value(Under(s.Explain(Inputs{Lookup: env(), Flags: &flags.Set{}}, true), path), path)); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}
