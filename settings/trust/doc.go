// Package trust decides whether what a folder brings is used. A first caller calls [Decide].
//
// # Decided before, and by others
//
// Nothing of a folder is used before it is trusted, and nothing that comes from
// the folder decides: the environment, the flags, the user's own settings and
// the user's list of folders do, see [Decide].
//
// # Shown as it is
//
// [Scan] looks at everything a folder brings and uses nothing of it. Links are
// not followed out of the folder, pipes are not read, and surplus items are only
// counted.
//
// # In doubt, no
//
// A list of folders that others may write, or that contains an unknown value,
// decides nothing. If two rules are about one folder, the stricter one counts.
package trust
