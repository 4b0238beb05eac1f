// Package gitconfig parses configurations of git as git does, and knows which settings run
// no programs. It is used before git runs without approval in a repository, and before a
// repository made by a confined command is accepted. [Output] runs git in a repository whose
// configuration can start no programs.
package gitconfig
