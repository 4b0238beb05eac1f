package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// dial returns a Generator of a provider that is a local server with replies.
func dial(t testing.TB, p model.Provider, replies ...et.Reply) (*Generator, *et.Server) {
	t.Helper()
	s := et.NewDialectServer(et.OpenAI, replies...)
	t.Cleanup(s.Close)
	return at(t, p, s.URL), s
}

func at(t testing.TB, p model.Provider, url string) *Generator {
	t.Helper()
	p.BaseURL = url
	g, err := New(p, p.Options(model.Options{}, func(string) string { return "sk-very-secret-key" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// named returns a provider of the table.
func named(t testing.TB, name string) model.Provider {
	t.Helper()
	ps := model.NewProviders(nil, func(string) string { return "" })
	p, err := ps.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGenerator(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := dial(t, named(t, "openai"), replies...)
		return g
	})
}

func TestBreaks(t *testing.T) {
	et.Broken(t, et.OpenAI, `{"error":{"message":"The server had an error","type":"server_error"}}`,
		func(t testing.TB, url string) engine.Generator { return at(t, named(t, "vllm"), url) })
}

// ask returns a request with all that a row of [TestRequest] does not change.
func ask(change func(r *engine.Request)) *engine.Request {
	r := &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)},
		Config: &genai.GenerateContentConfig{}}
	change(r)
	return r
}

