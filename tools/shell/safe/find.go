package safe

import (
	"slices"
	"strings"
)

// findTests are what an expression of find may hold: tests and actions that
// look, each followed by how many words it takes.
var findTests = map[string]int{
	"!": 0, "(": 0, ")": 0, "-not": 0, "-a": 0, "-and": 0, "-o": 0, "-or": 0, ",": 0,
	"-name": 1, "-iname": 1, "-path": 1, "-ipath": 1, "-wholename": 1, "-iwholename": 1, "-regex": 1, "-iregex": 1, "-regextype": 1, "-lname": 1, "-ilname": 1,
	"-type": 1, "-xtype": 1, "-size": 1, "-empty": 0, "-perm": 1, "-user": 1, "-group": 1, "-uid": 1, "-gid": 1, "-nouser": 0, "-nogroup": 0, "-links": 1, "-inum": 1,
	"-atime": 1, "-ctime": 1, "-mtime": 1, "-amin": 1, "-cmin": 1, "-mmin": 1, "-newermt": 1, "-daystart": 0,
	"-maxdepth": 1, "-mindepth": 1, "-depth": 0, "-mount": 0, "-xdev": 0, "-noleaf": 0, "-prune": 0, "-quit": 0,
	"-readable": 0, "-writable": 0, "-executable": 0, "-true": 0, "-false": 0,
	"-print": 0, "-print0": 0, "-printf": 1, "-ls": 0,
}

// find reads the arguments of find: options, places to start from, and an
// expression.
func find(j *judge, u *usage) string {
	args := u.args
	if len(args) > 0 && args[0] == "-P" {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && !slices.Contains([]string{"!", "(", ")", ","}, args[0]) {
		if why := j.path(args[0]); why != "" {
			return why
		}
		args = args[1:]
	}
	for len(args) > 0 {
		word := args[0]
		takes, ok := findTests[word]
		switch {
		case word == "-newer":
			takes = 1
			if len(args) > 1 {
				if why := j.path(args[1]); why != "" {
					return why
				}
			}
		case !ok:
			return "not on the list: " + brief(word)
		}
		if len(args) <= takes {
			return "a word is missing behind " + brief(word)
		}
		args = args[1+takes:]
	}
	return ""
}
