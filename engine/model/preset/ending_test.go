package preset_test

import (
	"math"
	"testing"
	"time"

	"gemline/engine"
	"gemline/engine/limit"
	"gemline/engine/model/catalog"
	"gemline/engine/model/preset"
)

// on returns the table of a credential on a day, which is written as 2026-12-01.
func on(t *testing.T, access preset.Access, day string, configs map[string]any) *preset.Table {
	t.Helper()
	table, err := preset.New(access, configs)
	if err != nil {
		t.Fatal(err)
	}
	if table.Today, err = time.Parse(time.DateOnly, day); err != nil {
		t.Fatal(err)
	}
	return table
}

// Which model answers, what a million tokens each way of it cost and what is said, before
// and after the day on which a model ends.
func TestEnding(t *testing.T) {
	rows := []struct {
		name, day string
		answers   string
		cost      float64
		said      string
	}{
		{"gemini-2.5-pro", "2026-11-30", "gemini-2.5-pro", 17.5,
			"gemini-2.5-pro ends on 2026-12-01; from then on gemini-3.8-flash answers, for $0.75 in and $3.75 out per million tokens"},
		{"gemini-2.5-pro", "2026-12-01", "gemini-3.8-flash", 4.5,
			"gemini-2.5-pro ended on 2026-12-01; gemini-3.8-flash answers, for $0.75 in and $3.75 out per million tokens"},
		{"gemini-2.5-pro", "2027-01-01", "gemini-3.8-flash", 9,
			"gemini-2.5-pro ended on 2026-12-01; gemini-3.8-flash answers, for $1.5 in and $7.5 out per million tokens"},
		{"gemini-2.5-flash", "2026-11-30", "gemini-2.5-flash", 2.8,
			"gemini-2.5-flash ends on 2026-12-01; from then on gemini-3.5-flash-lite answers, for $0.3 in and $2.5 out per million tokens"},
		{"gemini-2.5-flash", "2026-12-01", "gemini-3.5-flash-lite", 2.8,
			"gemini-2.5-flash ended on 2026-12-01; gemini-3.5-flash-lite answers, for $0.3 in and $2.5 out per million tokens"},
	}
	seen := map[string]map[bool]bool{}
	for _, c := range rows {
		table := on(t, preset.ByKey, c.day, nil)
		if seen[c.name] == nil {
			seen[c.name] = map[bool]bool{}
		}
		_, after := catalog.Lookup(c.name).Ended("key", table.Today)
		seen[c.name][after] = true
		for _, asked := range []string{c.name, " " + c.name + "\n"} {
			if got := table.Resolve(asked); got != c.answers || table.Chat(asked, false).Model != c.answers {
				t.Errorf("%s: %q answers for %q, want %q", c.day, got, asked, c.answers)
			}
			if got := table.Ending(asked); got != c.said {
				t.Errorf("%s: %q is told %q, want %q", c.day, asked, got, c.said)
			}
		}
		for _, name := range []string{c.name, c.answers} { // as it was asked, and as the server calls it
			usd, _, ok := limit.Shipped(table.Today).Cost(engine.Usage{Model: name, Prompt: 1e6, Output: 1e6})
			if !ok || math.Abs(usd-c.cost) > 1e-9 {
				t.Errorf("%s: %s costs %v, want %v", c.day, name, usd, c.cost)
			}
		}
		offered := false
		for _, choice := range table.Choices() {
			offered = offered || choice.Name == c.name
		}
		if offered == after {
			t.Errorf("%s: that %s is offered is %v", c.day, c.name, offered)
		}
	}
	for _, m := range catalog.Shipped().Models {
		if len(m.Ends) > 0 && !(seen[m.Name][false] && seen[m.Name][true]) {
			t.Errorf("%s ends, and no row says what comes before and after", m.Name)
		}
	}
}