// TestRequest has a row for each of what becomes what in a request.
func TestRequest(t *testing.T) {
	user := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleUser, Parts: parts} }
	says := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleModel, Parts: parts} }
	answer := func(id, name string, kv ...any) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: et.Call(id, name, kv...).Args}}
	}
	call := func(id, name string, kv ...any) *genai.Part {
		return &genai.Part{FunctionCall: et.Call(id, name, kv...)}
	}
	blob := func(mime, data string) *genai.Part {
		return &genai.Part{InlineData: &genai.Blob{MIMEType: mime, Data: []byte(data)}}
	}
	history := func(cs ...*genai.Content) func(*engine.Request) {
		return func(r *engine.Request) { r.Contents = cs }
	}
	long := strings.Repeat("x", 70)
	declared := func(r *engine.Request) {
		r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: "f", Description: "does", ParametersJsonSchema: json.RawMessage(`{"$schema":"x","type":"object","properties":{"z":{"type":"string","pattern":"a"},"a":{"type":"integer"}},"required":["z"]}`)},
			{Name: "g"}}}}
	}
	loose := func(r *engine.Request) {
		r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: "f", ParametersJsonSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":["array","null"]},"type":{"type":"array","items":{"type":"object"}}},"anyOf":[{"required":["a"]}]}`)},
			{Name: "g", ParametersJsonSchema: json.RawMessage(`{"required":["a"]}`)}, {Name: "h", ParametersJsonSchema: json.RawMessage(`{"type":"object"}`)}}}}
	}
	for _, c := range []struct {
		name     string
		provider string
		ask      func(*engine.Request)
		want     string // of the body, by the keys that it has
	}{
		{"system text", "openai", func(r *engine.Request) {
			r.Config.SystemInstruction = genai.NewContentFromText("be brief", genai.RoleUser)
		}, `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`},
		{"in one piece", "openai", func(r *engine.Request) { r.OneShot = true }, `{"stream":null,"stream_options":null}`},
		{"a server without usage in streams", "mistral", func(r *engine.Request) {}, `{"stream":true,"stream_options":null}`},
		{"calls side by side", "openai", history(user(&genai.Part{Text: "go"}), says(&genai.Part{Text: "I look"}, call("c1", "f", "a", 1, "b", "<&>"), call("c2", "g")),
			user(answer("c1", "f", "output", "one"), answer("c2", "g", "error", "no"))),
			`{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"I look","tool_calls":[
				{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1,\"b\":\"<&>\"}"}},
				{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"one"},{"role":"tool","tool_call_id":"c2","content":"Error: no"}]}`},
		{"a call without words", "openai", history(says(call("c1", "f")), user(answer("c1", "f", "output", "done", "error", "late"), &genai.Part{Text: "and?"})),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"Error: done\nlate"},{"role":"user","content":"and?"}]}`},
		{"long ids", "openai", history(says(call(long, "f")), user(answer(long, "f", "output", "x"))),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"call_c71bd109227e23434ecf71fd","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"call_c71bd109227e23434ecf71fd","content":"x"}]}`},
		{"narrow ids", "mistral", history(says(call("c-1", "f"), call("abcDEF123", "f")), user(answer("c-1", "f", "output", "x"), answer("abcDEF123", "f", "output", "y"))),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"45tbeen9o","type":"function","function":{"name":"f","arguments":"{}"}},
				{"id":"abcDEF123","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"45tbeen9o","content":"x"},{"role":"tool","tool_call_id":"abcDEF123","content":"y"}]}`},
		{"files", "openai", history(user(&genai.Part{Text: "see"}, blob("image/png", "P"), blob("application/pdf", "D"), blob("audio/wav", "W"), blob("video/mp4", "V"))),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,UA=="}},
				{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,RA=="}},
				{"type":"input_audio","input_audio":{"data":"Vw==","format":"wav"}},
				{"type":"text","text":"[a file of video/mp4 with 1 bytes, which this model can't read]"}]}]}`},
		{"images that no server takes", "openai", history(user(&genai.Part{Text: "see"}, blob("image/bmp", "B"))),
			`{"messages":[{"role":"user","content":"see\n\n[a file of image/bmp with 1 bytes, which this model can't read]"}]}`},
		{"ids of Kimi's", "vllm", func(r *engine.Request) {
			r.Model, r.Contents = "moonshotai/Kimi-K2", []*genai.Content{says(call("functions.f:0", "f"), call("c.1", "g")), user(answer("functions.f:0", "f", "output", "x"))}
		}, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call_255b58d8aa3fb39830e0c31a","type":"function","function":{"name":"g","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"functions.f:0","content":"x"}]}`},
		{"files where none can go", "deepseek", history(user(&genai.Part{Text: "see"}, blob("image/png", "PNG"))),
			`{"messages":[{"role":"user","content":"see\n\n[a file of image/png with 3 bytes, which this model can't read]"}]}`},
		{"a file that a call has read", "openai", history(says(call("c1", "read")), user(answer("c1", "read", "output", "Binary"), blob("image/png", "P"))),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"Binary"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,UA=="}}]}]}`},
		{"thoughts go back to who made them", "deepseek", history(says(&genai.Part{Text: "hm", Thought: true, ThoughtSignature: engine.Sign("deepseek", nil)},
			&genai.Part{Text: "mine", Thought: true, ThoughtSignature: engine.Sign("anthropic", []byte("s"))}, call("c1", "f"))),
			`{"messages":[{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`},
		{"no thoughts where some must go back", "deepseek", history(says(call("c1", "f"))),
			`{"messages":[{"role":"assistant","content":null,"reasoning_content":" ","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`},
		{"details of thoughts", "openrouter", history(says(&genai.Part{Thought: true, ThoughtSignature: engine.Sign("openrouter", []byte(`[{"type":"x"}]`))}, &genai.Part{Text: "a"})),
			`{"messages":[{"role":"assistant","content":"a","reasoning_details":[{"type":"x"}]}]}`},
		{"no other signature", "openai", history(says(&genai.Part{FunctionCall: et.Call("c1", "f"), ThoughtSignature: []byte("google's")})),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`},
		{"tools", "openai", declared, `{"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{"z":{"type":"string","pattern":"a"},"a":{"type":"integer"}},"required":["z"]}}},
			{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":null}`},
		{"names that only Google takes", "vllm", func(r *engine.Request) {
			r.Contents = []*genai.Content{says(call("c1", "mcp_git.hub_issue:get"))}
			r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "mcp_git.hub_issue:get"}, {Name: "mcp_git.hub_issue.get"}, {Name: long}}}}
			r.Config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{long}}}
		}, `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"mcp_git_hub_issue_get_8a3be8","arguments":"{}"}}]}],
			"tools":[{"type":"function","function":{"name":"mcp_git_hub_issue_get_8a3be8","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"mcp_git_hub_issue_get_0d8393","parameters":{"type":"object","properties":{}}}},
			{"type":"function","function":{"name":"` + long[:57] + `_c71bd1","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"` + long[:57] + `_c71bd1"}}}`},
		{"schemas that say little", "openai", loose, `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":["array","null"],"items":{}},"type":{"type":"array","items":{"type":"object","properties":{}}}}}}},
			{"type":"function","function":{"name":"g","parameters":{"type":"object","required":["a"],"properties":{}}}},{"type":"function","function":{"name":"h","parameters":{"type":"object","properties":{}}}}]}`},
		{"schemas that say little, where they may", "vllm", loose, `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"type":["array","null"]},"type":{"type":"array","items":{"type":"object"}}},"anyOf":[{"required":["a"]}]}}},
			{"type":"function","function":{"name":"g","parameters":{"type":"object","required":["a"]}}},{"type":"function","function":{"name":"h","parameters":{"type":"object"}}}]}`},
		{"a file that a call has read, where the model speaks first", "mistral", history(says(call("abcDEF123", "read")), user(answer("abcDEF123", "read", "output", "Binary"), blob("image/png", "P"))),
			`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"abcDEF123","type":"function","function":{"name":"read","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"abcDEF123","content":"Binary"},{"role":"assistant","content":"[Tool execution completed.]"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,UA=="}}]}]}`},
		{"schemas that are cut", "llamacpp", declared, `{"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}}},
			{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}]}`},
		{"a call that must be made", "openai", func(r *engine.Request) {
			declared(r)
			r.Config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"f"}}}
		}, `{"tool_choice":{"type":"function","function":{"name":"f"}}}`},
		{"no calls", "openai", func(r *engine.Request) {
			declared(r)
			r.Config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
		}, `{"tool_choice":"none"}`},
		{"a schema of the answer", "openai", func(r *engine.Request) {
			r.Config.ResponseJsonSchema = json.RawMessage(`{"type":"object"}`)
		}, `{"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}}`},
		{"a schema where JSON is all", "deepseek", func(r *engine.Request) {
			r.Config.ResponseJsonSchema = json.RawMessage(`{"type":"object"}`)
		}, `{"response_format":{"type":"json_object"}}`},
		{"settings", "vllm", func(r *engine.Request) {
			r.Config.MaxOutputTokens, r.Config.Temperature, r.Config.TopP, r.Config.Seed = 9, genai.Ptr[float32](0.5), genai.Ptr[float32](0.25), genai.Ptr[int32](3)
			r.Config.StopSequences, r.Config.ThinkingConfig = []string{"END"}, &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"max_completion_tokens":9,"max_tokens":null,"temperature":0.5,"top_p":0.25,"seed":3,"stop":["END"],"reasoning_effort":null}`},
		{"settings of a model that thinks", "openai", func(r *engine.Request) {
			r.Model = "gpt-5-mini"
			r.Config.MaxOutputTokens, r.Config.Temperature = 9, genai.Ptr[float32](0.5)
			r.Config.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: "MINIMAL"}
		}, `{"model":"gpt-5-mini","max_completion_tokens":9,"temperature":null,"reasoning_effort":"low"}`},
		{"an older name of the longest answer", "lmstudio", func(r *engine.Request) { r.Config.MaxOutputTokens = 9 }, `{"max_completion_tokens":null,"max_tokens":9}`},
		{"a budget of thoughts", "openai", func(r *engine.Request) {
			r.Model, r.Config.ThinkingConfig = "gpt-5", &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](8000)}
		}, `{"reasoning_effort":"medium"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, named(t, c.provider), et.Says("ok"))
			for _, err := range g.Generate(t.Context(), ask(c.ask)) {
				if err != nil {
					t.Fatal(err)
				}
			}
			got := s.Requests()[0]
			var want map[string]any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			has := map[string]any{}
			for key := range want {
				has[key] = got.JSON()[key]
			}
			if diff := cmp.Diff(want, has); diff != "" {
				t.Errorf("%s\n%s", diff, got.Body)
			}
			if key := got.Header.Get("Authorization"); (key == "") != (named(t, c.provider).KeyVariable == "") {
				t.Errorf("authorization %q", key)
			}
		})
	}
}

