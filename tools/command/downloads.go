package command

import (
	"path/filepath"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/shell/program"
)

// letters are the characters allowed in names of programs in packages.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// downloads reports whether a command runs a program that it must download first, as the
// project has no program of that name in dir or above it. Without the network the command
// would wait, not fail.
func downloads(command engine.Command, dir string, roots []string) bool {
	name, known := command.Program()
	if !known || !program.Find(name).Is(program.Gets) {
		return false
	}
	if len(command.Argv) > 1 && !command.Argv[1].Known {
		return true
	}
	words := command.Words()[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		switch words[0] {
		case "--no-install", "--no", "--offline", "--version", "-v", "--help", "-h":
			return false
		case "-y", "--yes", "-q", "--quiet":
		default:
			return true
		}
		words = words[1:]
	}
	if len(words) == 0 || strings.Trim(words[0], letters) != "" {
		return len(words) > 0
	}
	for ; disk.InsideAny(roots, dir); dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "node_modules/.bin", words[0])) {
			return false
		}
	}
	return true
}
