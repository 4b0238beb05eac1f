package edit

import (
	"slices"
	"strings"

	"gemline/engine/text"
)

// placeholders returns the lines by which text says that something was left
// out of it, such as "// rest of code ...", in a uniform spelling.
func placeholders(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if p := placeholder(line); p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// HasPlaceholder reports whether text leaves something out that old, which it
// replaces, does not leave out in the same words.
func HasPlaceholder(old, text string) bool {
	known := placeholders(old)
	return slices.ContainsFunc(placeholders(text), func(p string) bool { return !slices.Contains(known, p) })
}

// omissions are the words that stand before the dots, in a comment or not.
var omissions = []string{"rest of", "rest of method", "rest of methods", "rest of code",
	"unchanged code", "unchanged method", "unchanged methods"}

const (
	// left are words for what is left out, and part for what of a text that is.
	left = `(?:existing|previous|remaining|unchanged|original|other|more|same|omitted|(?:the )?rest(?: of)?)`
	part = `(?:code|codes?|content|contents|files?|functions?|methods?|class|classes|component|implementation|logic|body|lines?|` +
		`imports?|definitions?|declarations?|tests?|cases?|items?|entries|fields?|props|properties|sections?|styles?|rules?|` +
		`markup|html|jsx|css|config|configuration|settings|statements?|routes?|handlers?|helpers?|variables|options|values|script|module|program|document|text|stuff|parts?)`
	same = `(?:unchanged|(?:remains?|stays?|is|are)(?: (?:the|exactly the))? ?(?:same|unchanged|as (?:is|before))?|the same|as (?:is|before)|omitted|` +
		`here|goes here|above|below|continues?|follows?|for brevity|same as before|no changes?)`
)

var (
	// comment is a line that is a comment, or in curly brackets as JSX has it.
	comment = text.Pattern(`^(?://+|#+|--+|;+|%+|/\*+|\*|<!--|\{/\*|"""|REM\b|'+)\s*(.*?)\s*(?:\*/\}?|-->|""")?$`)

	// omitted are the words of a comment that says that something is left out, where it has
	// dots or stands in brackets.
	omitted = text.Pattern(`^(?:keep |leave |include |insert |your |all |the |all the |all of the |other |with |\d+ )*` +
		`(?:` + left + `(?: (?:the|your|my|this|that|of))*(?: [a-z_-]+){0,2}? ` + part + `|` + left + `|` + part + `|no changes?|as before|same as before|(?:code |imports )?snip(?:ped)?)` +
		`(?:,? ` + same + `)*$`)

	// stated are words that say so by themselves.
	stated = text.Pattern(`^(?:keep |leave |all |the )*(?:(?:the )?rest of (?:the |your |this )?(?:[a-z_-]+ ){0,1}?` + part +
		`|(?:all )?(?:existing|previous|remaining|other) (?:[a-z_-]+ ){0,1}?` + part + `) ` +
		`(?:(?:remains?|stays?|is|are) (?:the same|unchanged|as (?:is|before))|unchanged|goes here|here|as before|omitted(?: for brevity)?)$`)
)

// placeholder returns the uniform spelling of line if it is one, else "".
func placeholder(line string) string {
	if len(line) > 300 {
		return ""
	}
	line = strings.TrimSpace(strings.ReplaceAll(line, "\u2026", "..."))
	words := line
	m := comment().FindStringSubmatch(line)
	if m != nil {
		words = m[1]
	}
	bare := strings.Trim(words, ". \t")
	dots := bare != words && strings.Contains(words, "...")
	if inner := strings.Trim(bare, "()[]<>"); inner != bare {
		dots = dots || m != nil
		dots = dots || strings.Contains(bare, "...")
		bare = strings.Trim(inner, ". \t")
	}
	bare = strings.ToLower(strings.Join(strings.Fields(bare), " "))
	switch {
	case bare == "" || strings.Contains(bare, "..."):
	case dots && slices.Contains(omissions, bare):
		return bare + " ..."
	case dots && (m != nil || strings.HasPrefix(line, "...")) && omitted().MatchString(bare):
		return bare + " ..."
	case m != nil && stated().MatchString(bare):
		return bare
	}
	return ""
}
