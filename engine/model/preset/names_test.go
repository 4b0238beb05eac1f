package preset_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine/model/preset"
)

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "gemini-4-argon",
		"auto":                        "gemini-4-argon",
		"pro":                         "gemini-4-argon",
		"auto-gemini-3":               "gemini-4-argon",
		"gemini-3-pro-preview":        "gemini-4-argon",
		"auto-gemini-2.5":             "gemini-2.5-pro",
		"flash":                       "gemini-3.8-flash",
		"gemini-3.5-flash":            "gemini-3.5-flash",
		"gemini-3-flash":              "gemini-3.8-flash",
		"gemini-3-flash-preview":      "gemini-3-flash-preview",
		"flash-lite":                  "gemini-3.5-flash-lite",
		"none":                        "gemini-3.5-flash-lite",
		"gemini-3.1-flash-lite":       "gemini-3.1-flash-lite",
		" gemini-2.5-flash\n":         "gemini-2.5-flash",
		"gemini-3.1-pro-preview":      "gemini-3.1-pro-preview",
		"someone/some-model:instruct": "someone/some-model:instruct",
	} {
		got := preset.ByKey.Resolve(name)
		if got != want {
			t.Errorf("Resolve(%q) = %q, want %q", name, got, want)
		}
		if again := preset.ByKey.Resolve(got); again != got {
			t.Errorf("Resolve(%q) = %q, want itself", got, again)
		}
	}
	for _, c := range (*preset.Table)(nil).Choices() {
		if c.Name == "" || c.Note == "" || preset.ByKey.Resolve(c.Name) == "auto" {
			t.Errorf("choice %+v", c)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	for name, want := range map[string]int{"auto": 983_040, "anything": 1_048_576, "gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000} {
		if got := (*preset.Table)(nil).TokenLimit(name); got != want {
			t.Errorf("TokenLimit(%q) = %d, want %d", name, got, want)
		}
	}
}

// What the way to pay can't use is not what an alias stands for, nor offered.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		reach      preset.Access
		name, want string
	}{
		{preset.ByAccount, "auto", "gemini-4-argon"},
		{preset.ByRegion, "auto", "gemini-3.1-pro-preview"},
		{preset.ByRegion, "flash-lite", "gemini-3.5-flash-lite"},
		{preset.ByAccount, "flash", "gemini-3.8-flash"},
		{preset.ByAccount, "gemini-3.5-flash", "gemini-3.5-flash"},
		{preset.ByAccount, "flash-lite", "gemini-3.5-flash-lite"},
		{preset.ByAssist, "", "gemini-3-pro-preview"},
		{preset.ByAssist, "pro", "gemini-3-pro-preview"},
		{preset.ByAssist, "flash", "gemini-3-flash-preview"},
		{preset.ByAssist, "gemini-3.5-flash", "gemini-3-flash"},
		{preset.ByAssist, "flash-lite", "gemini-3.1-flash-lite"},
		{preset.ByAssist, "gemini-2.5-pro", "gemini-2.5-pro"},
	} {
		if got := c.reach.Resolve(c.name); got != c.want {
			t.Errorf("%d: %q is %q, want %q", c.reach, c.name, got, c.want)
		}
	}
	for _, r := range []preset.Access{preset.ByKey, preset.ByAccount, preset.ByAssist, preset.ByRegion} {
		seen := map[string]bool{}
		table, err := preset.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range table.Choices() {
			if got := r.Resolve(c.Name); seen[c.Name] || r.Resolve(got) != got {
				t.Errorf("%d: %s stands twice, or for %s, which stands for something else", r, c.Name, got)
			}
			seen[c.Name] = true
		}
	}
}

// A chain begins with the model itself and goes on with others, which are concrete.
func TestChain(t *testing.T) {
	for _, c := range []struct {
		access preset.Access
		name   string
		want   string
		quiet  bool
	}{
		{preset.ByKey, "gemini-3.1-pro-preview-customtools", "gemini-3.1-pro-preview-customtools gemini-3.8-flash", false},
		{preset.ByAssist, "gemini-3-pro-preview", "gemini-3-pro-preview gemini-3-flash-preview", false},
		{preset.ByKey, "gemini-2.5-pro", "gemini-2.5-pro gemini-3.8-flash", false},
		{preset.ByAssist, "gemini-2.5-pro", "gemini-2.5-pro gemini-3-flash", false},
		{preset.ByKey, "gemini-3.5-flash-lite", "gemini-3.5-flash-lite gemini-3.8-flash gemini-2.5-flash-lite", true},
		{preset.ByKey, "gemini-2.5-flash-lite", "gemini-2.5-flash-lite gemini-3.5-flash-lite gemini-3.8-flash", true},
		{preset.ByKey, "gemini-3.8-flash", "gemini-3.8-flash", false},
		{preset.ByKey, "gemini-2.5-flash", "gemini-2.5-flash", false},
		{preset.ByKey, "gemma-4-31b-it", "gemma-4-31b-it", false},
		{preset.ByKey, "their-pro-flash-lite", "their-pro-flash-lite", false},
	} {
		table, err := preset.New(c.access, nil)
		if err != nil {
			t.Fatal(err)
		}
		var chain []string
		for _, m := range table.Chain(c.name) {
			if chain = append(chain, m.Model); c.access.Resolve(m.Model) != m.Model {
				t.Errorf("%s stands for another model", m.Model)
			}
			if m.Silent("terminal") != c.quiet || !m.Silent("transient") {
				t.Errorf("%d: %s: whether it is asked about %s is wrong", c.access, c.name, m.Model)
			}
		}
		if got := strings.Join(chain, " "); got != c.want {
			t.Errorf("%d: %s; want %s", c.access, got, c.want)
		}
	}
}

// Thinking is set in the way that a model takes, whoever asks.
func TestThinking(t *testing.T) {
	say := func(c *genai.ThinkingConfig) string {
		switch {
		case c == nil:
			return "as it is"
		case c.ThinkingBudget != nil:
			return fmt.Sprint(*c.ThinkingBudget, c.ThinkingLevel)
		}
		return string(c.ThinkingLevel)
	}
	for _, c := range []struct{ model, level, want string }{
		{"gemini-4-argon", "low", "LOW"}, {"auto", "high", "HIGH"}, {"gemini-3.8-flash", "medium", "MEDIUM"},
		{"gemini-2.5-pro", "low", "1024"}, {"gemini-2.5-flash", "high", "24576"}, {"my-model", "high", "as it is"}, {"gemini-2.0-flash", "low", "as it is"},
	} {
		if got := say((*preset.Table)(nil).Thinking(c.model, c.level)); got != c.want {
			t.Errorf("%s thinks %s as %s, want %s", c.model, c.level, got, c.want)
		}
	}
	for _, c := range []struct {
		model  string
		budget int32
		want   string
	}{
		{"gemini-4-argon", 0, "LOW"}, {"gemini-4-argon", 2000, "LOW"}, {"gemini-4-argon", 8192, "MEDIUM"}, {"gemini-4-argon", 9000, "HIGH"}, {"gemini-4-argon", -1, ""},
		{"gemini-3.5-flash-lite", 0, "MINIMAL"}, {"gemini-3.5-flash-lite", 1, "1"}, {"gemini-2.5-flash", 0, "0"}, {"gemini-3.8-flash", 100, "100"}, {"my-model", 0, "0"},
	} {
		if got := say(preset.FitThinking(c.model, &genai.ThinkingConfig{ThinkingBudget: &c.budget})); got != c.want {
			t.Errorf("%s thinks with %d tokens as %s, want %s", c.model, c.budget, got, c.want)
		}
	}
}
