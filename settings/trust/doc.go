// Package trust decides whether the configuration of a folder is used. A first caller calls
// [Decide].
//
// # The folder itself does not decide
//
// Nothing in a folder is used before the folder is trusted. The environment, the flags, the user's
// own settings and the user's list of folders decide, but no file in the folder; see [Decide].
//
// # A scan uses nothing
//
// [Scan] lists the configuration of a folder, and uses nothing of it. It does not follow links out
// of the folder, or read pipes, and it only counts surplus items.
//
// # A doubtful list decides nothing
//
// A list of folders that others may write, or that contains an unknown value, decides nothing. If
// two rules are about the same folder, the stricter rule counts.
package trust
