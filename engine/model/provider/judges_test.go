package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
)

// A judgement is what a vendor's SDK has heard.
type judgement struct {
	Text, Thought, Signature, Finish string
	Calls                            []judgedCall
	Tokens                           [3]int32
	Unknown                          []string // fields that the SDK's types do not have
}

type judgedCall struct {
	ID, Name string
	Args     map[string]any
}

// buildJudges builds what asks by the vendors' SDKs. It is a module of its own: the program
// has no SDK.
func buildJudges(t *testing.T) string {
	t.Helper()
	bin := t.TempDir() + "/judges"
	// The SDKs are large: what they are compiled to need not be fast.
	for _, args := range [][]string{{"mod", "download"}, {"build", "-trimpath", "-gcflags=github.com/...=-N -l -dwarf=false", "-o", bin, "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = "testdata/judges"
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil && (args[0] == "build" || os.Getenv("GEMLINE_TEST_ALL") != "") {
			t.Fatalf("%v\n%s", err, out)
		} else if err != nil {
			t.Skipf("the SDKs can't be fetched: %v", err)
		}
	}
	return bin
}

// others returns the commands that ask by what the vendors have made: by their SDKs, and by
// Ollama's package of npm.
func others(t *testing.T) map[string][]string {
	t.Helper()
	bin := buildJudges(t)
	all := map[string][]string{"openai": {bin, "openai"}, "anthropic": {bin, "anthropic"}, "ollama": {bin, "ollama"}}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(cache, "gemline-tests", "mcp", "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "ollama")); err == nil {
		all["ollama of npm"] = []string{"node", "testdata/judges/ollama.mjs", modules}
	} else if os.Getenv("GEMLINE_TEST_ALL") != "" {
		t.Fatal(err)
	}
	return all
}

// judge sends a body to a server by a command, and returns what that has heard.
func judge(t *testing.T, command []string, url string, body []byte) (j judgement) {
	t.Helper()
	cmd := exec.Command(command[0], append(slices.Clone(command[1:]), url)...)
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1")
	cmd.Stdin = bytes.NewReader(body)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &j)
	}
	if err != nil {
		t.Errorf("%v: %s\n%s", err, said.Bytes(), body)
	}
	for i := range j.Calls { // some say null of no arguments
		if j.Calls[i].Args == nil {
			j.Calls[i].Args = map[string]any{}
		}
	}
	return j
}

