// Package gitconfig parses configurations of git as git does, and knows which settings run
// no programs. It is used before git runs without approval in a repository, and before a
// repository made by a confined command is accepted. It also runs git so that a repository makes it
// run nothing else.
package gitconfig
