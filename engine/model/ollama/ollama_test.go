package ollama

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

const shown = `{"capabilities":["completion","tools","thinking","vision"],"model_info":{"qwen3.context_length":40960}}`

func dial(t testing.TB, show string, replies ...et.Reply) (*Generator, *et.Server) {
	t.Helper()
	s := et.NewDialectServer(et.Ollama, replies...)
	t.Cleanup(s.Close)
	if show != "" {
		s.Others = map[string][]et.Reply{"/api/show": {et.Whole(show)}}
	}
	return at(t, s.URL), s
}

func at(t testing.TB, url string) *Generator {
	t.Helper()
	p := model.Provider{Name: "ollama", Protocol: model.Ollama, BaseURL: url, Lacking: []string{model.PDF, model.Audio}}
	g, err := New(p, p.Options(model.Options{}, func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func TestGenerator(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := dial(t, "", replies...)
		return g
	})
}

func TestBroken(t *testing.T) {
	et.Broken(t, et.Ollama, `{"error":"llama runner process has terminated"}`,
		func(t testing.TB, url string) engine.Generator { return at(t, url) })
}

// TestRequest has a row for each of what becomes what in a request.
func TestRequest(t *testing.T) {
	declared := func(r *engine.Request) {
		r.Config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", Description: "does"}}}}
	}
	const talks = `{"capabilities":["completion"],"model_info":{"x.context_length":8192}}`
	for _, c := range []struct {
		name, show string
		ask        func(*engine.Request)
		want       string // of the body, by the keys that it has
		told       string
	}{
		{"texts", shown, func(r *engine.Request) {
			r.Config.SystemInstruction = genai.NewContentFromText("be brief", genai.RoleUser)
		}, `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"stream":true,"options":{"num_ctx":8192},"think":null}`, ""},
		{"calls", shown, func(r *engine.Request) {
			r.Contents = append(r.Contents, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "so", Thought: true}, {FunctionCall: et.Call("1", "f", "a", 1)}, {FunctionCall: et.Call("2", "g.h")}}},
				&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "f", Response: map[string]any{"output": "one"}}},
					{FunctionResponse: &genai.FunctionResponse{ID: "2", Name: "g.h", Response: map[string]any{"error": "no"}}}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("P")}},
					{InlineData: &genai.Blob{MIMEType: "application/pdf", Data: []byte("D")}}}})
		}, `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"id":"1","function":{"name":"f","arguments":{"a":1}}},{"id":"2","function":{"name":"g_h_daf359","arguments":{}}}]},
			{"role":"tool","content":"one","tool_name":"f","tool_call_id":"1"},{"role":"tool","content":"Error: no","tool_name":"g_h_daf359","tool_call_id":"2"},
			{"role":"user","content":"[a file of application/pdf with 1 bytes, which this model can't read]","images":["UA=="]}]}`, ""},
		{"thoughts of its own", shown, func(r *engine.Request) {
			r.Contents = append(r.Contents, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
				{Text: "of another", Thought: true}, {Thought: true, ThoughtSignature: engine.Sign("openai", nil)}, {Text: "a"}}},
				&genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
					{Text: "hm", Thought: true, ThoughtSignature: engine.Sign("ollama", nil)}, {Text: "b"}}})
		}, `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b","thinking":"hm"}]}`, ""},
		{"tools", shown, declared, `{"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{}}}}]}`, ""},
		{"no tools", talks, declared, `{"tools":null}`, "ollama/m takes no tools"},
		{"no images", talks, func(r *engine.Request) {
			r.Contents[0].Parts = []*genai.Part{{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("P")}}}
		}, `{"messages":[{"role":"user","content":"[a file of image/png with 1 bytes, which this model can't read]"}]}`, ""},
		{"a server that says nothing", "", declared, `{"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object","properties":{}}}}]}`, ""},
		{"an image that it does not take", shown, func(r *engine.Request) {
			r.Contents[0].Parts = []*genai.Part{{InlineData: &genai.Blob{MIMEType: "image/gif", Data: []byte("P")}}}
		}, `{"messages":[{"role":"user","content":"[a file of image/gif with 1 bytes, which this model can't read]"}]}`, ""},
		{"a schema", shown, func(r *engine.Request) { r.Config.ResponseJsonSchema = json.RawMessage(`{"type":"object"}`) }, `{"format":{"type":"object"}}`, ""},
		{"JSON", shown, func(r *engine.Request) { r.Config.ResponseMIMEType = "application/json" }, `{"format":"json"}`, ""},
		{"settings", shown, func(r *engine.Request) {
			r.Config.MaxOutputTokens, r.Config.Temperature, r.Config.Seed = 9, genai.Ptr[float32](0.5), genai.Ptr[int32](3)
			r.Config.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"options":{"num_ctx":8192,"num_predict":9,"temperature":0.5,"seed":3},"think":true}`, ""},
		{"how much to think", shown, func(r *engine.Request) {
			r.Model, r.Config.ThinkingConfig = "gpt-oss:20b", &genai.ThinkingConfig{ThinkingLevel: "HIGH"}
		}, `{"think":"high"}`, ""},
		{"a long conversation", shown, func(r *engine.Request) { r.Contents[0].Parts[0].Text = strings.Repeat("x", 60_000) }, `{"options":{"num_ctx":24576}}`, ""},
		{"one that the context does not hold", talks, func(r *engine.Request) { r.Contents[0].Parts[0].Text = strings.Repeat("x", 60_000) },
			`{"options":{"num_ctx":8192}}`, "ollama/m holds 8,192: Ollama leaves out its beginning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, c.show, et.Says("ok"))
			told := ""
			req := &engine.Request{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)},
				Config: &genai.GenerateContentConfig{}, Notify: func(ev engine.Event) { told += ev.(engine.Notice).Text }}
			c.ask(req)
			for _, err := range g.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
			all := s.Requests()
			got := all[len(all)-1].JSON()
			var want map[string]any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			has := map[string]any{}
			for key := range want {
				has[key] = got[key]
			}
			if diff := cmp.Diff(want, has); diff != "" {
				t.Error(diff)
			}
			if (told == "") != (c.told == "") || !strings.Contains(told, c.told) {
				t.Errorf("told %q", told)
			}
		})
	}
}

// TestLoading says that the server loads a model, once, unless it has it in memory.
func TestLoading(t *testing.T) {
	const says = "ollama loads m, which may take a minute"
	for _, c := range []struct{ ps, want string }{
		{`{"models":[]}`, says},
		{`{"models":[{"name":"m:latest","context_length":4096}]}`, says}, // with another context
		{`{"models":[{"name":"m:latest","context_length":32768},{"name":"other"}]}`, ""},
		{`not found`, ""},
	} {
		g, s := dial(t, shown, et.Says("one"), et.Says("two"))
		s.Others["/api/ps"] = []et.Reply{et.Whole(c.ps)}
		told := ""
		for range 2 {
			req := &engine.Request{Model: "m", Notify: func(ev engine.Event) { told += ev.(engine.Notice).Text }}
			for _, err := range g.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if told != c.want {
			t.Errorf("%s: told %q, want %q", c.ps, told, c.want)
		}
	}
}

// TestAnswer has a row for each of what becomes what in an answer.
func TestAnswer(t *testing.T) {
	lines := func(all ...string) et.Reply {
		return et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"application/x-ndjson"}}, Pieces: []string{strings.Join(all, "\n") + "\n"}}}
	}
	const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":6}`
	for _, c := range []struct {
		name  string
		reply et.Reply
		want  string
	}{
		{"text and thoughts", lines(`{"message":{"thinking":"hm"}}`, `{"message":{"content":"a"}}`, "", `{"message":{"content":"b"}}`, done), "(hm)()ab STOP 10+6"}, // () is the signature
		{"lines as llama3 has sent them in 2024", lines(`{"model":"llama3","created_at":"2024-05-24T20:26:46.294874Z","message":{"role":"assistant","content":"Why"},"done":false}`,
			`{"model":"llama3","created_at":"2024-05-24T20:26:46.327411Z","message":{"role":"assistant","content":" so"},"done":false}`,
			`{"model":"llama3","created_at":"2024-05-24T20:26:47.872905Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":1897385625,"load_duration":1631208,"prompt_eval_count":17,"prompt_eval_duration":313560000,"eval_count":50,"eval_duration":1577990000}`),
			"Why so STOP 17+50"},
		{"lines as qwen3 has sent them in 2026", lines(`{"model":"qwen3:0.6b","created_at":"2026-10-03T14:11:06.272026855Z","message":{"role":"assistant","content":"","thinking":","},"done":false}`,
			`{"model":"qwen3:0.6b","created_at":"2026-10-03T14:11:06.282513782Z","message":{"role":"assistant","content":"","thinking":" the"},"done":false}`,
			`{"model":"qwen3:0.6b","created_at":"2026-10-03T14:11:09.470965502Z","message":{"role":"assistant","content":"2"},"done":false}`,
			`{"model":"qwen3:0.6b","created_at":"2026-10-03T14:11:09.522402Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_etugzc4r","function":{"index":0,"name":"f","arguments":{"n":"10"}}},{"id":"call_0scw2dos","function":{"index":1,"name":"f","arguments":{"n":"11"}}}]},"done":false}`,
			`{"model":"qwen3:0.6b","created_at":"2026-10-03T14:11:09.6Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":17,"eval_count":50}`),
			`(,)( the)()2[fcall_etugzc4r:{"n":"10"}][fcall_0scw2dos:{"n":"11"}] STOP 17+50`},
		{"calls", lines(`{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"x","function":{"name":"f","arguments":"{}"}}]}}`, done), `[f:{"a":1}][fx:{}] STOP 10+6`},
		{"a call as text", lines(`{"message":{"content":"{\"name\":\"f\","}}`, `{"message":{"content":"\"arguments\":{}}"}}`, done), `[f:{}] STOP 10+6`},
		{"too long", lines(`{"message":{"content":"a"},"done":true,"done_reason":"length"}`), "a MAX_TOKENS 0+0"},
		{"one document", et.Whole(`{"message":{"content":"a"},"done":true,"done_reason":"stop","prompt_eval_count":1.0,"eval_count":"2"}`), "a STOP 1+2"},
		{"lines that a proxy calls otherwise", et.Reply{Wire: &et.Wire{Header: map[string][]string{"Content-Type": {"application/json"}},
			Pieces: []string{`{"message":{"content":"a"}}` + "\n" + done + "\n"}}}, "a STOP 10+6"},
		{"cut off", lines(`{"message":{"content":"a"}}`), "a error: the answer of HOST broke off"},
		{"an error", lines(`{"message":{"content":"a"}}`, `{"error":"out of memory"}`), "a error: out of memory (500)"},
		{"no such model", et.Reply{Wire: &et.Wire{Status: 404, Body: `{"error":"model 'm' not found"}`}}, " error: model m: model 'm' not found (404)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := dial(t, shown, c.reply)
			req := &engine.Request{Model: "m", Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}}}
			got, end := "", ""
			for chunk, err := range g.Generate(t.Context(), req) {
				if err != nil {
					end = " error: " + strings.ReplaceAll(err.Error(), strings.TrimPrefix(s.URL, "http://"), "HOST")
					break
				}
				for _, p := range chunk.Candidates[0].Content.Parts {
					switch {
					case p.FunctionCall != nil:
						args, _ := json.Marshal(p.FunctionCall.Args)
						got += "[" + p.FunctionCall.Name + p.FunctionCall.ID + ":" + string(args) + "]"
					case p.Thought:
						got += "(" + p.Text + ")"
					default:
						got += p.Text
					}
				}
				if u := chunk.UsageMetadata; u != nil {
					b, _ := json.Marshal([]int32{u.PromptTokenCount, u.CandidatesTokenCount})
					end = " " + string(chunk.Candidates[0].FinishReason) + " " + strings.Trim(strings.Replace(string(b), ",", "+", 1), "[]")
				}
			}
			if got += end; got != c.want {
				t.Errorf("heard %q, want %q", got, c.want)
			}
		})
	}
}

