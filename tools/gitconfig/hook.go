package gitconfig

import "strings"

// IsLFSHook reports whether text is the hook called name that git-lfs makes in a clone. Such a
// hook runs git lfs, or prints that git-lfs is missing, in the words of its version.
func IsLFSHook(name, text string) bool {
	before, rest, _ := strings.Cut(text, "{ ")
	said, after, ok := strings.Cut(rest, "; exit 2; }\n")
	if !ok || before != "#!/bin/sh\ncommand -v git-lfs >/dev/null 2>&1 || " ||
		strings.TrimSuffix(after, "\n") != "git lfs "+name+` "$@"` {
		return false
	}
	said, ok = strings.CutPrefix(said, "echo >&2 ")
	if !ok {
		said, ok = strings.CutPrefix(said, "printf >&2 ")
	}
	if !ok || len(said) < 2 || said[0] != '"' || said[len(said)-1] != '"' {
		return false
	}
	for word := range strings.SplitSeq(said[1:len(said)-1], `" "`) {
		if strings.ContainsAny(strings.ReplaceAll(word, `\n`, ""), "\"$`\\\n") {
			return false
		}
	}
	return true
}
