package preset

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gemline/engine/model/catalog"
)

// Default is the name that stands for the model when none is chosen.
const Default = "auto"

// An Access says which models a credential can use. The zero Access is an API key's.
type Access int

// The kinds of access.
const (
	ByKey     Access = iota // all of them
	ByAccount               // Vertex AI and gateways: not the variant for tools
	ByAssist                // Code Assist: older models
	ByRegion                // Vertex AI at a region of its own
)

// String returns the access as the table of models calls it.
func (r Access) String() string { return [...]string{"key", "account", "assist", "region"}[r] }

// Resolve returns the model for a name: an alias's model, the successor of an older model, or the
// name itself.
func (r Access) Resolve(name string) string { return r.on(time.Time{}).model(name) }

// names resolves names that are no aliases on a day. The settings take precedence.
type names struct {
	access Access
	day    time.Time
	tables tables
}

// on returns the built-in names, without settings.
func (r Access) on(day time.Time) names { return names{access: r, day: day} }

// named returns the row of a name that stands for a model or a class.
func named(name string) (catalog.Name, bool) {
	all := catalog.Shipped().Names
	i := slices.IndexFunc(all, func(n catalog.Name) bool { return n.Name == name })
	if i < 0 {
		return catalog.Name{}, false
	}
	return all[i], true
}

// next returns the target of name, or name itself.
func (n names) next(name string) string {
	if model := catalog.TrimGoogle(name); model != name {
		return model
	}
	if row, ok := named(name); ok {
		if n.access == ByAssist && row.Assist != "" {
			return row.Assist
		}
		return n.of(cmp.Or(row.Is, name))
	}
	if m := catalog.Lookup(name); slices.Contains(m.Replaced, n.access.String()) || n.ended(m) {
		return n.of(m.Successor)
	}
	return name
}

// of returns the model for a class, or any other name itself.
func (n names) of(name string) string {
	if row, ok := named(name); ok && row.Is == "" {
		return n.first(name, "")
	}
	return name
}

func (n names) ended(m catalog.Model) bool {
	_, ended := m.Ended(n.access.String(), n.day)
	return ended
}

// first returns the most capable usable model of a class and, unless "", of a family.
func (n names) first(class, family string) string {
	for _, m := range catalog.Shipped().Models {
		if m.Class == class && (family == "" || m.Family == family) && m.Usable(n.access.String()) && !n.ended(m) {
			return m.Name
		}
	}
	return ""
}

// after returns the replacements of a model, in order of preference. If quiet is true, the change
// needs no question, since the model was the cheapest.
func (n names) after(name string) (models []string, quiet bool) {
	m := catalog.Lookup(name)
	for _, f := range m.Fallback {
		if id := n.model(f); id != m.Name && !slices.Contains(models, id) {
			models = append(models, id)
		}
	}
	return models, m.Quiet
}

// beside returns the models of a class for questions outside of a conversation with m: models of
// the family, then m itself. If the family is unknown, it returns only m.
func (n names) beside(class string, m catalog.Model) (models []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	if m.Family == "" && m.Name != "" {
		return []string{m.Name}
	}
	for _, c := range slices.Compact([]string{class, "flash", "flash-lite"}) {
		if m.Name == "" {
			add(n.first(c, ""))
			continue
		}
		id := n.first(c, m.Family)
		if id == "" && m.Kin.Asks != "" {
			id = n.first(c, m.Kin.Asks)
		}
		add(id)
	}
	if class != "flash-lite" { // otherwise m would be too expensive for the answer
		add(m.Name)
	}
	add(n.first("flash", ""))
	return models
}

