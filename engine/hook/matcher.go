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

// An alternative is an expression of a matcher, between bars, or the whole matcher. The zero
// alternative matches every name.
type alternative struct {
	re   *regexp.Regexp // nil if the text is no expression
	name string         // with asterisks for any characters
}

// matches reports whether the alternative matches a tool. A former name of the tool must match as
// a whole: an expression such as "file" does not match each tool whose former name contained it.
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

// alternatives parses a matcher for names of tools. A blocking hook must not be off because its
// matcher is not understood: an expression that Go does not support matches every name, and a
// text that is no valid expression is a name.
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

// tight returns a matcher without the blanks around its bars, since no tool has a blank in its
// name. Names separated by commas are alternatives.
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

// names matches several names separated by commas.
var names = text.Pattern(`^\s*[\w.*-]+(\s*,\s*[\w.*-]+)+\s*$`)

// glob returns the expression for a name with asterisks for any characters.
func glob(name string) *regexp.Regexp {
	name = strings.ToValidUTF8(name, "\uFFFD") // regexp requires valid UTF-8
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
}

// foreign reports whether an expression may be valid in JavaScript, but not in Go.
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

// misfit describes the mistake in a hook's matcher, as written, and its consequence; "" if there
// is no mistake.
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
	case h.Event == Notification, !h.byName() && matcher == ".*": // it names a kind of notification, or matches always
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
