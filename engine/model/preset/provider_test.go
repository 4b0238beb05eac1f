package preset

import (
	"slices"
	"testing"

	"gemline/engine/model/catalog"
)

// TestProviders sees that nothing of a conversation with another provider's model goes to
// Google, and that nothing is asked of it that was made for Google's.
func TestProviders(t *testing.T) {
	table, err := New(ByKey, map[string]any{
		"modelDefinitions": map[string]any{"ollama/big": map[string]any{"tokenLimit": 131072.0}},
		"customAliases": map[string]any{"calm": map[string]any{"extends": "ollama/big",
			"modelConfig": map[string]any{"generateContentConfig": map[string]any{"temperature": 0.2}}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []string{"summarizer-default", "next-speaker-checker", "web-fetch", "loop-detection", "llm-edit-fixer", "chat-compression-default"} {
		for _, p := range table.SideQuestion(purpose, "ollama/qwen3:4b") {
			if p.Model != "ollama/qwen3:4b" {
				t.Errorf("%s asks %s", purpose, p.Model)
			}
		}
	}
	p := table.Chat("openrouter/google/gemini-3-pro", true)
	if c := p.Config; p.Model != "openrouter/google/gemini-3-pro" || c.Temperature != nil || c.TopP != nil || c.TopK != nil {
		t.Errorf("asked with %s %+v", p.Model, c)
	}
	if p := table.Chat("calm", false); p.Model != "ollama/big" || p.Config.Temperature == nil || *p.Config.Temperature != 0.2 {
		t.Errorf("an alias asks %s %+v", p.Model, p.Config)
	}
	if table.TokenLimit("calm") != 131072 || table.TokenLimit("ollama/other") != catalog.UnknownContext {
		t.Errorf("limits %d and %d", table.TokenLimit("calm"), table.TokenLimit("ollama/other"))
	}
	if c := table.Thinking("ollama/other", "high"); c == nil || c.ThinkingLevel != "HIGH" {
		t.Errorf("thinking %+v", c)
	}
	for name, want := range map[string]string{"gemini/flash": table.Resolve("flash"), "google/flash": table.Resolve("flash"), "google/gemma-9": "gemma-9", "vertex/gemini-2.5-flash-lite": "gemini-2.5-flash-lite", "anthropic/claude": "anthropic/claude"} {
		if got := table.Resolve(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if chain := table.Chain("openai/flash"); slices.ContainsFunc(chain, func(s ChainModel) bool { return s.Model != "openai/flash" }) {
		t.Errorf("others answer: %+v", chain)
	}
}
