package extension

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
)

// switches returns a function that reports whether an extension is switched on. If the list of
// switches is unreadable, the function reports false.
func switches(cfg Config) (func(name string) bool, error) {
	if only := wanted(cfg.Only); len(only) > 0 {
		return func(name string) bool { return !none(cfg.Only) && text.Among(only, name) }, nil
	}
	var list map[string]switched
	var err error
	if cfg.Dir != "" {
		err = readJSON(filepath.Join(cfg.Dir, enablementName), &list)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	at := slashed(cfg.Cwd)
	return func(name string) bool {
		return err == nil && !text.Among(cfg.Disabled, name) && enabled(list[name].Overrides, at)
	}, err
}

// wanted returns the names of the flag.
func wanted(only []string) []string {
	return lists.Filter(lists.Map(only, strings.TrimSpace), func(name string) bool { return name != "" })
}

// none reports whether the flag excludes all extensions.
func none(only []string) bool {
	names := wanted(only)
	return len(names) == 1 && strings.EqualFold(names[0], "none")
}

// enabled reports whether an extension with these rules is switched on in the directory at. The
// last matching rule decides.
func enabled(rules []string, at string) bool {
	on := true
	for _, rule := range rules {
		rule, off := strings.CutPrefix(rule, "!")
		if fits(rule, at) {
			on = !off
		}
	}
	return on
}

// fits reports whether a rule matches the directory at. A star matches anything, and a slash with a
// star also matches nothing: the rule for all directories below a directory also matches the
// directory itself.
func fits(rule, at string) bool {
	pattern := regexp.QuoteMeta(rule)
	pattern = strings.ReplaceAll(pattern, `/\*`, `(/.*)?`)
	pattern = strings.ReplaceAll(pattern, `\*`, `(.*)?`)
	re, err := regexp.Compile(`^(?s:` + pattern + `)$`)
	return err == nil && re.MatchString(at)
}

// slashed returns a directory in the form of the rules.
func slashed(dir string) string {
	if dir = strings.Trim(filepath.ToSlash(disk.ResolveLinks(dir)), "/"); dir == "" {
		return "/"
	}
	return "/" + dir + "/"
}
