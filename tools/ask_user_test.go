package tools

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine"
	"gemline/tools/toolstest"
)

const threeQuestions = `{"questions":[
	{"question":"Which database?\\n\\nBoth are installed.","header":"Database","type":"choice",
	 "options":[{"label":"PostgreSQL","description":"for many\n users"},{"label":" SQLite ","description":""}],"multiSelect":true},
	{"question":"What is it called?","header":"Name","type":"text","placeholder":"my-app"},
	{"question":"Now?","header":"","type":"yesno"}]}`

func TestAskUser(t *testing.T) {
	left := errors.New("left")
	for _, test := range []struct {
		name          string
		answer        engine.Answer
		err           error
		text, display string
	}{
		{"all", engine.Replied{Replies: []string{"SQLite", "a<b", "Yes"}}, nil,
			`{"answers":{"0":"SQLite","1":"a<b","2":"Yes"}}`, "Database: SQLite\nName: a<b\nYes"},
		{"some", engine.Replied{Replies: []string{"", "x\ny", ""}}, nil,
			`{"answers":{"1":"x\ny"}}`, "Database: no answer\nName: x\ny\nno answer"},
		{"too few", engine.Replied{Replies: []string{"SQLite"}}, nil, `{"answers":{"0":"SQLite"}}`, "Database: SQLite\nName: no answer\nno answer"},
		{"none", engine.Replied{Replies: []string{"", "", ""}}, nil, dismissed, "no answer"},
		{"dismissed", engine.Refused{}, nil, dismissed, "no answer"},
		{"allowed without a word", engine.Allowed{}, nil, dismissed, "no answer"},
		{"nobody there", engine.Unasked{Advice: "Use a terminal."}, engine.ErrRefused, "Nobody could be asked; Use a terminal.", ""},
		{"left", engine.Refused{}, left, "left", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			call, err := toolstest.Prepare(t, askUser(), threeQuestions)
			if err != nil {
				t.Fatal(err)
			}
			d := &toolstest.Desk{Answer: test.answer}
			if test.err == left {
				d.Err = left
			}
			r, err := call.Run(t.Context(), d)
			if (err != nil) != (test.err != nil) {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				r.Text = err.Error()
			}
			if r.Text != test.text || r.Display != test.display {
				t.Errorf("the model reads %q, the user %q", r.Text, r.Display)
			}
			if len(d.Asked) != 1 || d.Asked[0].Tool.Name() != "ask_user" {
				t.Fatalf("asked %v", d.Asked)
			}
			want := []engine.Question{
				{Header: "Database", Text: "Which database?\n\nBoth are installed.", Multi: true,
					Options: []engine.Option{{Label: "PostgreSQL", Description: "for many users"}, {Label: "SQLite"}}},
				{Header: "Name", Text: "What is it called?", Kind: engine.FreeText, Hint: "my-app"},
				{Text: "Now?", Kind: engine.YesNo},
			}
			if diff := cmp.Diff(want, d.Asked[0].Intent.Questions); diff != "" {
				t.Error(diff)
			}
			if got := call.Intent.Title; got != "ask the user, 3 questions" {
				t.Errorf("the title is %q", got)
			}
		})
	}
}

func TestQuestionsThatCanNotBeAsked(t *testing.T) {
	long := strings.Repeat("x", longestQuestion+1)
	option := func(label, description string) string {
		return `{"label":"` + label + `","description":"` + description + `"}`
	}
	choice := func(options ...string) string {
		return `{"questions":[{"question":"q","header":"h","type":"choice","options":[` + strings.Join(options, ",") + `]}]}`
	}
	text := func(question, header, placeholder string) string {
		return `{"questions":[{"question":"` + question + `","header":"` + header + `","type":"text","placeholder":"` + placeholder + `"}]}`
	}
	one := `{"question":"q","header":"h","type":"yesno"}`
	for _, test := range []struct{ name, args, err string }{
		{"no list", `{}`, "params lacks \"questions\""},
		{"none", `{"questions":[]}`, "params/questions must have at least 1 items"},
		{"five", `{"questions":[` + strings.Repeat(one+",", 4) + one + `]}`, "params/questions must have at most 4 items"},
		{"no text", `{"questions":[{"header":"h","type":"text"}]}`, "params/questions/0 lacks \"question\""},
		{"no kind", `{"questions":[{"question":"q","header":"h"}]}`, "params/questions/0 lacks \"type\""},
		{"strange kind", `{"questions":[` + one + `,{"question":"q","header":"h","type":"x"}]}`, "params/questions/1/type must be one of \"choice\", \"text\", \"yesno\", not \"x\""},
		{"blank", text(` \\n `, "h", ""), "params/questions/0/question must not be empty"},
		{"long", text(long, "h", ""), "params/questions/0/question must NOT have more than 10000 characters"},
		{"long header", text("q", long, ""), "params/questions/0/header must NOT have more than 200 characters"},
		{"long placeholder", text("q", "h", long), "params/questions/0/placeholder must NOT have more than 200 characters"},
		{"no options", choice(), "params/questions/0/options must hold 2 to 4 options for a choice, not 0"},
		{"one option", choice(option("a", "")), "params/questions/0/options must hold 2 to 4 options for a choice, not 1"},
		{"no description", choice(`{"label":"a"}`, option("b", "")), "params/questions/0/options/0 lacks \"description\""},
		{"blank label", choice(option("a", ""), option(" ", "")), "params/questions/0/options/1/label must not be empty"},
		{"same label", choice(option("Go", ""), option("go ", "")), "params/questions/0/options/1/label must differ from the others"},
		{"long label", choice(option(long, ""), option("b", "")), "params/questions/0/options/0/label must NOT have more than 200 characters"},
		{"long description", choice(option("a", long), option("b", "")), "params/questions/0/options/0/description must NOT have more than 2000 characters"},
		{"as long as can be", text(long[1:], "h", ""), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := toolstest.Prepare(t, askUser(), test.args)
			if got := toolstest.Message(err); got != test.err {
				t.Errorf("got %q; want %q", got, test.err)
			}
			if err != nil && engine.ErrorType(err) != engine.InvalidToolParams {
				t.Errorf("of the class %s", engine.ErrorType(err))
			}
		})
	}
}

// Whatever the model sends, what is asked can be shown and answered.
func FuzzQuestions(f *testing.F) {
	f.Add(threeQuestions)
	f.Add(`{"questions":[{"question":"q","header":"a\nb\r","type":"text","placeholder":"\r\n"}]}`)
	f.Add(`{"questions":[{"question":"q","header":"h","type":"choice","options":[{"label":"a","description":"b"}]}]}`)
	f.Add(`{"questions":[{"question":"\\n","header":"h","type":"choice","options":[{"label":"\u0000","description":""},{"label":"b","description":"\r"}]}]}`)
	f.Fuzz(func(t *testing.T, args string) {
		var m map[string]any
		if json.Unmarshal([]byte(args), &m) != nil {
			return
		}
		call, err := askUser().Prepare(t.Context(), m)
		if err != nil {
			return
		}
		for _, q := range call.Intent.Questions {
			if strings.TrimSpace(q.Text) == "" || strings.ContainsAny(q.Header+q.Hint, "\n\r") {
				t.Errorf("asked %+v", q)
			}
			if q.Kind == engine.MultipleChoice && (len(q.Options) < leastOptions || len(q.Options) > mostOptions) {
				t.Errorf("%d options", len(q.Options))
			}
			for _, o := range q.Options {
				if o.Label == "" || strings.ContainsAny(o.Label+o.Description, "\n\r") {
					t.Errorf("offered %+v", o)
				}
			}
		}
	})
}
