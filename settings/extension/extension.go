// Package extension reads the extensions that a user has installed: directories of files that add
// knowledge and abilities to the program.
//
// # An extension is data
//
// An Extension is the checked content of a directory; this package runs nothing in it. No other
// package knows the files: the manifest, the installation note, the list of folders where it is
// switched on. A package that uses another part of an extension gets a new field here. A first
// caller calls [Installed].
//
// # Extensions count in untrusted folders
//
// Only the user installs extensions, so they also count in untrusted folders. Since anybody may be
// the author, paths in an extension can't leave its directory.
//
// # A broken extension is skipped
//
// An unusable extension causes one warning. The other extensions work.
package extension

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/settings/jsonc"
)

// An Extension is an installed, usable extension.
type Extension struct {
	Name    string
	Version string
	About   string // its description of itself
	Dir     string // the directory of its files, absolute
	Home    string // the directory of its installation: Dir, unless it is linked
	Linked  bool   // a link leads to its sources
	ID      string
	Install Install

	Settings   []Setting // its settings
	MigratedTo string    // where it has moved to
	Themes     bool      // it has themes, which have no effect here

	Misread Misread

	// Active reports whether it is switched on for the working directory.
	Active   bool
	Contents Contents

	// Fill expands the variables in a text of the extension.
	Fill func(string) string
}

// Misread holds the unreadable parts of a usable extension.
type Misread struct {
	Notes   []string // problems
	Unknown []string // unknown keys of the manifest, not likely misspelled
	Hooks   error    // why its file of hooks can't be read; it is among the notes
}

// Contents are the parts that an extension adds, by its manifest and its file of hooks.
type Contents struct {
	// ContextFiles are the absolute paths of its context files. They are in [Extension.Dir], but
	// may be links.
	ContextFiles []string

	Servers      map[string]any // its MCP servers by name, with [Extension.Variables] unexpanded
	ExcludeTools []string       // tools that must not run while it is switched on
	Hooks        map[string]any // its hooks by event, as the file has them
	PlanDir      string         // its directory for plans, in the project
}

// Manifest returns the path of the manifest.
func (x Extension) Manifest() string { return filepath.Join(x.Dir, manifestName) }

// HooksFile returns the path of the file of hooks.
func (x Extension) HooksFile() string { return filepath.Join(x.Dir, "hooks", "hooks.json") }

// ConfigPaths returns the manifest, and the directories whose files configure gemline.
func (x Extension) ConfigPaths() []string {
	list := []string{x.Manifest()}
	for _, name := range []string{"agents", "commands", "hooks", policiesName, "skills"} {
		list = append(list, filepath.Join(x.Dir, name))
	}
	return list
}

// Config is the configuration of extensions.
type Config struct {
	Dir string // ~/.gemini/extensions; may be empty
	Cwd string // the working directory

	// Only, unless it is empty, names the extensions that are switched on; other switches have no
	// effect. The single name none switches all off.
	Only []string

	Disabled []string // names of the extensions that are switched off
}

const (
	manifestName   = "gemini-extension.json"
	installName    = ".gemini-extension-install.json"
	enablementName = "extension-enablement.json"
	contextName    = "GEMINI.md"
	policiesName   = "policies"

	filesName = ".gemini-extension-files.json" // gemline's own

	maxSums       = 64 << 20 // bytes of the list of files
	maxExtensions = 1000     // directories that are read
	longestName   = 100
)

