package project

import (
	"cmp"
	"os"
	"path/filepath"

	"gemline/engine/disk"
	"gemline/engine/secret"
	"gemline/tools/gitconfig"
)

// userDirs returns paths that commands must not read, and directories that commands share.
type userDirs struct{ opts *Options }

// resolve returns the path for a word that the user typed.
func (p userDirs) resolve(path string) string {
	return disk.Absolute(path, p.opts.Paths.Cwd, p.opts.Paths.Home)
}

// hooks returns the user's directory with git's hooks for new repositories.
func (p userDirs) hooks() (dir string) {
	home := p.opts.Paths.AccountHome()
	if home == "" {
		return "" // a relative path may lead into the project
	}
	for _, file := range []string{filepath.Join(cmp.Or(p.opts.Env.Process.Getenv("XDG_CONFIG_HOME"),
		filepath.Join(home, ".config")), "git/config"), filepath.Join(home, ".gitconfig")} {
		text, _ := os.ReadFile(file)
		dir = cmp.Or(gitconfig.Hooks(string(text), home), dir)
	}
	return dir
}

// hidden returns the paths that commands can't read.
func (p userDirs) hidden() []string {
	o, env := p.opts, p.opts.Env.Process.Getenv
	homes := o.Paths.Homes()
	if len(homes) == 0 {
		homes = []string{""} // variables give the places of some
	}
	var list []string
	for _, home := range homes {
		list = append(append(list, secret.Files(home, below(home, ".gemini"), env)...), secret.StoredFiles(home, env)...)
	}
	for _, path := range []string{o.Flags.KeyFile, o.Env.Getenv("GOOGLE_APPLICATION_CREDENTIALS")} {
		if path != "" {
			list = append(list, p.resolve(path))
		}
	}
	return list
}

// secretPaths returns paths that may hold secrets, also behind a link of the home directory.
func (p userDirs) secretPaths() []string {
	list := p.hidden()
	for _, home := range p.opts.Paths.Homes() {
		if real := disk.ResolveLinks(home); real != home {
			list = append(list, secret.Files(real, "", func(string) string { return "" })...)
		}
	}
	return list
}

// cache returns gemline's directory among the user's caches, "" without a directory of caches.
func (p userDirs) cache() string { return below(p.userCaches(), "gemline") }

// goCache returns the build cache of the user's go command, "" without such a directory.
func (p userDirs) goCache() string {
	if dir := p.opts.Env.Process.Getenv("GOCACHE"); filepath.IsAbs(dir) {
		return dir
	}
	return below(p.userCaches(), "go-build")
}

// userCaches returns the directory of the user's caches, "" if there is none.
func (p userDirs) userCaches() string {
	if dir := p.opts.Env.Process.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return below(p.opts.Paths.Home, ".cache")
}

// below returns the path of a name in a directory, "" if there is no directory.
func below(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// UntrackedDirs returns the directories that checkpoints leave out: gemline's own files, which
// change with every run, and the worktrees of other runs.
func UntrackedDirs(o *Options) []string {
	list := []string{o.Paths.Workspace("worktrees")}
	if o.Paths.Home != "" {
		list = append(list, o.Paths.User("tmp"), o.Paths.User("history"), o.Paths.User("gemline"))
	}
	if dir := (userDirs{o}).cache(); dir != "" {
		list = append(list, dir)
	}
	return list
}
