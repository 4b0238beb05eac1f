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
	"gemline/tools/gitconfig"
	"gemline/tools/workspace"
)

// mostSeen limits the output of git that is read, in bytes.
const mostSeen = 256 << 20

// gitSilent is the notice when git times out. Git is not run again then: an untrusted
// repository may have a pipe in the place of a file.
const gitSilent = "git does not answer here: changes of branches and of the index by commands are not noticed"

// refLines is a format by which git lists branches and tags, a line each, and marks HEAD's branch.
const refLines = "%(if:equals=*)%(HEAD)%(then)HEAD%09%(refname)%0a%(end)" +
	"%(if:equals=refs/heads)%(refname:rstrip=-2)%(then)branch %(refname:lstrip=2)" +
	"%(else)%(refname:lstrip=1)%(end)%09%(objectname)"

// unfinished maps files of a repository to the operation that is in progress.
var unfinished = map[string]string{"rebase-merge": "a rebase", "rebase-apply": "a rebase",
	"MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert"}

// A repositories caches git's answers about the user's repositories.
type repositories struct {
	cfg    *Config
	index  map[disk.Stat]string // sums of the contents of indexes, by their files
	silent bool                 // git does not answer
}

// see describes the repositories of the workspace: a line with the value of HEAD, of each
// branch and so on.
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
			out, _ := gitconfig.Output(ctx, dir, mostSeen, nil, append([]string{"--work-tree=" + tree}, args...)...)
			return strings.TrimSpace(string(out))
		}
		refs := ask("for-each-ref", "--count=1000", "--format="+refLines)
		if !strings.Contains("\n"+refs, "\nHEAD\t") { // HEAD's branch has no commit yet
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

// staged returns a sum of an index's contents, "" if there is no index. Timestamps in the
// index do not change the sum. Git runs only if the index was written since the last call.
func (r *repositories) staged(path string, ask func(args ...string) string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	stat := disk.StatOf(info)
	if holds, known := r.index[stat]; known {
		return holds
	}
	sum := string(sumOf([]byte(ask("ls-files", "-s", "-v", "-z"))))
	if stat.Stable(time.Now(), false) {
		r.index[stat] = sum
	}
	return sum
}

// movedRefs returns the names whose values differ between two results of see.
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
