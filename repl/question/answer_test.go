package question

import (
	"testing"

	"gemline/engine"
)

// A grant holds for no longer than it was offered for.
func TestAlways(t *testing.T) {
	for _, c := range []struct {
		grant engine.Grant
		most  engine.Scope
	}{
		{engine.Grant{Label: "no rule says it"}, engine.Session},
		{engine.Grant{Rule: "[[rule]]", SessionOnly: true}, engine.Session},
		{engine.Grant{Rule: "[[rule]]", ProjectOnly: true}, engine.InProject},
		{engine.Grant{Rule: "[[rule]]"}, engine.Everywhere},
	} {
		for s := engine.Once; s <= engine.Everywhere; s++ {
			a, problem := Always(c.grant, s)
			offered := s != engine.Once && s <= c.most
			if (a != nil) != offered || (problem == "") != offered {
				t.Errorf("%+v for %v: %v, %q", c.grant, s, a, problem)
			}
		}
	}
}

// A scope has one word, and a word that is none grants nothing.
func TestScopeName(t *testing.T) {
	for _, s := range []engine.Scope{engine.Session, engine.InProject, engine.Everywhere} {
		if got, ok := ParseScope(ScopeName(s)); got != s || !ok {
			t.Errorf("%v: %v, %v", s, got, ok)
		}
	}
	if s, ok := ParseScope("ever"); s != engine.Once || ok {
		t.Errorf("%v, %v", s, ok)
	}
}
