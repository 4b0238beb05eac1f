package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/policy"
)

// dialects are the providers whose protocols differ.
var dialects = map[string]*et.Dialect{"openai": et.OpenAI, "vllm": et.OpenAI, "anthropic": et.Anthropic, "ollama": et.Ollama}

// dial returns what asks a server that speaks as a provider does.
func dial(t *testing.T, provider string, replies ...et.Reply) (engine.Generator, *et.Server) {
	t.Helper()
	s := et.NewDialectServer(dialects[provider], replies...)
	t.Cleanup(s.Close)
	s.Others = map[string][]et.Reply{
		"/api/show": {et.Whole(`{"capabilities":["completion","tools","vision","thinking"],"model_info":{"q.context_length":40960}}`)},
		"/models":   {et.Whole(`{"data":[{"id":"m","max_model_len":40960}]}`)},
	}
	all := model.NewProviders(map[string]any{provider: map[string]any{"baseUrl": s.URL}}, nothing)
	set := &Set{Providers: all, Getenv: func(string) string { return "sk-key" }}
	t.Cleanup(func() { set.Close() })
	return set.Generator(nil), s
}

// talk has a conversation with 30 calls, two at a time, and returns what the server got.
func talk(t *testing.T, provider string) []et.Received {
	t.Helper()
	const rounds = 15
	var replies []et.Reply
	for i := range rounds {
		replies = append(replies, et.Says("", et.Call(fmt.Sprint("call-", 2*i), "double", "n", 2*i), et.Call(fmt.Sprint("call-", 2*i+1), "double", "n", 2*i+1)))
	}
	g, s := dial(t, provider, append(replies, et.Says("All doubled."))...)
	double := engine.Tool{Kind: engine.Read, Declaration: &genai.FunctionDeclaration{Name: "double", Description: "doubles a number",
		ParametersJsonSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
		Prepare: func(_ context.Context, args map[string]any) (engine.Call, error) {
			return engine.Call{Run: func(context.Context, engine.Host) (engine.Result, error) {
				n, _ := args["n"].(float64)
				return engine.Result{Text: fmt.Sprintf("twice %v is %v", n, 2*n)}, nil
			}}, nil
		}}
	e := engine.New(engine.Config{Model: provider + "/m", Generator: g, Tools: engine.Tools{double}, Policy: policy.New(policy.Default),
		System: func() string { return "Double." }})
	said := ""
	for ev, err := range e.Run(t.Context(), genai.NewPartFromText("double all")) {
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := ev.(engine.Text); ok {
			said += text.Delta
		}
	}
	if said != "All doubled." {
		t.Errorf("said %q", said)
	}
	return slices.DeleteFunc(s.Requests(), func(r et.Received) bool { return !strings.HasSuffix(r.Path, dialects[provider].Path) })
}

// TestConversation has a conversation with 30 calls with each protocol: the last request has
// all of them, each with its answer.
func TestConversation(t *testing.T) {
	for provider := range dialects {
		t.Run(provider, func(t *testing.T) {
			all := talk(t, provider)
			body := string(all[len(all)-1].Body)
			for i := range 30 {
				if n := strings.Count(body, fmt.Sprintf("twice %d is %d\"", i, 2*i)); n != 1 {
					t.Errorf("%d answers to call %d", n, i)
				}
				if n := strings.Count(body, fmt.Sprintf(`"call-%d"`, i)); n != 2 && provider != "ollama" { // which has no ids
					t.Errorf("%d times the id of call %d", n, i)
				}
			}
			if len(all) != 16 {
				t.Errorf("%d requests", len(all))
			}
		})
	}
}
