package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/disk"
)

const (
	geminiIgnore = ".geminiignore"
	maxRules     = 4 << 20 // bytes of an ignore file
)

// Rules says which kinds of ignore files are respected.
type Rules struct{ Git, Gemini bool }

// An Ignore holds the ignore files of the roots.
type Ignore struct {
	Rules Rules // the default rules

	dirs  *dirs
	over  *Overlay
	extra []string // more ignore files, relative to each root; the first is the strongest
}

// Names reports whether an ignore file names path, or a directory above it in the workspace.
// The path is absolute; dir says that it is a directory.
func (ig *Ignore) Names(path string, dir bool) bool { return ig.NamesBy(path, dir, ig.Rules) }

// NamesBy is [Ignore.Names] with other rules.
func (ig *Ignore) NamesBy(path string, dir bool, rules Rules) bool {
	root, rel := ig.dirs.rootOf(path, nil)
	if root == nil || rel == "." {
		return false
	}
	here := root.Path()
	s := ig.scopeAt(here, rules)
	for {
		name, rest, more := strings.Cut(rel, string(filepath.Separator))
		if s.ignores(filepath.Join(here, name), dir || more) {
			return true
		}
		if !more {
			return false
		}
		here, rel = filepath.Join(here, name), rest
		s = s.enter(here)
	}
}

// Hides returns a function that reports whether rules ignore an entry of dir, as
// [Ignore.NamesBy] does. It reads the ignore files once.
func (ig *Ignore) Hides(dir string, rules Rules) func(name string, dir bool) bool {
	hidden := ig.NamesBy(dir, true, rules)
	s := ig.scopeOf(dir, rules)
	root, _ := ig.dirs.rootOf(dir, nil)
	return func(name string, isDir bool) bool {
		return hidden || root != nil && s.ignores(filepath.Join(dir, name), isDir)
	}
}

// GitHides is [Ignore.Hides] by git's ignore files alone, for a directory that is not
// ignored itself.
func (ig *Ignore) GitHides(dir string) func(name string, dir bool) bool {
	s := *ig.scopeOf(dir, Rules{Git: true})
	s.own = nil
	return func(name string, isDir bool) bool { return s.ignores(filepath.Join(dir, name), isDir) }
}

// Unignores reports whether .geminiignore, or an ignore file named in the settings, reverses
// rules that may be those of another kind of ignore file.
func (ig *Ignore) Unignores() bool {
	for _, root := range ig.dirs.paths() {
		for _, l := range ig.scopeAt(root, Rules{Gemini: ig.Rules.Gemini}).own {
			if slices.ContainsFunc(l.rules.all, func(r rule) bool { return r.not }) {
				return true
			}
		}
	}
	return false
}

// large reports whether the size of an ignore file of root suggests that only a part of it
// counts. It reads no file.
func (ig *Ignore) large(root string) bool {
	return slices.ContainsFunc(append([]string{".gitignore", ".git/info/exclude", geminiIgnore},
		ig.extra...), func(name string) bool {
		info, err := os.Stat(join(root, name))
		return err == nil && info.Size() > maxWild
	})
}

// Problems returns problems of ignore files that hide nothing: files named in the
// settings that no root has, and unreadable files. It also names files that count in part,
// as far as they apply to the roots.
func (ig *Ignore) Problems() (all []string) {
	for _, name := range ig.extra {
		read, why := false, fs.ErrNotExist
		for _, root := range ig.dirs.paths() {
			err := ig.readable(join(root, name))
			read = read || err == nil
			if err != nil && !missing(err) {
				why = err
			}
		}
		if !read {
			all = append(all, fmt.Sprintf("ignore file %s hides nothing: %v", name, disk.Cause(why)))
		}
	}
	for _, root := range ig.dirs.paths() {
		path := filepath.Join(root, geminiIgnore)
		if err := ig.readable(path); ig.Rules.Gemini && err != nil && !missing(err) {
			all = append(all, fmt.Sprintf("ignore file %s hides nothing: %v", path, disk.Cause(err)))
		}
		if !ig.large(root) {
			continue
		}
		s := ig.scopeAt(root, ig.Rules)
		lists := s.own
		for l := s.git; l != nil; l = l.up {
			lists = append(lists, &l.list)
		}
		for _, l := range lists {
			if l.rules.cut {
				all = append(all, fmt.Sprintf("an ignore file of %s counts in part: its patterns with wildcards have more than %d bytes", l.base, maxWild))
			}
		}
	}
	return all
}

// readable returns why the rules of an ignore file can't be read.
func (ig *Ignore) readable(path string) error {
	f, info, err := ig.open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > maxRules {
		return fmt.Errorf("it has more than %d bytes", maxRules)
	}
	return nil
}

// A scope is the rules for the entries of one directory.
type scope struct {
	rules Rules
	ig    *Ignore
	own   []*list // our ignore files, the strongest first; they beat git's
	git   *level  // the levels of this directory and its parents up to the repository
}

// A level holds the rules of a repository's directory, linked to the directory above.
type level struct {
	list
	up *level
}

// A list holds the rules of one file.
type list struct {
	base  string // absolute directory that the rules are relative to
	rules ruleset
}

// scopeOf returns the scope of dir's entries.
func (ig *Ignore) scopeOf(dir string, rules Rules) *scope {
	root, rel := ig.dirs.rootOf(dir, nil)
	if root == nil {
		return ig.scopeAt(dir, rules)
	}
	here := root.Path()
	s := ig.scopeAt(here, rules)
	if rel == "." {
		return s
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		here = filepath.Join(here, part)
		s = s.enter(here)
	}
	return s
}