// Installed returns the usable extensions in the order of their names, and warnings about the
// others.
func Installed(cfg Config) (list []Extension, warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	dirs, err := directories(cfg.Dir)
	if err != nil {
		warn("extensions are not used: %v", err)
	}
	for _, dir := range dirs {
		x, err := read(dir, cfg.Cwd)
		if err != nil {
			warn("extension %s is not used: %v", filepath.Base(dir), err)
			continue
		}
		if i := slices.IndexFunc(list, func(o Extension) bool { return strings.EqualFold(o.Name, x.Name) }); i >= 0 {
			warn("extension %s is not used: %s has the same name", filepath.Base(dir), list[i].Dir)
			continue
		}
		list = append(list, x)
	}
	on, err := switches(cfg)
	if err != nil && len(list) > 0 {
		warn("no extension is used, since it is not known which are switched off: %v", err)
	}
	for i := range list {
		if list[i].Active = on(list[i].Name); list[i].Active {
			for _, note := range list[i].Misread.Notes {
				warn("extension %s: %s", list[i].Name, note)
			}
		}
	}
	names := lists.Map(list, func(x Extension) string { return x.Name })
	for _, name := range cfg.Disabled {
		if near := text.Misspelled(name, cfg.Disabled, names); near != "" {
			warn("extensions.disabled: no extension is called %q; did you mean %s?", name, near)
		}
	}
	for _, name := range wanted(cfg.Only) {
		known := func(x Extension) bool { return strings.EqualFold(x.Name, name) }
		if !none(cfg.Only) && !slices.ContainsFunc(list, known) {
			warn("Extension not found: %s", name)
		}
	}
	slices.SortFunc(list, func(a, b Extension) int { return cmp.Compare(a.Name, b.Name) })
	return list, warnings
}

// Policies returns the directories of rules of the extensions that are switched on, though some may
// not exist. It opens no manifest if no extension can have rules, since every start calls it.
func Policies(cfg Config) (dirs []string) {
	all, _ := directories(cfg.Dir) // code that uses an extension prints its problems
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	if !slices.ContainsFunc(all, func(dir string) bool {
		return there(filepath.Join(dir, policiesName)) ||
			there(filepath.Join(dir, installName)) // the note may name another directory
	}) {
		return nil
	}
	list, _ := Installed(cfg)
	active := lists.Filter(list, func(x Extension) bool { return x.Active })
	return lists.Map(active, func(x Extension) string { return filepath.Join(x.Dir, policiesName) })
}

// ReadBroken returns the readable parts of an unusable extension, in the folder called name. It
// returns false if there is no such folder.
func ReadBroken(dir, name string) (x Extension, ok bool) {
	dirs, _ := directories(dir)
	for _, at := range dirs {
		if strings.EqualFold(filepath.Base(at), name) {
			x := Extension{Name: filepath.Base(at), Dir: at, Home: at}
			x.Install, _ = installed(filepath.Join(at, installName)) // this file may be broken, too
			x.ID = ID(x.Install.Source, x.Name)
			return x, true
		}
	}
	return Extension{}, false
}

// Folders returns the names of the folders of installed extensions.
func Folders(dir string) ([]string, error) {
	dirs, err := directories(dir)
	return lists.Map(dirs, filepath.Base), err
}

// directories returns the directories in dir, in order.
func directories(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if dirs = append(dirs, path); len(dirs) > maxExtensions {
			return dirs[:maxExtensions], fmt.Errorf("%s holds more than %d; the others are passed over", dir, maxExtensions)
		}
	}
	return dirs, nil
}

var validName = text.Pattern(`^[A-Za-z0-9-]+$`)

// read reads the extension that is installed in dir.
func read(dir, cwd string) (Extension, error) {
	note, err := installed(filepath.Join(dir, installName))
	x := Extension{Dir: dir, Home: dir, Install: note}
	if err != nil {
		return x, err
	}
	if note.Type == "link" {
		x.Dir, x.Linked = filepath.Clean(note.Source), true
	}
	return x.read(cwd)
}

