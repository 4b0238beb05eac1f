// Package shadow keeps the states of directories in a git repository that nobody
// works in, and reads those of others. It is written and read here, in Go: no git
// runs, so that there are no hooks, filters, attributes or configurations that
// could change a byte or start something, and none has to be installed.
//
// # It is git's form
//
// git shows what is in there (git --git-dir DIR log --all -p). Two things it does
// not say by itself are in its trees: modes have all bits of a permission, and
// there are empty directories. Names of objects are SHA-256, so that two files
// that are made to have one name do not exist.
//
// # What is acknowledged is on the disk
//
// [Batch.Commit] and [Repo.SetRef] return when the disk has it, and a reader sees
// all of it or nothing, whatever fails or is killed meanwhile. An object is held to
// its name when it is read: what the disk has spoilt is an error, never other
// bytes.
//
// # Nothing in it is believed
//
// A repository may be anybody's. It is reached below its own directory and through
// no link, alternates are not followed, every size has a bound, and a tree with a
// name that no entry of a directory can have is an error.
//
// # Who collects is alone
//
// Whoever adds to a repository holds [Repo.Use] meanwhile, several at once;
// [Repo.Collect] waits for them. What was known of objects before is not certain
// when [Repo.Use] says that something was collected.
package shadow
