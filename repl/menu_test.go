package repl

import (
	"testing"

	"gemline/repl/question"
)

// A choice is its number, its name, or how its text begins.
func TestMenuFind(t *testing.T) {
	m := Menu{Enter: "not now", Choices: []question.MenuItem{{Number: 1, Name: "agree", Text: "run them confined"},
		{Number: 3, Name: "never", Text: "never run them"}, {Number: 4, Text: "run them with all your rights"}}}
	for in, want := range map[string]int{"1": 0, "3": 1, "4.": 2, "2": -1, "AGREE": 0, "never": 1, "nev": 1, "run them": -1,
		"run them c": 0, "Run Them With": 2, "x": -1} {
		if at, problem := m.find(in); at != want || (problem == "") != (want >= 0) {
			t.Errorf("%q: %d, %q", in, at, problem)
		}
	}
	if got := m.prompt(); got != "answer 1, 3, 4, Enter for not now: " {
		t.Error(got)
	}
}
