package settings

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// commandNames returns the commands that the files of a folder and those below
// it define, each with its slash and a colon for each directory. Of very many
// it returns the first ones.
func commandNames(dir string) (names []string) {
	left := maxNames
	var walk func(at, prefix string, depth int)
	walk = func(at, prefix string, depth int) {
		for _, name := range namesIn(at) {
			if left--; left < 0 {
				return
			}
			if stem, ok := strings.CutSuffix(name, ".toml"); ok {
				names = append(names, prefix+commandPart(stem))
				continue
			}
			below := filepath.Join(at, name)
			if info, err := os.Stat(below); err == nil && info.IsDir() && depth > 0 {
				walk(below, prefix+commandPart(name)+":", depth-1)
			}
		}
	}
	walk(dir, "/", 10)
	return names
}

var notInCommands = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// commandPart returns a part of a command's name: what a file or a directory is
// called, without what can't be typed.
func commandPart(name string) string {
	const most = 50
	name = notInCommands.ReplaceAllString(name, "_")
	if len(name) > most {
		return name[:most-3] + "..."
	}
	return name
}