// read reads the extension from the files in its directory.
func (x Extension) read(cwd string) (Extension, error) {
	path := filepath.Join(x.Dir, manifestName)
	m := manifest{fill: filler(x.Dir, cwd)}
	if err := readJSON(path, &m); errors.Is(err, fs.ErrNotExist) {
		return x, fmt.Errorf("there is no file %s in %s", manifestName, x.Dir)
	} else if err != nil {
		return x, err
	}
	switch {
	case m.Name == "":
		return x, fmt.Errorf("%s: it has no name", path)
	case len(m.Name) > longestName:
		return x, fmt.Errorf("%s: the name has more than %d letters", path, longestName)
	case !validName().MatchString(m.Name):
		return x, fmt.Errorf("%s: the name %.60q may hold only letters, digits and hyphens", path, m.Name)
	case m.Version == "":
		return x, fmt.Errorf("%s: it has no version", path)
	}
	x.Name, x.Version, x.About, x.Fill = m.Name, m.Version, m.Description, m.fill
	x.ID, x.MigratedTo, x.Themes = ID(x.Install.Source, x.Name), m.MigratedTo, len(m.Themes) > 2
	for _, s := range m.Settings {
		if validVariable().MatchString(s.EnvVar) && s.Name != "" { // otherwise it can't be stored
			x.Settings = append(x.Settings, s)
		} else {
			x.Misread.Notes = append(x.Misread.Notes, fmt.Sprintf("%s: the setting %q has no name, or an envVar that is none", path, cmp.Or(s.Name, s.EnvVar)))
		}
	}
	var said any
	if err := readJSON(path, &said); err == nil {
		for _, key := range unknownKeys(said, reflect.TypeOf(m), "") {
			if key[1] == "" {
				x.Misread.Unknown = append(x.Misread.Unknown, key[0])
				continue
			}
			x.Misread.Notes = append(x.Misread.Notes, fmt.Sprintf("%s: %q means nothing; did you mean %s?", path, key[0], key[1]))
		}
	}
	for name, server := range m.Servers {
		m.Servers[name] = filled(server, separators.Replace)
	}
	x.Contents = Contents{Servers: m.Servers, ExcludeTools: m.ExcludeTools, PlanDir: m.fill(m.Plan.Directory)}
	var bundle struct{ Hooks map[string]any }
	var whole map[string]any
	err := cmp.Or(readJSON(x.HooksFile(), &bundle), readJSON(x.HooksFile(), &whole))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		x.Misread.Hooks = fmt.Errorf("its hooks do not run: %w", err)
		x.Misread.Notes = append(x.Misread.Notes, x.Misread.Hooks.Error())
	case bundle.Hooks == nil && len(whole) > 0:
		x.Misread.Notes = append(x.Misread.Notes, fmt.Sprintf(`its hooks do not run: %s must hold {"hooks": {"EVENT": [...]}}`, x.HooksFile()))
	default:
		x.Contents.Hooks, _ = filledHooks(bundle.Hooks, m.fill).(map[string]any)
	}
	if x.Contents.ContextFiles, err = m.contexts(x.Dir); err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// contexts returns the existing context files that the manifest names, or the default file.
func (m manifest) contexts(dir string) ([]string, error) {
	names := m.ContextFileName
	if len(names) == 0 {
		names = []string{contextName}
	}
	var paths []string
	for _, name := range names {
		name = m.fill(name)
		if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
			return nil, fmt.Errorf("contextFileName %.60q leads out of the extension", name)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// filler returns a function that expands the variables in texts of an extension. Unknown variables
// stay.
func filler(dir, cwd string) func(string) string {
	separator := string(filepath.Separator)
	return strings.NewReplacer("${extensionPath}", dir, "${workspacePath}", cwd, "${/}", separator,
		"${pathSeparator}", separator).Replace
}

// Variables returns the environment variables for the extension's hooks and servers: commands for a
// shell use these, and are not expanded.
func (x Extension) Variables(cwd string) map[string]string {
	return map[string]string{"extensionPath": x.Dir, "workspacePath": cwd}
}

// filledHooks expands the variables of hooks, except in their commands, which are text for a shell.
func filledHooks(v any, fill func(string) string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = filledHooks(v[i], fill)
		}
		return v
	case map[string]any:
		for name := range v {
			if command, ok := v[name].(string); ok && name == "command" {
				v[name] = separators.Replace(command)
				continue
			}
			v[name] = filledHooks(v[name], fill)
		}
		return v
	}
	return filled(v, fill)
}

// separators replaces variables for the system's separators.
var separators = strings.NewReplacer("${/}", string(filepath.Separator), "${pathSeparator}", string(filepath.Separator))

// Filled expands the variables in a value. In a server, it leaves them to the code that connects
// the server.
func (x Extension) Filled(v any) any {
	if text, ok := v.(string); ok {
		return x.Fill(text)
	}
	return filled(v, separators.Replace)
}

// filled returns a JSON value with expanded texts.
func filled(v any, fill func(string) string) any {
	return jsonc.Map(v, func(v any) any {
		if text, is := v.(string); is {
			return fill(text)
		}
		return v
	})
}
