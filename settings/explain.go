package settings

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/settings/flags"
)

// An Origin is a source of a key's value. Its secrets are masked.
type Origin struct {
	Scope   Scope  `json:"scope"`
	Path    string `json:"path,omitempty"`    // of a file
	Line    int    `json:"line,omitempty"`    // in the file
	Name    string `json:"name,omitempty"`    // of a variable or a flag
	Older   string `json:"older,omitempty"`   // the older name of the key, if used there
	Value   any    `json:"value"`             // its value
	Written any    `json:"written,omitempty"` // the value before expansion, if different
	Note    string `json:"note,omitempty"`    // why it has no effect
}

// An Entry is the value of a key with its origins. Its secrets are masked.
type Entry struct {
	Key    string   `json:"key"`
	Value  any      `json:"value"` // nil if no value counts
	Status Status   `json:"status,omitempty"`
	From   []Origin `json:"from,omitempty"` // the origins of the value, the weakest first if they are joined
	Over   []Origin `json:"over,omitempty"` // overridden origins, the strongest first

	path []string
}

// Inputs are the sources of settings beside the files.
type Inputs struct {
	Lookup func(string) (string, bool) // the environment, then the .env files
	DotEnv DotEnv                      // the part of Lookup from .env files
	Flags  *flags.Set
}

// Explain returns an entry for every value that a file or in sets, by key. If all is set, it also
// returns the defaults of other keys.
func (s *Settings) Explain(in Inputs, all bool) []Entry {
	found := map[string]*Entry{}
	entry := func(path []string) *Entry {
		key := JoinKey(path)
		if found[key] == nil {
			found[key] = &Entry{Key: key, path: path}
		}
		return found[key]
	}
	for i := range slices.Backward(s.layers) {
		s.layers[i].explain(entry)
	}
	overrides := overrides(in.Flags)
	for _, o := range overrides {
		if len(in.said(o)) > 0 {
			entry(strings.Split(o.Key.Name, "."))
		}
	}
	if all {
		for _, k := range table {
			below := func(key string) bool { return strings.HasPrefix(key, k.Name+".") }
			if k.fallback != nil && !strings.Contains(k.Name, "<") && !slices.ContainsFunc(slices.Collect(maps.Keys(found)), below) {
				entry(strings.Split(k.Name, "."))
			}
		}
	}
	out := make([]Entry, 0, len(found))
	for _, e := range sorted(found) {
		var o override
		if i := slices.IndexFunc(overrides, func(o override) bool { return o.Key.Name == e.Key }); i >= 0 {
			o = overrides[i]
		}
		in.settle(e, s.Merged, o)
		out = append(out, *e)
	}
	return out
}

// said returns the values of the environment and the command line, the weakest first.
func (in Inputs) said(o override) (all []Origin) {
	names, values := o.variables(in.Lookup)
	for i, name := range slices.Backward(names) {
		v, _ := in.DotEnv.Lookup(name) // otherwise the environment has it
		all = append(all, Origin{Scope: Environment, Name: name, Path: v.File, Value: values[i]})
	}
	if o.flag.given {
		all = append(all, Origin{Scope: CommandLine, Name: o.flag.name, Value: o.flag.value})
	}
	return all
}

// explain adds the values of a file, as possible origins.
func (l *Layer) explain(entry func([]string) *Entry) {
	if l.doc == nil {
		return
	}
	leaves(nil, l.tree, func(path []string, v any) {
		e := entry(path)
		e.Over = append(e.Over, l.origin(path, l.written(path), v, ""))
	})
	lose := func(path, from []string, note string) {
		leaves(from, l.doc.Written(from), func(at []string, v any) {
			e := entry(append(path[:len(path):len(path)], at[len(from):]...))
			e.Over = append(e.Over, l.origin(e.path, at, v, note))
		})
	}
	for _, p := range l.Problems {
		if _, counts := at(l.tree, p.path); !counts {
			lose(p.path, l.written(p.path), p.Advised())
		}
	}
	for _, m := range l.moves {
		if m.lost {
			lose(m.to, l.written(m.from), "the newer name counts")
		}
	}
	if l.doc.Written([]string{"admin"}) != nil {
		lose([]string{"admin"}, []string{"admin"}, "no file can set it")
	}
}

