package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/redact"
)

func dial(t testing.TB, replies ...et.Reply) (*Generator, *et.Server) {
	t.Helper()
	s := et.NewDialectServer(et.Anthropic, replies...)
	t.Cleanup(s.Close)
	s.Others = map[string][]et.Reply{"/count_tokens": {et.Whole(`{"input_tokens":42}`)}}
	return at(t, s.URL, model.Options{}), s
}

func at(t testing.TB, url string, o model.Options) *Generator {
	t.Helper()
	ps := model.NewProviders(map[string]any{"anthropic": map[string]any{"baseUrl": url}}, func(string) string { return "" })
	p, err := ps.Named("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(p, p.Options(o, func(string) string { return "sk-ant-very-secret" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func TestGenerator(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := dial(t, replies...)
		return g
	})
}

func TestBroken(t *testing.T) {
	et.Broken(t, et.Anthropic, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		func(t testing.TB, url string) engine.Generator { return at(t, url, model.Options{}) })
}

func TestCount(t *testing.T) {
	g, s := dial(t)
	n, err := g.Count(t.Context(), &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)}})
	if r := s.Requests()[0]; n != 42 || err != nil || r.Path != "/v1/messages/count_tokens" {
		t.Errorf("%d, %v by %s", n, err, r.Path)
	}
}

