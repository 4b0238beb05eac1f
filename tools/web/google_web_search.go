package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/model/oneshot"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/google_web_search.md
var googleWebSearchDoc string

const googleWebSearchSchema = `{"type":"object","properties":{
"query":{"type":"string","description":"What to look for, in words"}},
"required":["query"]}`

type googleWebSearchArgs struct {
	Query string `json:"query"`
}

// searchFailed is the error class of google_web_search.
const searchFailed = "web_search_failed"

// googleWebSearch returns google_web_search, which lets the model's server search the web.
// The local machine fetches nothing, so the tool needs no network right.
func (ts Tools) googleWebSearch() engine.Tool {
	t := toolkit.Define("google_web_search", "GoogleSearch", engine.Search, googleWebSearchDoc, googleWebSearchSchema,
		func(_ context.Context, a googleWebSearchArgs) (engine.Call, error) {
			query := strings.TrimSpace(a.Query)
			if query == "" {
				return engine.Call{}, toolkit.Misuse("The 'query' parameter cannot be empty.")
			}
			return engine.Call{Intent: engine.Intent{Title: "search the web for " + text.Name(query)},
				Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
					return ts.search(ctx, host, query)
				}}, nil
		})
	t.When = func() bool { return ts.Fetcher != nil }
	return t
}

// search asks a model with web search.
func (ts Tools) search(ctx context.Context, host engine.Host, query string) (engine.Result, error) {
	answer, err := ts.ask(ctx, host, "web-search", query)
	if ctx.Err() != nil {
		return engine.Result{}, ctx.Err()
	}
	if err != nil && !errors.Is(err, oneshot.ErrEmpty) {
		return engine.Result{}, &engine.CallError{Type: searchFailed,
			Message: fmt.Sprintf("Error: Error during web search for query %q: %v", query, err),
			Display: fmt.Sprintf("nothing was searched: %v", err)}
	}
	said := ""
	if err == nil {
		said = cited(answer)
	}
	if strings.TrimSpace(said) != "" {
		return engine.Result{Text: fmt.Sprintf("Web search results for %q:\n\n%s", query, text.Untrusted(said)),
			Display: "answered from " + text.Count(len(webSources(answer)), "source")}, nil
	}
	return engine.Result{Text: fmt.Sprintf("No search results or information found for query: %q",
		query), Display: "found nothing"}, nil
}
