package model_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

const skip = "skip/thought/signature/validator"

// signed returns a conversation whose calls have signatures.
func signed(signatures ...string) (said []*genai.Content) {
	for _, s := range signatures {
		said = append(said, genai.NewContentFromText("q", genai.RoleUser), &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
			{Text: "a", ThoughtSignature: []byte(s)},
			{FunctionCall: et.Call("1", "f"), ThoughtSignature: []byte(s + "2")}}})
	}
	return append(said, genai.NewContentFromText("q", genai.RoleUser))
}

// signatures returns those of a request as they came over the wire.
func signatures(r et.Received) (all []string) {
	for _, c := range r.Contents() {
		for _, p := range c.Parts {
			if len(p.ThoughtSignature) > 0 {
				all = append(all, base64.StdEncoding.EncodeToString(p.ThoughtSignature))
			}
		}
	}
	return all
}

func TestHeal(t *testing.T) {
	wire := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, words := range []string{"Corrupted thought signature.", "Thought signature is not valid", "Invalid thoughtSignature in part 3"} {
		t.Run(words, func(t *testing.T) {
			server := et.NewServer(et.BadRequest(words), et.Says("one"), et.Says("two"))
			t.Cleanup(server.Close)
			g, stop, err := model.Open(model.Setup{API: model.Options{APIKey: "key", BaseURL: server.URL}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			var told []string
			history := signed("old1", "old2")
			for _, want := range []string{"one", "two"} {
				req := &engine.Request{Model: "m", Contents: history, Notify: func(ev engine.Event) {
					told = append(told, ev.(engine.Notice).Text)
				}}
				said := ""
				for chunk, err := range model.Retry(g, model.RetryOptions{}).Generate(t.Context(), req) {
					if err != nil {
						t.Fatal(err)
					}
					said += chunk.Text()
				}
				if said != want {
					t.Errorf("said %q, want %q", said, want)
				}
				history = slices.Concat(history, signed("new"))
			}
			if len(told) != 1 || !strings.Contains(told[0], "refused the conversation's thought signatures") {
				t.Errorf("told %q", told)
			}
			for i, want := range [][]string{
				{wire("old1"), wire("old12"), wire("old2"), wire("old22")},
				{skip, skip, skip, skip},
				{skip, skip, skip, skip, wire("new"), wire("new2")},
			} {
				if got := signatures(server.Requests()[i]); !slices.Equal(got, want) {
					t.Errorf("request %d has %q, want %q", i, got, want)
				}
			}
		})
	}
}

// TestNotHealed has errors that no other signature helps against.
func TestNotHealed(t *testing.T) {
	for _, c := range []struct {
		name    string
		history []*genai.Content
		replies []et.Reply
		asked   int
	}{
		{"another mistake", signed("old"), []et.Reply{et.BadRequest("no such field")}, 1},
		{"no signature", signed(), []et.Reply{et.BadRequest("Corrupted thought signature.")}, 1},
		{"refused without them, too", signed("old"), []et.Reply{et.BadRequest("Corrupted thought signature."),
			et.BadRequest("Corrupted thought signature.")}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := et.NewServer(c.replies...)
			t.Cleanup(server.Close)
			g, stop, err := model.Open(model.Setup{API: model.Options{APIKey: "key", BaseURL: server.URL}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			for _, err = range model.Retry(g, model.RetryOptions{}).Generate(t.Context(), &engine.Request{Model: "m", Contents: c.history}) {
			}
			if err == nil || len(server.Requests()) != c.asked {
				t.Errorf("%v after %d requests, want %d", err, len(server.Requests()), c.asked)
			}
		})
	}
}