// A model ends for those credentials alone for which the table says so, for every name that
// leads to it, and not where the settings say what the name stands for.
func TestEndingOf(t *testing.T) {
	mine := map[string]any{"customAliases": map[string]any{"calm": map[string]any{"extends": "gemini-2.5-flash"},
		"mine": map[string]any{"modelConfig": map[string]any{"model": "auto-gemini-2.5"}}},
		"modelIdResolutions": map[string]any{"old": map[string]any{"default": "gemini-2.5-pro"}}}
	kept := map[string]any{"modelIdResolutions": map[string]any{"gemini-2.5-pro": map[string]any{"default": "gemini-3.1-pro-preview"}}}
	for _, c := range []struct {
		access  preset.Access
		configs map[string]any
		name    string
		answers string
		told    bool
	}{
		{preset.ByAccount, nil, "gemini-2.5-pro", "gemini-2.5-pro", false},
		{preset.ByRegion, nil, "gemini-2.5-pro", "gemini-2.5-pro", false},
		{preset.ByAssist, nil, "gemini-2.5-flash", "gemini-2.5-flash", false},
		{preset.ByKey, nil, "auto-gemini-2.5", "gemini-3.8-flash", true},
		{preset.ByKey, nil, "models/gemini-2.5-pro", "gemini-3.8-flash", true},
		{preset.ByKey, mine, "calm", "gemini-3.5-flash-lite", true},
		{preset.ByKey, mine, "mine", "gemini-3.8-flash", true},
		{preset.ByKey, mine, "old", "gemini-3.8-flash", true},
		{preset.ByKey, kept, "gemini-2.5-pro", "gemini-3.1-pro-preview", false},
		{preset.ByKey, nil, "gemini-3-pro-preview", "gemini-4-argon", true},
		{preset.ByAssist, nil, "gemini-3-pro-preview", "gemini-3-pro-preview", false},
		{preset.ByKey, nil, "auto", "gemini-4-argon", false},
		{preset.ByKey, nil, "gemini-2.5-flash-lite", "gemini-2.5-flash-lite", false},
		{preset.ByKey, nil, "gemini-2.5-pro-preview-06-05", "gemini-2.5-pro-preview-06-05", false},
		{preset.ByKey, nil, "my-model", "my-model", false},
	} {
		table := on(t, c.access, "2026-12-02", c.configs)
		if got := table.Chat(c.name, false).Model; got != c.answers {
			t.Errorf("%s: %s answers for %s, want %s", c.access, got, c.name, c.answers)
		}
		if got := table.Ending(c.name); (got != "") != c.told {
			t.Errorf("%s: %s is told %q", c.access, c.name, got)
		}
	}
}

// What comes nearest to a model that is missing, by what is there.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name  string
		there []string
		want  string
	}{
		{"gemini-4-argon", nil, "gemini-3.1-pro-preview-customtools"},
		{"gemini-4-argon", []string{"gemini-3.1-pro-preview", "gemini-3.8-flash"}, "gemini-3.1-pro-preview"},
		{"gemini-4-argon", []string{"gemini-2.5-pro", "gemini-3.8-flash"}, "gemini-2.5-pro"},
		{"gemini-4-argon", []string{"gemini-3.6-flash"}, "gemini-3.6-flash"},
		{"gemini-2.5-pro", []string{"gemini-3.8-flash", "gemini-4-argon"}, "gemini-3.8-flash"},
		{"gemini-3.7-flash", []string{"gemini-3.6-flash", "gemini-3.8-flash"}, "gemini-3.8-flash"},
		{"gemini-3.8-flash", []string{"gemini-3.7-flash", "gemini-4-argon"}, "gemini-3.7-flash"},
		{"gemini-2.5-flash-lite", []string{"gemini-3.5-flash-lite"}, "gemini-3.5-flash-lite"},
		{"gemini-3.5-flash-lite", []string{"gemini-4-argon"}, "gemini-4-argon"},
		{"gemini-4-argon", []string{}, ""},
		{"gemini-4-argon", []string{"gemini-4-argon", "embedding"}, ""},
		{"gemini-2.5-flahs", []string{"gemini-2.5-flash"}, ""},
	} {
		if got := on(t, preset.ByKey, "2026-11-30", nil).Nearest(c.name, c.there); got != c.want {
			t.Errorf("%q is nearest to %s of %q, want %q", got, c.name, c.there, c.want)
		}
	}
}

// Only of a model that costs more than the one before is told what it costs.
func TestDearer(t *testing.T) {
	for _, c := range []struct{ name, than, want string }{
		{"gemini-4-argon", "gemini-3.8-flash", ", for $2 in and $10 out per million tokens"},
		{"gemini-3.8-flash", "gemini-2.5-flash", ", for $0.75 in and $3.75 out per million tokens"},
		{"gemini-3.8-flash", "gemini-4-argon", ""}, {"gemini-3.8-flash", "gemini-3.8-flash", ""},
		{"mine", "gemini-3.8-flash", ""}, {"gemini-4-argon", "mine", ""},
	} {
		if got := on(t, preset.ByKey, "2026-11-20", nil).PriceNote(c.name, c.than); got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.name, c.than, got, c.want)
		}
	}
	if got := (&preset.Table{}).PriceNote("gemini-4-argon", "gemini-3.8-flash"); got != "" {
		t.Errorf("without a day: %q", got)
	}
}
