package settings

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/settings/extension"
	"gemline/settings/project"
)

// An Unused is something that the user has set up and that is not in use yet.
type Unused struct {
	Feature string `json:"feature"` // agents ..., or the key itself
	Name    string `json:"name"`    // such as that of an agent
	File    string `json:"file"`    // a file or directory, or a variable of the environment
	Line    int    `json:"line,omitempty"`
}

// String says what it is, without where.
func (u Unused) String() string {
	if u.Name == u.Feature || strings.HasPrefix(u.Name, u.Feature+".") {
		return u.Name
	}
	return u.Feature + " " + u.Name
}

// A feature is what is told under one name. This table, and the rows of the
// status [Later] in the table of keys, are all that says what is not in use
// yet: whoever puts a feature to use takes its row out of here.
type feature struct {
	name     string
	kind     string // of what a folder brings
	switches string // the key that switches it off, "" if none does
	disabled string // the key that names what of it is switched off
	folder   string // in a .gemini and in an extension
	read     func(dir string) []string
}

func features() []feature {
	return []feature{
		{name: "agents", kind: "agent",
			switches: "experimental.enableAgents", folder: "agents", read: agentNames},
	}
}

// rank returns the place of a feature in the table. Keys come after it.
func (u Unused) rank() int {
	all := features()
	i := slices.IndexFunc(all, func(f feature) bool { return f.name == u.Feature })
	if i < 0 {
		return len(all)
	}
	return i
}

// featureOf returns the feature that the key at path belongs to, and whether the
// key sets it up. A key of none is one of its own.
func featureOf(path []string) (f feature, sets bool) {
	k := nearest(path, func(k *Key) bool { return k.feature != "" })
	if k == nil {
		return feature{name: JoinKey(path)}, true
	}
	i := slices.IndexFunc(features(), func(f feature) bool { return f.name == k.feature })
	return features()[i], !k.tunes
}

// NotYet reports whether something of a kind and a name that a folder brings is
// not in use yet.
func NotYet(kind, name string) bool {
	if kind == "setting" {
		k, ok := FindKey(name)
		return ok && k.Status == Later
	}
	return slices.ContainsFunc(features(), func(f feature) bool { return f.kind == kind })
}

// Unused lists what the files of settings, the user's folder, a trusted
// project's and the extensions that are switched on set up without effect.
func (s *Settings) Unused(p project.Paths, project bool, extensions []extension.Extension, lookup func(string) (string, bool)) []Unused {
	u := finder{settings: s}
	for i := range s.layers {
		u.layer(&s.layers[i])
	}
	u.environment(lookup)
	u.folders(p.User())
	if project && !p.AtHome() {
		u.folders(p.Workspace())
	}
	for _, x := range extensions {
		if x.Active {
			u.extension(x)
		}
	}
	return u.sorted()
}

// Unused lists what the file sets up without effect.
func (l *Layer) Unused() []Unused {
	u := finder{settings: &Settings{Merged: l.tree}}
	u.layer(l)
	return u.sorted()
}

// A finder collects what is not in use.
type finder struct {
	settings *Settings // what all files say together
	line     func(path []string) int
	found    []Unused
}

func (u *finder) sorted() []Unused {
	slices.SortStableFunc(u.found, func(a, b Unused) int { return a.rank() - b.rank() })
	return u.found
}

// add lists something, unless it or its feature is switched off. A
// key that is there already is what a stronger file says of it now.
func (u *finder) add(f feature, item Unused, names ...any) {
	off, _ := u.said(f.disabled).([]any)
	if on, ok := u.said(f.switches).(bool); ok && !on || slices.ContainsFunc(append(names, item.Name), func(n any) bool { return slices.Contains(off, n) }) {
		return
	}
	item.Feature = f.name
	same := func(o Unused) bool { return o.Feature == item.Feature && o.Name == item.Name }
	if f.folder != "" {
		same = func(Unused) bool { return false }
	}
	u.found = append(slices.DeleteFunc(u.found, same), item)
}

// said returns what the files say about a key, nil if nothing.
func (u *finder) said(key string) any {
	v, _ := at(u.settings.Merged, strings.Split(key, "."))
	return v
}

// layer lists the keys of one file.
func (u *finder) layer(l *Layer) {
	u.line = func(path []string) int {
		line, _ := l.doc.Position(l.written(path))
		return line
	}
	l.later(func(path []string, v any) { u.key(path, v, Unused{File: l.Path, Line: u.line(path)}) })
	u.line = func([]string) int { return 0 }
}