// TestRequest has a row for each of what becomes what in a request.
func TestRequest(t *testing.T) {
	says := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleModel, Parts: parts} }
	user := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleUser, Parts: parts} }
	answer := func(id, name, key, value string) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{key: value}}}
	}
	history := func(cs ...*genai.Content) func(*engine.Request) { return func(r *engine.Request) { r.Contents = cs } }
	thought := func(text, by, own string) *genai.Part {
		return &genai.Part{Text: text, Thought: true, ThoughtSignature: engine.Sign(by, []byte(own))}
	}
	const hi = `{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}`
	declared := func(r *engine.Request) {
		r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", Description: "does",
			ParametersJsonSchema: json.RawMessage(`{"type":"object","anyOf":[{"required":["a"]}],"properties":{"a":{"anyOf":[{"type":"string"}]}}}`)}, {Name: "g.h"}}}}
	}
	for _, c := range []struct {
		name string
		ask  func(*engine.Request)
		want string // of the body, by the keys that it has
	}{
		{"system text", func(r *engine.Request) {
			r.Config.SystemInstruction = genai.NewContentFromText("be brief", genai.RoleUser)
		}, `{"system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"messages":[` + hi + `],"stream":true,"max_tokens":32000}`},
		{"calls side by side, and files", history(user(&genai.Part{Text: "go"}), says(&genai.Part{Text: "I look"}, &genai.Part{FunctionCall: et.Call("c1", "f", "a", 1)}, &genai.Part{FunctionCall: et.Call("c.2", "g.h")}),
			user(&genai.Part{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("P")}}, answer("c1", "f", "output", "one"), answer("c.2", "g", "error", "no"),
				&genai.Part{InlineData: &genai.Blob{MIMEType: "application/pdf", Data: []byte("D")}}, &genai.Part{InlineData: &genai.Blob{MIMEType: "audio/wav", Data: []byte("W")}})),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},
				{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"c1","name":"f","input":{"a":1}},{"type":"tool_use","id":"call_b77273d71ee82c458fb9edd3","name":"g_h_daf359","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"one"},{"type":"tool_result","tool_use_id":"call_b77273d71ee82c458fb9edd3","content":"no","is_error":true},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UA=="}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"RA=="}},
				{"type":"text","text":"[a file of audio/wav with 1 bytes, which this model can't read]","cache_control":{"type":"ephemeral"}}]}]}`},
		{"thoughts go back to who made them", history(user(&genai.Part{Text: "hi"}), says(thought("hm", "anthropic", "s:SIG"), thought("", "anthropic", "r:RED"), thought("no", "deepseek", ""), &genai.Part{Text: "a"})),
			`{"messages":[` + hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"SIG"},{"type":"redacted_thinking","data":"RED"},{"type":"text","text":"a"}]}]}`},
		{"no thought without a secret", history(user(&genai.Part{Text: "hi"}), says(thought("it is sesame-open-1234", "anthropic", "s:SIG"), &genai.Part{Text: "a"})),
			`{"messages":[` + hi + `,{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`},
		{"the model begins", history(says(&genai.Part{Text: "so"}), user(&genai.Part{Text: "hi"})),
			`{"messages":[{"role":"user","content":[{"type":"text","text":"(The conversation goes on.)","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"so"}]},` + hi + `]}`},
		{"tools", declared, `{"tools":[{"name":"f","description":"does","input_schema":{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}},
			{"name":"g_h_daf359","input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}}],"tool_choice":null}`},
		{"a call that must be made", func(r *engine.Request) {
			declared(r)
			r.Config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{"f"}}}
		}, `{"tool_choice":{"type":"tool","name":"f"},"thinking":null}`},
		{"a schema of the answer", func(r *engine.Request) { r.Config.ResponseJsonSchema = json.RawMessage(`{"type":"object"}`) },
			`{"tools":[{"name":"answer","description":"Gives the answer.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"tool","name":"answer"},"thinking":null}`},
		{"a new model", func(r *engine.Request) {
			r.Model, r.Config.Temperature, r.Config.ThinkingConfig = "claude-sonnet-5", genai.Ptr[float32](0.5), &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"temperature":null}`},
		{"a model with a budget", func(r *engine.Request) {
			r.Model, r.Config.Temperature, r.Config.ThinkingConfig = "claude-sonnet-4-5-20250929", genai.Ptr[float32](0.5), &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"thinking":{"type":"enabled","budget_tokens":16000},"output_config":null,"temperature":null}`},
		{"a turn that another model began", func(r *engine.Request) {
			r.Model, r.Config.ThinkingConfig = "claude-sonnet-4-5", &genai.ThinkingConfig{ThinkingLevel: "LOW"}
			r.Contents = append(r.Contents, says(&genai.Part{FunctionCall: et.Call("1", "f")}), user(answer("1", "f", "output", "x")))
		}, `{"thinking":null}`},
		{"an old model", func(r *engine.Request) {
			r.Model, r.Config.Temperature, r.Config.ThinkingConfig = "claude-3-haiku", genai.Ptr[float32](0.5), &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"thinking":null,"temperature":0.5,"max_tokens":4096}`},
		{"beside the conversation", func(r *engine.Request) { r.OneShot = true }, `{"thinking":null}`},
		{"the longest answer", func(r *engine.Request) { r.Config.MaxOutputTokens, r.Config.StopSequences = 9, []string{"END"} }, `{"max_tokens":9,"stop_sequences":["END"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := et.NewDialectServer(et.Anthropic, et.Says("ok"))
			defer s.Close()
			secrets := &redact.Redactor{}
			secrets.Add("password", "sesame-open-1234")
			g := at(t, s.URL, model.Options{Secrets: secrets})
			req := &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)}, Config: &genai.GenerateContentConfig{}}
			c.ask(req)
			for _, err := range g.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
			r := s.Requests()[0]
			var want map[string]any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			has := map[string]any{}
			for key := range want {
				has[key] = r.JSON()[key]
			}
			if diff := cmp.Diff(want, has); diff != "" {
				t.Error(diff)
			}
			if r.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "sk-ant-very-secret" || r.Header.Get("Anthropic-Version") != "2023-06-01" {
				t.Errorf("%s %v", r.Path, r.Header)
			}
		})
	}
}

