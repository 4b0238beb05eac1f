package edit

import (
	"slices"
	"strings"

	"gemline/engine/text"
)

// placeholders returns the lines of text that stand for omitted code, such as "// rest of
// code ...", in normalised spelling. In a replacement, shorter lines count, too.
func placeholders(text string, replaces bool) []string {
	var all []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		p := placeholder(line)
		if p == "" && replaces {
			p = short(lines, i)
		}
		if p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// HasPlaceholder reports whether text has a placeholder for omitted code that old, which it
// replaces, does not have.
func HasPlaceholder(old, text string) bool {
	known := placeholders(old, true)
	return slices.ContainsFunc(placeholders(text, old != ""), func(p string) bool { return !slices.Contains(known, p) })
}

// omissions are the words that stand before the dots, in a comment or not.
var omissions = []string{"rest of", "rest of method", "rest of methods", "rest of code",
	"unchanged code", "unchanged method", "unchanged methods"}

const (
	// left matches words for an omission, and part words for the omitted part of a text.
	left = `(?:existing|previous|remaining|unchanged|original|other|more|same|omitted|(?:the )?rest(?: of)?)`
	part = `(?:code|codes?|content|contents|files?|functions?|methods?|class|classes|component|implementation|logic|body|lines?|` +
		`imports?|definitions?|declarations?|tests?|cases?|items?|entries|fields?|props|properties|sections?|styles?|rules?|` +
		`pages?|templates?|query|tables?|rows?|columns?|objects?|arrays?|lists?|schemas?|elements?|steps?|markup|html|jsx|css|config|configuration|settings|statements?|routes?|handlers?|helpers?|variables|options|values|script|module|program|document|text|stuff|parts?)`
	same = `(?:unchanged|(?:remains?|stays?|is|are)(?: (?:the|exactly the))? ?(?:same|unchanged|as (?:is|before))?|the same|as (?:is|before)|omitted|` +
		`here|goes here|above|below|continues?|follows?|for brevity|same as before|no changes?)`
)

var (
	// comment matches a line that is a comment, or a JSX comment in curly brackets.
	comment = text.Pattern(`^(?://+|#+|--+|;+|%+|/\*+|\*|<!--|\{/\*|"""|REM\b|'+)\s*(.*?)\s*(?:\*/\}?|-->|""")?$`)

	// omitted matches the words of a comment that marks an omission if it has dots or
	// brackets.
	omitted = text.Pattern(`^(?:keep |leave |include |insert |your |all |the |all the |all of the |other |with |\d+ )*` +
		`(?:` + left + `(?: (?:the|your|my|this|that|of))*(?: [a-z_-]+){0,2}? ` + part + `|` + left + `|` + part + `|no changes?|as before|same as before|(?:code |imports )?snip(?:ped)?)` +
		`(?:,? ` + same + `)*$`)

	// stated matches words that mark an omission by themselves.
	stated = text.Pattern(`^(?:keep |leave |all |the )*(?:(?:the )?rest of (?:the |your |this )?(?:[a-z_-]+ ){0,1}?` + part +
		`|(?:all )?(?:existing|previous|remaining|other) (?:[a-z_-]+ ){0,1}?` + part + `) ` +
		`(?:(?:remains?|stays?|is|are) (?:the same|unchanged|as (?:is|before))|unchanged|goes here|here|as before|omitted(?: for brevity)?)$`)

	// dotted matches a comment of only dots. More than one blank before them means an
	// example.
	dotted = text.Pattern(`^(?://+|#+|--+|;+|%+|/\*+|<!--|\{/\*) ?[(\[<]*\.{3,}(?: ?\.{3,})*[)\]>]*\s*(?:\*/\}?|-->)?$`)

	// brief matches words that mark an omission if they are the whole comment.
	brief = text.Pattern(`^(?:(?:the )?rest of (?:the |your |this |my )?(?:[a-z_-]+ ){0,1}?(?:code|files?|functions?|methods?|class|` +
		`component|implementation|body|contents?|document|module|script|program|text)` +
		`|(?:(?:(?:the )?(?:rest|code) )?(?:is |remains |stays )?)(?:unchanged|(?:the )?same as (?:before|above)|as before|omitted|snip(?:ped)?)` +
		`(?: for brevity)?|no changes?(?: here| below| above)?)$`)
)

// placeholder returns the normalised spelling of line if it is a placeholder, else "".
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
	bare = strings.ToLower(text.Words(bare))
	switch {
	case bare == "" || strings.Contains(bare, "..."):
	case dots && slices.Contains(omissions, bare):
		return bare + " ..."
	case dots && (m != nil || spaced(line)) && omitted().MatchString(bare):
		return bare + " ..."
	case m != nil && stated().MatchString(bare):
		return bare
	}
	return ""
}

// spaced reports whether a line that is no comment begins with dots that are no spread
// operator as in ...rest.
func spaced(line string) bool {
	line = strings.Trim(line, "()[]<>")
	return strings.HasPrefix(line, "... ") || strings.HasPrefix(line, "...") && strings.HasSuffix(line, "...")
}

// short returns the normalised spelling of a comment line with only dots or "unchanged",
// else "". It also returns "" for a line in the middle of a longer comment.
func short(lines []string, i int) string {
	line := strings.TrimSpace(strings.ReplaceAll(lines[i], "\u2026", "..."))
	m := comment().FindStringSubmatch(line)
	if m == nil || len(line) > 300 {
		return ""
	}
	inside := func(at int) bool {
		if at < 0 || at >= len(lines) {
			return false
		}
		other := strings.TrimSpace(lines[at])
		return other != "" && other[0] == line[0] && comment().MatchString(other)
	}
	if inside(i-1) && inside(i+1) {
		return ""
	}
	words := strings.ToLower(text.Words(strings.Trim(m[1], "-=~.()[]<> \t")))
	switch {
	case dotted().MatchString(line):
		return "..."
	case !strings.HasPrefix(line, "*") && brief().MatchString(words):
		return words
	}
	return ""
}
