// Package worktree creates, lists and removes linked worktrees of a git repository, each on
// its own branch, below .gemini/worktrees. A first caller opens a [Repository] with [Open].
//
// # The repository runs no programs
//
// Git runs without hooks and monitors. If a repository's configuration may still make git
// run a program, such as a filter, the repository is refused ([Error]). Package launch
// starts git, confined if possible.
//
// # No silent loss of work
//
// A tree with work that exists nowhere else ([Work]) is removed only by force. If the state
// is unknown, the tree counts as having work.
package worktree
