package settings

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// survey lists what the working directory would bring if it were trusted.
// names are those of context files. Everything is looked at, nothing is used.
func (p Paths) survey(names []string) []Item {
	var items []Item
	if !p.AtHome() {
		items = surveyFolder(p.Workspace())
	}
	if size, ok := regular(filepath.Join(p.Cwd, ".mcp.json")); ok {
		items = append(items, Item{Name: ".mcp.json", Detail: count(int(size), "byte")})
	}
	for _, path := range p.envFiles(true) {
		if _, ok := regular(path); ok {
			if !p.own(path) {
				items = append(items, Item{Name: p.rel(path), Detail: envNames(path)})
			}
			break
		}
	}
	for _, dir := range p.upwards() {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if size, ok := regular(path); ok && !p.own(path) {
				items = append(items, Item{Name: p.rel(path), Detail: count(int(size), "byte"), Words: true})
			}
		}
	}
	return items
}

// own reports whether a file is the user's, and not the project's: one in the
// home directory itself, or in its .gemini.
func (p Paths) own(path string) bool {
	if p.Home == "" {
		return false
	}
	dir := realPath(filepath.Dir(path))
	return dir == realPath(p.Home) || dir == realPath(p.User())
}

// rel returns path as seen from the working directory.
func (p Paths) rel(path string) string {
	if rel, err := filepath.Rel(p.Cwd, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// upwards returns the working directory and those above it, as far as the
// repository reaches, in which the working directory is.
func (p Paths) upwards() []string {
	dirs := []string{p.Cwd}
	for dir := p.Cwd; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dirs
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dirs[:1]
		}
		dirs, dir = append(dirs, up), up
	}
}

// surveyFolder lists what is in a project's .gemini.
func surveyFolder(dir string) []Item {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if info, serr := os.Stat(dir); serr == nil && info.IsDir() {
			return []Item{{Name: ".gemini", Detail: cause(err)}}
		}
		return nil
	}
	var items []Item
	for _, e := range entries {
		item := Item{Name: ".gemini/" + e.Name(), Words: e.Name() == "system.md"}
		path := filepath.Join(dir, e.Name())
		switch e.Name() {
		case "settings.json":
			item.Detail = surveySettings(path)
		case ".env":
			continue // listed where it is looked for
		default:
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				item.Detail = surveyDir(path)
			} else if err == nil {
				item.Detail = count(int(info.Size()), "byte")
			}
		}
		items = append(items, item)
	}
	return items
}

// surveySettings says which keys a file of settings sets, which programs it
// would start by servers and hooks among them.
func surveySettings(path string) string {
	tree, err := readObject(path)
	if err != nil {
		return "can't be used: " + err.Error()
	}
	var keys []string
	var walk func(prefix string, tree map[string]any, depth int)
	walk = func(prefix string, tree map[string]any, depth int) {
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			key := prefix + name
			if below, ok := tree[name].(map[string]any); ok && depth > 0 && len(below) > 0 {
				walk(key+".", below, depth-1)
				continue
			}
			keys = append(keys, fmt.Sprintf("%.100s", key))
		}
	}
	walk("", tree, 2)
	if len(keys) == 0 {
		return "sets nothing"
	}
	return "sets " + some(keys)
}

// surveyDir names the files below dir.
func surveyDir(dir string) string {
	const most = 1000
	var names []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if rel, err := filepath.Rel(dir, path); err == nil {
			names = append(names, filepath.ToSlash(rel))
		}
		if len(names) == most {
			return filepath.SkipAll
		}
		return nil
	})
	return some(names)
}

// envNames names the variables that a .env file sets.
func envNames(path string) string {
	b, err := readFile(path)
	if err != nil {
		return "can't be used: " + err.Error()
	}
	var names []string
	for _, v := range parseEnv(string(b)) {
		names = append(names, v.Name)
	}
	if len(names) == 0 {
		return "sets nothing"
	}
	return "sets " + some(names)
}

// regular returns the size of the regular file at path, if there is one.
func regular(path string) (int64, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
