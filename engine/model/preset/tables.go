package preset

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gemline/engine/model/catalog"
)

// tables are the settings about names, chains and properties of models.
type tables struct {
	definitions  map[string]definition // by the name of a model
	ids, classes map[string]resolution // models for names, and for classes of prompts
	chains       [][]ChainModel
}

// A definition describes a model.
type definition struct {
	tier, family string // "" if undefined
	note         string // for lists
	hidden       bool   // it is in no list
	thoughtless  bool   // it can't think
	tokens       int    // size of the context, 0 if undefined
}

// A resolution is the model for a name.
type resolution struct {
	target string
	cases  []instance // precede target; the first that holds counts
}

// An instance is a target with its conditions.
type instance struct {
	holds  bool
	wanted []string // the users' names that it applies to; nil is all
	target string
}

// of returns the model for the name that the user chose.
func (r resolution) of(wanted string) string {
	for _, c := range r.cases {
		if c.holds && (c.wanted == nil || slices.Contains(c.wanted, wanted)) {
			return c.target
		}
	}
	return r.target
}

// A ChainModel is a model in a fallback chain.
type ChainModel struct {
	Model    string
	Attempts int  // how often it is asked; 0 is the usual number
	Last     bool // it is asked as the last resort, in any state

	silent map[string]bool   // failures after which the model is replaced without a question
	states map[string]string // the model's state after each failure
}

// Silent reports whether the failed model is replaced without a question; way is terminal,
// transient, not_found or unknown.
func (s ChainModel) Silent(way string) bool { return s.silent[way] }

// Covers reports whether the chain has a rule for unknown failures.
func (s ChainModel) Covers() bool { _, ok := s.silent["unknown"]; return ok }

// Sticky is the state of a failed model that gets one more attempt. In any other state it
// can't answer for some time.
const Sticky = "sticky_retry"

// State returns the state of the model after a failure.
func (s ChainModel) State(way string) string { return s.states[way] }

// Chain returns the fallback chain from the named model on.
func (t *Table) Chain(name string) (found []ChainModel) {
	t = t.some()
	if found = t.chained(name); found != nil {
		return found
	}
	silent := map[string]bool{"transient": true}
	models, quiet := t.access.on(t.Today).after(name)
	if quiet {
		silent["terminal"], silent["not_found"] = true, true
	}
	for _, m := range append([]string{name}, models...) {
		found = append(found, ChainModel{Model: m, silent: silent, states: map[string]string{"transient": Sticky}})
	}
	return found
}

// chained returns the rest of a user's chain from the named model on, nil if no chain has the
// model.
func (t *Table) chained(name string) (found []ChainModel) {
	best := 0
	for _, chain := range t.tables.chains {
		i := slices.IndexFunc(chain, func(s ChainModel) bool { return t.Chat(s.Model, false).Model == name })
		if i >= 0 && (found == nil || i < best) {
			found, best = chain[i:], i
		}
	}
	return found
}

// Resolve returns the model for a name. For an alias of the user it returns the name itself,
// since an alias also has settings.
func (t *Table) Resolve(name string) string {
	t = t.some()
	name = strings.TrimSpace(name)
	if t.aliases.has(name) {
		return name
	}
	return t.names().model(name)
}

func (t *Table) names() names { return names{t.access, t.Today, t.tables} }

// model returns the model for a name.
func (n names) model(name string) string {
	name = cmp.Or(strings.TrimSpace(name), Default)
	_, named := n.tables.ids[name]
	if class, ok := n.tables.classes["pro"]; ok && n.open(name) {
		name = class.of(name)
	} else if !named && n.tables.definitions[name].tier == "auto" {
		name = Default
	}
	name, _ = n.follow(name)
	return name
}

// follow returns the model for a name, and whether the resolution ends.
func (n names) follow(name string) (model string, ends bool) {
	for range 2 * (len(n.tables.ids) + len(catalog.Shipped().Models)) {
		next := n.step(name)
		if next == name {
			return name, true
		}
		name = next
	}
	return name, false
}

// step returns the next target of a name, or the name itself.
func (n names) step(name string) string {
	if r, ok := n.tables.ids[name]; ok {
		return r.of(name)
	}
	return cmp.Or(n.next(name), name)
}