// heard is what a Generator has said.
type heard struct {
	Text, Thought string
	Calls         []genai.FunctionCall
	Signed        []string
	Images        []string
	Finish        genai.FinishReason
	Block         string
	Model         string
	Tokens        [4]int32 // of the prompt, cached, of the answer, of thoughts
	Err           string
	Kind          model.Kind // of Err, where it is that the conversation is too long
}

func listen(t *testing.T, g engine.Generator, req *engine.Request) (h heard) {
	t.Helper()
	for c, err := range g.Generate(t.Context(), req) {
		if err != nil {
			h.Err = err.Error()
			if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.Overflow {
				h.Kind = e.Kind
			}
			break
		}
		if u := c.UsageMetadata; u != nil {
			h.Tokens = [4]int32{u.PromptTokenCount, u.CachedContentTokenCount, u.CandidatesTokenCount, u.ThoughtsTokenCount}
		}
		if c.PromptFeedback != nil {
			h.Block = c.PromptFeedback.BlockReasonMessage
			continue
		}
		h.Model = c.ModelVersion
		if r := c.Candidates[0].FinishReason; r != "" {
			h.Finish = r
		}
		for _, p := range c.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				h.Calls = append(h.Calls, *p.FunctionCall)
			case p.Thought && len(p.ThoughtSignature) > 0:
				h.Signed = append(h.Signed, string(p.ThoughtSignature))
			case p.Thought:
				h.Thought += p.Text
			case p.InlineData != nil:
				h.Images = append(h.Images, p.InlineData.MIMEType+" "+string(p.InlineData.Data))
			default:
				h.Text += p.Text
			}
		}
	}
	return h
}

