// Package wrap keeps secrets out of a conversation by wrappers around its parts: [Tools] cleans
// results and output of calls, [Journal] stored messages, and [Content] any message. It applies
// package [redact] to every value that holds texts.
//
// # Inputs are not changed
//
// A message with a secret is copied, and the copy cleaned; others are not copied.
package wrap

import (
	"slices"

	"google.golang.org/genai"

	"gemline/engine"
)

// Journal returns a journal that cleans every text before j records it: words and thoughts,
// the arguments of calls, and their results. Data and signatures are recorded unchanged.
func Journal(j engine.Journal, clean func(string) string) engine.Journal {
	return cleaned{j, clean}
}

type cleaned struct {
	engine.Journal
	clean func(string) string
}

// Record implements [engine.Journal].
func (c cleaned) Record(e engine.Entry) error {
	e.Content = Content(e.Content, c.clean)
	thoughts := make([]string, len(e.Thoughts))
	for i, t := range e.Thoughts {
		thoughts[i] = c.clean(t)
	}
	e.Thoughts = thoughts
	e.Cited = slices.Clone(e.Cited)
	for i, r := range e.Cited {
		e.Cited[i] = engine.Reference{Title: c.clean(r.Title), URI: c.clean(r.URI)}
	}
	calls := make([]engine.CallRecord, len(e.Calls))
	for i, r := range e.Calls {
		calls[i] = c.call(r)
	}
	e.Calls = calls
	return c.Journal.Record(e)
}

// Result implements [engine.Journal].
func (c cleaned) Result(r engine.CallRecord) error { return c.Journal.Result(c.call(r)) }

// Rewrite implements [engine.Journal].
func (c cleaned) Rewrite(said []*genai.Content) error {
	said = slices.Clone(said)
	for i := range said {
		said[i] = Content(said[i], c.clean)
	}
	return c.Journal.Rewrite(said)
}

func (c cleaned) call(r engine.CallRecord) engine.CallRecord {
	r.Args, _ = Args(r.Args, c.clean)
	r.Answer = cleanParts(r.Answer, c.clean)
	r.Intent.Title = c.clean(r.Intent.Title)
	r.Result = engine.Result{Text: c.clean(r.Result.Text), Display: c.clean(r.Result.Display),
		Changes: r.Result.Changes,
		Media:   cleanParts(r.Result.Media, c.clean),
		Tails:   slices.Clone(r.Result.Tails)}
	for i, t := range r.Result.Tails {
		r.Result.Tails[i].Args, _ = Args(t.Args, c.clean)
		r.Result.Tails[i].Display = c.clean(t.Display)
	}
	r.Err = cleanError(r.Err, c.clean)
	return r
}
