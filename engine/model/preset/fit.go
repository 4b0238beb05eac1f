package preset

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/model/catalog"
)

// The API's names of the settings of thinking.
const (
	thinking = "thinkingConfig"
	level    = "thinkingLevel"
	budget   = "thinkingBudget"
)

// fit adapts config to a model: it removes settings that the model ignores, unless the user set
// them, and converts the settings of thinking to the model's form. Theirs are the user's settings
// in config.
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
	switch m.Thinks {
	case "level":
		levelled(m, is, set)
	case "budget":
		budgeted(m, is, set)
	default: // unknown
		for _, key := range []string{level, budget} {
			if set[key] == nil {
				delete(is, key)
			}
		}
	}
	return config
}

// levelled sets thinking by a level. A valid budget of the user stays, without a level, since the
// API refuses both together.
func levelled(m catalog.Model, is, set map[string]any) {
	if is[budget] == nil {
		return
	}
	tokens := number(is[budget])
	if set[budget] != nil && set[level] == nil && !m.RefusesBudget(tokens) {
		delete(is, level)
		return
	}
	delete(is, budget)
	if l := m.Level(tokens); l != "" && set[level] == nil {
		is[level] = strings.ToUpper(l)
	}
}

// budgeted sets thinking by a budget.
func budgeted(m catalog.Model, is, set map[string]any) {
	said, _ := is[level].(string)
	delete(is, level)
	if said == "" || set[budget] != nil || is[budget] != nil && set[level] == nil {
		return
	}
	tokens, ok := m.Kin.Budgets[strings.ToLower(said)]
	if !ok { // below low
		tokens = m.Kin.Budgets["low"]
	}
	is[budget] = tokens
}

// FitThinking returns c with a level instead of a budget that a model refuses.
func FitThinking(model string, c *genai.ThinkingConfig) *genai.ThinkingConfig {
	m := catalog.Lookup(model)
	if c == nil || c.ThinkingBudget == nil || !m.RefusesBudget(int(*c.ThinkingBudget)) {
		return c
	}
	allowed := *c
	if allowed.ThinkingBudget = nil; c.ThinkingLevel == "" {
		allowed.ThinkingLevel = genai.ThinkingLevel(strings.ToUpper(m.Level(int(*c.ThinkingBudget))))
	}
	return &allowed
}

// number returns the value of a budget, which may have any numeric type of the parsers of
// settings and tables.
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

// Thinking returns the configuration for a level of thinking: low, medium or high. It is nil if
// the model does not think, or its settings are unknown.
func (t *Table) Thinking(model, at string) *genai.ThinkingConfig {
	t = t.some()
	p := t.Chat(model, false)
	m := t.tables.known(p.Model)
	c := &genai.ThinkingConfig{IncludeThoughts: true}
	switch tokens, ok := m.Kin.Budgets[at]; {
	case t.tables.definitions[p.Model].thoughtless:
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
