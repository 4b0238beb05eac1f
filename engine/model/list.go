package model

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// A Listed is a model as the server lists it.
type Listed struct {
	Name   string // as it is asked for
	Title  string // for people; may be empty
	Input  int    // tokens that its context holds; 0 if the server does not say
	Output int    // tokens that an answer may have; 0 if the server does not say
}

// maxPages is how many pages of a list are read; the largest real ones have
// two of them.
const maxPages = 20

// List returns the models that the server has for conversations, in its order.
// Code Assist has no list, which is an error.
func (g *Genai) List(ctx context.Context) ([]Listed, error) {
	if g.opts.CodeAssist {
		return nil, &Error{Kind: BadRequest, Final: true, Message: "Code Assist has no list of models"}
	}
	var all []Listed
	token := ""
	for range maxPages {
		page, err := g.list(ctx, token)
		if err != nil {
			return nil, err
		}
		for _, m := range append(page.Models, page.Publishers...) {
			if m.Methods != nil && !slices.Contains(m.Methods, "generateContent") {
				continue
			}
			name := m.Name[strings.LastIndexByte(m.Name, '/')+1:]
			if modelName(name) {
				all = append(all, Listed{Name: name, Title: m.DisplayName, Input: m.Input, Output: m.Output})
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	return all, nil
}

// A listPage is a part of the list, as the server writes it.
type listPage struct {
	Models        []listItem      `json:"models"`
	Publishers    []listItem      `json:"publisherModels"` // of Vertex AI
	NextPageToken string          `json:"nextPageToken"`
	Error         json.RawMessage `json:"error"`
}

type listItem struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Input       int      `json:"inputTokenLimit"`
	Output      int      `json:"outputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
}

// list asks for the part of the list that a token stands for.
func (g *Genai) list(ctx context.Context, token string) (*listPage, error) {
	x := &exchange{model: "models"} // what the request is about, for the User-Agent
	defer x.end()
	err := g.send(ctx, x, func(ctx context.Context, client *genai.Client) error {
		_, err := client.Models.List(ctx, &genai.ListModelsConfig{PageSize: 1000, PageToken: token})
		return err
	})
	if err != nil {
		return nil, err
	}
	answer, err := newEventReader(x).all()
	if err != nil {
		return nil, g.lost(ctx, x, err)
	}
	var page listPage
	switch err := json.Unmarshal(answer, &page); {
	case err != nil && len(answer) > 0 && answer[0] == '<':
		return nil, g.failed(g.failure(x.resp.StatusCode, x.resp.Header, answer), x)
	case err != nil:
		return nil, g.garbled(err, answer)
	case len(page.Error) > 0:
		return nil, g.faulty(x, page.Error)
	}
	return &page, nil
}
