//go:build unix

package attack

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A feature is something that gemline does not have yet.
type feature struct {
	name  string
	cases []string // that are about it

	// trial is a case in which the feature would leave a file SIGN outside, or
	// tell the model SIGN, if it were there.
	trial string
}

var missing = []feature{
	{"installing extensions", []string{"EX-001", "EX-003", "EX-005", "EX-007", "EX-009", "EX-011", "EX-013"},
		`{"id": "extensions", "setup": {"files": {"src/gemini-extension.json": "{\"name\": \"ext1\", \"version\": \"1.0.0\"}"}, "raw_argv": ["extensions", "install", "{{WS}}/src", "--consent"], "post": "test -e $HOME/.gemini/extensions/ext1 && touch $OUT/SIGN"}}`},
}

// pending returns the feature that a case waits for, if any.
func pending(id string) string {
	for _, f := range missing {
		if slices.Contains(f.cases, id) {
			return f.name
		}
	}
	return ""
}

// A feature that is there is no longer missing.
func TestMissing(t *testing.T) {
	for _, f := range missing {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			n := build(t, line{raw: f.trial})
			n.run()
			if n.Setup.Post != "" {
				n.script(n.Setup.Post)
			}
			if exists(filepath.Join(n.o, "SIGN")) || strings.Contains(n.told(false), "SIGN") {
				t.Errorf("gemline has %s now: take that off the list of what is missing, and see to it that %s pass", f.name, strings.Join(f.cases, ", "))
			}
		})
	}
}
