// Package worktree makes, lists and removes further trees of a git repository, each on a branch
// of its own: places to work in beside the user's, below .gemini/worktrees. A first caller opens
// a [Repository] with [Open].
//
// # Nothing of the repository's runs
//
// Git is told to run no hooks and no monitor, and a repository whose configuration may have it
// run something all the same, such as a filter, is left alone ([Error]). Package launch starts
// git, confined if possible.
//
// # No work is lost unsaid
//
// A tree with work that exists nowhere else ([Work]) is removed by force only. If gemline can't
// find out, it counts as such a tree.
package worktree
