package policy

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"

	"gemline/engine"
)

// A reader builds a rule from a table. It stores the first mistake and its key, which may be
// missing in the table.
type reader struct {
	table        map[string]any
	key, message string
	notes        []note
}

// A note is a message about a valid value with another preferred form.
type note struct{ key, message string }

func (r *reader) note(key, format string, args ...any) {
	r.notes = append(r.notes, note{key, fmt.Sprintf(format, args...)})
}

func (r *reader) fail(key, format string, args ...any) {
	if r.message == "" {
		r.key, r.message = key, fmt.Sprintf(format, args...)
	}
}

// fields are the keys of a rule, with functions that apply their values. Two spellings of a key
// are two keys.
var fields = map[string]func(r *reader, key string, rule *Rule){
	"toolName": func(r *reader, key string, rule *Rule) { rule.Tools = r.texts(key) },
	"toolKind": func(r *reader, key string, rule *Rule) {
		for _, word := range r.texts(key) {
			rule.Kinds = append(rule.Kinds, oneOf(r, key, word, kinds))
		}
	},
	"mcpName":  func(r *reader, key string, rule *Rule) { rule.Server = r.text(key) },
	"subagent": func(r *reader, key string, rule *Rule) { rule.When.Agent = r.text(key) },
	"commandPrefix": func(r *reader, key string, rule *Rule) {
		for _, text := range r.texts(key) {
			text = unquoted(text)
			words, problem := split(text)
			if plain, starred := unstarred(text); starred && problem != "" {
				if words, problem = split(plain); problem == "" {
					r.note(key, "%s is the prefix %s, which covers all words that follow", quoted(text), quoted(plain))
				}
			}
			if problem != "" {
				r.fail(key, "%s %s", quoted(text), problem)
			}
			rule.Commands.Prefixes = append(rule.Commands.Prefixes, words)
		}
	},
	"commandRegex": func(r *reader, key string, rule *Rule) {
		rule.Commands.Pattern, rule.Commands.exact = r.pattern(key, `^(?:`, `)`), r.pattern(key, `^(?:`, `)(?: |$)`)
	},
	"commandLine": func(r *reader, key string, rule *Rule) { rule.Commands.Line = r.text(key) },
	"target":      func(r *reader, key string, rule *Rule) { rule.Target = r.text(key) },
	"directory": func(r *reader, key string, rule *Rule) {
		if rule.Commands.Dir = r.text(key); !filepath.IsAbs(rule.Commands.Dir) {
			r.fail(key, "%s must be an absolute path", key)
		}
	},
	"commandSafe": func(r *reader, key string, rule *Rule) {
		if rule.Commands.Safe = r.boolean(key); !rule.Commands.Safe {
			r.fail(key, "%s can only be true", key)
		}
	},
	"commandUndoable": func(r *reader, key string, rule *Rule) {
		if rule.Commands.Revertible = r.boolean(key); !rule.Commands.Revertible {
			r.fail(key, "%s can only be true", key)
		}
	},
	"argsPattern":     func(r *reader, key string, rule *Rule) { rule.Args = r.pattern(key, "", "") },
	"decision":        func(r *reader, key string, rule *Rule) { rule.Verdict = oneOf(r, key, r.text(key), verdicts) },
	"priority":        func(r *reader, key string, rule *Rule) { rule.Priority = r.number(key) },
	"interactive":     func(r *reader, key string, rule *Rule) { on := r.boolean(key); rule.When.Interactive = &on },
	"network":         func(r *reader, key string, rule *Rule) { rule.Network = r.boolean(key) },
	"toolAnnotations": func(r *reader, key string, rule *Rule) { rule.Annotations = r.annotations(key) },
	"modes": func(r *reader, key string, rule *Rule) {
		for _, word := range r.texts(key) {
			rule.When.Modes = append(rule.When.Modes, oneOf(r, key, word, modeWords))
		}
	},
	"denyMessage":       func(r *reader, key string, rule *Rule) { rule.Message = r.text(key) },
	"deny_message":      func(r *reader, key string, rule *Rule) { rule.Message = r.text(key) },
	"allowRedirection":  func(r *reader, key string, _ *Rule) { r.boolean(key) },
	"allow_redirection": func(r *reader, key string, _ *Rule) { r.boolean(key) },
	"name":              func(r *reader, key string, _ *Rule) { r.text(key) },
	"description":       func(r *reader, key string, _ *Rule) { r.text(key) },
}

