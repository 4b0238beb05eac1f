package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/model/catalog"
)

// A Problem is a problem with a key in a file. The key counts as not set.
type Problem struct {
	Key     string
	Message string // one line, which names the key

	path    []string
	unknown bool // the key is unknown
	unfit   bool // about the value, not the key
	unset   bool // it is about a variable without a value; the key counts
	fatal   bool // the MCP server or the hooks are not to be used for it, as their reader says
	barred  any  // the value that a project can't set, otherwise nil
}

// Advised returns the message, and for an unknown key the most similar known key, which takes
// half a millisecond to find.
func (p Problem) Advised() string {
	if !p.unknown {
		return p.Message
	}
	if near := Nearest(JoinKey(p.path)); near != "" {
		return p.Message + "; did you mean " + near + "?"
	}
	return p.Message
}

// A checker finds unknown keys and values of wrong types.
type checker struct {
	problems []Problem
	exact    bool // do not convert a value of a wrong type

	// The tree belongs to a project. It can't weaken a protection that the user or the machine has
	// set, since a project may only strengthen protection.
	project bool
}

// tree returns the valid part of a tree.
func (c *checker) tree(tree map[string]any) map[string]any {
	kept, ok := c.walk(nil, catalogue(), tree)
	if !ok {
		return nil
	}
	return kept.(map[string]any)
}

// check checks the value at path.
func (c *checker) check(path []string, v any) {
	n := catalogue()
	for _, part := range path {
		if n.key != nil && n.open() {
			return // arbitrary contents
		}
		n = n.next(part)
	}
	if n != nil {
		c.walk(path, n, v)
	}
}

// walk returns the valid part of v, the value at path, and false if there is none.
func (c *checker) walk(path []string, n *node, v any) (any, bool) {
	tree, holds := v.(map[string]any)
	switch {
	case c.project && n.facts != nil && n.facts.safety.project == "never":
		if out, err := n.facts.coerce(v); err == nil {
			v = out
		}
		c.wrong(path, JoinKey(path)+": a project can't set it").barred = v
		return nil, false
	case v == nil && n.key == nil: // an empty object loses no value
		c.wrong(path, Key{Name: JoinKey(path), Type: isObject}.mismatch(v).Error())
		return nil, false
	case n.key != nil && !(holds && n.key.is(isObject)):
		return c.value(path, n.key.named(path), v)
	case !holds:
		c.unfit(path, Key{Name: JoinKey(path), Type: isObject}.mismatch(v))
		c.problems[len(c.problems)-1].fatal = path[0] == "hooks"
		return nil, false
	}
	out := make(map[string]any, len(tree))
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		at, next := below(path, name), n.next(name)
		if n.key != nil && n.open() {
			next = anything
		}
		if next == nil || inherited(name) {
			c.wrong(at, named(JoinKey(at))+" is not a setting").unknown = true
			continue
		}
		if kept, ok := c.walk(at, next, tree[name]); ok {
			out[name] = kept
		}
	}
	// An object with only mistakes is dropped. A server whose mistake prevents its use stays, so
	// that the user gets a message.
	return out, len(out) > 0 || len(tree) == 0 || len(path) == 2 && slices.ContainsFunc(c.problems, func(p Problem) bool {
		return p.fatal && starts(p.path, path)
	})
}

// value returns the valid part of a key's value, and false if there is none. It notes the problems
// of the value.
func (c *checker) value(path []string, key Key, v any) (any, bool) {
	out, err := key.coerce(v)
	only, isSwitch := strings.CutPrefix(key.safety.project, "only ")
	on, is := out.(bool)
	switch {
	case c.project && isSwitch && is && strconv.FormatBool(on) != only:
		c.wrong(path, fmt.Sprintf("%s: a project can only set it to %s", key.Name, only)).barred = out
		return nil, false
	case err == nil:
		return c.withoutBlanks(path, out), true
	case c.exact:
		return nil, c.unfit(path, err)
	case v == nil:
		c.wrong(path, err.Error())
		return nil, false
	}
	out, said, ok := key.salvage(v)
	switch {
	case ok:
		c.wrong(path, said)
		return c.withoutBlanks(path, out), true
	case decides(path):
		c.wrong(path, err.Error()).fatal = true
		return nil, false
	case path[0] == "hooks": // the reader of hooks decides whether a run may continue
		c.unfit(path, err)
		_, older := CurrentName(JoinKey(path)) // hooks.disabled, which is not for the reader
		c.problems[len(c.problems)-1].fatal = !older
		return v, true
	}
	if k := key.safety; k.misread != "" && !k.strict {
		err = fmt.Errorf("%w; %s", err, k.misread)
	}
	return nil, c.unfit(path, err)
}

