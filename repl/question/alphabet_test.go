package question

import (
	"testing"

	"gemline/engine"
)

// A call whose command, or whose name, looks like another is allowed once at most.
func TestLookalikes(t *testing.T) {
	offers := func(kind engine.Kind, in engine.Intent) bool {
		p := call(in)
		p.Tool.Kind = kind
		return len(Grants(p)) > 0
	}
	for s, ordinary := range map[string]bool{
		"touch \u0430pple":         false,
		"touch \u0561pple":         false,
		"rm caf\u00e9 \u2215etc":   false,
		"rm a\u2044b":              false,
		"rm x # \u037e":            false,
		"ls \uff0fetc":             false,
		"ls \u2502 sh":             false,
		"echo \u2019$(rm x)\u2019": false,
		"rm \u2013rf x":            false,
		"cat \U0001d41a":           false,
		"a\u2236b":                 false,

		"touch файл":        true,
		`grep "größe" *.go`: true,
		"git commit -m 'L’été – « déjà » …'":    true,
		"git commit -m \"„Größe“ und “Wort.”\"": true,
		"git commit -m '修复：错误，空（行）“引用”'":        true,
		"echo '→ 5 € ✓ ✅ m² 1º 2024‑25 ½'":      true,
		"echo ¿Qué? café é 日本語。":                true,
		"caf\xe9":                               false, // not UTF-8
	} {
		if got := offers(engine.Execute, engine.Intent{Detail: s, Grants: []engine.Grant{{Label: "always"}}}); got != ordinary {
			t.Errorf("%q: always is offered: %v", s, got)
		}
		if got := offers(engine.Edit, engine.Intent{Grants: []engine.Grant{{Label: "always for " + s}}}); got != ordinary {
			t.Errorf("a file %q: always is offered: %v", s, got)
		}
	}
}