// rule returns the rule in the table.
func (r *reader) rule() (rule Rule) {
	for _, key := range slices.Sorted(maps.Keys(r.table)) {
		if use, ok := fields[key]; ok {
			use(r, key, &rule)
		} else {
			r.fail(key, "%s is not a key of a rule%s", quoted(key), suggestion(key))
		}
	}
	for _, key := range []string{"toolName", "decision", "priority"} {
		if _, ok := r.table[key]; !ok && (key != "toolName" || r.table["mcpName"] == nil) {
			r.fail(key, "the rule lacks %s", key)
		}
	}
	if r.table["toolName"] == nil { // all tools of a server
		rule.Tools = []string{"*"}
	}
	for _, name := range rule.Tools {
		const known = "%s is no pattern; *, mcp_*, mcp_SERVER_* and discovered_tool_* are"
		if star := strings.Contains(name, "*") && !pattern(name); star && rule.Verdict == engine.Allow {
			r.fail("toolName", known, quoted(name))
		} else if star {
			r.note("toolName", known+"; the rule is about every name that is like it", quoted(name))
		}
		if rule.Commands.Safe && !sameTool(name, Shell) {
			r.fail("toolName", "commandSafe is about %s, not about %s", Shell, quoted(name))
		}
		if rule.Commands.Revertible && !sameTool(name, Shell) {
			r.fail("toolName", "commandUndoable is about %s, not about %s", Shell, quoted(name))
		}
		if rule.Commands.Prefixes != nil || rule.Commands.Pattern != nil {
			if !sameTool(name, Shell) {
				r.fail("toolName", "commandPrefix and commandRegex are about %s, not about %s", Shell, quoted(name))
			}
		}
	}
	given := 0
	for _, key := range []string{"commandPrefix", "commandRegex", "argsPattern", "commandLine", "target"} {
		if _, ok := r.table[key]; ok {
			if given++; given > 1 {
				r.fail(key, "of commandPrefix, commandRegex, argsPattern, commandLine and target a rule can have one")
			}
		}
	}
	r.line(rule)
	r.target(rule)
	return rule
}

// line checks the keys for whole command lines. Only a rule that allows may have them: an
// additional blank would circumvent a denial.
func (r *reader) line(rule Rule) {
	_, line := r.table["commandLine"]
	if _, dir := r.table["directory"]; dir && !line {
		r.fail("directory", "directory says where a commandLine runs, and there is none")
	}
	if line && rule.Verdict != engine.Allow {
		r.fail("commandLine", "commandLine is for rules that allow; commandPrefix denies in every spelling")
	}
	if line && slices.ContainsFunc(rule.Tools, func(name string) bool { return !sameTool(name, Shell) }) {
		r.fail("toolName", "commandLine is about %s", Shell)
	}
}

// target checks the target of a rule. Each tool words targets in its own way, and commands
// have better keys.
func (r *reader) target(rule Rule) {
	if rule.Target == "" {
		return
	}
	if rule.Verdict != engine.Allow {
		r.fail("target", "target is for rules that allow; argsPattern is for others")
	}
	if len(rule.Tools) != 1 || strings.HasSuffix(rule.Tools[0], "*") || sameTool(rule.Tools[0], Shell) {
		r.fail("toolName", "target is about one tool, by its name, and not about %s", Shell)
	}
}

// pattern reports whether a name with an asterisk is a valid pattern.
func pattern(name string) bool {
	before, ok := strings.CutSuffix(name, "*")
	return ok && !strings.Contains(before, "*") &&
		(before == "" || strings.HasPrefix(before, "mcp_") || before == discovered)
}

const discovered = "discovered_tool_"

func (r *reader) text(key string) string {
	s, ok := r.table[key].(string)
	switch {
	case !ok:
		r.fail(key, "%s must be a string", key)
	case s == "":
		r.fail(key, "%s must not be empty", key)
	}
	return s
}

// texts returns the value of key, a string or a list of at least one string.
func (r *reader) texts(key string) []string {
	list, ok := r.table[key].([]any)
	if !ok {
		list = []any{r.table[key]}
	}
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok || s == "" {
			r.fail(key, "%s must be a string or a list of strings, none of them empty", key)
			return nil
		}
		out = append(out, s)
	}
	if out == nil {
		r.fail(key, "%s must not be an empty list", key)
	}
	return out
}

