package preset_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gemline/engine/model/preset"
	"gemline/engine/text"
)

// resolve is what names stand for in these tests.
func resolve(name string) string {
	switch name {
	case "flash-lite":
		return "gemini-3.5-flash-lite"
	case "gemini-3-pro-preview":
		return "gemini-3.1-pro-preview"
	}
	return name
}

// say writes p as the tables have it.
func say(t *testing.T, p *preset.Preset) string {
	t.Helper()
	b, err := text.JSON(p.Config, "")
	if err != nil {
		t.Fatal(err)
	}
	limit := ""
	if p.Limit > 0 {
		limit = " " + p.Limit.String()
	}
	return fmt.Sprintf("%s %s%s %s", p.Model, p.Role, limit, b)
}

// Each line of a table begins with what is asked for: "chat NAME", "again NAME" or
// "purpose NAME", a colon, and what comes of it. A line of JSON is the settings for the
// lines below, and "error:" says what is wrong with it.
func TestTables(t *testing.T) {
	for _, name := range []string{"testdata/builtin.txt", "testdata/settings.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table, wrong := (*preset.Table)(nil), error(nil)
		table, _ = preset.New(nil, resolve)
		for i, line := range strings.Split(string(data), "\n") {
			what, want, _ := strings.Cut(line, ": ")
			kind, arg, _ := strings.Cut(what, " ")
			got := want
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '{':
				var settings map[string]any
				if err := json.Unmarshal([]byte(line), &settings); err != nil {
					t.Fatal(err)
				}
				table, wrong = preset.New(settings, resolve)
			case kind == "error":
				if got = ""; wrong != nil {
					got = wrong.Error()
				}
			case wrong != nil:
				t.Fatalf("%s:%d: %v", name, i+1, wrong)
			case kind == "chat":
				got = say(t, table.Chat(arg, false))
			case kind == "again":
				got = say(t, table.Chat(arg, true))
			case kind == "purpose":
				got = say(t, table.Purpose(arg))
			case kind == "compression":
				got = preset.Compression(arg)
			default:
				t.Fatalf("%s:%d: what is %q?", name, i+1, line)
			}
			if got != want {
				t.Errorf("%s:%d: %s: %s\nwant %s", name, i+1, what, got, want)
			}
		}
	}
}

// Any settings give a table, whose every alias has a preset, or an error.
func FuzzNew(f *testing.F) {
	data, err := os.ReadFile("testdata/settings.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line[0] == '{' {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		var settings map[string]any
		if json.Unmarshal([]byte(s), &settings) != nil {
			return
		}
		table, err := preset.New(settings, nil)
		if err != nil {
			if h, ok := err.(interface{ Hint() string }); !ok || h.Hint() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%#v", err)
			}
			return
		}
		for _, name := range append(table.Customs(), "classifier", "gemini-2.5-pro") {
			table.Chat(name, true)
			table.Purpose(name)
		}
	})
}

// A table is asked by name.
func ExampleTable() {
	table, err := preset.New(map[string]any{"customOverrides": []any{map[string]any{
		"match":       map[string]any{"model": "classifier"},
		"modelConfig": map[string]any{"generateContentConfig": map[string]any{"maxOutputTokens": 200}},
	}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := table.Purpose("classifier")
	fmt.Println(p.Model, p.Role, p.Limit, p.Config.MaxOutputTokens)
	// Output: flash-lite utility_router 3s 200
}

// Aliases of the user's that stand below all others leave room for these.
func TestDeepAliases(t *testing.T) {
	for n := 90; n < 103; n++ {
		aliases := map[string]any{"base": map[string]any{"extends": "a0"}}
		for i := range n {
			aliases[fmt.Sprintf("a%d", i)] = map[string]any{"extends": fmt.Sprintf("a%d", i+1)}
		}
		aliases[fmt.Sprintf("a%d", n)] = map[string]any{}
		table, err := preset.New(map[string]any{"customAliases": aliases}, nil)
		if err != nil {
			continue
		}
		for _, name := range []string{"gemini-3-pro", "gemini-2.5-x", "other", "base"} {
			table.Chat(name, false) // does not panic
		}
		table.Purpose("chat-compression-default")
	}
}
