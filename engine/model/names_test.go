package model_test

import (
	"testing"

	"gemline/engine/model"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
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
		got := model.Resolve(name)
		if got != want {
			t.Errorf("Resolve(%q) = %q, want %q", name, got, want)
		}
		if again := model.Resolve(got); again != got {
			t.Errorf("Resolve(%q) = %q, want itself", got, again)
		}
	}
	for _, c := range model.Choices() {
		if c.Name == "" || c.Note == "" || model.Resolve(c.Name) == "auto" {
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

func TestPreset(t *testing.T) {
	plain := genai.ThinkingConfig{IncludeThoughts: true}
	budget, level := plain, plain
	budget.ThinkingBudget = genai.Ptr[int32](8192)
	level.ThinkingLevel = genai.ThinkingLevelHigh
	for name, want := range map[string]genai.ThinkingConfig{
		"gemini-2.5-pro": budget, "models/gemini-2.5-flash": budget, "gemini-3-pro-preview": level, "gemini-3.8-flash": level,
		"gemini-3": level, "gemma-4-31b-it": level, "gemini-30": plain, "gemini-2.0-flash": plain, "custom": plain,
	} {
		c := model.Preset(name)
		if d := cmp.Diff(&want, c.ThinkingConfig); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if *c.Temperature != 1 || *c.TopP != 0.95 || *c.TopK != 64 {
			t.Errorf("%s: %v %v %v", name, *c.Temperature, *c.TopP, *c.TopK)
		}
	}
}

func TestMerge(t *testing.T) {
	base := model.Preset("gemini-2.5-pro")
	base.MaxOutputTokens = 7
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