// scopeAt returns the scope of a root's entries.
func (ig *Ignore) scopeAt(root string, rules Rules) *scope {
	s := &scope{rules: rules, ig: ig}
	if rules.Git {
		s.git = gitLevel(ig, root)
	}
	for _, name := range ig.extra {
		s.own = append(s.own, &list{base: root, rules: ig.rulesAt(join(root, name))})
	}
	if rules.Gemini {
		s.own = append(s.own, &list{base: root, rules: ig.rulesAt(filepath.Join(root, geminiIgnore))})
	}
	return s
}

// gitLevel returns git's rules for the entries of dir: dir's own rules and, in a
// repository, the rules of the directories above.
func gitLevel(ig *Ignore, dir string) *level {
	up := []string{dir}
	for top := RepositoryRoot(dir); dir != top; up = append(up, dir) {
		dir = filepath.Dir(dir)
	}
	var l *level
	for _, d := range slices.Backward(up) {
		l = l.enter(ig, d, true, true)
	}
	return l
}

// enter returns the level of dir, which l's directory holds. Its last two
// arguments tell whether dir may hold .git and .gitignore.
func (l *level) enter(ig *Ignore, dir string, git, ignore bool) *level {
	if git {
		if exclude, ok := repository(dir); ok {
			l = &level{list: list{base: dir, rules: ig.rulesAt(exclude)}}
		}
	}
	if ignore {
		if rules := ig.rulesAt(filepath.Join(dir, ".gitignore")); len(rules.all) > 0 {
			l = &level{list: list{base: dir, rules: rules}, up: l}
		}
	}
	return l
}

// enter returns the scope of dir's entries; dir is an entry of s.
func (s *scope) enter(dir string) *scope { return s.enterIf(dir, true, true) }

// enterListed is enter for a directory whose entries are known.
func (s *scope) enterListed(dir string, entries []os.DirEntry) *scope {
	var git, ignore bool
	for _, e := range entries {
		switch e.Name() {
		case ".git":
			git = true
		case ".gitignore":
			ignore = true
		}
	}
	return s.enterIf(dir, git, ignore)
}

func (s *scope) enterIf(dir string, hasGit, hasIgnore bool) *scope {
	if !s.rules.Git {
		return s
	}
	git := s.git.enter(s.ig, dir, hasGit, hasIgnore)
	if git == s.git {
		return s
	}
	return &scope{rules: s.rules, ig: s.ig, git: git, own: s.own}
}

// ignores reports whether an entry of s's directory is ignored.
func (s *scope) ignores(path string, dir bool) bool {
	for _, l := range s.own {
		if ignore, decided := l.judge(path, dir); decided {
			return ignore
		}
	}
	for l := s.git; l != nil; l = l.up {
		if ignore, decided := l.judge(path, dir); decided {
			return ignore
		}
	}
	return false
}

func (l *list) judge(path string, dir bool) (ignore, decided bool) {
	if len(l.rules.all) == 0 {
		return false, false
	}
	rel, ok := below(l.base, path)
	if !ok {
		return false, false
	}
	if r := l.rules.last(filepath.ToSlash(rel), dir); r != nil {
		return !r.not, true
	}
	return false, false
}

// repository reports whether dir is the top of a repository, and returns the path of its
// info/exclude.
func repository(dir string) (exclude string, ok bool) {
	name := GitDir(dir)
	if name == "" {
		return "", false
	}
	if name != filepath.Join(dir, ".git") {
		if common := readLine(filepath.Join(name, "commondir")); common != "" {
			name = join(name, common)
		}
	}
	return filepath.Join(name, "info", "exclude"), isGit(name)
}

// GitDir returns the git directory of the tree at dir, "" if dir is no worktree.
func GitDir(dir string) string {
	name := filepath.Join(dir, ".git")
	switch info, err := os.Stat(name); {
	case err != nil:
		return ""
	case info.IsDir():
		return name
	}
	to, found := strings.CutPrefix(readLine(name), "gitdir: ") // of a worktree or a submodule
	if !found {
		return ""
	}
	return join(dir, to)
}

// isGit reports whether dir, called .git, really is a git directory.
func isGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil
}

func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// readLine returns the first line of a regular file that belongs to git, "" if
// there is none or it is absurdly large.
func readLine(name string) string {
	f, _, err := openApart(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := disk.ReadOpen(f, maxRules)
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r")
}

// openApart opens a regular file anywhere. Its parent directories may be links, but not the
// file itself.
func openApart(path string) (*os.File, fs.FileInfo, error) {
	d, err := disk.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.File(filepath.Base(path))
}

// open opens an ignore file, in the workspace or above it. Only its parent directories may
// be links.
func (ig *Ignore) open(path string) (*os.File, fs.FileInfo, error) {
	real, err := ig.dirs.follow(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	if dir, rel := ig.dirs.rootOf(filepath.Join(real, filepath.Base(path)), nil); dir != nil {
		return dir.File(rel)
	}
	return openApart(path)
}

// rulesAt returns the rules of the ignore file at path.
func (ig *Ignore) rulesAt(path string) ruleset {
	if ig.over != nil {
		if real, err := ig.dirs.follow(filepath.Dir(path)); err == nil {
			if n := ig.over.known(filepath.Join(real, filepath.Base(path))); n != nil && n.Size() <= maxRules {
				return parseRules(n.now)
			}
		}
	}
	f, _, err := ig.open(path)
	if err != nil {
		return ruleset{}
	}
	defer f.Close()
	b, _ := disk.ReadOpen(f, maxRules)
	return parseRules(b)
}

// RepositoryRoot returns the top of the git repository that dir lies in, or dir if it
// lies in none.
func RepositoryRoot(dir string) string {
	for at := range disk.Upward(dir) {
		if _, ok := repository(at); ok {
			return at
		}
	}
	return dir
}
