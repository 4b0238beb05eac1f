package preset

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/model/catalog"
)

// Settings of thinking, as the API calls them.
const (
	thinking = "thinkingConfig"
	level    = "thinkingLevel"
	budget   = "thinkingBudget"
)

// fit returns what a model is asked with: config without what it does not go by, unless the
// user has set it, and with thinking set in the way that it takes. Theirs is what the user
// has set of config.
func fit(m catalog.Model, config, theirs map[string]any) map[string]any {
	config = maps.Clone(config)
	for _, key := range m.Ignores {
		if _, set := theirs[key]; !set {
			delete(config, key)
		}
	}
	was, _ := config[thinking].(map[string]any)
	if was == nil {
		return config
	}
	set, _ := theirs[thinking].(map[string]any)
	is := maps.Clone(was)
	config[thinking] = is
	_, budgeted := was[budget]
	if said, ok := was[level].(string); ok && set[level] == nil && m.Thinks != "level" {
		delete(is, level)
		if n, ok := m.Kin.Budgets[strings.ToLower(said)]; ok && !budgeted {
			is[budget] = n
		}
	}
	if !budgeted || m.Thinks == "budget" || m.Thinks == "" && set[budget] != nil {
		return config
	}
	tokens := number(was[budget])
	if _, chosen := set[budget]; chosen && !m.RefusesBudget(tokens) {
		return config
	}
	delete(is, budget)
	if l := m.Level(tokens); l != "" && set[level] == nil {
		is[level] = strings.ToUpper(l)
	}
	return config
}

// number returns the value of a budget, which may be of any of the types that files of
// settings and tables are read as.
func number(v any) (n int) {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return int(f)
	case float64:
		return int(v)
	}
	fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

// Thinking returns what has a model think at a level: low, medium or high. It is nil where
// nothing is known of how it thinks.
func (t *Table) Thinking(model, at string) *genai.ThinkingConfig {
	t = t.some()
	p := t.Chat(model, false)
	m := t.known(p.Model)
	c := &genai.ThinkingConfig{IncludeThoughts: true}
	switch tokens, ok := m.Kin.Budgets[at]; {
	case t.definitions[p.Model].thoughtless:
		return nil
	case m.Thinks == "level":
		c.ThinkingLevel = genai.ThinkingLevel(strings.ToUpper(at))
	case ok:
		c.ThinkingBudget = genai.Ptr(int32(tokens))
	default:
		return nil
	}
	return c
}
