package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// mostSeen is how many bytes of what git says are read.
const mostSeen = 256 << 20

// gitSilent is told where git does not answer in time, and is not asked any more then: a
// repository may be anybody's, and hold a pipe where git reads a file.
const gitSilent = "git does not answer here: changes of branches and of the index by commands are not noticed"

// refLines is a format by which git lists branches and tags, a line each, and marks HEAD's branch.
const refLines = "%(if:equals=*)%(HEAD)%(then)HEAD%09%(refname)%0a%(end)" +
	"%(if:equals=refs/heads)%(refname:rstrip=-2)%(then)branch %(refname:lstrip=2)" +
	"%(else)%(refname:lstrip=1)%(end)%09%(objectname)"

// unfinished are files of a repository in which something goes on.
var unfinished = map[string]string{"rebase-merge": "a rebase", "rebase-apply": "a rebase",
	"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert"}

// A repositories knows what git says of the user's repositories.
type repositories struct {
	cfg    *Config
	index  map[disk.Stamp]string // what indexes hold, by the stamps of their files
	silent bool                  // git does not answer
}

// see describes the repositories of the workspace: a line for HEAD, for each branch and so on,
// with its value.
func (r *repositories) see(ctx context.Context) (seen []string) {
	if r.silent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.LongestGit)
	defer cancel()
	for _, root := range r.cfg.Workspace.Roots() {
		tree := workspace.RepositoryRoot(root)
		dir := workspace.GitDir(tree)
		if dir == "" {
			continue
		}
		ask := func(args ...string) string {
			out, _ := git(ctx, dir, mostSeen, nil, append([]string{"--work-tree=" + tree}, args...)...)
			return strings.TrimSpace(string(out))
		}
		refs := ask("for-each-ref", "--count=1000", "--format="+refLines)
		if !strings.Contains("\n"+refs, "\nHEAD\t") { // there is no such branch
			refs += "\nHEAD\t" + cmp.Or(ask("symbolic-ref", "-q", "HEAD"), ask("rev-parse", "-q", "--verify", "HEAD"))
		}
		seen = append(seen, strings.FieldsFunc(refs, func(r rune) bool { return r == '\n' })...)
		if line := r.staged(filepath.Join(dir, "index"), ask); line != "" {
			seen = append(seen, "what is staged\t"+line)
		}
		for name, work := range unfinished {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				seen = append(seen, work+" in progress\tyes")
			}
		}
	}
	if r.silent = errors.Is(ctx.Err(), context.DeadlineExceeded); r.silent {
		r.cfg.Notify(gitSilent)
	}
	return seen
}

// staged returns a sum of what an index holds, "" if there is no index. The times at which git
// has seen the files do not change it. Git is asked only if the index was written since the last
// call.
func (r *repositories) staged(path string, ask func(args ...string) string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	stamp, ok := disk.StampOf(info)
	if holds, known := r.index[stamp]; known {
		return holds
	}
	sum := string(sumOf([]byte(ask("ls-files", "-s", "-v", "-z"))))
	if ok && stamp.Stable(time.Now()) {
		r.index[stamp] = sum
	}
	return sum
}

// movedRefs returns the names of what two looks at repositories do not have in common.
func movedRefs(before, after []string) (names []string) {
	for _, pair := range [][2][]string{{before, after}, {after, before}} {
		for _, line := range pair[0] {
			name, _, _ := strings.Cut(line, "\t")
			if !slices.Contains(pair[1], line) {
				names = append(names, name)
			}
		}
	}
	return unique(names)
}
