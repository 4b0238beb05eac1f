package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/update_topic.md
var updateTopicDoc string

const updateTopicSchema = `{"type":"object","properties":{
"title":{"type":"string"},
"summary":{"type":"string","description":"What was reached, and what comes"},
"strategic_intent":{"type":"string","description":"What you do next and why, in a sentence"}},
"required":["strategic_intent"]}`

type updateTopicArgs struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
	Intent  string `json:"strategic_intent"`
}

// updateTopic returns the tool by which the model names its topic. The topic is only in the
// conversation: in the system instruction, each change would invalidate the server's cache.
func updateTopic(offered bool) engine.Tool {
	var mu sync.Mutex
	current := ""
	t := toolkit.Define("update_topic", "Update Topic Context", engine.Think, updateTopicDoc, updateTopicSchema,
		func(_ context.Context, a updateTopicArgs) (engine.Call, error) {
			title, intent := text.Words(strings.TrimSpace(a.Title)), text.Words(strings.TrimSpace(a.Intent))
			if intent == "" {
				return engine.Call{}, toolkit.Misuse("params/strategic_intent must not be empty")
			}
			mu.Lock()
			fresh := title != "" && title != current
			mu.Unlock()
			r := engine.Result{Text: "Strategic Intent: " + intent}
			said := "next: " + intent
			if fresh {
				summary := cmp.Or(strings.TrimSpace(a.Summary), "...")
				r.Text = fmt.Sprintf("Current topic: %q\nTopic summary: %s\n\n%s", title, summary, r.Text)
				said = "topic: " + title
				r.Display = intent
			}
			return engine.Call{Intent: engine.Intent{Title: said},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					if fresh {
						mu.Lock()
						current = title
						mu.Unlock()
					}
					return r, nil
				}}, nil
		})
	t.When = func() bool { return offered }
	return t
}
