package tools

import (
	"context"
	_ "embed"
	"strings"

	"gemline/docs"
	"gemline/engine"
	"gemline/tools/toolkit"
)

//go:embed doc/get_internal_docs.md
var getInternalDocsDoc string

const getInternalDocsSchema = `{"type":"object","properties":{"path":{"type":"string"}}}`

type getInternalDocsArgs struct {
	Path string `json:"path"`
}

// getInternalDocs returns the tool that reads this program's pages, so that the model
// invents no facts about the program.
func getInternalDocs() engine.Tool {
	return toolkit.Define("get_internal_docs", "Internal Docs", engine.Think, getInternalDocsDoc, getInternalDocsSchema,
		func(_ context.Context, a getInternalDocsArgs) (engine.Call, error) {
			name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(a.Path), "docs/"), ".md")
			r := engine.Result{Text: docsList(), Display: "listed the pages"}
			title := "gemline's documentation"
			if name != "" {
				page, ok := docs.Find(name)
				if !ok {
					return engine.Call{}, toolkit.Misuse("There is no page %q. %s", a.Path, docsList())
				}
				r, title = engine.Result{Text: page.Text, Display: page.Title}, title+": "+page.Name
			}
			return engine.Call{Intent: engine.Intent{Title: title},
				Run: func(context.Context, engine.Host) (engine.Result, error) { return r, nil }}, nil
		})
}

// docsList returns the pages, a line each.
func docsList() string {
	lines := []string{"The pages:"}
	for _, p := range docs.Pages() {
		lines = append(lines, "- "+p.Name+".md: "+p.Title)
	}
	return strings.Join(lines, "\n")
}
