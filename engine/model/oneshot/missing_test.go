package oneshot_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/model/catalog"
	"gemline/engine/model/oneshot"
	"gemline/engine/model/preset"
	"gemline/engine/model/route"
)

// A lacking server has every model but one, and writes down who was asked.
type lacking struct {
	engine.Generator
	without string
	asked   []string
}

func (s *lacking) Generate(_ context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if s.asked = append(s.asked, req.Model); req.Model == s.without {
			yield(nil, &model.Error{Kind: model.NotFound, HTTP: 404, Final: true, Message: "model " + req.Model + ": not found"})
			return
		}
		yield(&genai.GenerateContentResponse{Candidates: []*genai.Candidate{{FinishReason: genai.FinishReasonStop,
			Content: genai.NewContentFromText(`{"choice":"pro"}`, genai.RoleModel)}}}, nil)
	}
}

// Whichever model is gone, search, pages, compression, the check for loops and the repair of
// edits work beside a conversation with any, itself included, and the model that is gone is asked once.
func TestMissing(t *testing.T) {
	for _, access := range []preset.Access{preset.ByKey, preset.ByAccount, preset.ByRegion, preset.ByAssist} {
		presets, err := preset.New(access, nil)
		if err != nil {
			t.Fatal(err)
		}
		var talks []string
		for _, m := range catalog.Shipped().Models {
			if m.Usable(access.String()) {
				talks = append(talks, m.Name)
			}
		}
		for _, talk := range talks {
			for _, dead := range talks {
				t.Run(fmt.Sprintf("%s: %s without %s", access, talk, dead), func(t *testing.T) {
					server := &lacking{without: dead}
					a := &oneshot.Asker{Generator: server, Presets: presets, Health: &route.Health{}, Model: func() string { return talk }}
					for _, purpose := range []string{"web-search", "web-fetch", "web-fetch-fallback", preset.Compression(talk), "loop-detection",
						"loop-detection-double-check", "llm-edit-fixer", "next-speaker-checker", "summarizer-shell", "classifier"} {
						if _, err := a.Text(t.Context(), question(purpose, nil)); err != nil {
							t.Errorf("%s: %v", purpose, err)
						}
					}
					if n := len(server.asked) - len(slices.DeleteFunc(slices.Clone(server.asked), func(s string) bool { return s == dead })); n > 1 {
						t.Errorf("it was asked %d times", n)
					}
				})
			}
		}
	}
}

// The family of the conversation's model is asked, and of a conversation with a model of no
// known family nothing goes elsewhere.
func TestFamily(t *testing.T) {
	for _, c := range []struct{ talk, purpose, want string }{
		{"gemini-4-argon", "web-search", "gemini-3.8-flash gemini-3.5-flash-lite gemini-4-argon"},
		{"gemini-4-argon", "chat-compression-default", "gemini-4-argon gemini-3.8-flash gemini-3.5-flash-lite"},
		{"gemini-3.7-flash", "loop-detection", "gemini-3.8-flash gemini-3.5-flash-lite gemini-3.7-flash"},
		{"gemini-3.8-flash", "classifier", "gemini-3.5-flash-lite gemini-3.8-flash"},
		{"gemini-2.5-pro", "llm-edit-fixer", "gemini-2.5-flash gemini-2.5-flash-lite gemini-2.5-pro gemini-3.8-flash"},
		{"gemini-2.5-pro", "chat-compression-2.5-pro", "gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite gemini-3.8-flash"},
		{"gemma-4-31b-it", "web-fetch", "gemini-3.8-flash gemini-3.5-flash-lite gemma-4-31b-it"},
		{"llama", "web-search", "llama"}, {"llama", "chat-compression-default", "llama"}, {"someone/gemini:7b", "summarizer-shell", "someone/gemini:7b"},
		{"", "web-search", "gemini-3.8-flash gemini-3.5-flash-lite"},
	} {
		var got []string
		for _, p := range (*preset.Table)(nil).Beside(c.purpose, c.talk) {
			got = append(got, p.Model)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("beside %s, %s asks %s; want %s", c.talk, c.purpose, s, c.want)
		}
	}
}
