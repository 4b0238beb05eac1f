package settings

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// olderNames returns all older names, names of the flat files of the first years first, since
// their successors may have been renamed, too. The flat name of the model comes first: its string
// would be in the way of the keys below model.
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

// A move is a value that stood at one place and now stands at another.
type move struct {
	from, to []string
	lost     bool // there is a value under the newer name, which counts
	blocked  bool // a value in the place of an object keeps it from counting
}

// migrate gives the keys of tree the names of today, in place, and returns
// what was moved. Where both names are there, the newer one counts, or lists are joined as of two files.
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

// recast puts values that were renamed themselves into today's words.
func recast(tree map[string]any) []move {
	theme := []string{"ui", "theme"}
	if name, _ := at(tree, theme); name == "VS" {
		graft(tree, theme, "Default Light")
	} else if name == "VS2015" {
		graft(tree, theme, "Default")
	}
	phrases := move{from: []string{"ui", "accessibility", "enableLoadingPhrases"}, to: []string{"ui", "loadingPhrases"}}
	said, _ := at(tree, phrases.from)
	if _, newer := at(tree, phrases.to); newer || said != false && said != "false" {
		return nil
	}
	graft(tree, phrases.to, "off")
	return []move{phrases}
}

// shift moves the value of one old name.
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

// transplant puts v at a place. Where there are objects at both, their keys
// are moved one by one.
func transplant(tree map[string]any, from, to []string, v any) []move {
	there, taken := at(tree, to)
	if !taken {
		if !graft(tree, to, v) { // something other than an object is in the way
			return []move{{from: from, to: to, blocked: true}}
		}
		return []move{{from: from, to: to}}
	}
	if k, _ := FindKey(JoinKey(to)); k.is(isList) && k.Merge != "" { // as of two files
		graft(tree, to, k.combine(v, there))
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

// inverse returns the opposite of a truth, and anything else as it is.
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

// In returns the value at a path in a tree of settings, the zero value if none of its type is there.
func In[T any](tree map[string]any, path ...string) (v T) {
	found, _ := at(tree, path)
	v, _ = found.(T)
	return v
}

// graft sets the value at a path, if what is above it are objects.
func graft(tree map[string]any, path []string, v any) bool {
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

// remove takes the value at a path away, and the objects that become empty.
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
