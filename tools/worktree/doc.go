// Package worktree makes, lists and removes further trees of a git repository, each on
// a branch of its own: places to work in beside the user's, below .gemini/worktrees.
//
// # Nothing of the repository's runs
//
// Git is told to run no hooks and no monitor, and a repository whose configuration may
// have it run something all the same, such as a filter, is left alone ([Error]). Git
// goes through the door, confined where something confines commands.
//
// # Nothing is lost unsaid
//
// A tree with work that is nowhere else is removed only by who says so, having been told
// what it is ([Work]). What can't be found out counts as such work.
package worktree