// TestAnswer has a row for each of what becomes what in an answer, and for each fault that
// models and servers have.
func TestAnswer(t *testing.T) {
	events := func(all ...string) et.Reply {
		return et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"text/event-stream"}},
			Pieces: []string{"data: " + strings.Join(all, "\n\ndata: ") + "\n\n"}}}
	}
	delta := func(s string) string { return `{"choices":[{"index":0,"delta":` + s + `}]}` }
	over := func(reason string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
	}
	const usage = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":6,"total_tokens":16,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`
	const dotted = "mcp_git.hub_issue:get"
	f := func(id string, kv ...any) genai.FunctionCall { return *et.Call(id, "f", kv...) }
	said := func(h heard) heard {
		if h.Tokens == [4]int32{} {
			h.Tokens = [4]int32{10, 4, 4, 2}
		}
		if h.Finish == "" && h.Err == "" && h.Block == "" {
			h.Finish = genai.FinishReasonStop
		}
		return h
	}
	stop := []string{over("stop"), usage, "[DONE]"}
	with := func(all ...string) et.Reply { return events(append(all, stop...)...) }
	text := func(s string) string { return delta(`{"content":` + string(mustJSON(s)) + `}`) }
	for _, c := range []struct {
		name     string
		provider string
		reply    et.Reply
		want     heard
	}{
		{"text", "vllm", with(text("a"), text("b")), said(heard{Text: "ab"})},
		{"the model", "vllm", with(`{"model":"big-1","choices":[{"index":0,"delta":{"content":"a"}}]}`), said(heard{Text: "a", Model: "vllm/big-1"})},
		{"thoughts", "vllm", with(delta(`{"reasoning_content":"h"}`), delta(`{"reasoning":"m"}`), text("a")), said(heard{Thought: "hm", Text: "a"})},
		{"thoughts that go back", "deepseek", with(delta(`{"reasoning_content":"hm"}`), text("a")), said(heard{Thought: "hm", Text: "a", Signed: []string{"gemline:deepseek:"}})},
		{"details of thoughts", "openrouter", with(delta(`{"reasoning":"hm","reasoning_details":[{"a":1}]}`), delta(`{"reasoning_details":[{"b":2}]}`), text("a")),
			said(heard{Thought: "hm", Text: "a", Signed: []string{`gemline:openrouter:[{"a":1},{"b":2}]`}})},
		{"details of thoughts in pieces", "openrouter", with(delta(`{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","format":"anthropic-claude-v1","index":0}]}`),
			delta(`{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"format":"anthropic-claude-v1"}]}`), delta(`{"reasoning_details":[{"type":"reasoning.text","signature":"S","text":null,"index":0}]}`),
			delta(`{"reasoning_details":[{"type":"reasoning.text","text":"!","index":0},{"type":"reasoning.encrypted","data":"D","index":1},{"type":"reasoning.encrypted","data":"E","index":1},7]}`), text("a")),
			said(heard{Thought: "hm!", Text: "a", Signed: []string{`gemline:openrouter:[{"format":"anthropic-claude-v1","index":0,"signature":"S","text":"hm","type":"reasoning.text"},{"index":0,"text":"!","type":"reasoning.text"},{"data":"D","index":1,"type":"reasoning.encrypted"},{"data":"E","index":1,"type":"reasoning.encrypted"}]`}})},
		{"content in parts", "mistral", with(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}]}`)), said(heard{Thought: "hm", Text: "a"})},
		{"calls in pieces", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a\""}}]}`), delta(`{"tool_calls":[{"index":1,"id":"2","function":{"name":"f","arguments":""}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0), f("2")}})},
		{"calls of a name that only Google takes", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"mcp_git_hub_issue_get_8a3be8","arguments":"{}"}}]}`)), said(heard{Calls: []genai.FunctionCall{*et.Call("1", dotted)}})},
		{"a call as text, of a name that only Google takes", "vllm", with(text(`<tool_call>{"name":"mcp_git_hub_issue_get_8a3be8","arguments":{}}</tool_call>`)), said(heard{Calls: []genai.FunctionCall{*et.Call("", dotted)}})},
		{"calls without index", "vllm", with(delta(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":"}}]}`), delta(`{"tool_calls":[{"function":{"arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"id":"2","function":{"name":"f","arguments":"{}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0), f("2")}})},
		{"calls of one index", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"2","function":{"name":"f","arguments":"{}"}}]}`)),
			said(heard{Calls: []genai.FunctionCall{f("1"), f("2")}})},
		{"calls of one index without ids", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\""}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f(""), f("", "a", 1.0)}})},
		{"calls of one index without ids, whose arguments begin empty", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f(""), f("", "a", 1.0)}})},
		{"calls of one index with a name in each piece", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"g","arguments":""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"{}"}}]}`)),
			said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0), *et.Call("", "g")}})},
		{"calls without index with a name in each piece", "vllm", with(delta(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":"}}]}`), delta(`{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"1}"}}]}`),
			delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}`), delta(`{"tool_calls":[{"function":{"name":"f","arguments":"}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0), f("")}})},
		{"a call that is said twice", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\""}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`),
			delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"a name behind the arguments", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1")}})},
		{"calls without ids", "vllm", with(delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`)), said(heard{Calls: []genai.FunctionCall{f("")}})},
		{"a call as of old", "vllm", with(delta(`{"content":null,"function_call":{"name":"f","arguments":""}}`), delta(`{"function_call":{"arguments":"{\"a\":"}}`), delta(`{"function_call":{"arguments":"1}"}}`)), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"arguments that are an object", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":{"a":1}}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0)}})},
		{"no arguments, in a text in a text", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"\"\""}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1")}})},
		{"arguments in a text in a text", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"\"{\\\"a\\\":1}\""}}]}`)), said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0)}})},
		{"arguments that begin with null", "vllm", with(delta(`{"content":null,"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":null}}]}`), delta(`{"tool_calls":[{"index":0,"id":null,"function":{"name":null,"arguments":"{\"a\":1}"}}]}`)),
			said(heard{Calls: []genai.FunctionCall{f("1", "a", 1.0)}})},
		{"calls counted from one", "vllm", with(text("Reading."), delta(`{"tool_calls":[{"index":1,"id":"1","type":"function","function":{"name":"f","arguments":""}}]}`), delta(`{"tool_calls":[{"index":1,"function":{"arguments":""}}]}`),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"a\":1}"}}]}`)), said(heard{Text: "Reading.", Calls: []genai.FunctionCall{f("1", "a", 1.0)}})},
		{"empty lists of calls", "vllm", with(delta(`{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[]}`), delta(`{"content":"a","reasoning_content":"","tool_calls":[]}`)), said(heard{Thought: "hm", Text: "a"})},
		{"a placeholder first, and filters", "azure", events(`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`,
			`{"choices":[{"content_filter_results":{},"delta":{"content":"a","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"model":"m","obfuscation":"D3","usage":null}`, over("stop"),
			`{"choices":[{"content_filter_offsets":{"check_offset":0},"finish_reason":null,"index":0}],"model":"m"}`, usage, "[DONE]"), said(heard{Text: "a"})},
		{"thoughts and text in a piece, usage beside the end", "mistral", events(delta(`{"role":"assistant","content":""}`), `{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"a"}]},"finish_reason":null}],"p":"abcdef"}`,
			`{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"total_tokens":16,"completion_tokens":6,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`, "[DONE]"), said(heard{Thought: "hm", Text: "ab"})},
		{"arguments that are no JSON", "vllm", with(delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{a:"}}]}`)), said(heard{Finish: genai.FinishReasonMalformedFunctionCall})},
		{"an answer that is too long", "vllm", events(text("a"), over("length"), usage, "[DONE]"), said(heard{Text: "a", Finish: genai.FinishReasonMaxTokens})},
		{"a call that is cut off before its arguments", "vllm", events(text("a"), delta(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]}`), over("length"), usage, "[DONE]"), said(heard{Text: "a", Finish: genai.FinishReasonMaxTokens})},
		{"an answer that is withheld", "vllm", events(text("a"), over("content_filter"), usage, "[DONE]"), said(heard{Text: "a", Finish: genai.FinishReasonSafety})},
		{"an answer that is too long, by Mistral's word", "mistral", events(text("a"), over("model_length"), usage, "[DONE]"), said(heard{Text: "a", Finish: genai.FinishReasonMaxTokens})},
		{"a filter by Zhipu's word", "vllm", events(text("a"), over("sensitive"), usage, "[DONE]"), said(heard{Text: "a", Finish: genai.FinishReasonSafety})},
		{"a connection that is reset behind the finish reason", "vllm", et.Reset(events(text("a"), over("stop"), usage)), said(heard{Text: "a"})},
		{"a server without resources, and a reset", "deepseek", et.Reset(events(text("a"), over("insufficient_system_resource"), usage)), said(heard{Text: "a", Err: "the answer of HOST broke off"})},
		{"a server without resources", "deepseek", events(text("a"), over("insufficient_system_resource"), usage, "[DONE]"), said(heard{Text: "a", Err: "the answer of HOST broke off"})},
		{"an answer that the server gave up", "vllm", events(text("a"), over("abort"), usage, "[DONE]"), said(heard{Text: "a", Err: "the answer of HOST broke off"})},
		{"a refusal", "openai", with(delta(`{"refusal":"I can't"}`)), said(heard{Block: "I can't"})},
		{"no finish reason, but whole", "vllm", events(text("a"), usage, "[DONE]"), said(heard{Text: "a"})},
		{"space around the mark at the end", "vllm", events(text("a"), over("stop"), usage, " [DONE] "), said(heard{Text: "a"})},
		{"no finish reason", "vllm", events(text("a"), usage), said(heard{Text: "a", Err: "the answer of HOST broke off"})},
		{"no mark at the end", "vllm", events(text("a"), over("stop"), usage), said(heard{Text: "a"})},
		{"no usage", "vllm", events(text("aaaaaaaa"), over("stop"), "[DONE]"), heard{Text: "aaaaaaaa", Finish: genai.FinishReasonStop, Tokens: [4]int32{0, 0, 2, 0}}},
		{"thoughts beside the answer's tokens", "xai", events(text("a"), over("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":16,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`, "[DONE]"), said(heard{Text: "a"})},
		{"an error", "openrouter", events(text("a"), `{"error":{"code":429,"message":"slow down"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`), heard{Text: "a", Err: "the server refused: slow down (429)"}},
		{"an error that is a field", "llamacpp", et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"text/event-stream"}},
			Pieces: []string{"data: " + text("a") + "\n\n", "error: {\"code\":400,\"message\":\"the context size is exceeded\",\"type\":\"exceed_context_size_error\"}\n\n"}}}, heard{Text: "a", Kind: model.Overflow, Err: "the context size is exceeded (400 exceed_context_size_error)"}},
		{"too much, in the midst", "lmstudio", et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"text/event-stream"}},
			Pieces: []string{"event: error\ndata: {\"error\":{\"message\":\"The number of tokens to keep from the initial prompt is greater than the context length.\"}}\n\n"}}},
			heard{Kind: model.Overflow, Err: "The number of tokens to keep from the initial prompt is greater than the context length. (500)"}},
		{"an error of a choice", "openrouter", events(text("a"), `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"the model is cold"}}]}`), heard{Text: "a", Err: "the model is cold (502)"}},
		{"an error with 200", "vllm", et.Whole(`{"code":1113,"msg":"Insufficient balance","success":false}`), heard{Err: "nothing is left to pay with: Insufficient balance (500)"}},
		{"a detail with 200", "vllm", et.Whole(`{"detail":"Not authenticated"}`), heard{Err: "Not authenticated (500)"}},
		{"images in another form", "vllm", with(delta(`{"content":"a","images":["data:image/png;base64,UA=="]}`), text("b")), said(heard{Text: "ab"})},
		{"an image", "openrouter", with(text("a"), delta(`{"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,UA=="}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`)), said(heard{Text: "a", Images: []string{"image/png P"}})},
		{"another choice", "vllm", with(`{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}`), said(heard{Text: "a"})},
		{"one document", "vllm", et.Whole(`{"model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"a","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],
			"usage":{"prompt_tokens":10,"completion_tokens":6,"total_tokens":16,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`), said(heard{Text: "a", Model: "vllm/x", Calls: []genai.FunctionCall{f("1"), f("2")}})},
		{"pieces beside all of it", "vllm", with(`{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"delta":{"role":"assistant","content":"a"}}]}`, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ab"},"delta":{"content":"b"}}]}`,
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ab"},"delta":{"content":""}}]}`), said(heard{Text: "ab"})},
		{"one document with an empty piece", "vllm", et.Whole(`{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"delta":{"role":"assistant","content":""},"finish_reason":"stop"}],
			"usage":{"prompt_tokens":10,"completion_tokens":6,"total_tokens":16,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`), said(heard{Text: "a"})},
		{"ids that are numbers", "vllm", with(`{"id":7,"choices":[{"index":"0","delta":{"tool_calls":[{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}]}}]}`), said(heard{Calls: []genai.FunctionCall{f("7")}})},
		{"counts that are no whole numbers", "vllm", events(text("a"), over("stop"), `{"choices":[],"usage":{"prompt_tokens":10.0,"completion_tokens":"6","total_tokens":null,"prompt_tokens_details":{"cached_tokens":4e0},"completion_tokens_details":{"reasoning_tokens":2}}}`, "[DONE]"), said(heard{Text: "a"})},
		{"objects in the place of texts", "vllm", with(delta(`{"content":"a","refusal":{},"reasoning":{"text":"x"}}`)), said(heard{Text: "a"})},
		{"an error that is the event itself", "vllm", events(`{"object":"error","message":"the engine is dead","type":"InternalServerError","code":500}`), heard{Err: "the engine is dead (500 InternalServerError)"}},
		{"a call as text", "vllm", with(text("<tool"), text(`_call>{"name":"f","arg`), text("uments\":{\"a\":1}}</tool_call>\n")), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"two calls as text", "vllm", with(text(`<tool_call>{"name":"f","arguments":{}}</tool_call> <tool_call>{"name":"f","arguments":"{}"}</tool_call>`)), said(heard{Calls: []genai.FunctionCall{f(""), f("")}})},
		{"a call in a block", "vllm", with(text("```json\n{\"name\": \"f\", \"parameters\": {\"a\": 1}}\n```")), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"a call as JSON", "vllm", with(text(`{"type":"function","function":{"name":"f","arguments":{}}}`)), said(heard{Calls: []genai.FunctionCall{f("")}})},
		{"a call with words", "vllm", with(text("I call it: "), text(`<tool_call>{"name":"f","arguments":{}}</tool_call>`)), said(heard{Text: `I call it: <tool_call>{"name":"f","arguments":{}}</tool_call>`})},
		{"a call and words", "vllm", with(text(`<tool_call>{"name":"f","arguments":{}}</tool_call>`), text(" is how")), said(heard{Text: `<tool_call>{"name":"f","arguments":{}}</tool_call> is how`})},
		{"a call of no tool", "vllm", with(text(`{"name":"rm","arguments":{}}`)), said(heard{Text: `{"name":"rm","arguments":{}}`})},
		{"JSON that is no call", "vllm", with(text(`{"name":"f","arguments":{},"why":1}`)), said(heard{Text: `{"name":"f","arguments":{},"why":1}`})},
		{"a list of calls", "vllm", with(text(`[{"name":"f","arguments":{}}`), text(`]`)), said(heard{Calls: []genai.FunctionCall{f("")}})},
		{"a list of notes", "vllm", with(text(`[`), text(`1] A note`)), said(heard{Text: "[1] A note"})},
		{"calls behind Mistral's mark", "vllm", with(text("[TOOL_"), text(`CALLS][{"name":"f","arguments":{"a":1}}]`)), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"a call behind Llama's mark", "vllm", with(text(`<|python_tag|>{"name":"f","parameters":{"a":1}}`)), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"a call of Llama's in an element", "vllm", with(text(`<function=f>{"a":1}</function>`)), said(heard{Calls: []genai.FunctionCall{f("", "a", 1.0)}})},
		{"calls in elements", "vllm", with(text("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n1\n</parameter>\n</function>\n</tool_call>"), text("<tool_call><function=f></function></tool_call>")),
			said(heard{Calls: []genai.FunctionCall{f("", "a", "1", "b", 1.0), f("")}})},
		{"calls behind Mistral's newer marks", "vllm", with(text("[TOOL_CALLS]f[AR"), text(`GS]{"a":"{"}[TOOL_CALLS]f{}`)), said(heard{Calls: []genai.FunctionCall{f("", "a", "{"), f("")}})},
		{"Mistral's mark with words", "vllm", with(text(`[TOOL_CALLS]f[ARGS]{} is a call`)), said(heard{Text: `[TOOL_CALLS]f[ARGS]{} is a call`})},
		{"a tag that Qwen's coders forget", "vllm", with(text("<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=f>\n</function>\n</tool_call>")), said(heard{Calls: []genai.FunctionCall{f("", "a", "x"), f("")}})},
		{"a call without its end", "vllm", with(text(`<tool_call>{"name":"f","arguments":{}}`)), said(heard{Calls: []genai.FunctionCall{f("")}})},
		{"a call that is cut off", "vllm", with(text(`<tool_call>{"name":"f","arg`)), said(heard{Text: `<tool_call>{"name":"f","arg`})},
		{"a name that is cut off", "vllm", with(text(`<tool_call>f`)), said(heard{Text: `<tool_call>f`})},
		{"two calls in a tag", "vllm", with(text("<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>")), said(heard{Calls: []genai.FunctionCall{f(""), f("")}})},
		{"two calls of Llama's", "vllm", with(text(`{"name":"f","parameters":{}}; {"name":"f","parameters":{}}`)), said(heard{Calls: []genai.FunctionCall{f(""), f("")}})},
		{"calls of GLM", "vllm", with(text("<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n<tool_call>f</tool_call>")), said(heard{Calls: []genai.FunctionCall{f("", "a", "1", "b", 1.0), f("")}})},
		{"an element with words", "vllm", with(text("<function=f> is a function")), said(heard{Text: "<function=f> is a function"})},
		{"an element of no tool", "vllm", with(text("<function=rm></function>")), said(heard{Text: "<function=rm></function>"})},
		{"a thought in tags", "vllm", with(text("\n<th"), text("ink>\nhm </thin"), text("g></"), text("think>\n"), text("\na</think>")), said(heard{Thought: "hm </thing>", Text: "a</think>"})},
		{"a thought in tags, and a call", "vllm", with(text("<think>hm</think>\n\n<tool_call>"), text(`{"name":"f","arguments":{}}</tool_call>`)), said(heard{Thought: "hm", Calls: []genai.FunctionCall{f("")}})},
		{"a thought that the prompt begins, and a call", "vllm", with(text("hm\n"), text("</think>"), text("\n\n<tool_call>"), text(`{"name":"f","arguments":{}}</tool_call>`)), said(heard{Text: "hm\n</think>", Calls: []genai.FunctionCall{f("")}})},
		{"a thought that the prompt begins, and a call, in one piece", "vllm", with(text("hm\n</think>\n\n<tool_call>" + `{"name":"f","arguments":{}}</tool_call>`)), said(heard{Text: "hm\n</think>", Calls: []genai.FunctionCall{f("")}})},
		{"a thought that the prompt begins, and words", "vllm", with(text("hm\n</think>"), text("\n\nSo.")), said(heard{Text: "hm\n</think>\n\nSo."})},
		{"the end of a thought in a call", "vllm", with(text(`{"name":"f","arguments":{"a":"</think>"}}`)), said(heard{Calls: []genai.FunctionCall{f("", "a", "</think>")}})},
		{"no thought in tags", "vllm", with(text("<think>"), text("\n\n</think>\n\na")), said(heard{Text: "a"})},
		{"a thought without an end", "vllm", events(text("<think>hm</th"), over("length"), usage, "[DONE]"), said(heard{Thought: "hm</th", Finish: genai.FinishReasonMaxTokens})},
		{"the beginning of a tag", "vllm", with(text(" <thi")), said(heard{Text: " <thi"})},
		{"a tag later", "vllm", with(text("a "), text("<think>b</think>")), said(heard{Text: "a <think>b</think>"})},
		{"code", "vllm", with(text("```go\n"), text("{}\n```")), said(heard{Text: "```go\n{}\n```"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, named(t, c.provider), c.reply)
			req := ask(func(r *engine.Request) {
				r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f",
					ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}, "b": map[string]any{"type": "integer"}}}}, {Name: dotted}}}}
			})
			got := listen(t, g, req)
			got.Err = strings.ReplaceAll(got.Err, strings.TrimPrefix(s.URL, "http://"), "HOST")
			if c.want.Model == "" {
				got.Model = ""
			}
			if c.want.Err != "" {
				got.Tokens = c.want.Tokens
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// TestToolless asks a model that takes no tools without them, from then on, and says so once.
func TestToolless(t *testing.T) {
	refused := et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","code":400}}`}}
	g, s := dial(t, named(t, "vllm"), refused, et.Says("hi"), et.Says("again"))
	var told []string
	for _, want := range []string{"hi", "again"} {
		h := listen(t, g, ask(func(r *engine.Request) {
			r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}
			r.Notify = func(ev engine.Event) { told = append(told, ev.(engine.Notice).Text) }
		}))
		if h.Text != want || h.Err != "" {
			t.Errorf("heard %+v", h)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "vllm/m takes no tools") {
		t.Errorf("told %q", told)
	}
	for i, r := range s.Requests() {
		if _, has := r.JSON()["tools"]; has != (i == 0) {
			t.Errorf("request %d has tools: %v", i, has)
		}
	}
}

// TestRefused describes what a model does not take, from then on, in the words of servers.
func TestRefused(t *testing.T) {
	for said, what := range map[string]string{
		"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj": "image/png", // llama.cpp
		"m is not a multimodal model":                                     "image/png", // vLLM
		"No endpoints found that support image input":                     "image/png", // OpenRouter
		"Model does not support images. Please use a model that does.":    "image/png", // LM Studio
		"messages[0]: unknown variant `image_url`, expected `text`":       "image/png",
		"unsupported content[].type":                                      "application/pdf",
		"audio input is not supported - hint: you may need the mmproj":    "audio/wav",
		"Unsupported parameter: 'tools' is not supported with this model": "",
		"`tool calling` is not supported with this model":                 "", // Groq
		"Function calling is not enabled for this model":                  "", // Mistral
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said}})
		g, s := dial(t, named(t, "openrouter"), et.Reply{Wire: &et.Wire{Status: 404, Body: string(body)}}, et.Says("hi"), et.Says("again"))
		told := 0
		for _, want := range []string{"hi", "again"} {
			h := listen(t, g, ask(func(r *engine.Request) {
				r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}
				if what != "" {
					r.Contents[0].Parts = append(r.Contents[0].Parts, &genai.Part{InlineData: &genai.Blob{MIMEType: what, Data: []byte("1")}})
				}
				r.Notify = func(engine.Event) { told++ }
			}))
			if h.Text != want || h.Err != "" {
				t.Errorf("%s: heard %+v", said, h)
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", said, told)
		}
		for i, r := range s.Requests() {
			_, tools := r.JSON()["tools"]
			messages, _ := json.Marshal(r.JSON()["messages"])
			if described := strings.Contains(string(messages), "this model can't read"); tools != (what != "" || i == 0) || described != (what != "" && i > 0) {
				t.Errorf("%s: request %d has tools (%v) and %s", said, i, tools, messages)
			}
		}
	}
}

