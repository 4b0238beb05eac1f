package safe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/tools/gitconfig"
)

// repositories says what is wrong with the repositories that git may find,
// wherever the command runs.
func (j *judge) repositories() string {
	if j.git == nil {
		j.git = map[string]string{"": j.foreign()}
	}
	if why := j.git[""]; why != "" {
		return why
	}
	for _, dir := range j.dirs {
		why, ok := j.git[dir]
		if !ok {
			why = repository(dir)
			j.git[dir] = why
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// foreign says which variable decides what git does.
func (j *judge) foreign() string {
	for _, kv := range j.Environ {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") && !slices.ContainsFunc(gitVariables, func(v string) bool { return like(v, name) }) {
			return name + " decides what git does"
		}
	}
	return ""
}

// gitVariables are those that matter to nothing that is listed here, and those
// that say where the user's own configuration is.
var gitVariables = []string{"GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_PS1_*", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_*", "GIT_HTTP_*", "GIT_TERMINAL_PROMPT",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_OPTIONAL_LOCKS", "GIT_MERGE_AUTOEDIT", "GIT_FLUSH"}

// repository says what is wrong with the repository that git finds from dir
// on: one whose configuration may make git run something, or is not where
// everybody has it.
func repository(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if bare(dir) {
			return "a directory that is taken for a repository: " + brief(dir)
		}
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.IsDir():
			return configuration(filepath.Join(dir, ".git"))
		case err == nil:
			return "the repository is kept elsewhere: " + brief(filepath.Join(dir, ".git"))
		case !os.IsNotExist(err):
			return "the repository can't be looked at: " + brief(dir)
		case dir == filepath.Dir(dir):
			return "" // there is none
		}
	}
}

// bare reports whether git may take dir itself for a repository. The rest of it
// may be where a file says that it is.
func bare(dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// configuration says what is wrong with the configuration of the repository
// at dir.
func configuration(dir string) string {
	for _, name := range []string{"commondir", "objects/info/alternates"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "the repository has a " + name
		}
	}
	if link := linked(dir); link != "" {
		return "the repository has a symlink: " + brief(link)
	}
	for _, name := range []string{"config", "config.worktree"} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if os.IsNotExist(err) && name != "config" {
			continue
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() > gitconfig.Most {
			return "the repository's " + name + " can't be read"
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "the repository's " + name + " can't be read"
		}
		if why := settled(string(text)); why != "" {
			return why
		}
	}
	return ""
}

// linked returns a link in the repository at dir, or that nobody has looked
// through all of it. What git can't read where one leads, it prints. Objects are
// only read if they are some.
func linked(dir string) (link string) {
	const most = 20_000
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		seen++
		switch {
		case err != nil, seen > most, d.Type()&os.ModeSymlink != 0:
			link = path
			return filepath.SkipAll
		case d.IsDir() && path == filepath.Join(dir, "objects"):
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return dir
	}
	return link
}

// outside reports whether there is no repository from dir on.
func outside(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// settled says which setting of a repository's configuration may make git run
// something, or holds a secret.
func settled(text string) string {
	list, err := gitconfig.Parse(text)
	if err != nil {
		return "the repository's configuration " + err.Error()
	}
	for _, e := range list {
		switch {
		case !e.Harmless():
			return "the repository's configuration sets " + brief(e.String())
		case e.Password():
			return "an address in the repository's configuration holds a password"
		}
	}
	return ""
}