// TestAnswer has a row for each of what becomes what in an answer.
func TestAnswer(t *testing.T) {
	events := func(all ...string) et.Reply {
		var b strings.Builder
		for _, e := range all {
			fmt.Fprintf(&b, "event: x\ndata: %s\n\n", e)
		}
		return et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"text/event-stream"}}, Pieces: []string{b.String()}}}
	}
	const begin = `{"type":"message_start","message":{"type":"message","model":"claude-x-20260101","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":1}}}`
	end := func(reason string) string {
		return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":9}}`
	}
	text := func(i int, s string) string {
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%q}}`, i, s)
	}
	open := func(i int, block string) string {
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
	}
	input := func(i int, s string) string {
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, i, s)
	}
	const stop, textBlock = `{"type":"message_stop"}`, `{"type":"text","text":""}`
	schema := func(r *engine.Request) { r.Config.ResponseJsonSchema = json.RawMessage(`{"type":"object"}`) }
	for _, c := range []struct {
		name    string
		ask     func(*engine.Request)
		replies []et.Reply
		want    string
	}{
		{"text", nil, []et.Reply{events(begin, `{"type":"ping"}`, open(0, textBlock), text(0, "a"), text(0, "b"), end("end_turn"), stop)}, "ab STOP 10/3+9"},
		{"thoughts", nil, []et.Reply{events(begin, open(0, `{"type":"thinking","thinking":"","signature":""}`), `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG"}}`, open(1, `{"type":"redacted_thinking","data":"RED"}`), open(2, textBlock), text(2, "a"), end("end_turn"), stop)},
			"(hm)(gemline:anthropic:s:SIG)(gemline:anthropic:r:RED)a STOP 10/3+9"},
		{"calls", nil, []et.Reply{events(begin, open(0, `{"type":"tool_use","id":"1","name":"f","input":{}}`), input(0, `{"a"`), input(0, ":1}"), open(1, `{"type":"tool_use","id":"2","name":"f","input":{}}`), end("tool_use"), stop)},
			`[f1:{"a":1}][f2:{}] STOP 10/3+9`},
		{"arguments that are no JSON", nil, []et.Reply{events(begin, open(0, `{"type":"tool_use","id":"1","name":"f","input":{}}`), input(0, `{"a`), end("tool_use"), stop)}, " MALFORMED_FUNCTION_CALL 10/3+9"},
		{"a schema", schema, []et.Reply{events(begin, open(0, `{"type":"tool_use","id":"1","name":"answer","input":{}}`), input(0, `{"a"`), input(0, ":1}"), end("tool_use"), stop)}, `{"a":1} STOP 10/3+9`},
		{"too long", nil, []et.Reply{events(begin, open(0, textBlock), text(0, "a"), end("max_tokens"), stop)}, "a MAX_TOKENS 10/3+9"},
		{"the context is full", nil, []et.Reply{events(begin, open(0, textBlock), text(0, "a"), end("model_context_window_exceeded"), stop)}, "a MAX_TOKENS 10/3+9"},
		{"a refusal", nil, []et.Reply{events(begin, end("refusal"), stop)}, " blocked: REFUSAL"},
		{"a refusal that says why", nil, []et.Reply{events(begin, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"It is not allowed."}},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":2}}}`, stop)},
			" blocked: REFUSAL It is not allowed."},
		{"an answer that is whole at the beginning", nil, []et.Reply{events(`{"type":"message_start","message":{"type":"message","model":"claude-x-20260101","content":[{"type":"code_execution_tool_result","tool_use_id":"s1","content":{"type":"code_execution_result","stdout":"x"}},{"type":"tool_use","id":"1","name":"f","input":{"a":1},"caller":{"type":"direct"}}],"stop_reason":"tool_use","stop_details":null,"usage":{"input_tokens":10,"output_tokens":9}}}`, stop)}, `[f1:{"a":1}] STOP 10/0+9`},
		{"a call of the server's", nil, []et.Reply{events(begin, open(0, `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), input(0, ""), input(0, `{"query":"x"}`), open(1, textBlock), text(1, "a"), end("end_turn"), stop)}, "a STOP 10/3+9"},
		{"a second beginning", nil, []et.Reply{events(begin, begin, open(0, textBlock), text(0, "a"), end("end_turn"), stop)}, "a STOP 10/3+9"},
		{"another model goes on", nil, []et.Reply{events(begin, open(0, `{"type":"thinking","thinking":"","signature":""}`), `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}   }`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG"}}`, open(1, `{"type":"fallback","from":{"model":"claude-x"},"to":{"model":"claude-y"}}`), open(2, textBlock), text(2, "a"), end("end_turn"), stop)},
			"(hm)(gemline:anthropic:s:SIG)a STOP 10/3+9"},
		{"usage that is corrected at the end", nil, []et.Reply{events(begin, open(0, textBlock), text(0, "a"), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":61,"cache_read_input_tokens":0,"output_tokens":2}}`, stop)}, "a STOP 66/3+2"},
		{"no reason to stop", nil, []et.Reply{events(begin, open(1, textBlock), stop)}, " error: the answer of HOST broke off"},
		{"a pause", nil, []et.Reply{events(begin, open(0, textBlock), text(0, "a"), end("pause_turn"), stop), events(begin, open(0, textBlock), text(0, "b"), end("end_turn"), stop)}, "ab STOP 10/3+9"},
		{"usage that is no whole number", nil, []et.Reply{events(open(0, textBlock), text(0, "a"), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":61.0,"cache_read_input_tokens":null,"output_tokens":"2"}}`, stop)}, "a STOP 61/0+2"},
		{"no usage", nil, []et.Reply{events(open(0, textBlock), text(0, "aaaaaaaa"), `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, stop)}, "aaaaaaaa STOP 0/0+2"},
		{"one document", nil, []et.Reply{et.Whole(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}`)}, `a[f1:{"a":1}] STOP 1/0+2`},
		{"cut off", nil, []et.Reply{events(begin, open(0, textBlock), text(0, "a"))}, "a error: the answer of HOST broke off"},
		{"an error", nil, []et.Reply{events(begin, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, " error: the server refused: Overloaded (503 overloaded_error)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, c.replies...)
			req := &engine.Request{Model: "claude-x", Contents: nil, Config: &genai.GenerateContentConfig{}}
			if c.ask != nil {
				c.ask(req)
			}
			got, over := "", ""
			for chunk, err := range g.Generate(t.Context(), req) {
				if err != nil {
					over = " error: " + strings.ReplaceAll(err.Error(), strings.TrimPrefix(s.URL, "http://"), "HOST")
					break
				}
				if f := chunk.PromptFeedback; f != nil {
					over = strings.TrimRight(" blocked: "+string(f.BlockReason)+" "+f.BlockReasonMessage, " ")
					break
				}
				if chunk.ModelVersion != "anthropic/claude-x" {
					t.Errorf("%s answers", chunk.ModelVersion)
				}
				for _, p := range chunk.Candidates[0].Content.Parts {
					switch {
					case p.FunctionCall != nil:
						args, _ := json.Marshal(p.FunctionCall.Args)
						got += "[" + p.FunctionCall.Name + p.FunctionCall.ID + ":" + string(args) + "]"
					case p.Thought:
						got += "(" + p.Text + string(p.ThoughtSignature) + ")"
					default:
						got += p.Text
					}
				}
				if u := chunk.UsageMetadata; u != nil {
					over = fmt.Sprintf(" %s %d/%d+%d", chunk.Candidates[0].FinishReason, u.PromptTokenCount, u.CachedContentTokenCount, u.CandidatesTokenCount)
				}
			}
			if got += over; got != c.want {
				t.Errorf("heard %q, want %q", got, c.want)
			}
		})
	}
}

// TestErrors sees that errors speak of the provider.
func TestErrors(t *testing.T) {
	g, _ := dial(t, et.Reply{Wire: &et.Wire{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}})
	for _, err := range g.Generate(t.Context(), &engine.Request{Model: "m"}) {
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.Auth || e.Hint() != "export ANTHROPIC_API_KEY=..., or store a key with gemline auth set-key anthropic, in a session with /auth signin anthropic" {
			t.Errorf("%v: %+v", err, e)
		}
	}
}

// TestRefused leaves out what a model of a server that speaks the protocol does not take.
func TestRefused(t *testing.T) {
	refused := func(said string) et.Reply {
		return et.Reply{Wire: &et.Wire{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + said + `"}}`}}
	}
	g, s := dial(t, refused("this model does not support image input"), refused("m does not support tools"), et.Says("hi"), et.Says("again"))
	told := 0
	for _, want := range []string{"hi", "again"} {
		said := ""
		for c, err := range g.Generate(t.Context(), &engine.Request{Model: "m", Notify: func(engine.Event) { told++ },
			Contents: []*genai.Content{{Role: genai.RoleUser, Parts: []*genai.Part{{Text: "see"}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("1")}}}}},
			Config:   &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}}}) {
			if err != nil {
				t.Fatal(err)
			}
			said += c.Text()
		}
		if said != want {
			t.Errorf("said %q", said)
		}
	}
	if told != 2 {
		t.Errorf("told %d times", told)
	}
	for i, r := range s.Requests() {
		messages, _ := json.Marshal(r.JSON()["messages"])
		if _, tools := r.JSON()["tools"]; tools != (i < 2) || strings.Contains(string(messages), `"image"`) != (i == 0) {
			t.Errorf("request %d has tools (%v) and %s", i, tools, messages)
		}
	}
}
