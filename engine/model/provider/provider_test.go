package provider

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/model/preset"
)

// TestList reads what servers say of their models, each in its own words.
func TestList(t *testing.T) {
	for _, c := range []struct {
		provider string
		others   map[string]string
		want     []model.ModelInfo
	}{
		{"vllm", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Q","object":"model","owned_by":"vllm","max_model_len":40960}]}`},
			[]model.ModelInfo{{Name: "Qwen/Q", Input: 40960}}},
		{"openrouter", map[string]string{"/v1/models": `{"data":[{"id":"a/b","name":"A: B","context_length":200000,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"]},
			{"id":"c/d","context_length":4096,"supported_parameters":[]}]}`},
			[]model.ModelInfo{{Name: "a/b", Title: "A: B", Input: 200000, Takes: []string{"tools", "images"}}, {Name: "c/d", Input: 4096, Takes: []string{}}}},
		{"xai", map[string]string{"/v1/models": `[{"id":"t","context_length":"4096"},{"id":7,"context_length":8192.0,"meta":null,"capabilities":null}]`}, // as Together lists its models
			[]model.ModelInfo{{Name: "t", Input: 4096}, {Name: "7", Input: 8192}}},
		{"mistral", map[string]string{"/v1/models": `{"data":[{"id":"m","name":"m","max_context_length":131072,"capabilities":{"completion_chat":true,"function_calling":true,"vision":false}},{"id":"e","capabilities":{"completion_chat":false}}]}`},
			[]model.ModelInfo{{Name: "m", Title: "m", Input: 131072, Takes: []string{"tools"}}}},
		{"lmstudio", map[string]string{"/api/v0/models": `{"data":[{"id":"q","type":"llm","max_context_length":32768,"capabilities":["tool_use"]},{"id":"p","type":"vlm","capabilities":[]}]}`},
			[]model.ModelInfo{{Name: "q", Input: 32768, Takes: []string{"tools"}}, {Name: "p", Takes: []string{"images"}}}},
		{"openai", map[string]string{"/v1/models": `{"data":[{"id":"c","capabilities":{"family":"x","supports":{"tool_calls":true}}},{"id":"d","capabilities":["completion","tools"]}]}`},
			[]model.ModelInfo{{Name: "c"}, {Name: "d"}}},
		{"groq", map[string]string{"/v1/models": `{"data":[{"id":"x","context_window":131072}]}`}, []model.ModelInfo{{Name: "x", Input: 131072}}},
		{"llamacpp", map[string]string{"/v1/models": `{"data":[{"id":"g.gguf","meta":{"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"n_ctx":8192}}`},
			[]model.ModelInfo{{Name: "g.gguf", Input: 8192}}},
		{"lmstudio", map[string]string{"/api/v0/models": `{"data":[{"id":"q","type":"vlm","max_context_length":32768,"loaded_context_length":4096},{"id":"e","type":"embeddings"}]}`},
			[]model.ModelInfo{{Name: "q", Input: 4096, Takes: []string{"images"}}}},
		{"lmstudio", map[string]string{"/api/v0/models": `{"error":"Unexpected endpoint or method. (GET /api/v0/models)"}`, "/v1/models": `{"data":[{"id":"q","object":"model"}]}`},
			[]model.ModelInfo{{Name: "q"}}},
		{"llamacpp", map[string]string{"/v1/models": `{"data":[{"id":"g.gguf","meta":{"n_ctx_train":131072}}]}`, "/props": `{"error":{"code":501,"message":"This server does not support props"}}`},
			[]model.ModelInfo{{Name: "g.gguf", Input: 131072}}},
		{"anthropic", map[string]string{"/v1/models": `{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","max_input_tokens":200000,"max_tokens":64000}],"has_more":false}`},
			[]model.ModelInfo{{Name: "claude-x", Title: "Claude X", Input: 200000, Output: 64000}}},
		{"ollama", map[string]string{"/api/tags": `{"models":[{"name":"q:4b"},{"name":"e"}]}`,
			"/api/show": `{"capabilities":["completion","tools","vision"],"model_info":{"q.context_length":40960}}`},
			[]model.ModelInfo{{Name: "q:4b", Input: 40960, Takes: []string{"tools", "images"}}, {Name: "e", Input: 40960, Takes: []string{"tools", "images"}}}},
	} {
		t.Run(c.provider, func(t *testing.T) {
			s := et.NewDialectServer(et.OpenAI)
			defer s.Close()
			s.Others = map[string][]et.Reply{}
			for path, body := range c.others {
				s.Others[path] = []et.Reply{et.Whole(body)}
			}
			base := s.URL
			if c.provider != "anthropic" && c.provider != "ollama" {
				base += "/v1"
			}
			all := model.NewProviders(map[string]any{c.provider: map[string]any{"baseUrl": base}}, nothing)
			set := &Set{Providers: all, Getenv: func(string) string { return "sk-key" }}
			defer set.Close()
			got, err := set.List(t.Context(), c.provider)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func nothing(string) string { return "" }

// TestLocal finds the servers that listen on this machine, and looks nowhere else.
func TestLocal(t *testing.T) {
	s := et.NewDialectServer(et.Ollama)
	defer s.Close()
	custom := map[string]any{"far": map[string]any{"baseUrl": "http://192.0.2.1/v1"}, "keyed": map[string]any{"baseUrl": s.URL, "keyVariable": "K"}}
	for name, at := range map[string]string{"ollama": s.URL, "lmstudio": "http://127.0.0.1:1", "llamacpp": "http://127.0.0.1:1", "vllm": "http://127.0.0.1:1"} {
		custom[name] = map[string]any{"baseUrl": at}
	}
	all := model.NewProviders(custom, nothing)
	if diff := cmp.Diff([]string{"ollama"}, (&Set{Providers: all}).Local(t.Context())); diff != "" {
		t.Error(diff)
	}
}

// TestHeal asks Anthropic again without the thoughts that it refuses, and says so.
func TestHeal(t *testing.T) {
	for _, words := range []string{"messages.1.content.0: Invalid `signature` in `thinking` block",
		"`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"} {
		s := et.NewDialectServer(et.Anthropic, et.Status(400, "invalid_request_error", words), et.Says("one"), et.Says("two"))
		defer s.Close()
		all := model.NewProviders(map[string]any{"anthropic": map[string]any{"baseUrl": s.URL}}, nothing)
		set := &Set{Providers: all, Getenv: func(string) string { return "sk-key" }}
		defer set.Close()
		var told []string
		req := &engine.Request{Model: "anthropic/claude-x", Notify: func(ev engine.Event) { told = append(told, ev.(engine.Notice).Text) },
			Contents: []*genai.Content{genai.NewContentFromText("q", genai.RoleUser),
				{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "hm", Thought: true, ThoughtSignature: engine.Sign("anthropic", []byte("s:OLD"))}, {Text: "a"}}},
				genai.NewContentFromText("more", genai.RoleUser)}}
		for _, want := range []string{"one", "two"} {
			said := ""
			for chunk, err := range set.Generator(nil).Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				said += chunk.Text()
			}
			if said != want {
				t.Errorf("said %q, want %q", said, want)
			}
		}
		if len(told) != 1 || !strings.Contains(told[0], "refused the conversation's thought signatures") {
			t.Errorf("told %q", told)
		}
		for i, want := range []bool{true, false, false} {
			if got := strings.Contains(string(s.Requests()[i].Body), "OLD"); got != want {
				t.Errorf("request %d has the signature: %v", i, got)
			}
		}
	}
}

// TestContext asks a server once how much a model holds, and says what is not known and what is
// too little.
func TestContext(t *testing.T) {
	const models = `{"data":[{"id":"x","max_model_len":100},{"id":"y"}]}`
	long := strings.Repeat("word ", 200)
	for _, c := range []struct {
		provider, model, said string
		holds                 int
		told                  string
	}{
		{"vllm", "x", "hi", 100, ""},
		{"vllm", "x", long, 100, "the request takes about 252 tokens, and vllm/x holds 100; vllm serve --max-model-len 32768"},
		{"vllm", "y", long, 0, "how much vllm/y holds is not known: it counts as 32,000 tokens, unless tokenLimit"},
		{"groq", "z", long, 0, "how much groq/z holds is not known"},
		{"openai", "gpt-5-mini", long, 272_000, ""},
	} {
		s := et.NewDialectServer(et.OpenAI, et.Says("one"), et.Says("two"))
		defer s.Close()
		s.Others = map[string][]et.Reply{"/models": {et.Whole(models)}}
		all := model.NewProviders(map[string]any{c.provider: map[string]any{"baseUrl": s.URL}}, nothing)
		table, err := preset.New(preset.ByKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		set := &Set{Providers: all, Presets: table, Getenv: func(string) string { return "sk-key" }}
		table.Context = set.Context
		defer set.Close()
		name, told := c.provider+"/"+c.model, ""
		for range 2 {
			req := &engine.Request{Model: name, Contents: []*genai.Content{genai.NewContentFromText(c.said, genai.RoleUser)},
				Notify: func(ev engine.Event) { told += ev.(engine.Notice).Text }}
			for _, err := range set.Generator(nil).Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := set.Context(name); got != c.holds || !strings.HasPrefix(told, c.told) || c.told == "" && told != "" || strings.Count(told, name) > 1 {
			t.Errorf("%s holds %d, told %q", name, got, told)
		}
		if limit := table.TokenLimit(name); c.holds > 0 && limit != c.holds || c.holds == 0 && limit != 32_000 {
			t.Errorf("the limit of %s is %d", name, limit)
		}
	}
}
