package launch

import (
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
)

// readOnlyPaths returns the read-only paths in the working directories that a command could not
// write to, as its output names them: also by a name alone, without a slash or quotation marks.
// The hidden paths of p have their links resolved.
func readOnlyPaths(output string, plan engine.Plan, p sandbox.Profile) (kept []string) {
	own := resolved(append([]string{p.Root}, p.Write...))
	closed := slices.DeleteFunc(slices.Clone(p.ReadOnly), func(path string) bool {
		return !disk.Within(own, path)
	})
	if len(closed) == 0 {
		return nil
	}
	for line := range strings.Lines(OutputEnd(output)) {
		if !refusedWrite().MatchString(line) {
			continue
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n:'\"`‘’,;()", r) })
		for _, word := range append(words, pathsIn(line)...) {
			path := located(word, plan)
			if !disk.Within(own, path) || disk.Within(p.Hidden, path) && !readOnly().MatchString(line) {
				continue // it can't be read either, and perhaps need not be written to
			}
			for _, at := range closed {
				if disk.Inside(at, path) {
					kept = adding(kept, at)
				}
			}
		}
	}
	return kept
}
