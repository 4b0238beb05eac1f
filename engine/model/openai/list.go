package openai

import (
	"cmp"
	"context"
	"slices"

	"gemline/engine/model"
)

// A listed is a model as servers list it, in the words of one or the other.
type listed struct {
	ID, Name string
	Type     string // of LM Studio
	Meta     struct {
		Trained int `json:"n_ctx_train"`
	} // of llama.cpp

	// Tokens of the context: as it is loaded, and as it may be loaded at most.
	Loaded  int `json:"loaded_context_length"` // of LM Studio
	MaxLen  int `json:"max_model_len"`         // of vLLM
	Length  int `json:"context_length"`        // of OpenRouter
	Window  int `json:"context_window"`        // of Groq
	Longest int `json:"max_context_length"`    // of LM Studio and Mistral

	Parameters   []string `json:"supported_parameters"` // of OpenRouter
	Architecture struct {
		Input []string `json:"input_modalities"`
	}
}

// List returns the models of the server, each with the server's facts about it.
func (g *Generator) List(ctx context.Context) (all []model.Listed, err error) {
	path := "models"
	if g.provider.List == "lmstudio" {
		path = "../api/v0/models" // which says more
	}
	var said struct{ Data []listed }
	if err := g.client.Get(ctx, path, &said); err != nil {
		return nil, err
	}
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if g.provider.List == "llamacpp" {
		if err := g.client.Get(ctx, "../props", &props); err != nil && !model.Missing(err) {
			return nil, err
		}
	}
	for _, m := range said.Data {
		if m.Type == "embeddings" {
			continue
		}
		l := model.Listed{Name: m.ID, Title: m.Name,
			Input: cmp.Or(props.Settings.Context, m.Loaded, m.MaxLen, m.Length, m.Window, m.Longest, m.Meta.Trained)}
		if m.Parameters != nil {
			l.Takes = []string{}
		}
		if slices.Contains(m.Parameters, "tools") {
			l.Takes = append(l.Takes, model.Tools)
		}
		if slices.Contains(m.Architecture.Input, "image") || m.Type == "vlm" {
			l.Takes = append(l.Takes, model.Images)
		}
		all = append(all, l)
	}
	return all, nil
}
