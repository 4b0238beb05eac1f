package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"gemline/engine/model"
	"gemline/engine/model/protocol"
)

// A listed is a model in a server's list, with the fields of several servers.
type listed struct {
	ID, Name looseText
	Type     looseText // of LM Studio
	Meta     struct {
		Trained protocol.Count `json:"n_ctx_train"`
	} // of llama.cpp

	// Tokens of the context: as loaded, and at most.
	Loaded  protocol.Count `json:"loaded_context_length"` // of LM Studio
	MaxLen  protocol.Count `json:"max_model_len"`         // of vLLM
	Length  protocol.Count `json:"context_length"`        // of OpenRouter
	Window  protocol.Count `json:"context_window"`        // of Groq
	Longest protocol.Count `json:"max_context_length"`    // of LM Studio and Mistral

	Capabilities capabilities
	Parameters   []string `json:"supported_parameters"` // of OpenRouter
	Architecture struct {
		Input []string `json:"input_modalities"`
	}
}

// The capabilities of a model are the names in LM Studio's list, or the true fields of Mistral's
// object; nil if there is neither. Values of other servers are ignored.
type capabilities map[string]bool

// UnmarshalJSON implements [json.Unmarshaler].
func (c *capabilities) UnmarshalJSON(b []byte) error {
	var names []string
	switch {
	case json.Unmarshal(b, &names) == nil && names != nil:
		*c = capabilities{}
		for _, name := range names {
			(*c)[name] = true
		}
	case b[0] == '{':
		var all map[string]any
		if err := json.Unmarshal(b, &all); err != nil {
			return err
		}
		*c = capabilities{}
		for name, v := range all {
			(*c)[name] = v == true
		}
	}
	return nil
}

// A list has models in an object or, from some servers, in an array.
type list []listed

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]listed)(l))
	}
	var in struct{ Data []listed }
	err := json.Unmarshal(b, &in)
	*l = in.Data
	return err
}

// List returns the models of the server, each with the server's facts about it.
func (g *Generator) List(ctx context.Context) (all []model.ModelInfo, err error) {
	path := "models"
	if g.provider.List == "lmstudio" {
		path = "../api/v0/models" // with more properties
	}
	var said list
	if err = g.client.Get(ctx, path, &said); err != nil && path != "models" { // which some servers lack
		err = g.client.Get(ctx, "models", &said)
	}
	if err != nil {
		return nil, err
	}
	var props struct {
		Settings struct {
			Context protocol.Count `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if g.provider.List == "llamacpp" {
		g.client.Get(ctx, "../props", &props) // which may be disabled or need another key
	}
	for _, m := range said {
		can := m.Capabilities
		if talks, known := can["completion_chat"]; m.Type == "embeddings" || known && !talks {
			continue
		}
		l := model.ModelInfo{Name: string(m.ID), Title: string(m.Name),
			Input: int(cmp.Or(props.Settings.Context, m.Loaded, m.MaxLen, m.Length, m.Window, m.Longest, m.Meta.Trained))}
		if _, mistral := can["function_calling"]; m.Parameters != nil || mistral || can != nil && g.provider.List == "lmstudio" {
			l.Takes = []string{}
		}
		if slices.Contains(m.Parameters, "tools") || can["tool_use"] || can["function_calling"] {
			l.Takes = append(l.Takes, model.Tools)
		}
		if slices.Contains(m.Architecture.Input, "image") || m.Type == "vlm" || can["vision"] && l.Takes != nil {
			l.Takes = append(l.Takes, model.Images)
		}
		all = append(all, l)
	}
	return all, nil
}
