package policy

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"gemline/engine"
)

// A FileError is a file of rules that is not understood, so that none of them
// can be relied on. It is one line long.
type FileError struct {
	Path         string
	Line, Column int // counted from 1; 0 if it is about the file as a whole
	Message      string
}

// Error names the place as compilers do.
func (e *FileError) Error() string {
	if e.Line == 0 {
		return oneLine(e.Path) + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", oneLine(e.Path), e.Line, e.Column, e.Message)
}

const (
	maxFile    = 1 << 20 // bytes of a file of rules
	maxPattern = 2048    // characters of a regular expression, as in the Gemini CLI
)

//go:embed default.toml
var defaults string

// defaultRules returns the rules that come with the program.
func defaultRules() []Rule { return slices.Clone(builtIn()) }

// builtIn reads them, once.
var builtIn = sync.OnceValue(func() []Rule {
	rules, _, err := Parse("built-in rules", BuiltIn, []byte(defaults))
	if err != nil {
		panic(err) // it is ours
	}
	return rules
})

// Parse reads the text of a file of rules. The error, a [FileError], is about
// the first thing that is not understood; warnings are about rules that are
// understood and can't hold in the tier.
func Parse(path string, tier Tier, text []byte) (rules []Rule, warnings []string, err error) {
	text = []byte(strings.TrimPrefix(string(text), "\ufeff"))
	switch {
	case len(text) > maxFile:
		return nil, nil, &FileError{Path: path, Message: "is too large for a file of rules"}
	case !utf8.Valid(text):
		return nil, nil, &FileError{Path: path, Message: "is not UTF-8"}
	}
	if line := nestedTooDeep(string(text)); line > 0 {
		return nil, nil, &FileError{Path: path, Line: line, Column: 1, Message: "is nested deeper than any rule is"}
	}
	var tree map[string]any
	if _, err := toml.Decode(string(text), &tree); err != nil {
		return nil, nil, notTOML(path, err)
	}
	places := locate(string(text))
	if about, at := sandboxRules(path, tree); about != "" {
		if at != "" {
			return nil, nil, places.refuse(path, at, 0, "readonly", about)
		}
		return nil, []string{oneLine(path) + about}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch name {
		case "rule":
		case "safety_checker":
			return nil, nil, places.refuse(path, name, 0, "",
				"gemline runs no safety checkers; a rule with decision = \"ask_user\" has you decide")
		default:
			return nil, nil, places.refuse(path, name, 0, "",
				fmt.Sprintf("%s is not understood; rules are tables called [[rule]]", quoted(name)))
		}
	}
	for i, table := range tables(tree["rule"]) {
		r := &reader{table: table}
		rule := r.rule()
		rule.Tier, rule.File, rule.Line = tier, path, places.line(i)
		if r.message != "" {
			return nil, nil, places.refuse(path, "rule", i, r.key, r.message)
		}
		if why := forbidden(tier, rule); why != "" {
			warnings = append(warnings, fmt.Sprintf("%s: the rule is left out: %s", oneLine(rule.Where()), why))
			continue
		}
		for _, name := range rule.Tools {
			if near := misspelled(name); near != "" && rule.Server == "" {
				warnings = append(warnings, fmt.Sprintf("%s: there is no tool %s; did you mean %s?",
					oneLine(rule.Where()), quoted(name), near))
			}
		}
		rules = append(rules, rule)
	}
	if tree["rule"] != nil && tables(tree["rule"]) == nil {
		return nil, nil, places.refuse(path, "rule", 0, "", "rule must be a table: [[rule]]")
	}
	return rules, warnings, nil
}

// sandboxRules tells a file that stands among those of rules and has none: what the
// sandbox of the Gemini CLI lets commands do. It is passed over, unless it
// means to hold commands more than gemline would; that is at the table named.
func sandboxRules(path string, tree map[string]any) (about, at string) {
	if filepath.Base(path) != "sandbox.toml" || len(tree) == 0 {
		return "", ""
	}
	for name := range tree {
		if name != "modes" && name != "commands" {
			return "", ""
		}
	}
	modes, _ := tree["modes"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		if mode, _ := modes[name].(map[string]any); name != "plan" && mode["readonly"] == true {
			return "commands that only read are those of plan mode; gemline has no other mode for them", "modes." + name
		}
	}
	return " is about the sandbox of the Gemini CLI, and passed over; gemline sandbox status says what commands may do here", ""
}

// forbidden says why a rule can't hold in a tier.
func forbidden(tier Tier, r Rule) string {
	switch {
	case !tier.narrows():
	case r.Verdict == engine.Allow:
		return "the rules of " + map[Tier]string{Extension: "an extension",
			Project: "a project"}[tier] + " can ask and deny, and not allow"
	}
	return ""
}

// notTOML is the error of a text that is no TOML.
func notTOML(path string, err error) error {
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return &FileError{Path: path, Message: oneLine(err.Error())}
	}
	return &FileError{Path: path, Line: pe.Position.Line, Column: max(1, pe.Position.Col), Message: oneLine(pe.Message)}
}

