package cli

import (
	"slices"
	"testing"

	"gemline/repl/attach"
)

// A session is named by its id, else by its number in the list, else by how its id begins.
func TestMeant(t *testing.T) {
	t.Parallel()
	var all []attach.Session
	for _, id := range []string{"2f00", "1a00", "nightly", "nightly-2", "twice", "twice", "7"} {
		all = append(all, attach.Session{Info: attach.Info{ID: id}, Dir: id})
	}
	for word, want := range map[string][]string{
		"1": {"2f00"}, "2": {"1a00"}, "7": {"7"}, "1a": {"1a00"}, "nightly": {"nightly"}, "night": {"nightly", "nightly-2"}, "nightly-": {"nightly-2"},
		"twice": {"twice", "twice"}, "5": {"twice"}, "8": nil, "0": nil, "-1": nil, "x": nil,
	} {
		var got []string
		for _, s := range matchingSessions(all, word) {
			got = append(got, s.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