// later calls found with each key of the file that is not in use yet, and with
// its value.
func (l *Layer) later(found func(path []string, v any)) {
	var walk func(n *node, path []string, v any)
	walk = func(n *node, path []string, v any) {
		tree, holds := v.(map[string]any)
		switch {
		case n == nil:
		case n.key != nil && n.key.Status == Later:
			found(path, v)
		case holds:
			for _, name := range slices.Sorted(maps.Keys(tree)) {
				walk(n.next(name), append(path[:len(path):len(path)], name), tree[name])
			}
		}
	}
	if l.doc != nil && len(l.tree) > 0 {
		walk(catalogue().root, nil, l.tree)
	}
}

// key lists what a key sets up.
func (u *finder) key(path []string, v any, item Unused) {
	item.Name = JoinKey(path)
	f, sets := featureOf(path)
	k, _ := FindKey(item.Name)
	on, isSwitch := v.(bool)
	switch {
	case !sets, text.Compact(v) == text.Compact(k.Default()), isSwitch && on == (k.wants == "false"):
		return
	}
	named, below := v.(map[string]any)
	if !below || f.name == item.Name {
		u.add(f, item)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(named)) { // sub-agents
		item.Name, item.Line = name, u.line(append(path[:len(path):len(path)], name))
		u.add(f, item)
	}
}

// environment lists the variables that stand for keys without a field.
func (u *finder) environment(lookup func(string) (string, bool)) {
	for _, o := range overrides(entries().keys) {
		if names, values := o.variables(lookup); len(values) > 0 && o.Status == Later {
			u.key(strings.Split(o.Name, "."), values[0], Unused{File: names[0]})
		}
	}
}

// folders lists what is in a .gemini.
func (u *finder) folders(dir string) {
	for _, f := range features() {
		u.folder(f, filepath.Join(dir, f.folder))
	}
}

func (u *finder) folder(f feature, dir string) {
	if f.folder == "" || !filepath.IsAbs(dir) {
		return
	}
	for _, name := range f.read(dir) {
		u.add(f, Unused{Name: name, File: dir})
	}
}

// extension lists what an extension brings besides its context files and rules.
func (u *finder) extension(x extension.Extension) {
	manifest := Unused{File: x.Manifest()}
	for _, f := range features() {
		u.folder(f, filepath.Join(x.Dir, f.folder))
	}
	for _, tool := range x.ExcludeTools {
		manifest.Name = tool
		u.add(feature{name: "excludeTools"}, manifest)
	}
}

// agentNames returns the sub-agents of a folder.
func agentNames(dir string) (names []string) {
	for _, name := range namesIn(dir) {
		if stem, ok := strings.CutSuffix(name, ".md"); ok && !strings.HasPrefix(name, "_") {
			names = append(names, stem)
		}
	}
	return names
}

// maxNames is how many names of a directory are looked at.
const maxNames = 1000

// namesIn returns the names in a directory, in order, and the first ones of
// very many. What can't be read has none.
func namesIn(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxNames)
	slices.Sort(names)
	return names
}

// Shorten puts the items into one line: how many there are of each feature.
func Shorten(items []Unused) string {
	const most = 8
	var words []string
	tally := map[string]int{}
	for _, i := range items {
		tally[i.Feature]++
	}
	for _, i := range items {
		n := tally[i.Feature]
		delete(tally, i.Feature)
		switch {
		case n == 0:
		case i.String() == i.Name: // a key
			words = append(words, i.Feature)
		default:
			words = append(words, fmt.Sprintf("%s (%d)", i.Feature, n))
		}
	}
	if n := len(words) - most; n > 0 {
		words = append(words[:most], fmt.Sprintf("and %d more", n))
	}
	return text.EscapeLine(strings.Join(words, ", "))
}

// Places puts the items into lines: what is where.
func Places(items []Unused) (lines []string) {
	type place struct{ feature, file string }
	names := map[place][]string{}
	for _, i := range items {
		at := place{i.Feature, i.File}
		names[at] = append(names[at], i.Name)
	}
	for _, i := range items {
		at := place{i.Feature, i.File}
		list := names[at]
		delete(names, at)
		switch {
		case list == nil:
		case len(list) == 1:
			lines = append(lines, fmt.Sprintf("%s in %s", i, i.File))
		default:
			lines = append(lines, fmt.Sprintf("%s %s in %s", i.Feature, text.List(slices.Compact(list)), i.File))
		}
	}
	return lines
}
