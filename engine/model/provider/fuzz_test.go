package provider

import (
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// FuzzAnswer has each protocol read whatever a server may send. An answer ends once, or with
// an error; its calls have names and arguments.
func FuzzAnswer(f *testing.F) {
	said := et.Message(&genai.Content{Parts: []*genai.Part{et.Thought("hm"), {Text: "a"}, {FunctionCall: et.Call("1", "f", "a", 1)}}}).With(3, 4)
	for _, d := range dialects {
		whole := ""
		for _, piece := range d.Framed(said) {
			whole += piece
		}
		f.Add([]byte(whole))
	}
	for _, s := range []string{"data: [DONE]\n\n", `{"error":"x"}`, "{}\n", "data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":1}]}}]}\n\n", "<html>"} {
		f.Add([]byte(s))
	}
	custom, servers := map[string]any{}, map[string]*et.Server{}
	for name, d := range dialects {
		s := et.NewDialectServer(d)
		f.Cleanup(s.Close)
		s.Forget, s.Others = true, map[string][]et.Reply{"/api/show": {et.Whole(`{}`)}}
		custom[name], servers[name] = map[string]any{"baseUrl": s.URL}, s
	}
	set := &Set{Providers: model.NewProviders(custom, nothing), Getenv: func(string) string { return "sk-key" }}
	f.Cleanup(func() { set.Close() })
	g := set.Generator(nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		header := map[string][]string{"Content-Type": {"text/event-stream"}}
		for name, s := range servers {
			s.Add(et.Reply{Wire: &et.Wire{Header: header, Pieces: []string{string(b)}}})
			ends := 0
			var last error
			for c, err := range g.Generate(t.Context(), &engine.Request{Model: name + "/m", OneShot: true, Contents: []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)},
				Config: &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "f"}}}}}}) {
				if last = err; err != nil {
					break
				}
				if c.PromptFeedback != nil {
					ends++
					continue
				}
				if c.Candidates[0].FinishReason != "" {
					ends++
				}
				for _, p := range c.Candidates[0].Content.Parts {
					if fc := p.FunctionCall; fc != nil && (fc.Name == "" || fc.Args == nil) {
						t.Errorf("%s: a call %+v of %q", name, fc, b)
					}
				}
			}
			if (ends == 1) != (last == nil) || ends > 1 {
				t.Errorf("%s: %d ends and the error %v of %q", name, ends, last, b)
			}
		}
	})
}
