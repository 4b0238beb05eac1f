package preset

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Preset is what a request is made with. It must not be changed: others get the
// same one.
type Preset struct {
	Model  string // as the server knows it
	Config *genai.GenerateContentConfig

	Role     string        // for what the request counts
	Limit    time.Duration // how long the answer is worth waiting for, 0 for a conversation's
	Attempts int           // how often it is worth asking, 0 for as often as others
}

// A Table holds the aliases and what overrides them. Nil has the built-in ones. It is
// safe for concurrent use.
type Table struct {
	access    Access           // what names stand for
	custom    map[string]alias // before the built-in ones
	overrides []override
	tables

	mu    sync.Mutex
	known map[key]*Preset
}

// A key says what a Preset was made for.
type key struct {
	name  string
	aside bool // beside a conversation
	again bool
}

// An alias is a name for a model and settings.
type alias struct {
	extends string
	model   string
	config  map[string]any
}

// An override changes what requests are made with that it matches.
type override struct {
	model, scope string // "" matches all
	again        *bool  // that a request is a repetition; nil matches both
	keys         int    // how many of these are given
	alias               // what it changes; extends nothing
}

// overridden returns the overrides that are there without settings: what is asked again
// is answered with more variety.
func overridden() []override {
	warm := alias{config: map[string]any{"temperature": 1.0}}
	return []override{{model: "chat-base", again: new(true), keys: 2, alias: warm}}
}

// deepest is how many aliases may build on each other.
const deepest = 100

// New returns the Table for a credential and the settings below modelConfigs, which may be
// nil. An error is an [*Error].
func New(access Access, modelConfigs map[string]any) (*Table, error) {
	t := &Table{access: access}
	var err error
	r := reader{&err}
	t.custom = r.aliases("aliases", modelConfigs["aliases"])
	maps.Copy(t.custom, r.aliases("customAliases", modelConfigs["customAliases"]))
	t.overrides = overridden()
	if v, ok := modelConfigs["overrides"]; ok {
		t.overrides = r.overrides("overrides", v)
	}
	t.overrides = append(slices.Clip(t.overrides), r.overrides("customOverrides", modelConfigs["customOverrides"])...)
	t.tables = r.tables(modelConfigs, access)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(t.ids)) {
		if _, ends := t.follow(name); !ends {
			return nil, &Error{"the name " + name + " stands for itself by way of others",
				"see modelConfigs.modelIdResolutions"}
		}
	}
	if len(t.custom) == 0 {
		return t, nil
	}
	names := t.Customs()
	for _, r := range builtin { // which stand on the user's where these have their names
		names = append(names, r.name)
	}
	for _, name := range names {
		const others = 2 // that the name of a model adds
		switch links, err := t.chain(name); {
		case err != nil:
			return nil, err
		case len(links) > deepest-others:
			return nil, &Error{fmt.Sprintf("the alias %s builds on %d others, which are too many",
				name, len(links)), "see its extends"}
		}
	}
	return t, nil
}

// isCustom reports whether the user has given an alias this name.
func (t *Table) isCustom(name string) bool {
	if t == nil {
		return false
	}
	_, ok := t.custom[name]
	return ok
}

// Customs returns the names of the user's aliases, in order.
func (t *Table) Customs() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.custom))
}

// Chat returns what a conversation with a model is asked with. Again says that the
// request repeats one whose answer was none.
func (t *Table) Chat(model string, again bool) *Preset { return t.find(key{name: model, again: again}) }

// Purpose returns what is asked beside a conversation with.
func (t *Table) Purpose(name string) *Preset { return t.find(key{name: name, aside: true}) }

// some returns t, or the built-in Table.
func (t *Table) some() *Table {
	if t == nil {
		return &Table{overrides: overridden()}
	}
	return t
}

func (t *Table) find(k key) *Preset {
	t = t.some()
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.known[k]; p != nil {
		return p
	}
	p := t.make(k)
	if t.known == nil || len(t.known) > 1000 { // names come from outside
		t.known = map[key]*Preset{}
	}
	t.known[k] = p
	return p
}

