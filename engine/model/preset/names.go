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

// An Access is which models a credential can use. The zero Access is an API key's.
type Access int

// The kinds of access.
const (
	ByKey     Access = iota // all of them
	ByAccount               // Vertex AI and gateways: not the variant for tools
	ByAssist                // Code Assist: those that were there before
	ByRegion                // Vertex AI at a region of its own
)

// String returns the access as the table of models calls it.
func (r Access) String() string { return [...]string{"key", "account", "assist", "region"}[r] }

// Resolve returns the model that name stands for: an alias, an older model
// that another has replaced, or the name itself.
func (r Access) Resolve(name string) string { return r.on(time.Time{}).model(name) }

// names are what names that are no aliases stand for on a day, by the settings first.
type names struct {
	access Access
	day    time.Time
	tables tables
}

// on returns the names that there are without settings.
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

// next returns what name leads to, or name itself.
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

// of returns the model that a class stands for, or the name of anything else itself.
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

// first returns the most capable model of a class that can be used, and of a family, if one
// is named.
func (n names) first(class, family string) string {
	for _, m := range catalog.Shipped().Models {
		if m.Class == class && (family == "" || m.Family == family) && m.Usable(n.access.String()) && !n.ended(m) {
			return m.Name
		}
	}
	return ""
}

// after returns the replacements of a model, in the order of preference. If quiet is true,
// the change needs no question: the model was the cheapest.
func (n names) after(name string) (models []string, quiet bool) {
	m := catalog.Lookup(name)
	for _, f := range m.Fallback {
		if id := n.model(f); id != m.Name && !slices.Contains(models, id) {
			models = append(models, id)
		}
	}
	return models, m.Quiet
}

// beside returns the models that can be asked beside a conversation with a model if a model of a
// class will do: models of the family, then the conversation's own. If the family is unknown,
// only the conversation's own model is asked.
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
	if class != "flash-lite" { // else the conversation's own would cost more than the answer is worth
		add(m.Name)
	}
	add(n.first("flash", ""))
	return models
}

// Nearest returns the best replacement in the table for a missing model: its successor, else
// a model of its class, else a model of any class. Only models in there are returned; nil
// allows all. The result is empty for a name that the table lacks, and for a model with a
// chain in the settings.
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

// small returns the smaller model for a name that leaves the choice of the model open.
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
	Note string // its purpose, or the model it stands for
}

// choices returns the names to offer, those that stand for others first.
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

// successor returns the model that answers from the day on on which m ends.
func (n names) successor(m catalog.Model, on string) string {
	day, _ := time.Parse(time.DateOnly, on)
	return n.access.on(day).model(m.Successor)
}

// Ending says that the model that name leads to ends or has ended, or can't be had with the credential,
// and names its replacement and the replacement's price. It is empty for other models.
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

// PriceNote returns the price of the tokens of a model that replaces another, as the end of a
// sentence; "" if it is no higher or not known.
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

// priced returns the price of a model's tokens on a day, "" if it is not known.
func priced(name string, day time.Time) string {
	p := catalog.Lookup(name).At(day)
	if p == nil {
		return ""
	}
	return fmt.Sprintf(", for $%g in and $%g out per million tokens", p.Input, p.Output)
}