// TestJudges gives each request of a generator to the SDK of the vendor, which reads it with
// its own types and sends it. A field that these types lack would be lost on the way. The SDK
// must read the same text, calls and usage in the answer as the generator.
func TestJudges(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the vendors' SDKs")
	}
	finish := map[string]string{"openai": "tool_calls", "anthropic": "tool_use", "ollama": "stop"}
	for name, command := range others(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider, _, _ := strings.Cut(name, " ")
			for kind, req := range judged(provider) {
				if len(command) > 2 && kind != "history" && kind != "one answer" {
					continue // node starts slowly
				}
				reply := answered(provider)
				g, s := dial(t, provider, reply, reply)
				want := hear(t, g, req, finish[provider])
				sent := s.Requests()[len(s.Requests())-1].Body
				got := judge(t, command, s.URL, sent)
				again := s.Requests()[len(s.Requests())-1].Body
				if missing := lost(sent, again); missing != "" {
					t.Errorf("%s: %s is not understood\n%s\n%s", kind, missing, sent, again)
				}
				if diff := cmp.Diff(want, got); diff != "" && kind != "schema" { // of Anthropic's, a call that is none
					t.Errorf("%s: heard\n%s", kind, diff)
				}
			}
			all := talk(t, provider)
			last := all[len(all)-1].Body // which has all calls, side by side
			odd := []byte(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi","mood":"good"}]}]}`)
			if provider == "ollama" {
				odd = []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"hi","mood":"good"}]}`)
			}
			s := et.NewDialectServer(dialects[provider], et.Says("ok"), et.Says("ok"))
			defer s.Close()
			for i, body := range [][]byte{last, odd} {
				judge(t, command, s.URL, body)
				missing := lost(body, s.Requests()[i].Body)
				if knows := i == 0 || len(command) > 2; knows != (missing == "") { // the package of npm has no types
					t.Errorf("understood but for %q\n%s", missing, body)
				}
			}
		})
	}
}

// answered returns an answer with all that one can have.
func answered(provider string) et.Reply {
	thought := &genai.Part{Text: "hm", Thought: true}
	if provider == "anthropic" {
		thought.ThoughtSignature = []byte("SIG")
	}
	parts := []*genai.Part{thought, {Text: "I look."},
		{FunctionCall: et.Call("toolu_1", "f", "a", "<é>", "b", 2.0)}, {FunctionCall: et.Call("toolu_2", "g")}}
	if provider == "openai" {
		parts = parts[1:] // reasoning_content is no field of OpenAI's
	}
	r := et.Message(&genai.Content{Role: genai.RoleModel, Parts: parts})
	r.Chunks[0].UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 20, CandidatesTokenCount: 8}
	if provider != "ollama" { // which does not say it
		r.Chunks[0].UsageMetadata.CachedContentTokenCount = 5
	}
	return r
}

// hear returns what a generator has heard, in the words of a judge.
func hear(t *testing.T, g engine.Generator, req *engine.Request, finish string) (j judgement) {
	t.Helper()
	for c, err := range g.Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if u := c.UsageMetadata; u != nil {
			j.Tokens = [3]int32{u.PromptTokenCount, u.CachedContentTokenCount, u.CandidatesTokenCount + u.ThoughtsTokenCount}
		}
		for _, p := range c.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				j.Calls = append(j.Calls, judgedCall{p.FunctionCall.ID, p.FunctionCall.Name, p.FunctionCall.Args})
			case p.Thought:
				_, own := engine.SignedBy(p.ThoughtSignature)
				j.Thought, j.Signature = j.Thought+p.Text, j.Signature+strings.TrimPrefix(string(own), "s:")
			default:
				j.Text += p.Text
			}
		}
	}
	j.Finish = finish
	return j
}

// judged returns requests of all kinds, by what they have.
func judged(provider string) map[string]*engine.Request {
	model := map[string]string{"openai": "gpt-5", "anthropic": "claude-sonnet-5", "ollama": "gpt-oss:20b"}[provider]
	user := func(parts ...*genai.Part) *genai.Content { return &genai.Content{Role: genai.RoleUser, Parts: parts} }
	said := func(parts ...*genai.Part) *genai.Content {
		return &genai.Content{Role: genai.RoleModel, Parts: parts}
	}
	blob := func(mime string) *genai.Part {
		return &genai.Part{InlineData: &genai.Blob{MIMEType: mime, Data: []byte("DATA")}}
	}
	answer := func(id, name, key, value string) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{key: value}}}
	}
	tools := []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f", Description: "does", ParametersJsonSchema: json.RawMessage(
		`{"type":"object","properties":{"z":{"type":"string","enum":["a","b"],"description":"one"},"a":{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}},
		"o":{"type":"object","properties":{"properties":{"type":"string"}},"additionalProperties":false}},"required":["z"]}`)}, {Name: "g"}}}}
	mode := func(m genai.FunctionCallingConfigMode, names ...string) *genai.ToolConfig {
		return &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: m, AllowedFunctionNames: names}}
	}
	history := []*genai.Content{user(&genai.Part{Text: "go"}),
		said(&genai.Part{Text: "hm", Thought: true, ThoughtSignature: engine.Sign(provider, []byte("s:SIG"))}, &genai.Part{Text: "I look"},
			&genai.Part{FunctionCall: et.Call("c1", "f", "z", "<&>", "a", []any{1, nil})}, &genai.Part{FunctionCall: et.Call("c 2/é", "g")}),
		user(answer("c1", "f", "output", "one"), answer("c 2/é", "g", "error", "no"), blob("image/png")),
		said(&genai.Part{Thought: true, ThoughtSignature: engine.Sign(provider, []byte("r:DARK"))}, &genai.Part{Text: "Done."}), user(&genai.Part{Text: "and?"})}
	switch f := tools[0].FunctionDeclarations[0]; provider {
	case "openai":
		history[1].Parts = history[1].Parts[1:]
	case "ollama": // which does not read it
		f.ParametersJsonSchema = json.RawMessage(strings.Replace(string(f.ParametersJsonSchema.(json.RawMessage)), `,"additionalProperties":false`, "", 1))
	}
	all := map[string]*engine.Request{
		"history":    {Contents: history, Config: &genai.GenerateContentConfig{SystemInstruction: user(&genai.Part{Text: "be brief"}), Tools: tools}},
		"files":      {Contents: []*genai.Content{user(&genai.Part{Text: "see"}, blob("image/png"), blob("image/jpeg"), blob("application/pdf"), blob("audio/wav"), blob("video/mp4"))}},
		"settings":   {Config: &genai.GenerateContentConfig{MaxOutputTokens: 4000, StopSequences: []string{"END", "!"}, ThinkingConfig: &genai.ThinkingConfig{ThinkingLevel: "HIGH"}}},
		"schema":     {Config: &genai.GenerateContentConfig{ResponseMIMEType: "application/json", ResponseJsonSchema: tools[0].FunctionDeclarations[0].ParametersJsonSchema}},
		"JSON":       {Config: &genai.GenerateContentConfig{ResponseMIMEType: "application/json"}},
		"one call":   {Config: &genai.GenerateContentConfig{Tools: tools, ToolConfig: mode(genai.FunctionCallingConfigModeAny, "f")}},
		"some call":  {Config: &genai.GenerateContentConfig{Tools: tools, ToolConfig: mode(genai.FunctionCallingConfigModeAny)}},
		"no call":    {Config: &genai.GenerateContentConfig{Tools: tools, ToolConfig: mode(genai.FunctionCallingConfigModeNone)}},
		"one answer": {OneShot: true},
	}
	for _, r := range all {
		r.Model = provider + "/" + model
	}
	older := map[string]string{"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5", "ollama": "qwen3:4b"}[provider]
	all["an older model"] = &engine.Request{Model: provider + "/" + older, Contents: history, Config: &genai.GenerateContentConfig{
		Temperature: genai.Ptr[float32](0.5), TopP: genai.Ptr[float32](0.25), TopK: genai.Ptr[float32](40), Seed: genai.Ptr[int32](3),
		ThinkingConfig: &genai.ThinkingConfig{ThinkingLevel: "MEDIUM"}}}
	all["without thoughts"] = &engine.Request{Model: provider + "/" + older, Config: &genai.GenerateContentConfig{
		Temperature: genai.Ptr[float32](0.5), TopP: genai.Ptr[float32](0.25), TopK: genai.Ptr[float32](40), Seed: genai.Ptr[int32](3)}}
	for _, r := range all {
		if r.Contents == nil {
			r.Contents = []*genai.Content{user(&genai.Part{Text: "hi"})}
		}
	}
	return all
}

// lost returns the place of what one JSON text has and another has not, or otherwise; "" if
// there is none.
func lost(a, b []byte) string {
	var sent, read any
	if err := errors.Join(json.Unmarshal(a, &sent), json.Unmarshal(b, &read)); err != nil {
		return err.Error()
	}
	return missing(sent, read)
}

func missing(a, b any) string {
	switch a := a.(type) {
	case string: // a text may stand for a list of one
		if l, ok := b.([]any); ok && len(l) == 1 {
			return missing(map[string]any{"type": "text", "text": a}, l[0])
		}
	case map[string]any:
		o, _ := b.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(a)) {
			if at := missing(a[key], o[key]); at != "" {
				return "." + key + at
			}
		}
		return ""
	case []any:
		l, _ := b.([]any)
		for i := range a {
			if i >= len(l) {
				return fmt.Sprintf("[%d]", i)
			}
			if at := missing(a[i], l[i]); at != "" {
				return fmt.Sprintf("[%d]%s", i, at)
			}
		}
		return ""
	}
	if diff := cmp.Diff(a, b); diff != "" {
		return " (" + diff + ")"
	}
	return ""
}