// TestOverlong says that the context does not hold the conversation, once until it does.
func TestOverlong(t *testing.T) {
	g, _ := dial(t, `{"capabilities":["completion"],"model_info":{"x.context_length":8192}}`, et.Says("a"), et.Says("b"), et.Says("c"), et.Says("d"))
	told := ""
	for _, size := range []int{60_000, 60_000, 10, 60_000} {
		told += "|"
		for _, err := range g.Generate(t.Context(), &engine.Request{Model: "m", Contents: genai.Text(strings.Repeat("x", size)), Notify: func(ev engine.Event) {
			if g.Context(t.Context(), "m") != 8192 { // who is told may ask
				t.Error("no context")
			}
			if strings.Contains(ev.(engine.Notice).Text, "leaves out its beginning") {
				told += "!"
			}
		}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if told != "|!|||!" {
		t.Errorf("told %s", told)
	}
}

// TestSignIn says what opens the models that the server passes on.
func TestSignIn(t *testing.T) {
	g, _ := dial(t, "", et.Reply{Wire: &et.Wire{Status: 401, Body: `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=x"}`}})
	for _, err := range g.Generate(t.Context(), &engine.Request{Model: "m-cloud", Contents: genai.Text("hi")}) {
		var e *model.Error
		if !errors.As(err, &e) || !strings.Contains(e.Hint(), "ollama signin") {
			t.Errorf("%v", err)
		}
	}
}

// TestToolless asks a model of a server that says nothing of tools, and refuses them.
func TestToolless(t *testing.T) {
	g, s := dial(t, "{}", et.Reply{Wire: &et.Wire{Status: 400, Body: `{"error":"registry.ollama.ai/library/m:latest does not support tools"}`}}, et.Says("hi"), et.Says("again"))
	told := 0
	for _, want := range []string{"hi", "again"} {
		said := ""
		for c, err := range g.Generate(t.Context(), &engine.Request{Model: "m", Contents: genai.Text("hi"), Notify: func(ev engine.Event) {
			if n, ok := ev.(engine.Notice); ok && strings.Contains(n.Text, "takes no tools") {
				told++
			}
		}, Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}}}) {
			if err != nil {
				t.Fatal(err)
			}
			said += c.Text()
		}
		if said != want {
			t.Errorf("said %q", said)
		}
	}
	asked := 0
	for _, r := range s.Requests() {
		if r.JSON()["tools"] != nil {
			asked++
		}
	}
	if told != 1 || asked != 1 {
		t.Errorf("told %d times, tools in %d requests", told, asked)
	}
}
