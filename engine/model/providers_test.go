package model

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"gemline/engine/model/catalog"
)

func none(string) string { return "" }

// TestProviders sees that the program reads all of the table but the examples, and that each
// example can be asked for.
func TestProviders(t *testing.T) {
	meta, err := toml.Decode(providersText, &struct{ Providers Providers }{})
	if err != nil {
		t.Fatal(err)
	}
	if rest := slices.DeleteFunc(meta.Undecoded(), func(k toml.Key) bool { return k.String() == "providers.example" }); len(rest) > 0 {
		t.Errorf("not read: %v", rest)
	}
	var examples struct{ Providers []struct{ Example string } }
	if _, err := toml.Decode(providersText, &examples); err != nil {
		t.Fatal(err)
	}
	all := NewProviders(nil, none)
	var names []string
	for i, p := range all {
		example := examples.Providers[i].Example
		names = append(names, p.Name)
		name, model, ok := strings.Cut(example, "/")
		if !ok || name != p.Name || model == "" {
			t.Errorf("%s: the example %q", p.Name, example)
		}
		for _, e := range append(p.Models, Exception{Lacking: p.Lacking}) {
			for _, what := range e.Lacking {
				if !slices.Contains(lackable, what) {
					t.Errorf("%s lacks %q", p.Name, what)
				}
			}
		}
		if p.Protocol == Gemini {
			if provider, _ := catalog.Provider(example); provider != "" {
				t.Errorf("%s is of %s", example, provider)
			}
			continue
		}
		if provider, _ := catalog.Provider(example); provider != p.Name {
			t.Errorf("%s is of %s", example, provider)
		}
		if p.AddressPath != "" {
			continue // which says where it is
		}
		if _, err := NewClient(p.Options(Options{}, func(string) string { return "key" }), p.Vendor()); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	want := "gemini vertex openai anthropic ollama lmstudio llamacpp vllm openrouter groq mistral deepseek xai azure"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
}

// TestExceptions takes the last one that fits a model.
func TestExceptions(t *testing.T) {
	all := NewProviders(nil, none)
	for _, c := range []struct {
		provider, model, what string
		want                  bool
	}{
		{"openai", "gpt-5-mini", Temperature, true}, {"openai", "gpt-5-mini", Effort, false}, {"openai", "gpt-5-chat-latest", Effort, true},
		{"openai", "gpt-4.1", Temperature, false}, {"openai", "gpt-4.1", Effort, true},
		{"anthropic", "claude-sonnet-5", Temperature, true}, {"anthropic", "claude-sonnet-4-5-20250929", Effort, true},
		{"anthropic", "claude-opus-4-5", Effort, false}, {"anthropic", "claude-opus-4-5", Adaptive, true}, {"anthropic", "claude-sonnet-4-6", Adaptive, false},
	} {
		p, err := all.Named(c.provider)
		if err != nil || p.Lacks(c.model, c.what) != c.want {
			t.Errorf("%s/%s lacks %s: %v, %v", c.provider, c.model, c.what, !c.want, err)
		}
	}
}

// TestCustomProviders adds and changes providers as settings and the environment say.
func TestCustomProviders(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"OLLAMA_HOST": "0.0.0.0:99", "AZURE_OPENAI_ENDPOINT": "https://me.example.com/",
			"OPENAI_BASE_URL": "https://not.example.com/v1", "ANTHROPIC_BASE_URL": "https://gate.example.com/anthropic", "GROQ_BASE_URL": "https://gate.example.com"}[name]
	}
	all := NewProviders(map[string]any{
		"work":   map[string]any{"protocol": "anthropic", "baseUrl": "https://w.example.com", "keyVariable": "WORK_KEY", "headers": map[string]any{"X-Team": "a"}},
		"plain":  map[string]any{"baseUrl": "http://127.0.0.1:1/v1", "lacks": []any{"images"}},
		"openai": map[string]any{"baseUrl": "https://o.example.com/v1", "lacks": []any{"images"}},
	}, env)
	for name, want := range map[string][3]string{
		"work": {"anthropic", "https://w.example.com", "WORK_KEY"}, "plain": {"openai", "http://127.0.0.1:1/v1", ""},
		"openai": {"openai", "https://o.example.com/v1", "OPENAI_API_KEY"}, "ollama": {"ollama", "http://127.0.0.1:99", ""},
		"azure":     {"openai", "https://me.example.com/openai/v1", "AZURE_OPENAI_API_KEY"},
		"anthropic": {"anthropic", "https://gate.example.com/anthropic", "ANTHROPIC_API_KEY"}, "groq": {"openai", "https://gate.example.com/openai/v1", "GROQ_API_KEY"},
	} {
		p, err := all.Named(name)
		if got := [3]string{p.Protocol, p.BaseURL, p.KeyVariable}; err != nil || got != want {
			t.Errorf("%s is %q, want %q; %v", name, got, want, err)
		}
	}
	for name, want := range map[string]string{"openai": "providers.openai.baseUrl", "anthropic": "ANTHROPIC_BASE_URL"} {
		if p, _ := all.Named(name); p.Address() != want {
			t.Errorf("the address of %s is set by %s", name, p.Address())
		}
	}
	if p, _ := all.Named("plain"); !p.Lacks("m", Images) || p.Lacks("m", PDF) {
		t.Errorf("plain lacks %q", p.Lacking)
	}
	if p, _ := all.Named("openai"); !p.Lacks("gpt-5", Images) || !p.Lacks("gpt-5", Temperature) || !p.Lacks("gpt-4", Images) || p.Lacks("gpt-4", Effort) {
		t.Errorf("openai lacks %q and %v", p.Lacking, p.Models)
	}
	if builtin := NewProviders(nil, none); builtin[2].Lacks("gpt-5", Images) || builtin[2].BaseURL != "https://api.openai.com/v1" || !slices.Contains(builtin[2].Lacking, Effort) {
		t.Error("the table has been changed")
	}
	for name, p := range map[string]any{
		"no protocol": map[string]any{"protocol": "soap", "baseUrl": "https://x.example.com"}, "nowhere": map[string]any{"protocol": "openai"},
		"a/b": map[string]any{"baseUrl": "https://x.example.com"}, "text": "x", "lacking": map[string]any{"baseUrl": "https://x.example.com", "lacks": []any{"wits"}},
		"header":   map[string]any{"baseUrl": "https://x.example.com", "headers": map[string]any{"X": "a\nb"}},
		"long":     map[string]any{"baseUrl": "https://x.example.com/v1/chat/completions"},
		"longer":   map[string]any{"protocol": "anthropic", "baseUrl": "https://x.example.com/v1/"},
		"thoughts": map[string]any{"baseUrl": "https://x.example.com", "thoughts": "reasoning"},
	} {
		all := NewProviders(map[string]any{name: p}, none)
		if _, err := all.Named("openai"); err != nil {
			t.Errorf("beside %s: %v", name, err)
		}
		if _, err := all.Named(name); err == nil || !strings.Contains(err.Error(), "providers."+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestElsewhere knows whose models are meant by names without a provider, and providers by names that
// are not quite theirs.
func TestElsewhere(t *testing.T) {
	for name, want := range map[string]string{"gpt-4.1": "openai/gpt-4.1", "o3-mini": "openai/o3-mini", "claude-sonnet-5": "anthropic/claude-sonnet-5", "grok-4": "xai/grok-4",
		"deepseek-chat": "deepseek/deepseek-chat", "gemini-3.8-flash": "", "gptx": "", "qwen3": ""} {
		if got := Elsewhere(name); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, want := range map[string]string{"OpenAI": "did you mean openai?", "lm-studio": "did you mean lmstudio?", "nobody": "adds others"} {
		_, err := NewProviders(nil, none).Named(name)
		if e := (*Error)(nil); !errors.As(err, &e) || !strings.HasSuffix(e.Advice, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOllamaAddress(t *testing.T) {
	for s, want := range map[string]string{
		`"example.com"`: "http://example.com:11434",
		"example.com":   "http://example.com:11434", ":99": "http://127.0.0.1:99", "0.0.0.0": "http://127.0.0.1:11434",
		"[::1]:99": "http://[::1]:99", "https://example.com": "https://example.com:443", "http://10.0.0.1": "http://10.0.0.1:80",
		"https://example.com:8443/ollama": "https://example.com:8443/ollama", "[::]:99": "http://127.0.0.1:99",
	} {
		if got := ollamaAddress(s); got != want {
			t.Errorf("%s is %s, want %s", s, got, want)
		}
	}
}

func TestAzureAddress(t *testing.T) {
	const want = "https://openai.example.com/openai/v1"
	for _, s := range []string{"", "/", "/openai", "/openai/v1", "/openai/v1/", "/openai/v1?api-version=preview", "/openai/deployments/m/chat/completions?api-version=2025-01-01-preview"} {
		if got := pathed("https://openai.example.com"+s, "/openai/v1"); got != want {
			t.Errorf("%s is %s", s, got)
		}
	}
	// A gateway may have the word in its own path.
	for s, want := range map[string]string{"/openai/team/openai/v1": "/openai/team/openai/v1", "/team": "/team/openai/v1", "/team/openai/": "/team/openai/v1"} {
		if got := pathed("https://gateway.example.com"+s, "/openai/v1"); got != "https://gateway.example.com"+want {
			t.Errorf("%s is %s", s, got)
		}
	}
}