func (t *Table) make(k key) *Preset {
	chain, err := t.chain(k.name)
	if err != nil {
		panic(err) // New has seen all of them
	}
	var sum alias
	for _, l := range chain {
		sum.over(l.alias)
	}
	for _, o := range t.matching(k, chain, t.model(sum.model)) {
		sum.over(o)
	}
	p := &Preset{Model: t.model(sum.model), Config: &genai.GenerateContentConfig{}, Role: Main}
	if k.aside {
		what := purposeOf(k.name)
		p.Role, p.Limit, p.Attempts = what.role, what.limit, what.attempts
	}
	if err := decode(sum.config, p.Config); err != nil {
		panic(err) // each part could be read, and parts keep their types
	}
	if t.definitions[p.Model].thoughtless {
		p.Config.ThinkingConfig = nil
	}
	return p
}

// over has a say what l says.
func (a *alias) over(l alias) {
	a.model = cmp.Or(l.model, a.model)
	a.config = merge(a.config, l.config)
}

// merge returns a with the values of b, in objects in both as well.
func merge(a, b map[string]any) map[string]any {
	if len(b) == 0 {
		return a
	}
	c := maps.Clone(a)
	if c == nil {
		c = map[string]any{}
	}
	for name, v := range b {
		was, one := c[name].(map[string]any)
		is, other := v.(map[string]any)
		if one && other {
			v = merge(was, is)
		}
		c[name] = v
	}
	return c
}

// A link is an alias in a chain.
type link struct {
	name string
	alias
}

// chain returns the aliases that name stands on, the lowest first.
func (t *Table) chain(name string) (links []link, err error) {
	for at := name; at != ""; {
		if slices.ContainsFunc(links, func(l link) bool { return l.name == at }) || len(links) == deepest {
			return nil, &Error{"the alias " + name + " stands on itself", "see extends of " + at}
		}
		a, known := t.alias(at)
		if !known {
			if len(links) > 0 && !modelLike(at) {
				return nil, &Error{fmt.Sprintf("the alias %s extends %q, which is none", links[len(links)-1].name, at),
					"gemline models lists the names"}
			}
			a = alias{extends: t.family(at), model: at}
		}
		links = append(links, link{at, a})
		at = a.extends
	}
	slices.Reverse(links)
	return links, nil
}

// alias returns the alias of that name.
func (t *Table) alias(name string) (alias, bool) {
	if a, ok := t.custom[name]; ok {
		return a, true
	}
	for _, r := range builtin {
		if r.name != name {
			continue
		}
		a := alias{extends: r.extends, model: r.model}
		if r.config != "" {
			if err := json.Unmarshal([]byte(r.config), &a.config); err != nil {
				panic(err)
			}
		}
		return a, true
	}
	return alias{}, false
}

// modelLike reports whether a name that no alias has may be a model's.
func modelLike(name string) bool {
	return strings.HasPrefix(name, "gemini-") || strings.HasPrefix(name, "gemma-")
}

// matching returns what the overrides change that match k, in the order in which they
// count: those of the model, then those of the aliases, the lowest first; of these, those
// that ask for more come later.
func (t *Table) matching(k key, chain []link, model string) (all []alias) {
	type match struct {
		override
		level int
	}
	var found []match
	for _, o := range t.overrides {
		level := 0
		if o.model != "" && o.model != model {
			level = slices.IndexFunc(chain, func(l link) bool { return l.name == o.model }) + 1
			if level == 0 {
				continue
			}
		}
		if o.scope != "" && o.scope != "core" || o.again != nil && *o.again != k.again {
			continue
		}
		found = append(found, match{o, level})
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Or(a.level-b.level, a.keys-b.keys) })
	for _, m := range found {
		all = append(all, m.alias)
	}
	return all
}

// family returns the alias that a model builds on.
func (t *Table) family(name string) string {
	family := cmp.Or(t.definitions[name].family, strings.TrimPrefix(name, "models/"))
	switch {
	case strings.HasPrefix(family, "gemini-2.5"):
		return "chat-base-2.5"
	case engine.Gemini3(family), strings.HasPrefix(family, "gemma-4-"):
		return "chat-base-3"
	}
	return "chat-base"
}
