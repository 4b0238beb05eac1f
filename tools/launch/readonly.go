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
func readOnlyPaths(output string, plan engine.Plan, p sandbox.Profile) (kept []string) {
	own := append([]string{p.Root}, p.Write...)
	closed := slices.DeleteFunc(slices.Clone(p.ReadOnly), func(path string) bool {
		return !disk.InsideAny(own, path)
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
			if len(above(path, p.Hidden)) > 0 && !readOnly().MatchString(line) {
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
