package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine/model"
)

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "gemini-3.1-pro-preview-customtools",
		"auto":                        "gemini-3.1-pro-preview-customtools",
		"pro":                         "gemini-3.1-pro-preview-customtools",
		"auto-gemini-3":               "gemini-3.1-pro-preview-customtools",
		"gemini-3-pro-preview":        "gemini-3.1-pro-preview-customtools",
		"auto-gemini-2.5":             "gemini-2.5-pro",
		"flash":                       "gemini-3.8-flash",
		"gemini-3.5-flash":            "gemini-3.8-flash",
		"gemini-3-flash":              "gemini-3.8-flash",
		"gemini-3-flash-preview":      "gemini-3-flash-preview",
		"flash-lite":                  "gemini-3.5-flash-lite",
		"none":                        "gemini-3.5-flash-lite",
		"gemini-3.1-flash-lite":       "gemini-3.5-flash-lite",
		" gemini-2.5-flash\n":         "gemini-2.5-flash",
		"gemini-3.1-pro-preview":      "gemini-3.1-pro-preview",
		"someone/some-model:instruct": "someone/some-model:instruct",
	} {
		got := model.ByKey.Resolve(name)
		if got != want {
			t.Errorf("Resolve(%q) = %q, want %q", name, got, want)
		}
		if again := model.ByKey.Resolve(got); again != got {
			t.Errorf("Resolve(%q) = %q, want itself", got, again)
		}
	}
	for _, c := range model.ByKey.Choices() {
		if c.Name == "" || c.Note == "" || model.ByKey.Resolve(c.Name) == "auto" {
			t.Errorf("choice %+v", c)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	for name, want := range map[string]int{"auto": 1_048_576, "anything": 1_048_576, "gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000} {
		if got := model.TokenLimit(name); got != want {
			t.Errorf("TokenLimit(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	base := &genai.GenerateContentConfig{TopP: genai.Ptr[float32](0.95), TopK: genai.Ptr[float32](64), MaxOutputTokens: 7}
	over := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), ThinkingConfig: &genai.ThinkingConfig{}, StopSequences: []string{"x"}}
	want := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), TopP: base.TopP, TopK: base.TopK,
		MaxOutputTokens: 7, ThinkingConfig: &genai.ThinkingConfig{}, StopSequences: []string{"x"}}
	if d := cmp.Diff(want, model.Merge(base, over)); d != "" {
		t.Error(d)
	}
	if over.TopP != nil {
		t.Error("the settings were changed")
	}
	if d := cmp.Diff(base, model.Merge(base, nil)); d != "" {
		t.Error(d)
	}
}

// What the way to pay can't use is not what an alias stands for, nor offered.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		reach      model.Access
		name, want string
	}{
		{model.ByAccount, "auto", "gemini-3.1-pro-preview"},
		{model.ByAccount, "flash", "gemini-3.8-flash"},
		{model.ByAccount, "gemini-3.5-flash", "gemini-3.8-flash"},
		{model.ByAccount, "flash-lite", "gemini-3.5-flash-lite"},
		{model.ByAssist, "", "gemini-3-pro-preview"},
		{model.ByAssist, "pro", "gemini-3-pro-preview"},
		{model.ByAssist, "flash", "gemini-3-flash-preview"},
		{model.ByAssist, "gemini-3.5-flash", "gemini-3-flash"},
		{model.ByAssist, "flash-lite", "gemini-3.1-flash-lite"},
		{model.ByAssist, "gemini-2.5-pro", "gemini-2.5-pro"},
	} {
		if got := c.reach.Resolve(c.name); got != c.want {
			t.Errorf("%d: %q is %q, want %q", c.reach, c.name, got, c.want)
		}
	}
	for _, r := range []model.Access{model.ByKey, model.ByAccount, model.ByAssist} {
		seen := map[string]bool{}
		for _, c := range r.Choices() {
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
		access model.Access
		name   string
		want   string
		quiet  bool
	}{
		{model.ByKey, "gemini-3.1-pro-preview-customtools", "gemini-3.1-pro-preview-customtools gemini-3.8-flash", false},
		{model.ByAssist, "gemini-3-pro-preview", "gemini-3-pro-preview gemini-3-flash-preview", false},
		{model.ByKey, "gemini-2.5-pro", "gemini-2.5-pro gemini-3.8-flash", false},
		{model.ByAssist, "gemini-2.5-pro", "gemini-2.5-pro gemini-3-flash", false},
		{model.ByKey, "gemini-3.5-flash-lite", "gemini-3.5-flash-lite gemini-3.8-flash gemini-2.5-pro", true},
		{model.ByKey, "gemini-2.5-flash-lite", "gemini-2.5-flash-lite gemini-3.8-flash gemini-2.5-pro", true},
		{model.ByKey, "gemini-3.8-flash", "gemini-3.8-flash", false},
		{model.ByKey, "gemini-2.5-flash", "gemini-2.5-flash", false},
		{model.ByKey, "gemma-4-31b-it", "gemma-4-31b-it", false},
		{model.ByKey, "their-pro-flash-lite", "their-pro-flash-lite", false},
	} {
		chain, quiet := c.access.Chain(c.name)
		if got := strings.Join(chain, " "); got != c.want || quiet != c.quiet {
			t.Errorf("%d: %s, quiet %v; want %s", c.access, got, quiet, c.want)
		}
		for _, m := range chain {
			if c.access.Resolve(m) != m {
				t.Errorf("%s stands for another model", m)
			}
		}
	}
}
