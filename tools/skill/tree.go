package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gemline/engine/text"
)

// mostListed limits the listed files and directories of a skill's folder.
const mostListed = 200

// Tree lists the folder of the skill, a line for each file and directory below its path, and
// returns their number. It follows no links, and stops at a limit.
func (s Skill) Tree() (tree string, n int) {
	if s.File == "" {
		return "", 0
	}
	var b strings.Builder
	b.WriteString(text.PrintableLine(s.Folder()) + "/\n")
	root, err := os.OpenRoot(s.Folder())
	if err != nil {
		return b.String(), 0
	}
	defer root.Close()
	fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case path == ".":
			return nil
		case err != nil || name == ".git" || name == "node_modules":
			if !d.IsDir() { // such as the .git of a module
				return nil
			}
			return fs.SkipDir
		case n == mostListed:
			fmt.Fprintf(&b, "  ... and more\n")
			return fs.SkipAll
		}
		n++
		slash := ""
		if d.IsDir() {
			slash = "/"
		}
		b.WriteString(strings.Repeat("  ", 1+strings.Count(path, "/")) +
			text.PrintableLine(filepath.Base(path)) + slash + "\n")
		return nil
	})
	return b.String(), n
}