// Nearest returns the best replacement in the table for a missing model: its successor, else a
// model of its class, else a model of any class. Only models in there are returned; nil allows
// all. The result is "" for a name that the table lacks, and for a model with a chain in the
// settings.
func (t *Table) Nearest(name string, there []string) string {
	if t = t.some(); !catalog.Shipped().Has(name) || t.chained(name) != nil {
		return ""
	}
	n, m := t.names(), catalog.Lookup(name)
	is := func(id string) bool {
		return id != "" && id != m.Name && (there == nil || slices.Contains(there, id))
	}
	for next := m; next.Successor != ""; next = catalog.Lookup(n.of(next.Successor)) {
		id := n.of(next.Successor)
		if is(id) {
			return id
		}
		if id == next.Name || id == m.Name {
			break
		}
	}
	for _, class := range []string{m.Class, "flash", "flash-lite", "pro"} {
		for _, other := range catalog.Shipped().Models {
			if other.Class == class && is(other.Name) && other.Usable(n.access.String()) && !n.ended(other) {
				return other.Name
			}
		}
	}
	return ""
}

// small returns the smaller model for a name with automatic choice of the model.
func (n names) small(name string) (small string, auto bool) {
	row, _ := named(name)
	if row.Small == "" {
		return "", false
	}
	return n.access.on(n.day).model(row.Small), true
}

// A ListedModel is a model that the user may choose.
type ListedModel struct {
	Name string
	Note string // its purpose, or the model of the name
}

// choices returns the names to offer, names for other models first.
func (n names) choices() (choices []ListedModel) {
	for _, row := range catalog.Shipped().Names {
		if row.Listed {
			choices = append(choices, ListedModel{row.Name, ""})
		}
	}
	access := n.access.String()
	for _, m := range catalog.Shipped().Models {
		if !m.Usable(access) || slices.Contains(m.Unlisted, access) || n.ended(m) {
			continue
		}
		note := m.Note
		if on, _ := m.Ended(access, n.day); on != "" && !n.day.IsZero() {
			note += fmt.Sprintf(", until %s; then %s", on, n.successor(m, on))
		}
		choices = append(choices, ListedModel{m.Name, note})
	}
	return choices
}

// successor returns the model that replaces m, which ends on the day on.
func (n names) successor(m catalog.Model, on string) string {
	day, _ := time.Parse(time.DateOnly, on)
	return n.access.on(day).model(m.Successor)
}

// Ending says that the model for name ends, has ended or is not available with the credential,
// and names the replacement and its price. It is "" for other models.
func (t *Table) Ending(name string) string {
	t = t.some()
	if t.Today.IsZero() {
		return ""
	}
	n := t.names()
	for id, last := t.written(name), ""; id != last; id, last = n.step(id), id {
		m := catalog.Lookup(id)
		on, ended := m.Ended(t.access.String(), t.Today)
		_, mine := t.tables.ids[id]
		replaced := slices.Contains(m.Replaced, t.access.String())
		if mine || on == "" && !replaced {
			continue
		}
		day := t.Today
		if !ended && !replaced {
			day, _ = time.Parse(time.DateOnly, on)
		}
		next := t.access.on(day).model(m.Successor)
		if replaced {
			return fmt.Sprintf("%s is not there for your credential; %s answers%s", m.Name, next, priced(next, day))
		}
		if ended {
			return fmt.Sprintf("%s ended on %s; %s answers%s", m.Name, on, next, priced(next, day))
		}
		return fmt.Sprintf("%s ends on %s; from then on %s answers%s", m.Name, on, next, priced(next, day))
	}
	return ""
}

// PriceNote returns the price of a replacing model as the end of a sentence; "" if it is not
// higher or unknown.
func (t *Table) PriceNote(name, than string) string {
	t = t.some()
	if t.Today.IsZero() {
		return ""
	}
	p, other := catalog.Lookup(name).At(t.Today), catalog.Lookup(than).At(t.Today)
	if p == nil || other == nil || p.Output <= other.Output && p.Input <= other.Input {
		return ""
	}
	return priced(name, t.Today)
}

// priced returns the price of a model's tokens on a day, "" if unknown.
func priced(name string, day time.Time) string {
	p := catalog.Lookup(name).At(day)
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", for $%g in and $%g out per million tokens", p.Input, p.Output)
}
