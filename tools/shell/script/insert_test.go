package script_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gemline/tools/shell/script"
)

func insert(line, value string) (string, error) {
	return script.Insert(line, regexp.MustCompile(`\{\{a\}\}`), func(string) string { return value })
}

func TestInsert(t *testing.T) {
	for _, c := range []struct{ line, value, want string }{
		{"grep {{a}} f", "it's", `grep 'it'\''s' f`},
		{"grep {{a}} f", "plain", "grep plain f"},
		{"ls {{a}}", "", "ls "},
		{`grep "{{a}}" f`, "$(x)", "grep '$(x)' f"},
		{`grep "{{a}}" f`, "", "grep '' f"},
		{"grep '{{a}}' f", "a b", "grep 'a b' f"},
		{`echo "see {{a}}, {{a}}"`, "$(x)", `echo "see "'$(x)'", "'$(x)'""`},
		{`echo "$x {{a}} $(y {{a}})"`, "$(x)", `echo "$x "'$(x)'" $(y '$(x)')"`},
		{"echo 'see {{a}}'", "`x`", "echo 'see ''`x`'''"},
		{"echo --at={{a}}/b", "a b", "echo --at='a b'/b"},
		{`x="$(git log {{a}})"; echo $x`, "a;b", `x="$(git log 'a;b')"; echo $x`},
		{"x={{a}}; cat <<<{{a}} >{{a}}", "a;b", "x='a;b'; cat <<<'a;b' >'a;b'"},
		{"for f in {{a}}; do cat $f; done # don't", "a b", "for f in 'a b'; do cat $f; done # don't"},
		{"sh -c {{a}}", "ls a", "sh -c 'ls a'"},
		{`sh -c 'cat "$1"' sh {{a}}`, "$(x)", `sh -c 'cat "$1"' sh '$(x)'`},
		{"echo no mark", "x", "echo no mark"},
	} {
		if got, err := insert(c.line, c.value); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", c.line, got, err, c.want)
		}
	}
	for _, line := range []string{"sh -c 'echo {{a}}'", "sh -c -e 'echo {{a}}'", "sh -c - 'echo {{a}}'", `bash -c "echo {{a}}"`, "cat <<E\n{{a}}\nE", "echo `cat {{a}}`", "echo $(({{a}}))", "echo ${x:-{{a}}}",
		"x[{{a}}]=1", "[[ 1 -eq {{a}} ]]", "awk '/{{a}}/'", "ssh host 'cat {{a}}'", "eval echo x{{a}}", "echo $'{{a}}'", `echo $"{{a}}"`, `sh -c $x b{{a}}`, "echo # {{a}}", "echo 'x {{a}}", "{{a}}() { :; }",
		`python3 -c 'print("{{a}}")'`, `find . -exec sh -c 'cat {{a}}' \;`,
		`\sh -c 'cat {{a}}'`, `s""h -c 'cat {{a}}'`, `$SHELL -c "cat {{a}}"`, `env $X sh -c 'cat {{a}}'`, `unset {{a}}`, `[ -v "{{a}}" ]`, `printf -v {{a}} x`, `read {{a}}`, "((x={{a}}))", "let x={{a}}", "declare x={{a}}", "case x in {{a}}) ;; esac"} {
		if got, err := insert(line, "x"); err == nil {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// Whatever stands around a mark, bash runs nothing of the value.
func FuzzInsert(f *testing.F) {
	if _, err := exec.LookPath("bash"); err != nil {
		f.Skip(err)
	}
	for _, line := range []string{"{{a}}", `"a{{a}}b"`, "'b{{a}}'", `\'{{a}}\'`, `\"{{a}}`, `"\"{{a}}'"`} {
		f.Add(line, "a'")
	}
	f.Fuzz(func(t *testing.T, word, value string) {
		if strings.Contains(value, "\x00") || strings.Trim(word, `{}a'"\b `) != "" {
			t.Skip()
		}
		line := "printf %s " + word
		got, err := insert(line, "$(echo RAN)`echo RAN`"+value)
		if err != nil || got == line {
			return
		}
		out, err := exec.Command("bash", "-c", got).Output()
		if err == nil && !strings.Contains(string(out), "$(echo RAN)`echo RAN`") {
			t.Errorf("%q: %q prints %q", line, got, out)
		}
	})
}
