package safe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	for _, name := range []string{"config.worktree", "commondir"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "the repository has a " + name
		}
	}
	path := filepath.Join(dir, "config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "the repository's configuration can't be read"
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "the repository's configuration can't be read"
	}
	return settled(string(text))
}

// settled says which line of a repository's configuration is not one of those
// that run nothing and hold no secret. What git would read in another way than
// by single lines is none of them.
func settled(text string) string {
	if strings.ContainsRune(text, 0) { // where git ends a name: x.uploadpack\x00.url is x.uploadpack
		return "the repository's configuration is no text"
	}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			name, ok := heading(line)
			if !ok {
				return "the repository's configuration says " + brief(line)
			}
			section = name
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = strings.TrimSpace(value)
		if !slices.Contains(strings.Fields(settings[section]), key) || strings.ContainsAny(value, "\\\"#;") || strings.HasSuffix(line, `\`) {
			return fmt.Sprintf("the repository's configuration sets %s", brief(section+"."+key))
		}
		if _, rest, ok := strings.Cut(value, "://"); ok {
			host, _, _ := strings.Cut(rest, "/")
			if user, _, ok := strings.Cut(host, "@"); ok && user != "git" {
				return "an address in the repository's configuration holds a password"
			}
		}
	}
	return ""
}

// heading returns the name of a section, and for those with a name of their
// own behind it the name with a point.
func heading(line string) (string, bool) {
	inner, ok := strings.CutSuffix(line[1:], "]")
	if !ok || strings.ContainsAny(inner, "[]\\") {
		return "", false
	}
	name, sub, named := strings.Cut(inner, " ")
	name = strings.ToLower(name)
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return "", false
	}
	if !named {
		return name, settings[name] != ""
	}
	sub = strings.TrimSpace(sub)
	if len(sub) < 3 || sub[0] != '"' || strings.IndexByte(sub[1:], '"') != len(sub)-2 {
		return "", false
	}
	return name + ".", settings[name+"."] != ""
}

// settings are the keys that a repository's configuration may hold, by their
// section.
var settings = map[string]string{
	"core":      "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf abbrev quotepath protecthfs protectntfs longpaths untrackedcache preloadindex sharedrepository compression trustctime checkstat",
	"remote.":   "url pushurl fetch tagopt prune prunetags gh-resolved skipdefaultupdate",
	"branch.":   "remote merge rebase pushremote description vscode-merge-base gh-merge-base",
	"user":      "name email signingkey useconfigonly",
	"init":      "defaultbranch",
	"pull":      "rebase ff",
	"push":      "default autosetupremote followtags",
	"fetch":     "prune prunetags parallel",
	"rebase":    "autosquash autostash updaterefs",
	"commit":    "gpgsign verbose",
	"tag":       "gpgsign sort",
	"color":     "ui status branch diff",
	"diff":      "algorithm renames renamelimit colormoved mnemonicprefix noprefix",
	"merge":     "conflictstyle ff renamelimit",
	"log":       "date decorate abbrevcommit follow",
	"status":    "showuntrackedfiles short branch relativepaths",
	"advice":    "detachedhead statushints pushupdaterejected addignoredfile skippedcherrypicks",
	"gc":        "auto",
	"rerere":    "enabled autoupdate",
	"index":     "version threads",
	"feature":   "manyfiles",
	"submodule": "recurse active",
	// Whether a module's own repository is looked at is not left to it.
	"submodule.": "url active",
}
