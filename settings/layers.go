package settings

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/settings/jsonc"
)

// A Layer is the content of a settings file, with current names and expanded variables.
type Layer struct {
	Source
	Missing    bool      // the file does not exist
	PassedOver string    // why it is not used: somebody else may have written it, or it is elsewhere
	Err        error     // why it can't be used; a [jsonc.Error]
	Problems   []Problem // unknown keys and values of wrong types

	doc   *jsonc.Document
	tree  map[string]any // the valid values
	moves []move
}

// readLayers reads the files, the weakest first: for some keys, the allowed values of a project
// depend on weaker files.
func readLayers(sources []Source, lookup func(string) (string, bool)) []Layer {
	layers := make([]Layer, len(sources))
	for i, src := range sources {
		layers[i] = Layer{Source: src}
		layers[i].read(lookup)
		if src.Scope == Workspace {
			weaker := mergeAll(layers[:i])
			layers[i].restrictApprovalMode(weaker)
			layers[i].dropIneffective(weaker)
		}
	}
	return layers
}

// dropIneffective drops problems about values that a project can't set, if weaker files set the same: such
// a value changes nothing.
func (l *Layer) dropIneffective(weaker map[string]any) {
	l.Problems = slices.DeleteFunc(l.Problems, func(p Problem) bool {
		v, said := at(weaker, p.path)
		return p.barred != nil && said && reflect.DeepEqual(v, p.barred)
	})
}

// Line returns the line of a problem's key.
func (l *Layer) Line(p Problem) int {
	line, _ := l.doc.Position(l.written(p.path))
	return line
}

func (l *Layer) read(lookup func(string) (string, bool)) {
	switch {
	case l.Guarded:
		l.PassedOver = disk.WorldWritable(l.Path)
	case l.Scope == Workspace:
		l.PassedOver = LinksOutside(l.Path, filepath.Dir(filepath.Dir(l.Path)))
	}
	if l.PassedOver != "" {
		return
	}
	l.doc, l.Err = jsonc.Read(l.Path)
	if l.Missing = l.doc == nil && l.Err == nil; l.doc != nil {
		l.digest(lookup)
	}
}

// digest finds the valid values of the file.
func (l *Layer) digest(lookup func(string) (string, bool)) {
	c := checker{project: l.Scope == Workspace}
	tree := l.doc.Tree
	for _, path := range l.doc.Twice {
		c.wrong(path, repeated(path))
	}
	if l.Scope != Workspace { // a project's servers are expanded later, within their rights
		f := filler{checker: &c, lookup: lookup, own: l.Own}
		f.tree(nil, tree)
	} else {
		c.unfilled(func(name string) bool { _, ok := lookup(name); return ok }, nil, tree)
	}
	for _, m := range migrate(tree) {
		if l.moves = append(l.moves, m); m.blocked {
			c.wrong(m.to, shown(JoinKey(m.to))+" does not count: the value above it is not an object")
		}
	}
	l.doc.Tree = nil // it no longer matches the file
	delete(tree, "admin")
	l.tree = c.tree(tree)
	if l.Scope == Workspace {
		c.confined(l.tree)
		c.local(l.tree)
	}
	l.Problems = lists.Map(c.problems, l.asWritten)
}

// repeated returns the message about a duplicate key.
func repeated(path []string) string {
	return shown(JoinKey(path)) + " is given more than once; the last one counts"
}

// asWritten returns a problem with the key's name in the file, and its current name.
func (l *Layer) asWritten(p Problem) Problem {
	today := JoinKey(p.path)
	if older := JoinKey(l.written(p.path)); older != today {
		p.Message = strings.Replace(p.Message, today, older+" (now "+today+")", 1)
	}
	return p
}

// EffectiveValues returns the valid values of a project's settings, with variables unexpanded. It
// leaves out values that a project can't set, and values without effect. The settings weaker
// are all others.
func EffectiveValues(doc *jsonc.Document, weaker *Settings) map[string]any {
	l := Layer{Source: Source{Scope: Workspace}, doc: doc}
	l.digest(func(string) (string, bool) { return "", false })
	l.restrictApprovalMode(weaker.Merged)
	prune(catalogue(), l.tree)
	if servers, ok := l.tree["mcpServers"].(map[string]any); ok { // digest has expanded their environment
		for name := range servers {
			servers[name] = l.doc.Written(l.written([]string{"mcpServers", name}))
		}
	}
	return l.tree
}

// prune removes values without effect from a tree.
func prune(n *node, tree map[string]any) {
	for name, v := range tree {
		next := n.next(name)
		if next == nil {
			continue
		}
		below, holds := v.(map[string]any)
		if holds && len(below) > 0 {
			prune(next, below)
		}
		if next.key != nil && next.key.Status == Ignored || holds && len(below) == 0 {
			delete(tree, name)
		}
	}
}

// written returns the path of a value in the file.
func (l *Layer) written(path []string) []string {
	for i := len(l.moves) - 1; i >= 0; i-- {
		if m := l.moves[i]; !m.lost && starts(path, m.to) {
			path = append(m.from[:len(m.from):len(m.from)], path[len(m.to):]...)
		}
	}
	return path
}

// starts reports whether path is head or below it.
func starts(path, head []string) bool {
	return len(path) >= len(head) && slices.Equal(path[:len(head)], head)
}

// mergeAll joins the layers, the weakest first. Objects are merged key by key, unless a key has
// another rule; otherwise the strongest value counts.
func mergeAll(layers []Layer) map[string]any {
	merged := map[string]any{}
	for _, l := range layers {
		if len(l.tree) > 0 {
			merged = merge(catalogue(), merged, l.tree)
		}
	}
	return merged
}

// merge returns a new, merged object. The node n may be nil.
func merge(n *node, lower, higher map[string]any) map[string]any {
	out := maps.Clone(lower)
	shallow := n != nil && n.key != nil && n.key.Merge == "shallow"
	for name, v := range higher {
		old, both := lower[name]
		next := n.next(name)
		a, object := old.(map[string]any)
		b, objects := v.(map[string]any)
		switch {
		case objects && object && !shallow:
			v = merge(next, a, b)
		case objects:
			v = merge(next, map[string]any{}, b)
		case both && next != nil && next.key != nil:
			v = next.key.combine(old, v)
		}
		out[name] = v
	}
	return out
}
