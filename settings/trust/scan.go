package trust

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/memory"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/jsonc"
	"gemline/settings/project"
)

// An Item is a part of a folder's configuration. Its texts are the folder's, unchanged except for
// their length.
type Item struct {
	Kind    string `json:"kind"` // such as "hook" or "context file"
	Name    string `json:"name"`
	Detail  string `json:"detail,omitempty"`  // a description in a line
	Caution string `json:"caution,omitempty"` // how it weakens security
	Unused  bool   `json:"unused,omitempty"`  // it has no effect in gemline yet
	More    int    `json:"more,omitempty"`    // how many items of its kind are left out
}

// String returns the item as one line.
func (i Item) String() string {
	s := i.Kind + " " + i.Name
	if i.Detail != "" {
		s += ": " + i.Detail
	}
	var notes []string
	if i.Unused {
		notes = append(notes, string(settings.Later))
	}
	if i.Caution != "" {
		notes = append(notes, i.Caution)
	}
	if len(notes) > 0 {
		s += " (" + strings.Join(notes, "; ") + ")"
	}
	return s
}

const (
	maxItems  = 1000 // items of one kind that are read
	maxShown  = 50   // items of one kind in a list
	maxName   = 100  // bytes of a name
	maxDetail = 500  // bytes of a command or a value
	maxPeek   = 64 << 10
)

// Summary describes items in lines. Items of one kind without details share a line, and only the
// first of many items are shown. Caution is true for a line about weaker security; such lines are
// never left out.
func Summary(items []Item) (lines []string, caution []bool) {
	add := func(line string, c bool) { lines, caution = append(lines, line), append(caution, c) }
	for kind, group := range grouped(items) {
		var names []string
		more, shown := 0, 0
		for _, i := range group {
			more += i.More
			switch {
			case i.Detail == "" && i.Caution == "":
				names = append(names, i.Name)
			case shown < maxShown || i.Caution != "":
				add(i.String(), i.Caution != "")
				shown++
			default:
				more++
			}
		}
		if len(names) > 0 {
			add(text.Plural(kind, len(names))+" "+text.List(names), false)
		}
		if more > 0 {
			add(text.Number(more)+" more "+text.Plural(kind, more), false)
		}
	}
	return lines, caution
}

// Scan lists the configuration that the working directory would have if it were trusted. It reads
// everything, uses nothing, and follows no link out of the folder that contains it. The settings s
// are all but the folder's.
func Scan(p project.Paths, s *settings.Settings) []Item {
	v := view{weaker: s}
	if !p.AtHome() {
		v.folder(p.Cwd, s.MarkdownCommands)
	}
	v.dotEnv(p, s)
	v.context(p, s)
	return v.items
}

// A view collects the items.
type view struct {
	root   *os.Root
	weaker *settings.Settings // all settings but the folder's
	own    map[string]any     // the folder's settings that have an effect
	items  []Item
	count  map[string]int
}

func (v *view) add(i Item) {
	i.Unused = settings.IsUnused(i.Kind, i.Name)
	i.Name, i.Detail = cut(i.Name, maxName), cut(i.Detail, maxDetail)
	if v.count == nil {
		v.count = map[string]int{}
	}
	v.count[i.Kind]++
	if n := v.count[i.Kind]; n > maxItems && i.Caution == "" {
		for j := range v.items {
			if v.items[j].Kind == i.Kind {
				v.items[j].More++
				return
			}
		}
	}
	v.items = append(v.items, i)
}

// cut returns the beginning of s, with the length of the rest.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s... and %s more bytes", s[:n], text.Number(len(s)-n))
}

// A source is a kind of configuration in a folder. A reader of another kind adds its own function
// here, in place of the general function.
type source struct {
	at   string // a path in the folder; a star at its end matches any rest
	list func(v *view, at string)
}

// sources lists the possible configuration in a folder, except a .env file and context files, which
// also count in parent folders. Other files in .gemini are listed as files.
var sources = []source{
	{".gemini/settings.json", (*view).settings},
	{".mcp.json", (*view).servers},
	{".gemini/policies", (*view).policies},
	{".gemini/sandbox*", func(v *view, at string) {
		v.add(Item{Kind: "sandbox profile", Name: at, Caution: "changes the confinement of commands"})
	}},
	{".gemini/extensions", named("extension")},
	{".gemini/agents", named("agent")},
	{".gemini/skills", (*view).skills},
	{".agents/skills", (*view).skills},
	{".gemini/commands", func(v *view, at string) { v.commands(at, ".toml", "!{}") }},
	{".gemini/system.md", sized(systemPrompt)},
	{".gemini/.env", func(*view, string) {}},      // listed elsewhere, with the other .env files
	{".gemini/worktrees", func(*view, string) {}}, // each is a separate folder
	{".gemini/.gitignore", func(*view, string) {}},
	{".gemini/*", sized("file")},
}

