package script

import (
	"slices"
	"strings"
)

// options are the options of a program that are known.
type options struct {
	flags  string   // letters of those without a value
	valued string   // letters of those with one
	long   []string // long ones without a value, or with one behind a = only
	longer []string // long ones with one, behind a = or in the next word
}

// An option is one that a program is given.
type option struct {
	name  string // a letter, or what stands behind --
	value word   // empty and known if it has none
}

// take reads the first of args, which begins with a dash: a long option, or
// letters, of which the last may have a value. It returns how many words behind
// it are that value. It reports false for what is not known, for an option that
// is shortened, and for a value that may be several words.
func (o options) take(args []word) (found []option, values int, ok bool) {
	last := option{value: word{known: true}}
	takes, given := false, false
	if long, is := strings.CutPrefix(args[0].text, "--"); is {
		last.name, last.value.text, given = strings.Cut(long, "=")
		if takes = slices.Contains(o.longer, last.name); !takes && !slices.Contains(o.long, last.name) {
			return nil, 0, false
		}
	} else {
		for letters := args[0].text[1:]; !takes && letters != ""; {
			if last.name != "" {
				found = append(found, last)
			}
			last.name, letters = letters[:1], letters[1:]
			if takes = strings.Contains(o.valued, last.name); takes {
				last.value.text, given = letters, letters != ""
			} else if !strings.Contains(o.flags, last.name) {
				return nil, 0, false
			}
		}
	}
	if takes && !given {
		if len(args) == 1 || args[1].split {
			return nil, 0, false
		}
		last.value, values = args[1], 1
	}
	return append(found, last), values, true
}
