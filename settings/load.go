package settings

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// A Source is a file of settings. It need not exist.
type Source struct {
	Path string

	// Guarded files bind every user of the machine and count only if nobody
	// but its administrator can have written them.
	Guarded bool
}

// Sources returns the files of settings, the weakest first: the defaults of
// the machine, the user's, with workspace the project's, and those of the
// machine that override them all.
func (p Paths) Sources(lookup func(string) (string, bool), workspace bool) []Source {
	system, _ := lookup("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	if system == "" {
		system = systemSettings(lookup)
	}
	defaults, _ := lookup("GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
	if defaults == "" {
		defaults = filepath.Join(filepath.Dir(system), "system-defaults.json")
	}
	list := []Source{{Path: defaults, Guarded: true}, {Path: p.User("settings.json")}}
	if workspace && !p.AtHome() {
		list = append(list, Source{Path: p.Workspace("settings.json")})
	}
	return append(list, Source{Path: system, Guarded: true})
}

// AtHome reports whether the working directory is the home directory, whose
// .gemini is the user's own.
func (p Paths) AtHome() bool { return p.Home != "" && realPath(p.Cwd) == realPath(p.Home) }

// realPath resolves the symbolic links in path as far as it exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(realPath(dir), filepath.Base(path))
}

func systemSettings(lookup func(string) (string, bool)) string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/GeminiCli/settings.json"
	case "windows":
		data, _ := lookup("ProgramData")
		if data == "" {
			data = `C:\ProgramData`
		}
		return filepath.Join(data, "gemini-cli", "settings.json")
	}
	return "/etc/gemini-cli/settings.json"
}

// Load reads the files, the weakest first. What is wrong with a key is a
// warning, and the key counts as not given. A file that can't be read or
// parsed is a [FileError], beside which the Settings are those of the files
// that can.
//
// Variables in values are filled in from lookup. The files are never written.
func Load(sources []Source, lookup func(string) (string, bool)) (s *Settings, warnings []string, err error) {
	s = Default()
	vocabulary := words()
	for _, src := range sources {
		tree, ferr := src.read(&warnings)
		if ferr != nil && err == nil {
			err = ferr
		}
		if tree == nil {
			continue
		}
		wrong := append(vocabulary.check(tree), s.take(tree, lookup)...)
		for i, w := range wrong {
			if i == maxWarnings {
				warnings = append(warnings, fmt.Sprintf("%s: and %d more like this", src.Path, len(wrong)-i))
				break
			}
			warnings = append(warnings, src.Path+": "+w)
		}
	}
	return s, warnings, err
}

// maxWarnings is how many warnings one file may give.
const maxWarnings = 5

func (src Source) read(warnings *[]string) (map[string]any, error) {
	if src.Guarded {
		if why := exposed(src.Path); why != "" {
			*warnings = append(*warnings, fmt.Sprintf("%s is passed over: %s", src.Path, why))
			return nil, nil
		}
	}
	return readObject(src.Path)
}

// take sets what tree holds, and returns what is wrong with it.
func (s *Settings) take(tree map[string]any, env func(string) (string, bool)) (wrong []string) {
	for _, k := range fields() {
		v, ok := lookup(tree, k.Name)
		for old, name := range renamed() {
			if name == k.Name && !ok {
				v, ok = lookup(tree, old)
			}
		}
		if !ok {
			continue
		}
		v, err := expand(v, env)
		if err != nil {
			wrong = append(wrong, k.Name+" "+err.Error())
		} else if err := k.set(s, v); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	return wrong
}