// folder lists the contents of a project's .gemini and of the related paths. Markdown are folders
// of commands, of which only paths relative to the project count.
func (v *view) folder(dir string, markdown []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close()
	v.root = root
	for _, name := range v.list(".gemini") {
		at := ".gemini/" + name
		i := slices.IndexFunc(sources, func(s source) bool {
			begin, more := strings.CutSuffix(s.at, "*")
			return at == s.at || more && strings.HasPrefix(at, begin)
		})
		sources[i].list(v, at)
	}
	for _, s := range sources {
		if !strings.HasPrefix(s.at, ".gemini/") {
			s.list(v, s.at)
		}
	}
	for _, at := range markdown {
		if filepath.IsLocal(at) && !strings.HasPrefix(at, "~") {
			v.commands(at, ".md", "!``")
		}
	}
	slices.SortStableFunc(v.items, func(a, b Item) int { return cmp.Compare(rank(a.Kind), rank(b.Kind)) })
}

const systemPrompt = "system prompt" // the kind of system.md

// order is the order of kinds in the output: programs come first.
var order = []string{"hook", "MCP server", "policy", "sandbox profile", "extension", "agent",
	"skill", "command", "setting", "file", systemPrompt}

func rank(kind string) int { return slices.Index(order, kind) }

// list returns the names in a directory, sorted. An unreadable directory becomes an item; a missing
// directory has no names.
func (v *view) list(dir string) []string {
	f, err := v.root.OpenFile(dir, os.O_RDONLY|disk.NoWait, 0)
	if err != nil {
		v.unusable("file", dir, err)
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxItems)
	if err != nil && err != io.EOF {
		if info, serr := f.Stat(); serr != nil || info.IsDir() {
			v.unusable("file", dir, err)
		} else if dir != ".gemini" { // a file called .gemini has no effect
			v.add(Item{Kind: "file", Name: dir, Detail: "is not a directory"})
		}
	}
	names := lists.Map(entries, fs.DirEntry.Name)
	slices.Sort(names)
	if len(names) == maxItems {
		v.add(Item{Kind: "file", Name: dir, Detail: "holds " + text.Number(maxItems) +
			" files or more; the rest was not read"})
	}
	return names
}

// unusable lists a file that exists but can't be read.
func (v *view) unusable(kind, name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := v.root.Lstat(name); lerr != nil {
			return
		}
	}
	why := disk.Cause(err).Error()
	if info, lerr := v.root.Lstat(name); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		why = "is a link that leads out of the folder, or nowhere"
	}
	v.add(Item{Kind: kind, Name: name, Detail: "can't be looked at: " + why})
}

// read returns the content of a regular file. A larger file than [jsonc.MaxFile], or another kind
// of file, becomes an item.
func (v *view) read(name, kind string) (text []byte, ok bool) {
	f, err := v.root.OpenFile(name, os.O_RDONLY|disk.NoWait, 0)
	if err != nil {
		v.unusable(kind, name, err)
		return nil, false
	}
	defer f.Close()
	if text, err = disk.ReadOpen(f, jsonc.MaxFile); err != nil {
		v.add(Item{Kind: kind, Name: name, Detail: "can't be used: " + disk.Cause(err).Error()})
	}
	return text, err == nil
}

// peek returns the beginning of a file, "" if it can't be read.
func (v *view) peek(name string) string {
	f, err := v.root.OpenFile(name, os.O_RDONLY|disk.NoWait, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(f, maxPeek)) // an unreadable rest is not shown
	return string(b)
}

// sized lists a file with its size, or a directory with the names in it.
func sized(kind string) func(*view, string) {
	return func(v *view, name string) {
		info, err := v.root.Stat(name)
		switch {
		case err != nil:
			v.unusable(kind, name, err)
		case info.IsDir():
			v.add(Item{Kind: kind, Name: name + "/", Detail: text.List(v.list(name))})
		case !info.Mode().IsRegular():
			v.add(Item{Kind: kind, Name: name, Detail: "is not a regular file"})
		default:
			v.add(Item{Kind: kind, Name: name, Detail: bytesOf(info.Size())})
		}
	}
}

// named lists the files of a directory by name.
func named(kind string) func(*view, string) {
	return func(v *view, dir string) {
		for _, name := range v.list(dir) {
			v.add(Item{Kind: kind, Name: strings.TrimSuffix(name, ".md")})
		}
	}
}

// skills lists directories with a SKILL.md.
func (v *view) skills(dir string) {
	for _, name := range v.list(dir) {
		if _, err := v.root.Lstat(dir + "/" + name + "/SKILL.md"); err == nil || name == "SKILL.md" {
			v.add(Item{Kind: "skill", Name: name})
		}
	}
}

// policies lists the rule files of a directory.
func (v *view) policies(dir string) {
	for _, name := range v.list(dir) {
		v.add(Item{Kind: "policy", Name: dir + "/" + name})
	}
}

// escaped matches TOML escapes that could spell !{ in other characters.
var escaped = text.Pattern(`\\([uUx]|[ \t]*\r?\n)`)

