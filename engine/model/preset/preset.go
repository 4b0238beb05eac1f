package preset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/engine/model/catalog"
)

// A Preset has the model and the settings of a request. It must not be changed, since it is
// shared.
type Preset struct {
	Model  string // the server's name of the model
	Config *genai.GenerateContentConfig

	Role     string        // the role in which the request is counted
	Limit    time.Duration // the timeout, 0 for a conversation
	Attempts int           // the maximum number of attempts, 0 for the usual number
}

// A Table has the aliases and their overrides. A nil Table has the built-in aliases. It is safe
// for concurrent use.
type Table struct {
	// Today is the day for which names and models are resolved, set before the first use. On the
	// zero day no model has ended.
	Today time.Time

	// Roles are the user's models for questions outside of a conversation, by their keys in
	// model.roles, set before the first use. The model of an alias takes precedence.
	Roles map[string]string

	// Context, if not nil, returns the context size of another provider's model in tokens, 0 if
	// unknown. The user's definitions take precedence.
	Context func(name string) int

	// Unknown has messages about unknown parameters and conditions in the settings.
	Unknown []string

	access  Access // the access for which names are resolved
	aliases aliases
	tables  tables

	mu   sync.Mutex
	made map[key]*Preset
}

// aliases are the user's aliases, which precede the built-in aliases, and the overrides.
type aliases struct {
	custom    map[string]alias
	overrides []override
}

// A key identifies a Preset in the cache.
type key struct {
	name     string
	aside    bool // outside of a conversation
	repeated bool
	model    string // overrides the model of the name, unless empty
}

// An alias is a name for a model and settings.
type alias struct {
	extends string
	model   string
	class   string // any model of the class
	config  map[string]any
	ours    bool // built in
}

// An override changes the settings of matching requests.
type override struct {
	model, scope string // "" matches all
	again        *bool  // matches repeated or first requests; nil matches both
	keys         int    // the number of conditions
	alias               // the changes; extends nothing
}

// overridden returns the built-in overrides: repeated requests get answers with more variety.
func overridden() []override {
	warm := alias{config: map[string]any{"temperature": 1.0}, ours: true}
	return []override{{model: "chat-base", again: new(true), keys: 2, alias: warm}}
}

// deepest is the maximum length of a chain of aliases.
const deepest = 100

// New returns the Table for a credential and the settings below modelConfigs, which may be
// nil. An error is an [*Error].
func New(access Access, modelConfigs map[string]any) (*Table, error) {
	t := &Table{access: access}
	var err error
	r := reader{&err, &t.Unknown}
	t.aliases.custom = r.aliases("aliases", modelConfigs["aliases"])
	maps.Copy(t.aliases.custom, r.aliases("customAliases", modelConfigs["customAliases"]))
	t.aliases.overrides = overridden()
	if v, ok := modelConfigs["overrides"]; ok {
		t.aliases.overrides = r.overrides("overrides", v)
	}
	t.aliases.overrides = append(slices.Clip(t.aliases.overrides), r.overrides("customOverrides", modelConfigs["customOverrides"])...)
	t.tables = r.tables(modelConfigs, access)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(t.tables.ids)) {
		if _, ends := t.names().follow(name); !ends {
			return nil, &Error{"the name " + name + " stands for itself by way of others",
				"see modelConfigs.modelIdResolutions"}
		}
	}
	if len(t.aliases.custom) == 0 {
		return t, nil
	}
	names := t.CustomNames()
	for _, r := range catalog.Shipped().Aliases { // which build on the user's aliases of the same name
		names = append(names, r.Name)
	}
	for _, name := range names {
		const others = 2 // added by the name of a model
		switch links, err := t.aliases.chain(name, t.tables); {
		case err != nil:
			return nil, err
		case len(links) > deepest-others:
			return nil, &Error{fmt.Sprintf("the alias %s builds on %d others, which are too many",
				name, len(links)), "see its extends"}
		}
	}
	return t, nil
}

// CustomNames returns the names of the user's aliases, in order.
func (t *Table) CustomNames() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.aliases.custom))
}

// Chat returns the preset for a conversation with a model. Again says that the request is a retry
// after an invalid answer.
func (t *Table) Chat(model string, again bool) *Preset {
	return t.find(key{name: model, repeated: again})
}

// Purpose returns the preset for a question outside of a conversation with an unknown model.
func (t *Table) Purpose(name string) *Preset { return t.SideQuestion(name, "")[0] }

// SideQuestion returns the presets for a question outside of a conversation with a model, in the
// order of attempts: the user's model for it, if any, then models of the conversation's family.
func (t *Table) SideQuestion(name, model string) (all []*Preset) {
	t = t.some()
	k := key{name: name, aside: true}
	class := t.aliases.sum(k, t.names()).class
	if _, mine := t.tables.ids[class]; mine || class == "" {
		all, class = append(all, t.find(k)), classOf(name)
	} else if role := roleOf(t.Roles, name, class); role != "" {
		k.model = t.Chat(role, false).Model
		all = append(all, t.find(k))
	}
	talk := catalog.Model{}
	if model != "" {
		talk = t.tables.known(t.Chat(model, false).Model)
	}
	others := []string{talk.Name} // for a name that is no purpose
	if class != "" {
		others = t.names().beside(class, talk)
	}
	for _, k.model = range others {
		if k.model != "" && !slices.ContainsFunc(all, func(p *Preset) bool { return p.Model == k.model }) {
			all = append(all, t.find(k))
		}
	}
	return all
}