// tables returns the tables that v holds, nil if it holds anything else.
func tables(v any) []map[string]any {
	switch v := v.(type) {
	case []map[string]any:
		return v
	case []any:
		list := make([]map[string]any, 0, len(v))
		for _, e := range v {
			t, ok := e.(map[string]any)
			if !ok {
				return nil
			}
			list = append(list, t)
		}
		return list
	}
	return nil
}

// A reader makes a rule of a table. It keeps the first thing that is wrong,
// and the key that it is about, "" for the rule as a whole.
type reader struct {
	table        map[string]any
	key, message string
}

func (r *reader) fail(key, format string, args ...any) {
	if r.message == "" {
		r.key, r.message = key, fmt.Sprintf(format, args...)
	}
}

// fields are the keys of a rule, with what makes use of their values. Two
// spellings of a key are two keys.
var fields = map[string]func(r *reader, key string, rule *Rule){
	"toolName": func(r *reader, key string, rule *Rule) { rule.Tools = r.texts(key) },
	"toolKind": func(r *reader, key string, rule *Rule) {
		for _, word := range r.texts(key) {
			rule.Kinds = append(rule.Kinds, oneOf(r, key, word, kinds))
		}
	},
	"mcpName":  func(r *reader, key string, rule *Rule) { rule.Server = r.text(key) },
	"subagent": func(r *reader, key string, rule *Rule) { rule.Agent = r.text(key) },
	"commandPrefix": func(r *reader, key string, rule *Rule) {
		for _, text := range r.texts(key) {
			words, problem := split(text)
			if problem != "" {
				r.fail(key, "%s %s", quoted(text), problem)
			}
			rule.Prefixes = append(rule.Prefixes, words)
		}
	},
	"commandRegex": func(r *reader, key string, rule *Rule) {
		rule.Command, rule.exact = r.pattern(key, `^(?:`, `)`), r.pattern(key, `^(?:`, `)(?: |$)`)
	},
	"commandLine": func(r *reader, key string, rule *Rule) { rule.CommandLine = r.text(key) },
	"target":      func(r *reader, key string, rule *Rule) { rule.Target = r.text(key) },
	"directory": func(r *reader, key string, rule *Rule) {
		if rule.Dir = r.text(key); !filepath.IsAbs(rule.Dir) {
			r.fail(key, "%s must be an absolute path", key)
		}
	},
	"commandSafe": func(r *reader, key string, rule *Rule) {
		if rule.Safe = r.boolean(key); !rule.Safe {
			r.fail(key, "%s can only be true", key)
		}
	},
	"commandUndoable": func(r *reader, key string, rule *Rule) {
		if rule.Undoable = r.boolean(key); !rule.Undoable {
			r.fail(key, "%s can only be true", key)
		}
	},
	"argsPattern":     func(r *reader, key string, rule *Rule) { rule.Args = r.pattern(key, "", "") },
	"decision":        func(r *reader, key string, rule *Rule) { rule.Verdict = oneOf(r, key, r.text(key), verdicts) },
	"priority":        func(r *reader, key string, rule *Rule) { rule.Priority = r.number(key) },
	"interactive":     func(r *reader, key string, rule *Rule) { on := r.boolean(key); rule.Interactive = &on },
	"network":         func(r *reader, key string, rule *Rule) { rule.Network = r.boolean(key) },
	"toolAnnotations": func(r *reader, key string, rule *Rule) { rule.Annotations = r.annotations(key) },
	"modes": func(r *reader, key string, rule *Rule) {
		for _, word := range r.texts(key) {
			rule.Modes = append(rule.Modes, oneOf(r, key, word, modeWords))
		}
	},
	"denyMessage":       func(r *reader, key string, rule *Rule) { rule.Message = r.text(key) },
	"deny_message":      func(r *reader, key string, rule *Rule) { rule.Message = r.text(key) },
	"allowRedirection":  func(r *reader, key string, _ *Rule) { r.boolean(key) },
	"allow_redirection": func(r *reader, key string, _ *Rule) { r.boolean(key) },
	"name":              func(r *reader, key string, _ *Rule) { r.text(key) },
	"description":       func(r *reader, key string, _ *Rule) { r.text(key) },
}