// written returns the model for a name, without a replacement for an ended model.
func (t *Table) written(name string) string {
	name = cmp.Or(strings.TrimSpace(name), Default)
	if !t.aliases.has(name) {
		return name
	}
	s := t.aliases.sum(key{name: name}, t.names())
	return cmp.Or(s.model, s.class)
}

// open reports whether name means automatic choice of the model.
func (n names) open(name string) bool {
	_, auto := n.small(name)
	return auto || n.tables.definitions[name].tier == "auto"
}

// SetAutoModels sets the models for automatic choice: large, or small where it suffices. It must
// be called before the first use.
func (t *Table) SetAutoModels(large, small string) {
	classes := maps.Clone(t.tables.classes)
	if classes == nil {
		classes = map[string]resolution{}
	}
	classes["pro"], classes["flash"] = resolution{target: large}, resolution{target: small}
	t.tables.classes = classes
}

// Auto reports whether name means automatic choice between the model of the name and a smaller
// model, which Auto returns.
func (t *Table) Auto(name string) (small string, auto bool) {
	t = t.some()
	name = cmp.Or(strings.TrimSpace(name), Default)
	n := t.names()
	if t.aliases.has(name) || !n.open(name) {
		return "", false
	}
	if small, auto = n.small(name); !auto {
		small = "flash"
	}
	if class, ok := t.tables.classes["flash"]; ok {
		small = class.of(name)
	}
	if small, _ = n.follow(small); small == n.model(name) { // no choice
		return "", false
	}
	return small, true
}

// UsesScoring reports whether prompts for a model are scored, as for newer models.
func (t *Table) UsesScoring(name string) bool {
	t = t.some()
	return t.tables.known(t.Chat(name, false).Model).Thinks == "level"
}

// TokenLimit returns the context size of a model in tokens.
func (t *Table) TokenLimit(name string) int {
	t = t.some()
	id := t.Chat(name, false).Model
	m := t.tables.known(id)
	if n := t.tables.definitions[id].tokens; n > 0 {
		return n
	}
	if t.Context != nil {
		if n := t.Context(id); n > 0 {
			return n
		}
	}
	if m.Shared { // shared with the answer
		return m.Context - m.Output
	}
	return m.Context
}

// Choices returns the names to offer: built-in names, names that the settings define, and the
// user's aliases.
func (t *Table) Choices() (choices []ListedModel) {
	t = t.some()
	for _, c := range t.names().choices() {
		if d := t.tables.definitions[c.Name]; !d.hidden {
			choices = append(choices, ListedModel{c.Name, cmp.Or(d.note, c.Note, t.meaning(c.Name))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.tables.definitions)) {
		known := func(c ListedModel) bool { return c.Name == name }
		if d := t.tables.definitions[name]; !d.hidden && !slices.ContainsFunc(choices, known) {
			choices = append(choices, ListedModel{name, cmp.Or(d.note, t.meaning(name))})
		}
	}
	for _, name := range t.CustomNames() {
		choices = append(choices, ListedModel{name, "yours, " + t.Chat(name, false).Model})
	}
	return choices
}

// CommonChoices returns the names to offer first: names of the newest models, the user's own
// names, and the chosen name, now.
func (t *Table) CommonChoices(now string) (choices []ListedModel) {
	t = t.some()
	shown := map[string]bool{}
	for _, row := range catalog.Shipped().Names {
		shown[row.Name] = row.Listed && !catalog.Shipped().Has(row.Is)
	}
	for _, name := range slices.AppendSeq(t.CustomNames(), maps.Keys(t.tables.definitions)) {
		shown[name] = true
	}
	choices = slices.DeleteFunc(t.Choices(), func(c ListedModel) bool { return !shown[c.Name] && c.Name != now })
	if now != "" && !slices.ContainsFunc(choices, func(c ListedModel) bool { return c.Name == now }) {
		choices = append(choices, ListedModel{now, "chosen by name"})
	}
	return choices
}

// meaning describes the model for a name.
func (t *Table) meaning(name string) string {
	note := t.names().model(name)
	if small, auto := t.Auto(name); auto {
		note += ", or " + small + " where that will do"
	}
	return note
}
