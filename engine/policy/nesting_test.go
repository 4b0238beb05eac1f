package policy

import (
	"strings"
	"testing"
)

// What no rule needs is refused before it is parsed, which could take for ever;
// what rules hold in their texts is not counted.
func TestDeep(t *testing.T) {
	for text, want := range map[string]int{
		"":                                                      0,
		allowed:                                                 0,
		"a = " + strings.Repeat("{a=", 1000):                    1,
		"\n\na = " + strings.Repeat("[\n", 1000):                43,
		"a = " + strings.Repeat("[{a=[\n", 1000):                14,
		strings.Repeat("a.", 1000) + "a=1":                      1,
		"\n[" + strings.Repeat("a . ", 1000) + "a]":             2,
		"a = \"" + strings.Repeat("[{.", 1000):                  0,
		"# " + strings.Repeat("[{.", 1000) + "\na=1":            0,
		"a = '''\n" + strings.Repeat("[{.\n", 1000) + "'''":     0,
		"a = \"\"\"\\\"\"\"" + strings.Repeat("[", 1000) + "\"": 0,
		"a = ''''" + strings.Repeat("[", 1000):                  0,
		"a = \"\\\"\n" + strings.Repeat("[", 1000):              2,
		strings.Repeat("a = [[1], [2]]\n", 1000):                0,
		"a = " + strings.Repeat("[", maxNesting):                0,
		"a = " + strings.Repeat("[", maxNesting+1):              1,
		"a" + strings.Repeat(".a", maxNesting) + "=1":           0,
		"a" + strings.Repeat(".a", maxNesting+1) + "=1":         1,
		"\na" + strings.Repeat(".a", maxNesting) + "=1":         0,
		strings.Repeat("a.b = 1\n", 1000):                       0,
		"]]]" + strings.Repeat("[", maxNesting):                 0,
		strings.Repeat("[[]", maxNesting+1):                     1,
		"a = \"\"\"\n\n\"\"\"\n" + strings.Repeat("[", 1000):    4,
		"a = '\\'" + strings.Repeat("[", 1000):                  1,
		"a = \"\\\\\"" + strings.Repeat("[", 1000):              1,
		"a = '''b'" + strings.Repeat("[", 1000) + "''' [":       0,
	} {
		if got := nestedTooDeep(text); got != want {
			t.Errorf("%.40q: line %d, want %d", text, got, want)
		}
	}
	if _, _, err := Parse("p.toml", User, []byte("a = "+strings.Repeat("{a=", 300000))); err == nil {
		t.Error("a file without end is taken for rules")
	}
}

const allowed = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = '(?:echo \\[.\\.)\"$'\ntoolAnnotations = { readOnlyHint = true }\ndecision = \"allow\"\npriority = 1\n"