// rule returns the rule that the table is.
func (r *reader) rule() (rule Rule) {
	for _, key := range slices.Sorted(maps.Keys(r.table)) {
		if use, ok := fields[key]; ok {
			use(r, key, &rule)
		} else {
			r.fail(key, "%s is not a key of a rule%s", quoted(key), suggestion(key))
		}
	}
	for _, key := range []string{"toolName", "decision", "priority"} {
		if _, ok := r.table[key]; !ok {
			r.fail("", "the rule lacks %s", key)
		}
	}
	for _, name := range rule.Tools {
		if i := strings.IndexByte(name, '*'); i >= 0 && (i < len(name)-1 || !pattern(name)) {
			r.fail("toolName", "%s is no pattern; *, mcp_*, mcp_SERVER_* and discovered_tool_* are", quoted(name))
		}
		if rule.Safe && !sameTool(name, Shell) {
			r.fail("toolName", "commandSafe is about %s, not about %s", Shell, quoted(name))
		}
		if rule.Undoable && !sameTool(name, Shell) {
			r.fail("toolName", "commandUndoable is about %s, not about %s", Shell, quoted(name))
		}
		if rule.Prefixes != nil || rule.Command != nil {
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

// line checks what a rule says of whole command lines. One that denies would be
// got around by another blank.
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

// target checks what a rule says of what calls are about. Each tool says that in
// words of its own, and commands say it better.
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

// pattern reports whether a name that ends in an asterisk stands for many.
func pattern(name string) bool {
	return name == "*" || strings.HasPrefix(name, "mcp_") || name == discovered+"*"
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

// texts returns a string or a list of strings, of which there is at least one.
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
	if !ok || n < 0 || n > 999 {
		r.fail(key, "%s must be a whole number from 0 to 999", key)
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
	}
	return m
}

// pattern returns a regular expression with something around it. It is matched
// in linear time.
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

// oneOf returns what a word stands for.
func oneOf[V any](r *reader, key, word string, words map[string]V) V {
	v, ok := words[word]
	if !ok && r.message == "" {
		r.fail(key, "%s can be %s, not %s", key, strings.Join(slices.Sorted(maps.Keys(words)), ", "), quoted(word))
	}
	return v
}

// split returns the words of a prefix. Quotation marks hold a word together;
// whatever else means something to a shell is refused, as it would mean
// nothing here.
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

// oneLine returns s as it can stand in a line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// suggestion says which key of a rule comes nearest to a misspelled one.
func suggestion(key string) string {
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if a, b := plain(key), plain(name); a == b || a == b+"s" || a+"s" == b {
			return "; did you mean " + name + "?"
		}
	}
	return ""
}
