package engine_test

import (
	"testing"

	"gemline/engine"
)

// A command on a line can't be taken for another one.
func TestCommandOnALine(t *testing.T) {
	known := func(words ...string) (list []engine.Word) {
		for _, w := range words {
			list = append(list, engine.Word{Text: w, Known: true})
		}
		return list
	}
	for want, c := range map[string]engine.Command{
		"git log":             {Argv: known("git", "log")},
		"rm 'a b' '' '#c'":    {Argv: known("rm", "a b", "", "#c")},
		`echo 'it'\''s' '$x'`: {Argv: known("echo", "it's", "$x")},
		`echo "$x y"`:         {Argv: append(known("echo"), engine.Word{Text: `"$x y"`})},
		"A=1 B='2 rm' rm x":   {Env: []string{"A=1", "B=2 rm"}, Argv: known("rm", "x")},
		`A="$x y" B=`:         {Env: []string{`A="$x y"`, "B="}},
		"":                    {},
	} {
		if got := c.Line(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
