package model

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A ModelInfo is a model as the server lists it.
type ModelInfo struct {
	Name   string // the name for requests
	Title  string // for people; may be empty
	Input  int    // tokens of the context; 0 if unknown
	Output int    // maximum tokens of an answer; 0 if unknown

	// Takes lists the model's inputs beside text: [Tools], [Images]. It is nil if unknown.
	Takes []string
}

// maxPages is how many pages of a list are read; the largest real lists have two.
const maxPages = 20

// List returns the server's models for conversations, in its order. Code Assist has no list,
// which is an error.
func (g *Genai) List(ctx context.Context) ([]ModelInfo, error) {
	if g.opts.Google.CodeAssist {
		return nil, &Error{Kind: BadRequest, Final: true, Message: "Code Assist has no list of models"}
	}
	var all []ModelInfo
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
				all = append(all, ModelInfo{Name: name, Title: m.DisplayName, Input: m.Input, Output: m.Output})
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	return all, nil
}

// A listPage is a page of the list, in the server's form.
type listPage struct {
	Models        []listItem      `json:"models"`
	Publishers    []listItem      `json:"publisherModels"` // of Vertex AI
	NextPageToken string          `json:"nextPageToken"`
	Error         json.RawMessage `json:"error"` // beside the others
}

type listItem struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Input       int      `json:"inputTokenLimit"`
	Output      int      `json:"outputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
}

// list requests the page of the list for a token.
func (g *Genai) list(ctx context.Context, token string) (*listPage, error) {
	q := question{model: "models", method: http.MethodGet, url: g.url("/models")}
	if g.opts.Google.Vertex {
		q.url = g.url("/publishers/google/models")
	}
	q.url.RawQuery = pageQuery(1000, token)
	page := &listPage{}
	return page, g.client.ask(ctx, q, func(a *Answer) error {
		err := a.Document(page)
		if err == nil && isPresent(page.Error) {
			return a.Fault(page.Error)
		}
		return err
	})
}

// pageQuery returns the query for a page of a list.
func pageQuery(size int, token string) string {
	v := url.Values{"pageSize": {strconv.Itoa(size)}}
	if token != "" {
		v.Set("pageToken", token)
	}
	return v.Encode()
}