// commands lists the commands in a directory and its subdirectories. Their files have the suffix
// end, and runs is the syntax of a command line in them, such as !{}.
func (v *view) commands(dir, end, runs string) {
	left := maxItems // directories and files
	var walk func(at, prefix string, depth int)
	walk = func(at, prefix string, depth int) {
		for _, name := range v.list(at) {
			if left--; left < 0 {
				v.add(Item{Kind: "command", Name: "/" + prefix + "...", Detail: "there are too many to look at"})
				return
			}
			below := at + "/" + name
			if stem, ok := strings.CutSuffix(name, end); ok {
				i := Item{Kind: "command", Name: "/" + prefix + stem}
				switch s := v.peek(below); {
				case strings.Contains(s, runs[:2]):
					i.Detail = "holds " + runs + ", which runs commands"
				case len(s) == maxPeek, end == ".toml" && escaped().MatchString(s):
					i.Detail = "may hold " + runs + ", which runs commands"
				}
				v.add(i)
			} else if info, err := v.root.Stat(below); err == nil && info.IsDir() && depth > 0 {
				walk(below, prefix+name+":", depth-1)
			}
			if left < 0 {
				return
			}
		}
	}
	walk(dir, "", 10)
}

// dotEnv lists the variables of the .env file that would count.
func (v *view) dotEnv(p project.Paths, s *settings.Settings) {
	file := s.ProjectEnv(p)
	if file == "" {
		return
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		v.add(Item{Kind: ".env file", Name: rel(p, file), Detail: disk.Cause(err).Error()})
		return
	}
	defer root.Close()
	w := view{root: root}
	text, ok := w.read(filepath.Base(file), ".env file")
	if ok {
		w.add(Item{Kind: ".env file", Detail: envNames(string(text))})
	}
	for _, i := range w.items {
		i.Name = rel(p, file)
		v.add(i)
	}
}

// envNames lists the variables in the text of a .env file.
func envNames(file string) string {
	var out []string
	names, brings, refused := settings.EnvNames(file)
	for _, list := range [][]string{names, brings, refused} {
		for i := range list {
			list[i] = cut(list[i], maxName)
		}
	}
	if len(names) > 0 {
		out = append(out, "sets "+text.List(names))
	}
	if len(brings) > 0 {
		out = append(out, "sets "+text.List(brings)+" for the folder's files")
	}
	if len(refused) > 0 {
		out = append(out, "would set "+text.List(refused)+", which no project can")
	}
	return cmp.Or(strings.Join(out, "; "), "sets nothing")
}

// context lists the context files of the working directory and of its parents, up to the project's
// root. The folder's settings choose their names, and what is in the root.
func (v *view) context(p project.Paths, s *settings.Settings) {
	chosen := func(key string, weaker []string) []string {
		switch own := settings.In[map[string]any](v.own, "context")[key].(type) {
		case string:
			return []string{own}
		case []any:
			return lists.Map(own, func(name any) string { return fmt.Sprint(name) })
		}
		return slices.Clone(weaker)
	}
	var names []string
	for _, name := range append(chosen("fileName", s.FileNames), memory.DefaultName) {
		if name = strings.TrimSpace(name); filepath.IsLocal(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	seen := map[string]bool{}
	for _, cwd := range []string{p.Cwd, disk.ResolveLinks(p.Cwd)} { // their parents may differ
		v.upto(p, memory.Upward(cwd, chosen("memoryBoundaryMarkers", s.Markers)), names, seen)
	}
}

// upto lists the files with one of the names in the directories. The last directory contains the
// others.
func (v *view) upto(p project.Paths, dirs, names []string, seen map[string]bool) {
	root, err := os.OpenRoot(dirs[len(dirs)-1]) // links within the project are allowed
	if err != nil {
		return
	}
	defer root.Close()
	w := view{root: root}
	for _, dir := range dirs {
		for _, name := range names {
			file := filepath.Join(dir, name)
			at, err := filepath.Rel(root.Name(), file)
			if real := disk.ResolveLinks(file); err != nil || seen[real] || p.Own(file) ||
				above(p, dir) && disk.OwnedByOther(file, p.Cwd) != "" {
				continue
			} else {
				seen[real] = true
			}
			n := len(w.items)
			if info, err := root.Stat(at); err != nil {
				w.unusable("context file", at, err)
			} else if info.Mode().IsRegular() {
				w.add(Item{Kind: "context file", Detail: bytesOf(info.Size())})
			}
			if len(w.items) > n {
				w.items[n].Name = cut(rel(p, file), maxName)
			}
		}
	}
	v.items = append(v.items, w.items...)
}

// above reports whether a directory is above the working directory.
func above(p project.Paths, dir string) bool {
	down, err := filepath.Rel(dir, p.Cwd)
	return err == nil && down != "." && filepath.IsLocal(down)
}

// rel returns path relative to the working directory.
func rel(p project.Paths, file string) string {
	if rel, err := filepath.Rel(p.Cwd, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return file
}

func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return text.Number(int(n)) + " bytes"
}