// withoutBlanks removes blank paths from a list of paths: they would mean the working directory,
// whose files nobody has named. It returns other values unchanged.
func (c *checker) withoutBlanks(path []string, v any) any {
	list, is := v.([]any)
	isPaths := func(end string) bool { return strings.HasSuffix(path[len(path)-1], end) }
	if !is || !slices.ContainsFunc([]string{"Paths", "Directories", "Folders"}, isPaths) {
		return v
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(item any) bool {
		s, is := item.(string)
		return is && strings.TrimSpace(s) == ""
	})
	switch {
	case len(kept) == len(list):
	case c.exact:
		c.wrong(path, shown(JoinKey(path))+" must not hold an empty path")
	default:
		c.wrong(path, shown(JoinKey(path))+": an empty path in it is passed over")
	}
	return kept
}

// decides reports whether a key of an MCP server says what is run, whether it is run, or what is
// kept from the model, so that the server is not used without the value.
func decides(path []string) bool {
	return len(path) == 3 && path[0] == "mcpServers" &&
		slices.Contains([]string{"args", "command", "cwd", "disabled", "enabled", "excludeTools", "includeTools"}, path[2])
}

// anything is the node below a key with arbitrary contents.
var anything = &node{key: &Key{Type: isAny + " or " + isObject}}

// inherited reports whether name is a property of every JavaScript object. No program reads such a
// name from a file.
func inherited(name string) bool {
	return name == "__proto__" || name == "constructor" || name == "prototype"
}

// named returns the key with its name at path.
func (k Key) named(path []string) Key {
	k.Name = JoinKey(path)
	return k
}

// wrong adds a problem, and returns it.
func (c *checker) wrong(path []string, message string) *Problem {
	c.problems = append(c.problems, Problem{Key: JoinKey(path), Message: message, path: path})
	return &c.problems[len(c.problems)-1]
}

// unset says that something stays unfilled, once.
func (c *checker) unset(path []string, what string) {
	message := shown(JoinKey(path)) + ": " + what
	if !slices.ContainsFunc(c.problems, func(p Problem) bool { return p.Message == message }) {
		c.wrong(path, message).unset = true
	}
}

// unfit notes a value of a wrong type, and returns false.
func (c *checker) unfit(path []string, err error) bool {
	c.wrong(path, err.Error()).unfit = true
	return false
}

// named returns a key's name in quotation marks, unless it already contains some.
func named(key string) string {
	if strings.Contains(key, `"`) {
		return shown(key)
	}
	return fmt.Sprintf("%.100q", key)
}

// shown returns a key's name for a message.
func shown(key string) string {
	const longest = 100
	if len(key) > longest {
		return fmt.Sprintf("%.*q", longest, key)
	}
	return key
}

// local removes values from a project's settings that would send prompts to another provider than
// the user's: a provider's model, named directly or by an alias.
func (c *checker) local(tree map[string]any) {
	path := []string{"model", "name"}
	if v, _ := at(tree, path); NamesOtherProvider(v) {
		drop(tree, path)
		c.wrong(path, fmt.Sprintf("model.name: a project can't choose another provider, such as that of %s; -m %[1]s does", shown(v.(string))))
	}
	for _, path := range [][]string{{"modelConfigs"}, {"agents", "overrides"}} {
		if v, _ := at(tree, path); choosesOtherProvider(v) {
			drop(tree, path)
			c.wrong(path, strings.Join(path, ".")+": a project can't choose another provider, so none of it counts")
		}
	}
}

// NamesOtherProvider reports whether v is the name of a model of another provider than Google.
func NamesOtherProvider(v any) bool {
	name, _ := v.(string)
	provider, _ := catalog.Provider(strings.TrimSpace(name))
	return provider != ""
}

// choosesOtherProvider reports whether a value of modelConfigs names a model of another provider.
func choosesOtherProvider(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			switch key {
			case "model", "target", "default", "extends":
				if NamesOtherProvider(inner) {
					return true
				}
			}
			if choosesOtherProvider(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, choosesOtherProvider)
	}
	return false
}

// drop removes the value at a path, but not the object around it.
func drop(tree map[string]any, path []string) {
	last := len(path) - 1
	delete(In[map[string]any](tree, path[:last]...), path[last])
}

// strictness orders the approval modes, the strictest first.
var strictness = []string{"plan", "default", "auto_edit", "auto"}

// restrictApprovalMode removes an approval mode from a project's settings if it lets more calls run
// without approval than the weaker settings, those of the user and the machine.
func (l *Layer) restrictApprovalMode(weaker map[string]any) {
	path := []string{"general", "defaultApprovalMode"}
	wanted, limit := In[string](l.tree, path...), cmp.Or(In[string](weaker, path...), Default().ApprovalMode)
	if slices.Index(strictness, wanted) <= slices.Index(strictness, limit) {
		return // also without a mode
	}
	drop(l.tree, path)
	message := fmt.Sprintf("%s: a project can only tighten it, and %s lets more run unasked than %s; for one run there is --approval-mode %[2]s", JoinKey(path), wanted, limit)
	// Before the other problems, since only the first are printed.
	l.Problems = slices.Insert(l.Problems, 0, l.asWritten(Problem{Key: JoinKey(path), Message: message, path: path}))
}