func (r *reader) boolean(key string) bool {
	on, ok := r.table[key].(bool)
	if !ok {
		r.fail(key, "%s must be true or false", key)
	}
	return on
}

func (r *reader) number(key string) int {
	n, ok := r.table[key].(int64)
	if !ok || n < 0 || n > maxPriority {
		r.fail(key, "%s must be a whole number from 0 to %d", key, maxPriority)
		return 0
	}
	return int(n)
}

func (r *reader) annotations(key string) map[string]any {
	m, ok := r.table[key].(map[string]any)
	if !ok || len(m) == 0 {
		r.fail(key, "%s must be a table such as { readOnlyHint = true }", key)
	}
	for name, v := range m {
		switch v.(type) {
		case bool, string, int64, float64:
		default:
			r.fail(key, "%s.%s must be a string, a number, or true or false", key, name)
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} { // annotations of the protocol
			_, isBool := v.(bool)
			switch near := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(hint)) < 3; {
			case name == hint && !isBool:
				r.fail(key, "%s.%s must be true or false", key, name)
			case name != hint && near:
				r.fail(key, "%s: there is no hint %s, only %s", key, quoted(name), hint)
			}
		}
	}
	return m
}

// pattern returns the regular expression of key between before and behind. Go matches it in
// linear time.
func (r *reader) pattern(key, before, behind string) *regexp.Regexp {
	text := r.text(key)
	if len(text) > maxPattern {
		r.fail(key, "%s is longer than %d characters", key, maxPattern)
		return nil
	}
	re, err := regexp.Compile(text)
	if err == nil {
		re, err = regexp.Compile(before + text + behind)
	}
	if se := (*syntax.Error)(nil); errors.As(err, &se) {
		r.fail(key, "%s is no regular expression that gemline understands: %s in %s", key, se.Code, quoted(se.Expr))
	}
	return re
}

// oneOf returns the value of a word.
func oneOf[V any](r *reader, key, word string, words map[string]V) V {
	v, ok := words[word]
	if !ok && r.message == "" {
		r.fail(key, "%s can be %s, not %s", key, strings.Join(slices.Sorted(maps.Keys(words)), ", "), quoted(word))
	}
	return v
}

// unquoted returns a prefix without quotation marks around the whole prefix. Those around a path
// with blanks stay.
func unquoted(text string) string {
	for _, mark := range []string{"'", `"`} {
		inner, open := strings.CutPrefix(strings.TrimSpace(text), mark)
		inner, closed := strings.CutSuffix(inner, mark)
		program, _, blank := strings.Cut(inner, " ")
		if open && closed && blank && !strings.Contains(inner, mark) && !strings.Contains(program, "/") {
			return inner
		}
	}
	return text
}

// unstarred returns a prefix without a final asterisk, which other programs use for any further
// words, and whether there is one.
func unstarred(text string) (plain string, starred bool) {
	for _, star := range []string{" *", ":*"} {
		if plain, starred = strings.CutSuffix(strings.TrimRight(text, " "), star); starred {
			return strings.TrimSpace(plain), true
		}
	}
	return text, false
}

// split returns the words of a prefix. It supports quotation marks; other syntax of a shell is
// refused, since it would have no effect here.
func split(text string) (words []string, problem string) {
	var word strings.Builder
	in, quote := false, rune(0)
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteRune(c)
		case strings.ContainsRune("$`\\", c), quote == 0 && strings.ContainsRune(";&|<>(){}#~\n", c), unicode.IsControl(c) && c != '\t':
			return nil, fmt.Sprintf("holds %q, which is no part of a word; put it in single quotation marks if it is meant as it stands", c)
		case quote == 0 && strings.ContainsRune("*?[]", c):
			return nil, fmt.Sprintf("holds %q, which is no wildcard here; a prefix covers all words that follow", c)
		case quote == 0 && (c == '\'' || c == '"'):
			in, quote = true, c
		case quote == 0 && (c == ' ' || c == '\t'):
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			in = true
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, "has a quotation mark that is not closed"
	}
	if in {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, "names no program"
	}
	return words, ""
}

// quoted returns a short form of s for a message.
func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// oneLine returns s in a form for a single line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// suggestion names the key of a rule that is most similar to a misspelled key.
func suggestion(key string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if a, b := plain(key), plain(name); a == b || a == b+"s" || a+"s" == b {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}