// TestAdapts says what a server refuses in another form, from then on, and says nothing of that.
func TestAdapts(t *testing.T) {
	for said, form := range map[string]string{
		"Invalid schema for function 'f': In context=('properties', 'a'), array schema missing items.":                                        `"items":{}`,
		"Invalid schema for function 'f': In context=(), object schema missing properties.":                                                   `"items":{}`,
		"Invalid schema for function 'f': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.": `"items":{}`,
		"Unexpected role 'user' after role 'tool'":                                                                                            "completed",
		"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.":    "completed",
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said}})
		g, s := dial(t, named(t, "vllm"), et.Reply{Wire: &et.Wire{Status: 400, Body: string(body)}}, et.Says("hi"), et.Says("again"))
		for _, want := range []string{"hi", "again"} {
			h := listen(t, g, ask(func(r *engine.Request) {
				r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", ParametersJsonSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"array"}}}`)}}}}
				r.Contents = []*genai.Content{genai.NewContentFromText("go", genai.RoleUser), {Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: et.Call("1", "f")}}},
					{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f"}}, {Text: "and?"}}}}
				r.Notify = func(ev engine.Event) { t.Errorf("told %v", ev) }
			}))
			if h.Text != want || h.Err != "" {
				t.Errorf("%s: heard %+v", said, h)
			}
		}
		for i, r := range s.Requests() {
			if strings.Contains(string(r.Body), form) != (i > 0) {
				t.Errorf("%s: request %d is %s", said, i, r.Body)
			}
		}
	}
}

