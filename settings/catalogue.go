package settings

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gemline/engine/text"
	"gemline/settings/jsonc"

	"github.com/agnivade/levenshtein"
)

// Keys returns every key of a file of settings, by name.
func Keys() []Key {
	return slices.SortedFunc(slices.Values(catalogue().keys), func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
}

// FindKey returns the key of a name, such as model.name, or one below a key
// that holds anything, such as mcpServers.git.env.HOME. A name that holds keys
// is an object.
func FindKey(name string) (Key, bool) {
	path, err := SplitKey(name)
	if err != nil {
		return Key{}, false
	}
	n := catalogue().root
	for _, part := range path {
		next := n.next(part)
		if next == nil {
			if n.key == nil || !n.key.is(isObject) || !n.open() {
				return Key{}, false
			}
			return Key{Name: JoinKey(path), Type: isAny, Status: n.key.Status, Help: n.key.Help, index: -1}, true
		}
		n = next
	}
	if n.key == nil {
		return Key{Name: JoinKey(path), Type: isObject, index: -1}, true
	}
	k := *n.key
	k.Name, k.wild = JoinKey(path), strings.Contains(k.Name, "<")
	return k, true
}

// Nearest returns the name of the key, or of the group of keys, that comes
// nearest to one that there is not, or "".
func Nearest(name string) string {
	const longest = 100
	path, err := SplitKey(name)
	if err != nil || len(name) > longest {
		return ""
	}
	lower, last := strings.ToLower(name), path[len(path)-1]
	best, least := "", 1+max(2, len(name)/4)
	for _, k := range catalogue().keys {
		candidate := k.Name
		if strings.Contains(candidate, "<") {
			candidate = filled(candidate, path)
		}
		d := levenshtein.ComputeDistance(lower, strings.ToLower(candidate))
		if strings.HasSuffix(k.Name, "."+last) {
			d = min(d, 1) // in the wrong place
		}
		if candidate != name && d < least {
			best, least = candidate, d
		}
		parts := strings.Split(candidate, ".")
		if len(path) >= len(parts) {
			continue
		}
		group := strings.Join(parts[:len(path)], ".") // of a short name, not every other is near
		if d := levenshtein.ComputeDistance(lower, strings.ToLower(group)); group != name && d < min(least, (len(name)+1)/2) {
			best, least = group, d
		}
	}
	return best
}

// filled puts the names of path in the places that take any name.
func filled(pattern string, path []string) string {
	parts := strings.Split(pattern, ".")
	for i, part := range parts {
		if part[0] == '<' && i < len(path) {
			parts[i] = JoinKey(path[i : i+1])
		}
	}
	return strings.Join(parts, ".")
}

// SplitKey splits a name at its dots. A part that has a dot of its own stands
// in quotation marks.
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

// JoinKey is the opposite of [SplitKey].
func JoinKey(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = part
		if part == "" || strings.ContainsFunc(part, odd) {
			parts[i] = text.Compact(part)
		}
	}
	return strings.Join(parts, ".")
}

// odd reports whether a character can't stand in a name without quotes.
func odd(r rune) bool { return r <= ' ' || r == '.' || r == '"' || r == '=' || r > '~' }

// A row is a key without a field.
type row struct {
	name, kind string // the kind may be the words of a string, with | between
	fallback   string // JSON, or the text itself
	merge      string
	status     Status
	help       string
}

func (r row) key() Key {
	k := Key{Name: r.name, Type: r.kind, Merge: r.merge, Status: r.status, Help: r.help, index: -1}
	if strings.Contains(r.kind, "|") {
		k.Type, k.Enum = isText, strings.Split(r.kind, "|")
	}
	switch {
	case r.fallback == "":
	case k.Type == isText:
		k.fallback = r.fallback
	case k.Type == isBool:
		k.fallback = r.fallback == "true"
	case k.Type == isWhole, k.Type == isNumber:
		k.fallback = json.Number(r.fallback)
	default:
		k.fallback, _ = jsonc.Value([]byte(r.fallback))
	}
	return k
}

// A node is a name in the tree of all keys.
type node struct {
	key   *Key
	below map[string]*node
	wild  *node // any other name
}

// next returns what name stands for below n, nil if nothing.
func (n *node) next(name string) *node {
	if n == nil {
		return nil
	}
	if below := n.below[name]; below != nil {
		return below
	}
	return n.wild
}

// open reports whether n holds whatever one likes.
func (n *node) open() bool { return n.below == nil && n.wild == nil }

func (n *node) add(k *Key) {
	for part := range strings.SplitSeq(k.Name, ".") {
		if part[0] == '<' {
			if n.wild == nil {
				n.wild = &node{}
			}
			n = n.wild
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
	n.key = k
}

type tables struct {
	keys []Key
	root *node
}

// catalogue returns every key. It is made when it is first needed, which is
// when there is a file of settings.
var catalogue = sync.OnceValue(makeCatalogue)

func makeCatalogue() tables {
	rows := others()
	t := tables{keys: append(make([]Key, 0, len(fields())+len(rows)), fields()...), root: &node{}}
	taken := map[string]bool{}
	for _, k := range t.keys {
		taken[k.Name] = true
	}
	for _, r := range rows {
		if !taken[r.name] {
			t.keys = append(t.keys, r.key())
		}
	}
	for i := range t.keys {
		t.root.add(&t.keys[i])
	}
	return t
}

// fields returns the keys that fields of [Settings] stand for, in their order.
var fields = sync.OnceValue(func() []Key {
	t := reflect.TypeFor[Settings]()
	var keys []Key
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name := tag.Get("key")
		if name == "" {
			continue
		}
		k := Key{Name: name, Status: Used, Help: tag.Get("help"), Merge: tag.Get("merge"), index: i}
		fallback, given := tag.Lookup("default")
		switch t.Field(i).Type.Kind() {
		case reflect.String:
			k.Type = isText
			if words := tag.Get("enum"); words != "" {
				k.Enum = strings.Split(words, ",")
			}
		case reflect.Int:
			k.Type = isWhole
			if !given {
				k.fallback = json.Number("0")
			}
		case reflect.Float64:
			k.Type = isNumber
		case reflect.Bool:
			k.Type = isBool
			k.fallback = false
		case reflect.Slice:
			k.Type = isList
			if tag.Get("lone") != "" {
				k.Type = isText + " or " + isList
			}
		}
		if given {
			k.fallback, _ = spelled(k.kinds()[len(k.kinds())-1], fallback)
		}
		keys = append(keys, k)
	}
	return keys
})