// origin returns the origin of a key in the file, under the path from.
func (l *Layer) origin(path, from []string, v any, note string) Origin {
	line, _ := l.doc.Position(from)
	written := l.doc.Written(from)
	o := Origin{Scope: l.Scope, Path: l.Path, Line: line, Value: mask(path, v, written), Note: note}
	if !slices.Equal(path, from) {
		o.Older = JoinKey(from)
	}
	if holdsVariable(written) || !reflect.DeepEqual(written, v) {
		o.Written = MaskWritten(path, written)
	}
	return o
}

// holdsVariable reports whether a value contains a variable.
func holdsVariable(v any) bool {
	switch x := v.(type) {
	case string:
		return around(x) != x
	case []any:
		return slices.ContainsFunc(x, holdsVariable)
	case map[string]any:
		for _, item := range x {
			if holdsVariable(item) {
				return true
			}
		}
	}
	return false
}

// leaves calls yield for the leaves of an object: values that are no object, and empty objects.
func leaves(path []string, v any, yield func([]string, any)) {
	tree, ok := v.(map[string]any)
	if !ok || len(tree) == 0 && len(path) > 0 {
		yield(path, v)
		return
	}
	for name, item := range sorted(tree) {
		leaves(below(path, name), item, yield)
	}
}

// settle decides which origins of an entry count.
func (in Inputs) settle(e *Entry, merged map[string]any, o override) {
	k, known := FindKey(e.Key)
	if known {
		e.Status = k.Status
	}
	v, counts := at(merged, e.path)
	if tree, is := v.(map[string]any); is && len(tree) > 0 {
		counts = false // a weaker value is not an object
	}
	if counts {
		i := slices.IndexFunc(e.Over, func(o Origin) bool { return o.Note == "" })
		if o := e.Over[i]; k.Merge == "" || k.Merge == "shallow" {
			e.From, e.Over = []Origin{o}, slices.Delete(e.Over, i, i+1)
			e.Value = o.Value
		} else {
			e.join(k)
		}
	}
	if k.fallback != nil && !k.wildcard {
		in.fallback(e, k, counts)
	}
	in.override(e, k, o)
	for i := range e.Over {
		if e.From == nil && e.Over[i].Note == "" {
			e.Over[i].Note = "a stronger file replaces all of what holds it"
		}
	}
}

// join makes every origin that adds to a list an origin of the value.
func (e *Entry) join(k Key) {
	for _, o := range slices.Backward(e.Over) {
		if o.Note == "" {
			e.From, e.Value = append(e.From, o), k.combine(e.Value, o.Value)
		}
	}
	e.Over = slices.DeleteFunc(e.Over, func(o Origin) bool { return o.Note == "" })
}

// fallback adds the default, which counts if there is no other value.
func (in Inputs) fallback(e *Entry, k Key, counts bool) {
	o := Origin{Scope: BuiltIn, Value: k.fallback}
	switch items, is := k.fallback.([]any); {
	case !counts:
		e.From, e.Value = []Origin{o}, k.fallback
	case k.Merge == "concat" || k.Merge == "union":
		if is && len(items) > 0 {
			e.From = append([]Origin{o}, e.From...)
			e.Value = k.combine(k.fallback, e.Value)
		}
	default:
		e.Over = append(e.Over, o)
	}
}

// override applies the environment and the command line.
func (in Inputs) override(e *Entry, k Key, o override) {
	for _, origin := range in.said(o) {
		v, err := k.coerce(origin.Value)
		if err != nil && origin.Scope == Environment {
			origin.Value, origin.Note = mask(e.path, origin.Value, nil), err.Error()
			e.Over = append([]Origin{origin}, e.Over...)
			continue
		} else if err != nil {
			v = origin.Value // a flag may set more than a file
		}
		origin.Value = mask(e.path, v, nil)
		if k.Merge == "concat" && e.Value != nil {
			e.From, e.Value = append(e.From, origin), k.combine(e.Value, origin.Value)
			continue
		}
		e.Over = append(slices.Clone(e.From), e.Over...)
		e.From, e.Value = []Origin{origin}, origin.Value
	}
}

// Under returns the entries for a key, or for the keys of an object.
func Under(entries []Entry, path []string) []Entry {
	return lists.Filter(entries, func(e Entry) bool { return starts(e.path, path) })
}

// Value returns the joint value of entries for the key at path, nil without one.
func Value(entries []Entry, path []string) any {
	tree := map[string]any{}
	for _, e := range entries {
		if e.From != nil {
			setPath(tree, e.path, e.Value)
		}
	}
	v, _ := at(tree, path)
	return v
}
