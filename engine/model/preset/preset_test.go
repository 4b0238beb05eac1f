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

// names says what a name stands for.
func names(table *preset.Table, name string) string {
	s := fmt.Sprintf("%s, %d tokens", table.Resolve(name), table.TokenLimit(name))
	if small, auto := table.Auto(name); auto {
		s += ", or " + small
	}
	if table.UsesScoring(name) {
		s += ", scored"
	}
	return s
}

// chain says what a chain does about failures.
func chain(stands []preset.ChainModel) string {
	var all []string
	for _, s := range stands {
		one := s.Model
		for _, way := range []string{"terminal", "transient", "not_found", "unknown"} {
			if s.Silent(way) {
				one += " -" + way
			}
			if state := s.State(way); state != "" {
				one += " " + way + "=" + state
			}
		}
		if s.Attempts > 0 {
			one += fmt.Sprintf(" %dx", s.Attempts)
		}
		if s.Last {
			one += " last"
		}
		if s.Covers() {
			one += " unknown"
		}
		all = append(all, one)
	}
	return strings.Join(all, ", ")
}

// Each line of a table begins with what is asked for: "chat NAME", "again NAME" or
// "purpose NAME" and so on, a colon, and what comes of it. A line of JSON is the settings for the
// lines below, and "error:" says what is wrong with it.
func TestTables(t *testing.T) {
	for _, name := range []string{"testdata/builtin.txt", "testdata/settings.txt", "testdata/names.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		table, wrong := (*preset.Table)(nil), error(nil)
		table, _ = preset.New(preset.ByAccount, nil)
		for i, line := range strings.Split(string(data), "\n") {
			what, want, _ := strings.Cut(line, ": ")
			kind, arg, _ := strings.Cut(what, " ")
			got := want
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '{':
				var settings map[string]any
				d := json.NewDecoder(strings.NewReader(line))
				d.UseNumber() // as files of settings are read
				if err := d.Decode(&settings); err != nil {
					t.Fatal(err)
				}
				table, wrong = preset.New(preset.ByAccount, settings)
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
			case kind == "names":
				got = names(table, arg)
			case kind == "chain":
				got = chain(table.Chain(arg))
			case kind == "choices":
				got = fmt.Sprint(table.Choices())
			case kind == "usual":
				got = fmt.Sprint(table.CommonChoices(arg))
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
	for _, name := range []string{"testdata/settings.txt", "testdata/names.txt"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if line[0] == '{' {
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		var settings map[string]any
		if json.Unmarshal([]byte(s), &settings) != nil {
			return
		}
		table, err := preset.New(preset.ByKey, settings)
		if err != nil {
			if h, ok := err.(interface{ Hint() string }); !ok || h.Hint() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%#v", err)
			}
			return
		}
		for _, name := range append(table.CustomNames(), "classifier", "gemini-2.5-pro") {
			table.Chat(name, true)
			table.Purpose(name)
			table.Chain(name)
			if m := table.Resolve(name); table.Resolve(m) != m {
				t.Errorf("%s stands for %s, which stands for another one", name, m)
			}
		}
		table.Choices()
	})
}

// A table is asked by name.
func ExampleTable() {
	table, err := preset.New(preset.ByKey, map[string]any{"customOverrides": []any{map[string]any{
		"match":       map[string]any{"model": "classifier"},
		"modelConfig": map[string]any{"generateContentConfig": map[string]any{"maxOutputTokens": 200}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := table.Purpose("classifier")
	fmt.Println(p.Model, p.Role, p.Limit, p.Config.MaxOutputTokens)
	// Output: gemini-3.5-flash-lite utility_router 3s 200
}

// Aliases of the user's that stand below all others leave room for these.
func TestDeepAliases(t *testing.T) {
	for n := 90; n < 103; n++ {
		aliases := map[string]any{"base": map[string]any{"extends": "a0"}}
		for i := range n {
			aliases[fmt.Sprintf("a%d", i)] = map[string]any{"extends": fmt.Sprintf("a%d", i+1)}
		}
		aliases[fmt.Sprintf("a%d", n)] = map[string]any{}
		table, err := preset.New(preset.ByKey, map[string]any{"customAliases": aliases})
		if err != nil {
			continue
		}
		for _, name := range []string{"gemini-3-pro", "gemini-2.5-x", "other", "base"} {
			table.Chat(name, false) // does not panic
		}
		table.Purpose("chat-compression-default")
	}
}

// What a name stands for depends on the credential.
func ExampleAccess_Resolve() {
	fmt.Println(preset.ByKey.Resolve("flash-lite"))
	fmt.Println(preset.ByAssist.Resolve("flash-lite"))
	// Output:
	// gemini-3.5-flash-lite
	// gemini-3.1-flash-lite
}
