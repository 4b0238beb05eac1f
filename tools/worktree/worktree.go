package worktree

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
	"gemline/tools/gitconfig"
	"gemline/tools/launch"
)

// inside is the path of the trees below the root of the repository.
var inside = filepath.Join(".gemini", "worktrees")

// An Error says why a tree is not created or not removed.
type Error struct {
	Message string
	Advice  string // what to do instead
	Unknown bool   // no tree has the name
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Hint returns the advice.
func (e *Error) Hint() string { return e.Advice }

// A Repository is a git repository that may have linked worktrees.
type Repository struct {
	Root   string // the root of its main worktree
	common string // git's directory for data that all worktrees share
	door   launch.Launcher
}

// Open returns the repository that holds a directory. It starts git by l.
func Open(dir string, l *launch.Launcher) (*Repository, error) {
	tree, kept, why := FindTree(dir)
	if _, err := os.Stat(filepath.Join(dir, "objects/pack")); err == nil && tree == "" {
		why = "the repository is bare"
	}
	switch {
	case why != "":
		return nil, &Error{Message: "no worktree can be made here: " + why,
			Advice: "git worktree add makes one; start gemline in it"}
	case tree == "":
		return nil, &Error{Message: text.PrintableLine(disk.ResolveLinks(dir)) +
			" is in no git repository, so it has no worktrees", Advice: "git init makes it one"}
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, &Error{Message: "worktrees need git, which is not installed"}
	}
	r := &Repository{Root: tree, common: kept[len(kept)-1], door: *l}
	if len(kept) > 1 {
		r.Root = filepath.Dir(r.common)
	}
	r.door.Roots, r.door.Denied = func() []string { return []string{r.Root} }, nil
	r.door.Config.Shell.Environ = slices.DeleteFunc(slices.Clone(l.Config.Shell.Environ),
		func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return r, nil
}

// quiet returns an error if a setting makes git run a program.
func (r *Repository) quiet(files ...string) error {
	for _, file := range append(files, filepath.Join(r.common, "config"), filepath.Join(r.common, "config.worktree")) {
		text, err := disk.Read(file, mostConfig)
		why := gitconfig.FirstUnsafe(string(text), gitconfig.Entry.Idle)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			why = "can't be read"
		}
		if why != "" {
			return &Error{Message: fmt.Sprintf("%s %s, so git might run something of the repository's", file, why),
				Advice: "look at it; git worktree add makes a tree all the same, and gemline works in it"}
		}
	}
	return nil
}

// longest is the timeout of git: a large tree on a slow disk takes minutes.
const longest = 10 * time.Minute

// git runs git in dir, with the git directory gitDir, and returns its output.
func (r *Repository) git(ctx context.Context, gitDir, dir string, changes bool, args ...string) (string, error) {
	if err := r.quiet(filepath.Join(gitDir, "config.worktree")); err != nil {
		return "", err
	}
	c := launch.Command{Argv: append([]string{"git", "--git-dir=" + gitDir}, args...), Dir: dir,
		Vars: launch.Usual, SplitStderr: true, KillLeftovers: true, Limit: launch.Limit{Timeout: longest},
		Env: append(gitconfig.Environ(gitconfig.QuietArgs...), "GIT_TERMINAL_PROMPT=0",
			"GIT_SSH_COMMAND=false", "LC_ALL=C"),
		Unconfined: r.door.State().Image()} // the image has its own git
	if changes {
		c.Rights = engine.Rights{Protected: true, Write: []string{r.Root, r.common}}
	}
	o := r.door.Run(ctx, c)
	switch {
	case o.Cancelled:
		return "", context.Cause(ctx)
	case !o.OK():
		said := cmp.Or(text.OneLine(o.Stderr, 300), text.OneLine(o.Text(), 300))
		word := args[slices.IndexFunc(args, func(arg string) bool { return arg[0] != '-' })]
		return "", &Error{Message: "git " + word + ": " + text.PrintableLine(said)}
	}
	return o.Output, nil
}

// CheckName returns why a tree can't have a name, nil if it can.
func CheckName(name string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	}
	const most = 100
	if name == "" || len(name) > most || strings.ContainsFunc(name, odd) || strings.ContainsRune(".-", rune(name[0])) ||
		strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") {
		return fmt.Errorf("%.60q can't be the name of a worktree, which has letters, digits, and inside of it . _ and -", name)
	}
	return nil
}

// newName returns a name for a tree without a given name.
func newName(now time.Time) string {
	return now.Format("20060102-150405-") + strings.ToLower(rand.Text()[:4])
}

// branchOf is the branch of the tree called name.
func branchOf(name string) string { return "worktree-" + name }

// hide makes git ignore the trees, by a .gitignore beside them, as the configuration belongs
// to the user. An existing .gitignore is left unchanged.
func hide(dir string) error {
	path := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.Replace(path, []byte("*\n"), 0o644)
}

// Add makes a tree, with the files of the last commit, on a new branch. Without a name, the
// name is made from the time.
func (r *Repository) Add(ctx context.Context, name string) (Tree, error) {
	name = cmp.Or(name, newName(time.Now()))
	if err := CheckName(name); err != nil {
		return Tree{}, &Error{Message: err.Error()}
	}
	dir := filepath.Join(r.Root, inside)
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); err == nil {
		return Tree{}, &Error{Message: fmt.Sprintf("there is a worktree %s already: %s", name, text.PrintableLine(path)),
			Advice: "start gemline in it, or remove it: gemline worktree remove " + name}
	}
	if err := r.quiet(); err != nil {
		return Tree{}, err
	}
	if _, err := r.git(ctx, r.common, r.Root, false, "rev-parse", "--verify", "HEAD"); err != nil && strings.Contains(err.Error(), "single revision") {
		return Tree{}, &Error{Message: "the repository has no commit yet that a worktree could be made from", Advice: "git commit makes one"}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil { // as git creates directories
		return Tree{}, fmt.Errorf("the worktree can't be made: %w", err)
	}
	if disk.ResolveLinks(dir) != dir {
		return Tree{}, &Error{Message: fmt.Sprintf("%s leads to %s, and worktrees are made in the repository", text.PrintableLine(dir), text.PrintableLine(disk.ResolveLinks(dir)))}
	}
	if err := hide(dir); err != nil {
		return Tree{}, fmt.Errorf("the worktree can't be made: %w", err)
	}
	if _, err := r.git(ctx, r.common, r.Root, true, "worktree", "add", "--quiet", "-b",
		branchOf(name), path); err != nil {
		return Tree{}, err
	}
	return r.Tree(name)
}
