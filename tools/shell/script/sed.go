package script

import (
	"regexp"
	"strings"
	"sync"
)

// IsPrinting reports whether a script for sed only prints, deletes, quits and substitutes,
// and is parsed equally by every sed.
func IsPrinting(script string) bool { return prints().MatchString(script) }

// prints matches such scripts. D is the delimiter of a pattern. Implementations differ about
// a delimiter in a set of characters, and about a backslash before it or in a set, so these
// are excluded.
var prints = sync.OnceValue(func() *regexp.Regexp {
	const (
		char         = `[^\\\[D\n]|\\[^D\n]`
		named        = `\[:[a-z]+:\]`
		set          = `\[\^?(?:[^\]\[\\D\n^]|` + named + `)(?:[^\]\[\\D\n]|` + named + `)*\]`
		pattern      = `(?:` + char + `|` + set + `)*D`
		substitution = `sD` + pattern + `(?:[^\\D\n]|\\[^D\n])*D[gpiI0-9]*`
	)
	endedBy := func(d, expr string) string { return strings.ReplaceAll(expr, "D", regexp.QuoteMeta(d)) }
	address := `(?:\$|/` + endedBy("/", pattern) + `I?|[0-9~]*)`
	verbs := []string{"[pdq=]"}
	for _, d := range strings.Split("/|#,:!@%_", "") {
		verbs = append(verbs, endedBy(d, substitution))
	}
	command := address + `(?:,[ +~]*` + address + `)? *!? *(?:` + strings.Join(verbs, "|") + `) *`
	return regexp.MustCompile(`^[ ;]*(?:` + command + `(?:;[ ;]*` + command + `)*(?:;[ ;]*)?)?$`)
})
