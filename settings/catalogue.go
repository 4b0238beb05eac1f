package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"

	"gemline/engine/text"
)

// Keys returns all keys of settings files, by name.
func Keys() []Key {
	keys := slices.DeleteFunc(slices.Clone(table), func(k Key) bool { return k.Type == "" })
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// FindKey returns the key with a name, such as model.name, or a key below a key with arbitrary
// contents, such as mcpServers.git.env.HOME. A name with keys below it is an object.
func FindKey(name string) (Key, bool) {
	path, err := SplitKey(name)
	if err != nil {
		return Key{}, false
	}
	n := catalogue()
	for _, part := range path {
		next := n.next(part)
		if next == nil {
			if n.key == nil || !n.key.is(isObject) || !n.open() {
				return Key{}, false
			}
			return Key{Name: JoinKey(path), Type: isAny, Status: n.key.Status, Help: n.key.Help}, true
		}
		n = next
	}
	if n.key == nil {
		return Key{Name: JoinKey(path), Type: isObject}, true
	}
	k := *n.key
	k.Name, k.wildcard = JoinKey(path), strings.Contains(k.Name, "<")
	return k, true
}

// Nearest returns the name of the key or group of keys that is most similar to
// an unknown name, or "".
func Nearest(name string) string {
	const longest = 100
	path, err := SplitKey(name)
	if err != nil || len(name) > longest {
		return ""
	}
	lower, last := strings.ToLower(name), path[len(path)-1]
	best, least := "", 1+max(2, len(last)/4) // the key's parent, such as a server, may have a long name
	for _, k := range Keys() {
		candidate := k.Name
		if k.near != "" && filled(k.near, path) == name {
			return filled(candidate, path)
		}
		if strings.HasSuffix(candidate, ">") { // any name would resemble the placeholder
			continue
		}
		wildcard := strings.Contains(candidate, "<")
		if wildcard {
			candidate = filled(candidate, path)
		}
		d := levenshtein.ComputeDistance(lower, strings.ToLower(candidate))
		if strings.HasSuffix(k.Name, "."+last) && (!wildcard || strings.HasPrefix(k.Name, path[0]+".")) {
			d = min(d, 1) // the right name in the wrong place; for keys of servers and agents only among themselves
		}
		if candidate != name && d < least {
			best, least = candidate, d
		}
		parts := strings.Split(candidate, ".")
		if len(path) >= len(parts) {
			continue
		}
		group := strings.Join(parts[:len(path)], ".") // of a short name, not every other is near
		if d := levenshtein.ComputeDistance(lower, strings.ToLower(group)); group != name &&
			d < min(least, (len(name)+1)/2) {
			best, least = group, d
		}
	}
	return best
}

// filled replaces the placeholders of a pattern by the names of path.
func filled(pattern string, path []string) string {
	parts := strings.Split(pattern, ".")
	for i, part := range parts {
		if part[0] == '<' && i < len(path) {
			parts[i] = JoinKey(path[i : i+1])
		}
	}
	return strings.Join(parts, ".")
}

// SplitKey splits a name at its dots. Quotation marks enclose a part that contains a dot.
func SplitKey(name string) ([]string, error) {
	var path []string
	for rest := name; ; {
		part, after, more := strings.Cut(rest, ".")
		if strings.HasPrefix(rest, `"`) {
			dec := json.NewDecoder(strings.NewReader(rest))
			if err := dec.Decode(&part); err != nil {
				return nil, fmt.Errorf("%.100q: the quotation marks do not close", name)
			}
			after, more = strings.CutPrefix(rest[dec.InputOffset():], ".")
			if !more && after != "" {
				return nil, fmt.Errorf("%.100q: a dot must follow the quotation marks", name)
			}
		} else if part == "" {
			return nil, fmt.Errorf("%.100q: a name is empty; write \"\" for one that is", name)
		}
		path = append(path, part)
		if !more {
			return path, nil
		}
		rest = after
	}
}

// JoinKey is the inverse of [SplitKey].
func JoinKey(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = part
		if part == "" || strings.ContainsFunc(part, needsQuotes) {
			parts[i] = text.Compact(part)
		}
	}
	return strings.Join(parts, ".")
}

// needsQuotes reports whether a name with a character needs quotes.
func needsQuotes(r rune) bool { return r <= ' ' || r == '.' || r == '"' || r == '=' || r > '~' }

// table.go is made of keys.txt and of the fields of [Settings].
//
//go:generate go run ./testdata/keys table.go

// A node is a name in the tree of all keys.
type node struct {
	key      *Key
	facts    *Key // the key or the group of keys with this name
	below    map[string]*node
	wildcard *node // any other name
}

// next returns the node of name below n, nil if there is none.
func (n *node) next(name string) *node {
	if n == nil {
		return nil
	}
	return cmp.Or(n.below[name], n.wildcard)
}

// open reports whether n allows arbitrary contents.
func (n *node) open() bool { return n.below == nil && n.wildcard == nil }

func (n *node) add(k *Key) {
	for part := range strings.SplitSeq(k.Name, ".") {
		if part[0] == '<' {
			if n.wildcard == nil {
				n.wildcard = &node{}
			}
			n = n.wildcard
			continue
		}
		if n.below == nil {
			n.below = map[string]*node{}
		}
		if n.below[part] == nil {
			n.below[part] = &node{}
		}
		n = n.below[part]
	}
	if n.facts = k; k.Type != "" {
		n.key = k
	}
}

// catalogue returns the tree of all keys. It is built at its first use; without a settings file,
// never.
var catalogue = sync.OnceValue(makeCatalogue)

func makeCatalogue() *node {
	root := &node{}
	for i := range table {
		root.add(&table[i])
	}
	return root
}

// nearest returns the facts about the key at path, or else about the nearest group above that has a
// fact; nil if there are none.
func nearest(path []string, has func(*Key) bool) (facts *Key) {
	n := catalogue()
	for _, part := range path {
		if n = n.next(part); n == nil {
			break
		}
		if n.facts != nil && has(n.facts) {
			facts = n.facts
		}
	}
	return facts
}

// Risk describes how a key weakens the user's protection when a project sets it, "" if it does not,
// or can only strengthen it.
func Risk(path []string) string {
	if k, ok := FindKey(JoinKey(path)); ok && (k.safety.project == "stricter" || strings.HasPrefix(k.safety.project, "only ")) {
		return ""
	}
	if k := nearest(path, func(k *Key) bool { return k.safety.risk != "" }); k != nil {
		return k.safety.risk
	}
	return ""
}
