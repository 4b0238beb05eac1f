package oneshot_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

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
					for _, purpose := range purposes(talk) {
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
		{"gemini-4-argon", "gemini-3.8-flash", "gemini-3.8-flash gemini-4-argon"},
	} {
		var got []string
		for _, p := range (*preset.Table)(nil).SideQuestion(c.purpose, c.talk) {
			got = append(got, p.Model)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("beside %s, %s asks %s; want %s", c.talk, c.purpose, s, c.want)
		}
	}
}

// purposes are what is asked beside a conversation.
func purposes(talk string) []string {
	return []string{"web-search", "web-fetch", "web-fetch-fallback", preset.Compression(talk), "loop-detection", "loop-detection-double-check",
		"llm-edit-fixer", "edit-corrector", "next-speaker-checker", "summarizer-shell", "summarizer-default", "context-snapshotter", "classifier"}
}

// A model that the user names for a purpose, in whatever way, is asked first. If it is gone, the family of the
// conversation's model answers, and that is said once.
func TestNamedForPurpose(t *testing.T) {
	const talk, mine = "gemini-2.5-pro", "gemini-3.3-flash"
	model := map[string]any{"model": mine}
	each := func(entry map[string]any) map[string]any {
		all := map[string]any{}
		for _, p := range purposes(talk) {
			all[p] = entry
		}
		return all
	}
	var overrides []any
	roles := map[string]string{}
	for _, p := range purposes(talk) {
		overrides = append(overrides, map[string]any{"match": map[string]any{"model": p}, "modelConfig": model})
	}
	for _, r := range []string{"compression", "edits", "loops", "routing", "speaker", "summaries", "web"} {
		roles[r] = mine
	}
	for name, c := range map[string]struct {
		configs map[string]any
		roles   map[string]string
	}{
		"aliases":           {map[string]any{"aliases": each(map[string]any{"modelConfig": model})}, nil},
		"custom aliases":    {map[string]any{"customAliases": each(map[string]any{"extends": mine})}, nil},
		"aliases of models": {map[string]any{"customAliases": each(map[string]any{"extends": "calm"}), "aliases": map[string]any{"calm": map[string]any{"modelConfig": model}}}, nil},
		"overrides":         {map[string]any{"overrides": overrides}, nil},
		"custom overrides":  {map[string]any{"customOverrides": overrides}, nil},
		"roles":             {nil, roles},
		"names": {map[string]any{"modelIdResolutions": map[string]any{"pro": map[string]any{"default": mine}, "flash": map[string]any{"default": mine},
			"flash-lite": map[string]any{"default": mine}}}, nil},
	} {
		for _, there := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", there: ", there), func(t *testing.T) {
				presets, err := preset.New(preset.ByKey, c.configs)
				if err != nil {
					t.Fatal(err)
				}
				presets.Roles = c.roles
				server := &lacking{}
				if !there {
					server.without = mine
				}
				a := &oneshot.Asker{Generator: server, Presets: presets, Health: &route.Health{}, Model: func() string { return talk }}
				var told []string
				for range 2 {
					for _, purpose := range purposes(talk) {
						q := question(purpose, nil)
						q.Quiet = purpose == "classifier"
						q.Tell = func(ev engine.Event) {
							if n, ok := ev.(engine.Notice); ok {
								told = append(told, n.Text)
							}
						}
						if _, err := a.Text(t.Context(), q); err != nil {
							t.Errorf("%s: %v", purpose, err)
						}
						if last := server.asked[len(server.asked)-1]; (last == mine) != there || !there && !strings.HasPrefix(last, "gemini-2.5-") {
							t.Errorf("%s answers %s", last, purpose)
						}
					}
				}
				if there == (len(told) == 1) {
					t.Errorf("told %q", told)
				}
			})
		}
	}
}

// A model that the user names for a purpose, and that has ended, is said to have, once, and its successor answers.
func TestNamedHasEnded(t *testing.T) {
	presets, err := preset.New(preset.ByKey, map[string]any{"aliases": map[string]any{"web-search": map[string]any{"modelConfig": map[string]any{"model": "gemini-2.5-flash"}}}})
	if err != nil {
		t.Fatal(err)
	}
	presets.Roles = map[string]string{"fast": "gemini-2.5-pro"}
	presets.Today, _ = time.Parse(time.DateOnly, "2026-12-02")
	server := &lacking{}
	a := &oneshot.Asker{Generator: server, Presets: presets, Health: &route.Health{}, Model: func() string { return "gemini-4-argon" }}
	var told []string
	for _, purpose := range []string{"web-search", "web-search", "web-fetch", "classifier", "loop-detection", "loop-detection-double-check"} {
		q := question(purpose, nil)
		q.Tell = func(ev engine.Event) {
			if n, ok := ev.(engine.Notice); ok {
				told = append(told, n.Text)
			}
		}
		if _, err := a.Text(t.Context(), q); err != nil {
			t.Errorf("%s: %v", purpose, err)
		}
	}
	want := "gemini-3.5-flash-lite gemini-3.5-flash-lite gemini-3.8-flash gemini-3.8-flash gemini-3.8-flash gemini-4-argon"
	if got := strings.Join(server.asked, " "); got != want {
		t.Errorf("asked %s; want %s", got, want)
	}
	if len(told) != 2 || !strings.HasPrefix(told[0], "gemini-2.5-flash ended on 2026-12-01; gemini-3.5-flash-lite answers, for $0.3 ") ||
		!strings.HasPrefix(told[1], "gemini-2.5-pro ended on 2026-12-01; gemini-3.8-flash answers, for $0.75 ") {
		t.Errorf("told %q", told)
	}
}
