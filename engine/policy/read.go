package policy

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"gemline/engine"
)

// A FileError means that a file can't be read as rules. Its text is one line.
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

// defaultRules returns the built-in rules.
func defaultRules() []Rule { return slices.Clone(builtIn()) }

// builtIn reads the built-in rules, once.
var builtIn = sync.OnceValue(func() []Rule {
	rules, _, err := Parse("built-in rules", BuiltIn, []byte(defaults))
	if err != nil {
		panic(err) // the file is built in
	}
	return rules
})

// Parse reads the text of a file of rules. The error, a [FileError], means that the file can't be
// parsed. Warnings name malformed rules, with their replacements, and rules that the tier does
// not allow.
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
	f := file{path: path, tier: tier, places: locate(string(text))}
	if about, at := sandboxRules(path, tree); about != "" {
		if at != "" {
			return nil, nil, f.places.refuse(path, at, 0, "readonly", about)
		}
		return nil, []string{oneLine(path) + about}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		if err := f.read(name, tree[name]); err != nil {
			return nil, nil, err
		}
	}
	return f.rules, f.warnings, nil
}

// A file collects the rules of a file.
type file struct {
	path     string
	tier     Tier
	places   positions
	rules    []Rule
	warnings []string
}

// warn adds a warning about a key of the i-th table of a name; key "" is the table.
func (f *file) warn(name string, i int, key, message string) {
	f.warnings = append(f.warnings, f.places.refuse(f.path, name, i, key, message).Error())
}

// read reads the value of a key of the file. The error is about unreadable values that may
// contain rules.
func (f *file) read(name string, value any) error {
	list := tables(value)
	switch {
	case name == "rule" && list != nil:
		if _, single := value.(map[string]any); single {
			f.warn(name, 0, "", "a rule stands below [[rule]], with two brackets; below one it is the only rule of the file")
		}
		for i, table := range list {
			f.rule(name, i, table)
		}
	case name == "rule":
		return f.places.refuse(f.path, name, 0, "", "rule must be a table: [[rule]]")
	case name == "safety_checker" && list != nil:
		for i, table := range list {
			f.checker(name, i, table)
		}
	case (name == "rules" || name == "Rule" || name == "Rules") && list != nil:
		f.warn(name, 0, "", fmt.Sprintf("rules are tables called [[rule]]; those called %s ask and deny, and allow nothing",
			quoted(name)))
		for i, table := range list {
			if strictVerdict(table["decision"]) != engine.Allow {
				f.rule(name, i, table)
			}
		}
	case slices.ContainsFunc(list, ruleLike):
		return f.places.refuse(f.path, name, 0, "",
			fmt.Sprintf("%s is not understood; rules are tables called [[rule]]", quoted(name)))
	default:
		f.warn(name, 0, "", fmt.Sprintf("%s is not understood, and passed over; rules are tables called [[rule]]", quoted(name)))
	}
	return nil
}

// ruleLike reports whether a table may be meant as a rule.
func ruleLike(table map[string]any) bool {
	for key := range table {
		if _, is := fields[key]; is && key != "name" && key != "description" {
			return true
		}
	}
	return false
}

// rule adds the rule in a table, or safe replacements.
func (f *file) rule(name string, i int, table map[string]any) {
	r := reader{table: table}
	rules := []Rule{r.rule()}
	if r.message != "" {
		said := r
		var became string
		if rules, became = r.mended(); became != "" {
			said.message += "; " + became
		}
		f.warn(name, i, said.key, said.message)
	}
	for _, note := range r.notes {
		f.warn(name, i, note.key, note.message)
	}
	for _, rule := range rules {
		rule.Tier, rule.Origin.File, rule.Origin.Line = f.tier, f.path, f.places.find(name, i, "").line
		f.add(rule)
	}
}

// add adds a rule if its tier allows it.
func (f *file) add(rule Rule) {
	if why := forbidden(f.tier, rule); why != "" {
		f.warnings = append(f.warnings, fmt.Sprintf("%s: the rule is left out: %s", oneLine(rule.Where()), why))
		return
	}
	for _, name := range rule.Tools {
		near := Misspelled(name)
		if rule.Server != "" || near == "" {
			continue
		}
		said := fmt.Sprintf("%s: there is no tool %s; did you mean %s?", oneLine(rule.Where()), quoted(name), near)
		if rule.Verdict != engine.Allow {
			rule.Tools = append(slices.Clone(rule.Tools), near)
			said += " The rule is about both"
		}
		f.warnings = append(f.warnings, said)
	}
	f.rules = append(f.rules, rule)
}

// checker adds a rule that asks about the calls of a safety checker of the Gemini CLI: gemline
// runs no checkers.
func (f *file) checker(name string, i int, table map[string]any) {
	about := maps.Clone(table)
	checks, _ := about["checker"].(map[string]any)
	delete(about, "checker")
	if checks["name"] == "conseca" { // which is off there by default
		f.warn(name, i, "", "gemline has no checker conseca; the table is passed over")
		return
	}
	about["decision"], about["priority"] = "ask_user", int64(maxPriority)
	if about["toolName"] == nil {
		about["toolName"] = "*"
	}
	f.warn(name, i, "", "gemline runs no safety checkers; calls that this one is about are asked about")
	f.rule(name, i, about)
}

// sandboxRules recognizes sandbox.toml, the Gemini CLI's configuration of its sandbox among files
// of rules. The file is ignored, unless it would confine commands more than gemline does; at
// names the table with that confinement.
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

// forbidden says why a tier does not allow a rule.
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

// tables returns the tables in v, nil if v has other values.
func tables(v any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
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
