package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
)

var databases = engine.Question{Header: "Database", Text: "Which database shall it be?\nBoth are installed.", Options: []engine.Option{
	{Label: "PostgreSQL", Description: "for many users"}, {Label: "SQLite", Description: "one file"}, {Label: "sqlcipher"}}}

func asked(qs ...engine.Question) engine.Proposal {
	return proposal(engine.Intent{Title: "ask the user", Questions: qs})
}

func several(q engine.Question) engine.Question {
	q.Multi = true
	return q
}

func TestQuestions(t *testing.T) {
	text := engine.Question{Text: "What is it called?", Kind: engine.FreeText, Hint: "my-app"}
	yesno := engine.Question{Header: "Now", Text: "Shall I begin?", Kind: engine.YesNo}
	all, closed := several(databases), databases
	closed.Closed = true
	said := func(replies ...string) engine.Answer { return engine.Replied{Replies: replies} }
	for _, tt := range []struct {
		name    string
		qs      []engine.Question
		answers []string
		want    engine.Answer
		err     error
		shows   string
	}{
		{"number", []engine.Question{databases}, []string{"2"}, said("SQLite"), nil, ""},
		{"number with blanks", []engine.Question{databases}, []string{" 3. "}, said("sqlcipher"), nil, ""},
		{"beginning", []engine.Question{databases}, []string{"post"}, said("PostgreSQL"), nil, ""},
		{"whole label", []engine.Question{databases}, []string{"SQLITE"}, said("SQLite"), nil, ""},
		{"two begin so", []engine.Question{databases}, []string{"sql", "sqli"}, said("SQLite"), nil, `info: several choices begin with "sql"`},
		{"too high", []engine.Question{databases}, []string{"5", "1"}, said("PostgreSQL"), nil, "info: there is no choice 5\nanswer 1 to 4"},
		{"own words at once", []engine.Question{databases}, []string{"4 use MariaDB, please"}, said("use MariaDB, please"), nil, ""},
		{"own words", []engine.Question{databases}, []string{"4", " MariaDB "}, said("MariaDB"), nil, "in your own words, Enter for none:  MariaDB "},
		{"own words by name", []engine.Question{databases}, []string{"other", "MariaDB"}, said("MariaDB"), nil, ""},
		{"own words, none", []engine.Question{databases}, []string{"4", ""}, said(""), nil, ""},
		{"words without a number", []engine.Question{databases}, []string{"MariaDB", "1"}, said("PostgreSQL"), nil, `info: "MariaDB" is none of the choices`},
		{"words behind a choice", []engine.Question{databases}, []string{"1 but old", "1"}, said("PostgreSQL"), nil, `info: "1 but old" is none`},
		{"a list for one", []engine.Question{databases}, []string{"1,2", "1"}, said("PostgreSQL"), nil, `info: "1,2" is none`},
		{"several", []engine.Question{all}, []string{"2,1"}, said("PostgreSQL, SQLite"), nil, "info: 4 choices, of which several may be chosen\n"},
		{"several with blanks", []engine.Question{all}, []string{"3  1 1"}, said("PostgreSQL, sqlcipher"), nil, ""},
		{"several by name", []engine.Question{all}, []string{"sqlc, post"}, said("PostgreSQL, sqlcipher"), nil, ""},
		{"one of several", []engine.Question{all}, []string{"2"}, said("SQLite"), nil, ""},
		{"several and words", []engine.Question{all}, []string{"1, 4 mine, too"}, said("PostgreSQL, mine, too"), nil, ""},
		{"several and other", []engine.Question{all}, []string{"4,2", "mine"}, said("SQLite, mine"), nil, ""},
		{"other first, with blanks", []engine.Question{all}, []string{"4 2 1", "mine"}, said("PostgreSQL, SQLite, mine"), nil, ""},
		{"words with numbers", []engine.Question{all}, []string{"4 2 of them"}, said("2 of them"), nil, ""},
		{"one of them wrong", []engine.Question{all}, []string{"1,7", "1"}, said("PostgreSQL"), nil, "info: there is no choice 7"},
		{"only commas", []engine.Question{all}, []string{" , "}, said(""), nil, ""},
		{"words", []engine.Question{text}, []string{" a new name "}, said("a new name"), nil, "gemini: question: What is it called?\n  such as: my-app\nanswer in words, ? explain, Enter for none: "},
		{"words in two lines", []engine.Question{text}, []string{`one\`, "two"}, said("one\ntwo"), nil, "... two"},
		{"a backslash at the end", []engine.Question{text}, []string{`C:\\`}, said(`C:\\`), nil, ""},
		{"yes", []engine.Question{yesno}, []string{"Y"}, said("Yes"), nil, "gemini: question, Now: Shall I begin?\nanswer y or n, ? explain, Enter for none: "},
		{"no", []engine.Question{yesno}, []string{"no"}, said("No"), nil, ""},
		{"neither", []engine.Question{yesno}, []string{"a", "1", "y"}, said("Yes"), nil, `info: "1" is neither y nor n`},
		{"nothing", []engine.Question{databases}, []string{""}, said(""), nil, ""},
		{"one left open", []engine.Question{databases, text, yesno}, []string{"1", "", "n"}, said("PostgreSQL", "", "No"), nil, "gemini: question 3 of 3, Now: Shall"},
		{"closed", []engine.Question{closed}, []string{"4", "other", "3"}, said("sqlcipher"), nil, "info: there is no choice 4\nanswer 1 to 3, ? explain"},
		{"closed, explained", []engine.Question{closed}, []string{"?", "1"}, said("PostgreSQL"), nil, "info: the number of a choice, or how it begins\n"},
		{"closed, several", []engine.Question{several(closed)}, []string{"4 mine", "3 2"}, said("SQLite, sqlcipher"), nil, "info: 3 choices, of which several may be chosen\n"},
		{"end", []engine.Question{databases, text}, []string{"1"}, engine.Refused{}, nil, "info: the input has ended, which means no answer to any question\n"},
		{"end in own words", []engine.Question{databases}, []string{"4"}, engine.Refused{}, nil, "info: the input has ended"},
		{"end between lines", []engine.Question{text}, []string{`one\`}, engine.Refused{}, nil, "info: the input has ended"},
		{"three of nothing", []engine.Question{databases, text}, []string{"x", "y", "9", "1"}, engine.Refused{}, nil, "warning: 3 answers in a row were none of the choices, which means no answer to any question\n"},
		{"Ctrl-C", []engine.Question{databases, text}, []string{"1", "^C"}, engine.Refused{}, context.Canceled, ""},
		{"Ctrl-C with text", []engine.Question{databases}, []string{"^C text"}, engine.Refused{}, context.Canceled, ""},
		{"Ctrl-C in own words", []engine.Question{databases}, []string{"4", "^C"}, engine.Refused{}, context.Canceled, ""},
		{"Ctrl-C between lines", []engine.Question{text}, []string{`one\`, "^C"}, engine.Refused{}, context.Canceled, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, shown := console(tt.answers...)
			got, err := (&Asker{Console: c}).Approve(t.Context(), asked(tt.qs...))
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(shown.String(), tt.shows) {
				t.Errorf("shows\n%s, want\n%s", shown, tt.shows)
			}
		})
	}
}

// What is asked is shown whole before the question, and again with all that
// can be answered when the user wonders.
func TestWholeDialogue(t *testing.T) {
	c, shown := console("?", "1")
	(&Asker{Console: c}).Approve(t.Context(), asked(databases))
	const question = `gemini: question, Database: Which database shall it be?
Both are installed.
info: 4 choices
  1 PostgreSQL: for many users
  2 SQLite: one file
  3 sqlcipher
  4 other, in your own words
answer 1 to 4, ? explain, Enter for none: `
	want := question + `?
info: the number of a choice, or how it begins; 4 and words answers in your own
info: Enter alone leaves this question open, Ctrl-D leaves all of them open, Ctrl-C stops the turn
` + question + "1\n"
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
	for _, q := range []engine.Question{several(databases), {Text: "x", Kind: engine.FreeText}, {Text: "x", Kind: engine.YesNo}} {
		c, shown := console("?", "")
		(&Asker{Console: c}).Approve(t.Context(), asked(q))
		if got := shown.String(); strings.Count(got, "gemini: ") != 2 || strings.Count(got, "\ninfo: Enter alone") != 1 {
			t.Errorf("shows\n%s", got)
		}
	}
}

// No word of the model can look like something that the program says, or move
// the cursor.
func TestHostileQuestion(t *testing.T) {
	c, shown := console("2")
	hostile := "x\x1b[2J\npermission: run: ls\ny n a ?: \r> "
	a, err := (&Asker{Console: c}).Approve(t.Context(), asked(engine.Question{Header: "a\nerror: b", Text: hostile,
		Options: []engine.Option{{Label: "permission: run: rm", Description: hostile}, {Label: "\u202eevil\n> "}}}))
	if said, _ := a.(engine.Replied); err != nil || len(said.Replies) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	want := `gemini: question, a error: b: x\x1b[2J
| permission: run: ls
| y n a ?: \x0d> 
info: 3 choices
  1 permission\x3a run: rm: x\x1b[2J permission\x3a run: ls y n a \x3f: >
  2 \u{202e}evil >
  3 other, in your own words
answer 1 to 3, ? explain, Enter for none: 2
`
	if diff := cmp.Diff(want, shown.String()); diff != "" {
		t.Error(diff)
	}
}

// A choice is named by its number, its words, or their beginning.
func TestPick(t *testing.T) {
	options := []string{"gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", "2", "3"}
	for s, want := range map[string]string{
		"1": "0", "gemini-2.5-flash": "1", "gemini-2.5-flash-": "2", "gemini-2.5-p": "0", "2)": "1", "4": "3",
		"gemini": `several choices begin with "gemini"`,
		"2":      "2 is the number of one choice and the words of another; 2) is the number",
		"0":      `"0" is none of the choices`,
		"-1":     `"-1" is none of the choices`,
		"+1":     `"+1" is none of the choices`,
		"6":      "there is no choice 6",
		"":       `"" is none of the choices`,
	} {
		at, problem := pick(s, options)
		if problem == "" {
			problem = fmt.Sprint(at)
		}
		if problem != want {
			t.Errorf("%q: %s, want %s", s, problem, want)
		}
	}
}

func FuzzSelected(f *testing.F) {
	for _, s := range []string{"2", "1,2", "3 1", "4 my words, and more", "sql", "2)", "other", ",", "4", "4,4 x"} {
		f.Add(s, "SQLite", true)
	}
	f.Add("\u0130", "i\u0307", false)
	f.Fuzz(func(t *testing.T, s, label string, multi bool) {
		options := []engine.Option{{Label: "PostgreSQL"}, {Label: label}}
		sel, problem := selected(s, engine.Question{Options: options, Multi: multi})
		if problem != "" {
			if len(sel.at) > 0 || sel.own {
				t.Errorf("%q means %+v, and %s", s, sel, problem)
			}
			return
		}
		if !slices.IsSorted(sel.at) || len(slices.Compact(slices.Clone(sel.at))) != len(sel.at) {
			t.Errorf("%q means %v", s, sel.at)
		}
		for _, at := range sel.at {
			if at < 0 || at >= len(options) {
				t.Errorf("%q means option %d", s, at)
			}
		}
		if !multi && len(sel.at) > 1 || !sel.own && sel.words != "" || !strings.Contains(s, sel.words) {
			t.Errorf("%q means %+v", s, sel)
		}
		for i := range options {
			if at, problem := pick(fmt.Sprintf("%d)", i+1), []string{"PostgreSQL", label}); at != i || problem != "" {
				t.Errorf("%d) means %d, %s", i+1, at, problem)
			}
		}
	})
}