// TestErrors sees that errors speak of the provider, and hold no key.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		reply et.Reply
		kind  model.Kind
		want  string
	}{
		"key": {et.Reply{Wire: &et.Wire{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-very-secret-key.","code":"invalid_api_key"}}`}},
			model.Auth, "export OPENAI_API_KEY=..., or store a key with gemline auth set-key openai, in a session with /auth signin openai"},
		"no credit": {et.Reply{Wire: &et.Wire{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}},
			model.Auth, "see what the account at openai has left"},
		"little credit": {et.Reply{Wire: &et.Wire{Status: 402, Body: `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 9 tokens, but can only afford 1.","code":402}}`}},
			model.Auth, "by maxOutputTokens"},
		"later": {et.Reply{Wire: &et.Wire{Status: 429, Header: http.Header{"Retry-After": {"10800"}}, Body: `{"error":{"message":"Rate limit exceeded: free-models-per-day.","code":429}}`}},
			model.Quota, "try again in 3h00m, or choose another model"},
		"too much to write": {et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"message":"max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.","code":"invalid_value"}}`}},
			model.BadRequest, "set maxOutputTokens"},
		"a territory": {et.Reply{Wire: &et.Wire{Status: 403, Body: `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`}},
			model.Auth, "choose another model"},
		"no such model": {et.Reply{Wire: &et.Wire{Status: 404, Body: `{"error":{"message":"The model does not exist","code":"model_not_found"}}`}},
			model.NotFound, "choose another model"},
		"no such path":          {et.Reply{Wire: &et.Wire{Status: 404, Body: `404 page not found`}}, model.Config, "check OPENAI_BASE_URL"},
		"no such path, of vLLM": {et.Reply{Wire: &et.Wire{Status: 404, Body: `{"detail":"Not Found"}`}}, model.Config, "check OPENAI_BASE_URL"},
		"no such path, of llama.cpp": {et.Reply{Wire: &et.Wire{Status: 404, Body: `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`}},
			model.Config, "check OPENAI_BASE_URL"},
		"no such path, of LM Studio": {et.Whole(`{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`), model.Config, "check OPENAI_BASE_URL"},
		"a parameter": {et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'top_p' is not supported with this model"}}`}},
			model.BadRequest, `put "lacks": ["effort","loose_schemas","temperature"] into providers.openai`},
		"a thought that is missing": {et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API."}}`}},
			model.BadRequest, `put "thoughts": "reasoning_content" into providers.openai`},
		"elsewhere": {et.Reply{Wire: &et.Wire{Status: 301, Body: "moved"}}, model.Config, "set OPENAI_BASE_URL"},
		"too long": {et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":{"message":"maximum context length is 10","code":"context_length_exceeded"}}`}},
			model.Overflow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := dial(t, named(t, "openai"), c.reply)
			for _, err := range g.Generate(t.Context(), ask(func(*engine.Request) {})) {
				var e *model.Error
				if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Hint(), c.want) {
					t.Errorf("error %v (%+v)", err, e)
				}
				if e != nil && strings.Contains(e.Message+e.Advice, "very-secret") {
					t.Errorf("the key is told: %s", e.Message)
				}
			}
		})
	}
}

// TestKeyTravels lets a key travel by http on this machine alone.
func TestKeyTravels(t *testing.T) {
	key := func(string) string { return "sk-very-secret-key" }
	for _, c := range []struct {
		url, variable string
		ok            bool
	}{
		{"http://127.0.0.1:1/v1", "K", true}, {"http://localhost:1/v1", "K", true}, {"https://example.com/v1", "K", true},
		{"http://example.com/v1", "K", false}, {"http://192.168.1.2:8000/v1", "K", false},
		{"http://192.168.1.2:8000/v1", "", true}, {"http://u:p@192.168.1.2:8000/v1", "", false}, {"", "K", false},
	} {
		p := model.Provider{Name: "x", Protocol: model.OpenAI, BaseURL: c.url, KeyVariable: c.variable}
		if _, err := New(p, p.Options(model.Options{}, key)); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	p := model.Provider{Name: "x", Protocol: model.OpenAI, BaseURL: "http://192.168.1.2:8000/v1", Headers: map[string]string{"X-Key": "1"}}
	if _, err := New(p, p.Options(model.Options{}, key)); err == nil {
		t.Error("a header travels by http to another machine")
	}
}
