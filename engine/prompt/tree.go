package prompt

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxItems   = 200  // shown
	maxEntries = 4096 // read in one directory
)

// A node is a directory or a file in the tree.
type node struct {
	name     string
	dir      bool
	more     bool // it holds items that are not shown
	children []*node
}

// tree draws the files below root, limit items at most. It completes a level before the next
// level; files come before directories, each sorted. It reads only the directories whose contents
// it shows.
func tree(ctx context.Context, root string, limit int, ignored func(string, bool) bool) string {
	type place struct {
		*node
		path string
	}
	top := &node{name: root, dir: true, more: true}
	queue := []place{{top, root}}
	for len(queue) > 0 && limit > 0 && ctx.Err() == nil {
		at := queue[0]
		queue = queue[1:]
		files, dirs, complete := readDir(at.path)
		at.more = !complete
		for _, name := range files {
			path := filepath.Join(at.path, name)
			if ignored != nil && ignored(path, false) {
				continue
			}
			if limit == 0 {
				at.more = true
				break
			}
			limit--
			at.children = append(at.children, &node{name: name})
		}
		for _, name := range dirs {
			if limit == 0 {
				at.more = true
				break
			}
			limit--
			n := &node{name: name, dir: true, more: true}
			at.children = append(at.children, n)
			path := filepath.Join(at.path, name)
			if !slices.Contains([]string{"node_modules", ".git", "dist", "__pycache__"}, name) &&
				(ignored == nil || !ignored(path, true)) {
				queue = append(queue, place{n, path})
			}
		}
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(quote(filepath.ToSlash(root)), "/") + "/\n")
	top.draw(&b, "")
	return b.String()
}

// draw writes the lines below n.
func (n *node) draw(b *strings.Builder, indent string) {
	for i, c := range n.children {
		last := i == len(n.children)-1 && !n.more
		b.WriteString(indent + branch(last) + quote(c.name))
		if c.dir {
			b.WriteString("/")
		}
		if c.more && len(c.children) == 0 {
			b.WriteString("...")
		}
		b.WriteString("\n")
		next := "│   "
		if last {
			next = "    "
		}
		c.draw(b, indent+next)
	}
	if n.more && (len(n.children) > 0 || indent == "") {
		b.WriteString(indent + branch(true) + "...\n")
	}
}

func branch(last bool) string {
	if last {
		return "└───"
	}
	return "├───"
}

// readDir returns the names in dir, sorted, and whether the lists are complete.
func readDir(dir string) (files, dirs []string, complete bool) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, nil, false
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil, false
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err == nil {
		_, err = f.ReadDir(1)
	}
	for _, e := range entries {
		if e.Type()&fs.ModeDir != 0 {
			dirs = append(dirs, e.Name())
		} else {
			files = append(files, e.Name())
		}
	}
	slices.Sort(files)
	slices.Sort(dirs)
	return files, dirs, err == io.EOF
}

// quote returns name, quoted unless it fits on a line of text: a name may hold any character,
// even line ends.
func quote(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(name)
		}
	}
	return name
}
