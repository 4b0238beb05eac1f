package model_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

func askAside(text string) *engine.Request {
	req := ask(text)
	req.OneShot = true
	req.Config = &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), Tools: []*genai.Tool{{URLContext: &genai.URLContext{}}}}
	return req
}

// A question beside the conversation is answered in one piece, with no settings
// but its own.
func TestAside(t *testing.T) {
	g, s := dial(t, et.Says("in one piece").With(3, 4), et.Status(http.StatusBadRequest, "INVALID_ARGUMENT", "no such tool"))
	got, err := hear(t, g, askAside("what?"))
	if err != nil || got != "in one piece" {
		t.Errorf("%q, %v", got, err)
	}
	r := s.Requests()[0]
	const want = `{"contents":[{"parts":[{"text":"what?"}],"role":"user"}],"tools":[{"urlContext":{}}],"generationConfig":{"temperature":0}}`
	if r.Action != "generateContent" || string(r.Body) != want {
		t.Errorf("%s %s\nwant %s", r.Action, r.Body, want)
	}
	if _, err := hear(t, g, askAside("what?")); err == nil || !strings.Contains(err.Error(), "no such tool") {
		t.Errorf("refused: %v", err)
	}
}

func TestAssistAside(t *testing.T) {
	g, s := assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, et.Says("enveloped"))
	got, err := hear(t, g, askAside("what?"))
	if err != nil || got != "enveloped" {
		t.Errorf("%q, %v", got, err)
	}
	if r := s.Requests(); r[len(r)-1].Action != "generateContent" {
		t.Errorf("asked for %s", r[len(r)-1].Action)
	}
}

// Such answers are recorded, and played back, as the lines they are.
func TestAsidePlayback(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.jsonl")
	r, err := model.Record(et.NewScript(et.Says("beside"), et.Says("within")), name)
	if err != nil {
		t.Fatal(err)
	}
	hear(t, r, askAside("q"))
	hear(t, r, ask("q"))
	r.Close()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `{"method":"generateContent","response":{"candidates"`) {
		t.Errorf("recorded %s", data)
	}
	f, err := model.OpenFake(name, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := hear(t, f, askAside("q")); got != "beside" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := hear(t, f, askAside("q")); err == nil || !strings.HasPrefix(err.Error(), "Unexpected response type, next response was for generateContentStream but expected generateContent") {
		t.Errorf("a stream for a question: %v", err)
	}
	for line, want := range map[string]string{
		`{"method":"generateContent","response":[]}`:           "cannot unmarshal",
		`{"method":"generateContent"}`:                         "unexpected end",
		`{"method":"generateContent","response":{"error":{}}}`: "an error stands where",
	} {
		f, err := model.OpenFake(recording(t, line), true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hear(t, f, askAside("q")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
		f.Close()
	}
}
