package settings

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// olderNames returns all older names, names of the flat files of the first years first, since their
// successors may have been renamed, too. The flat name of the model comes first: its string would
// block the keys below model.
var olderNames = sync.OnceValue(func() []legacyName {
	var flat, rest []legacyName
	for _, k := range table {
		for _, o := range k.legacy {
			switch {
			case strings.Contains(o.from, "."):
				rest = append(rest, o)
			case o.only != "":
				flat = slices.Insert(flat, 0, o)
			default:
				flat = append(flat, o)
			}
		}
	}
	return append(flat, rest...)
})

// A move is a value that was moved from one path to another.
type move struct {
	from, to []string
	lost     bool // the newer name has a value, which counts
	blocked  bool // a value in the place of an object keeps it from counting
}

// migrate moves values to the current names of keys, in place, and returns the moves. If both names
// have a value, the newer name counts, or lists are joined as if from two files.
func migrate(tree map[string]any) []move {
	if len(tree) == 0 {
		return nil
	}
	var moves []move
	for _, o := range olderNames() {
		moves = append(moves, shift(tree, o)...)
	}
	return append(moves, recast(tree)...)
}

// recast replaces renamed values by their current words.
func recast(tree map[string]any) []move {
	theme := []string{"ui", "theme"}
	if name, _ := at(tree, theme); name == "VS" {
		setPath(tree, theme, "Default Light")
	} else if name == "VS2015" {
		setPath(tree, theme, "Default")
	}
	phrases := move{from: []string{"ui", "accessibility", "enableLoadingPhrases"}, to: []string{"ui", "loadingPhrases"}}
	said, _ := at(tree, phrases.from)
	if _, newer := at(tree, phrases.to); newer || said != false && said != "false" {
		return nil
	}
	setPath(tree, phrases.to, "off")
	return []move{phrases}
}

// shift moves the value of one older name.
func shift(tree map[string]any, r legacyName) []move {
	from, to := strings.Split(r.from, "."), strings.Split(r.to, ".")
	v, ok := at(tree, from)
	if _, fits := exact(r.only, v); !ok || r.only != "" && !fits {
		return nil
	}
	if r.inverted {
		v = inverse(v)
	}
	remove(tree, from)
	return transplant(tree, from, to, v)
}

// transplant sets the value at a path to v. If both are objects, their keys are moved one by one.
func transplant(tree map[string]any, from, to []string, v any) []move {
	there, taken := at(tree, to)
	if !taken {
		if !setPath(tree, to, v) { // another value than an object blocks the path
			return []move{{from: from, to: to, blocked: true}}
		}
		return []move{{from: from, to: to}}
	}
	if k, _ := FindKey(JoinKey(to)); k.is(isList) && k.Merge != "" { // join as if from two files
		setPath(tree, to, k.combine(v, there))
		return nil
	}
	old, holds := v.(map[string]any)
	if _, both := there.(map[string]any); !holds || !both {
		return []move{{from: from, to: to, lost: true}}
	}
	var moves []move
	for name, item := range sorted(old) {
		moves = append(moves, transplant(tree, below(from, name), below(to, name), item)...)
	}
	return moves
}

// inverse negates a boolean, and returns anything else unchanged.
func inverse(v any) any {
	switch v {
	case true, "true":
		return false
	case false, "false":
		return true
	}
	return v
}

// below returns the path of a name below path.
func below(path []string, name string) []string { return append(path[:len(path):len(path)], name) }

// at returns the value at a path.
func at(tree map[string]any, path []string) (any, bool) {
	for i, name := range path {
		v, ok := tree[name]
		if !ok || i == len(path)-1 {
			return v, ok
		}
		if tree, ok = v.(map[string]any); !ok {
			return nil, false
		}
	}
	return tree, true
}

// In returns the value at a path in a tree of settings, the zero value if it is missing or has
// another type.
func In[T any](tree map[string]any, path ...string) (v T) {
	found, _ := at(tree, path)
	v, _ = found.(T)
	return v
}

// setPath sets the value at a path, unless a value other than an object blocks it.
func setPath(tree map[string]any, path []string, v any) bool {
	for _, name := range path[:len(path)-1] {
		if _, ok := tree[name]; !ok {
			tree[name] = map[string]any{}
		}
		next, ok := tree[name].(map[string]any)
		if !ok {
			return false
		}
		tree = next
	}
	tree[path[len(path)-1]] = v
	return true
}

// remove removes the value at a path, and objects that become empty.
func remove(tree map[string]any, path []string) {
	if len(path) == 1 {
		delete(tree, path[0])
		return
	}
	next, ok := tree[path[0]].(map[string]any)
	if !ok {
		return
	}
	if remove(next, path[1:]); len(next) == 0 {
		delete(tree, path[0])
	}
}

// sorted ranges over a map in the order of its keys.
func sorted[V any](m map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
