// Package gitconfig reads configurations of git as git does, and knows which
// settings make nothing run. It is asked before git runs unasked in a
// repository, and before a repository stays that a confined command has made.
package gitconfig
