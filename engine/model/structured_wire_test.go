package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// The schema reaches every kind of server as it was given, its properties in
// their order.
func TestStructuredWire(t *testing.T) {
	for name, open := range map[string]func() (*model.Genai, *et.Server){
		"key":    func() (*model.Genai, *et.Server) { return dial(t, et.Says("{}")) },
		"vertex": func() (*model.Genai, *et.Server) { return vertex(t, tokens(t), et.Says("{}")) },
		"assist": func() (*model.Genai, *et.Server) {
			return assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, et.Says("{}"))
		},
	} {
		g, server := open()
		s, err := model.Structure(g, json.RawMessage(`{"$schema":"x","properties":{"b":{"type":"string"},"a":{}},"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range s.Generate(t.Context(), &engine.Request{Model: "gemini-3.5-flash", Contents: genai.Text("hi")}) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		all := server.Requests()
		body := string(all[len(all)-1].Body)
		for _, want := range []string{`"responseJsonSchema":{"properties":{"b":{"type":"string"},"a":{}},"type":"object"}`, `"responseMimeType":"application/json"`} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", name, want, body)
			}
		}
	}
}