// roleOf returns the user's model for a purpose of a class, "" if none.
func roleOf(roles map[string]string, name, class string) string {
	model := strings.TrimSpace(roles[purposeOf(name).plain])
	if model == "" && class != "pro" {
		model = strings.TrimSpace(roles[fast])
	}
	return model
}

// EndingBeside returns the message of [Table.Ending] about the user's model for a purpose.
func (t *Table) EndingBeside(name string) string {
	t = t.some()
	s := t.aliases.sum(key{name: name, aside: true}, t.names())
	if s.class != "" {
		s.model = roleOf(t.Roles, name, s.class)
	}
	if s.model == "" {
		return ""
	}
	return t.Ending(s.model)
}

// FamilyModel returns the model of a class in the family of model, or model itself.
func (t *Table) FamilyModel(class, model string) string {
	if t = t.some(); class == "" {
		return model
	}
	return t.names().beside(class, t.tables.known(t.Chat(model, false).Model))[0]
}

// some returns t, or the built-in Table.
func (t *Table) some() *Table {
	if t == nil {
		return &Table{aliases: aliases{overrides: overridden()}}
	}
	return t
}

func (t *Table) find(k key) *Preset {
	t = t.some()
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.made[k]; p != nil {
		return p
	}
	p := t.make(k)
	if t.made == nil || len(t.made) > 1000 { // names are untrusted
		t.made = map[key]*Preset{}
	}
	t.made[k] = p
	return p
}

func (t *Table) make(k key) *Preset {
	names := t.names()
	sum := t.aliases.sum(k, names)
	p := &Preset{Model: names.model(cmp.Or(k.model, sum.model, sum.class)), Config: &genai.GenerateContentConfig{}, Role: Main}
	if k.aside {
		what := purposeOf(k.name)
		p.Role, p.Limit, p.Attempts = what.role, what.limit, what.attempts
	}
	if _, err := decode(fit(t.tables.known(p.Model), sum.config, sum.theirs), p.Config); err != nil {
		panic(err) // no error, since each part is valid and keeps its types
	}
	if t.tables.definitions[p.Model].thoughtless {
		p.Config.ThinkingConfig = nil
	}
	return p
}

// A sum is the result of a chain of aliases and the overrides.
type sum struct {
	alias
	theirs map[string]any // the user's settings in config
}

// sum returns the settings of a request, before they are adapted to the model.
func (as *aliases) sum(k key, n names) (s sum) {
	chain, err := as.chain(k.name, n.tables)
	if err != nil {
		panic(err) // New has checked all aliases
	}
	for _, l := range chain {
		s.over(l.alias)
	}
	for _, o := range as.matching(k, chain, n.model(cmp.Or(k.model, s.model, s.class))) {
		s.over(o)
	}
	return s
}

// over overrides s by l.
func (s *sum) over(l alias) {
	if l.model != "" || l.class != "" {
		s.model, s.class = l.model, l.class
	}
	s.config = merge(s.config, l.config)
	if !l.ours {
		s.theirs = merge(s.theirs, l.config)
	}
}

// merge returns a with the values of b. Objects in both are merged recursively.
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

// chain returns the aliases that name extends, the base first.
func (as *aliases) chain(name string, t tables) (links []link, err error) {
	for at := name; at != ""; {
		if slices.ContainsFunc(links, func(l link) bool { return l.name == at }) || len(links) == deepest {
			return nil, &Error{"the alias " + name + " stands on itself", "see extends of " + at}
		}
		a, known := as.alias(at)
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

// has reports whether the user has an alias of this name.
func (as *aliases) has(name string) bool {
	_, ok := as.custom[name]
	return ok
}

// alias returns the alias of that name.
func (as *aliases) alias(name string) (alias, bool) {
	if a, ok := as.custom[name]; ok {
		return a, true
	}
	return builtin(name)
}

// modelLike reports whether a name without an alias may be a model's.
func modelLike(name string) bool {
	m := catalog.Lookup(name)
	provider, _ := catalog.Provider(name)
	return m.Class != "" || m.Family != "" || provider != ""
}

// matching returns the changes of the overrides that match k, in the order of application:
// overrides of the model, then of the aliases, the base first. At the same level, overrides with
// more conditions come later.
func (as *aliases) matching(k key, chain []link, model string) (all []alias) {
	type match struct {
		override
		level int
	}
	var found []match
	for _, o := range as.overrides {
		level := 0
		if o.model != "" && o.model != model {
			level = slices.IndexFunc(chain, func(l link) bool { return l.name == o.model }) + 1
			if level == 0 {
				continue
			}
		}
		if o.scope != "" && o.scope != "core" || o.again != nil && *o.again != k.repeated {
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

// family returns the alias that a model extends.
func (t tables) family(name string) string {
	return cmp.Or(t.known(name).Kin.Chat, "chat-base")
}

// known returns the properties of a model; a family in the settings takes precedence.
func (t tables) known(name string) catalog.Model {
	family := t.definitions[name].family
	if family == "" {
		return catalog.Lookup(name)
	}
	m := catalog.Lookup(family)
	m.Name = strings.TrimPrefix(name, "models/")
	return m
}
