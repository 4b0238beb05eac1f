package hook

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"gemline/engine/policy"
	"gemline/engine/text"
)

// An alternative is one of the expressions that a matcher joins with bars, or the matcher
// as a whole. The zero alternative matches every name.
type alternative struct {
	re   *regexp.Regexp // nil if the text is no expression
	name string         // with asterisks for any characters
}

// matches reports whether the alternative is for a tool. A former name of the tool counts if it is
// meant as a whole: an expression such as "file" is not for each tool that had it in its name.
func (a alternative) matches(tool string) bool {
	switch {
	case slices.ContainsFunc(policy.OldNames(tool), func(old string) bool {
		return old == a.name || a.re != nil && a.re.FindString(old) == old
	}):
		return true
	case a.re != nil:
		return a.re.MatchString(tool)
	case a.name == "":
		return true
	}
	return a.name == tool || glob(a.name).MatchString(tool)
}

// alternatives returns what a matcher for names of tools stands for. A hook that blocks
// must not be off because its matcher is not understood: an expression that Go does
// not have matches every name, and a text that is no expression anywhere is a name.
func alternatives(matcher string) (list []alternative) {
	whole := tight(matcher)
	re, err := regexp.Compile(whole)
	switch {
	case err == nil:
		return []alternative{{re: re}}
	case foreign(err):
		return []alternative{{}}
	}
	for part := range strings.SplitSeq(whole, "|") {
		a := alternative{name: part}
		if part == "*" {
			a.name = ""
		} else if re, err := regexp.Compile(part); err == nil {
			a.re = re
		}
		list = append(list, a)
	}
	return append(list, alternative{name: whole})
}

// tight returns a matcher without the blanks around its bars: no tool has one in its name.
// Names with commas between them are alternatives.
func tight(matcher string) string {
	if names().MatchString(matcher) {
		matcher = strings.ReplaceAll(matcher, ",", "|")
	}
	parts := strings.Split(matcher, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, "|")
}

// names matches several names with commas between them.
var names = text.Pattern(`^\s*[\w.*-]+(\s*,\s*[\w.*-]+)+\s*$`)

// glob returns the expression for a name with asterisks for any characters.
func glob(name string) *regexp.Regexp {
	name = strings.ToValidUTF8(name, "\uFFFD") // an expression can have nothing else
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
}

// foreign reports whether an expression may be one of JavaScript, which Go does not have.
func foreign(err error) bool {
	se := (*syntax.Error)(nil)
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidEscape, syntax.ErrInvalidRepeatSize,
		syntax.ErrLarge, syntax.ErrNestingDepth:
		return true
	}
	return false
}

// misfit describes the mistake in the matcher of a hook as it is written, and its consequence;
// "" if there is no mistake.
func misfit(h Hook, matcher string) string {
	if matcher = tight(matcher); matcher == "*" || matcher == "" {
		return ""
	}
	_, err := regexp.Compile(matcher)
	switch words := subjects[h.Event]; {
	case slices.Contains(words, matcher):
		return ""
	case words != nil:
		return "matches nothing; it can be one of " + strings.Join(words, ", ")
	case h.Event == Notification, !h.byName() && matcher == ".*": // it names a kind of notification, or says always
		return ""
	case !h.byName():
		return "means nothing at this event; its hooks run always"
	case err == nil:
		return ""
	case foreign(err):
		return "is an expression that gemline does not have (it can't look around or back); its hooks run for every tool"
	case strings.Contains(matcher, "*"):
		return "is no regular expression, and taken for a name in which * stands for anything (as an expression: " +
			respelled(matcher) + ")"
	}
	return "is no regular expression, and taken for a name"
}

// respelled returns a name with asterisks as an expression.
func respelled(matcher string) string {
	parts := strings.Split(matcher, "|")
	for i, part := range parts {
		if part == "*" {
			parts[i] = ".*"
		} else if _, err := regexp.Compile(part); err != nil {
			parts[i] = glob(part).String()
		}
	}
	return strings.Join(parts, "|")
}
