package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/tools/toolstest"
)

const fiveTodos = `{"todos":[{"description":"read","status":"completed"},{"description":"write\nit","status":"in_progress"},
	{"description":"test","status":"pending"},{"description":"ship","status":"blocked"},{"description":"party","status":"cancelled"}]}`

var fiveLines = []string{"todo list, 5 items, 1 done", "1 done: read", "2 in progress: write it", "3 pending: test", "4 blocked: ship", "5 cancelled: party"}

func TestWriteTodos(t *testing.T) {
	list := &Todos{}
	tool := WriteTodos(list, nil)
	if got := list.Lines(); got != nil {
		t.Errorf("at first there is %q", got)
	}
	for _, test := range []struct {
		name, args, title, text string
		lines                   []string
	}{
		{"five", fiveTodos, "todo list, 5 items, 1 done", "Successfully updated the todo list. The current list is now:\n" +
			"1. [completed] read\n2. [in_progress] write\nit\n3. [pending] test\n4. [blocked] ship\n5. [cancelled] party", fiveLines},
		{"one", `{"todos":[{"description":"x","status":"pending"}]}`, "todo list, 1 item, 0 done",
			"Successfully updated the todo list. The current list is now:\n1. [pending] x", []string{"todo list, 1 item, 0 done", "1 pending: x"}},
		{"cleared", `{"todos":[]}`, "todo list, cleared", "Successfully cleared the todo list.", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			call, err := toolstest.Prepare(t, tool, test.args)
			if err != nil {
				t.Fatal(err)
			}
			r, err := call.Run(t.Context(), &toolstest.Desk{})
			if err != nil {
				t.Fatal(err)
			}
			if call.Intent.Title != test.title || r.Text != test.text {
				t.Errorf("%q: %q", call.Intent.Title, r.Text)
			}
			if got := list.Lines(); !slices.Equal(got, test.lines) {
				t.Errorf("the list is %q", got)
			}
			if want := strings.Join(test.lines[min(1, len(test.lines)):], "\n"); r.Display != want {
				t.Errorf("shown is %q", r.Display)
			}
		})
	}
}

func TestTodosThatCanNotBe(t *testing.T) {
	item := func(description, status string) string {
		return `{"description":"` + description + `","status":"` + status + `"}`
	}
	todos := func(items ...string) string { return `{"todos":[` + strings.Join(items, ",") + `]}` }
	long := strings.Repeat("\u00e9", longestTodo)
	for _, test := range []struct{ name, args, err string }{
		{"no list", `{}`, "params lacks \"todos\""},
		{"no state", `{"todos":[{"description":"x"}]}`, "params/todos/0 lacks \"status\""},
		{"strange state", todos(item("x", "done")), "params/todos/0/status must be one of \"pending\", \"in_progress\", \"completed\", \"cancelled\", \"blocked\", not \"done\""},
		{"blank", todos(item("x", "pending"), item(" ", "pending")), "params/todos/1/description must not be empty"},
		{"two at once", todos(item("x", "in_progress"), item("y", "in_progress")), `Only one task can be "in_progress" at a time.`},
		{"long", todos(item(long+"x", "pending")), "params/todos/0/description must NOT have more than 1000 characters"},
		{"many", todos(slices.Repeat([]string{item("x", "pending")}, 101)...), "params/todos must NOT have more than 100 items"},
		{"as much as can be", todos(slices.Repeat([]string{item(long, "pending")}, 100)...), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := &Todos{}
			_, err := toolstest.Prepare(t, WriteTodos(list, nil), test.args)
			if got := toolstest.Message(err); got != test.err {
				t.Errorf("got %q; want %q", got, test.err)
			}
			if list.Lines() != nil {
				t.Error("preparing a call has changed the list")
			}
		})
	}
}

func TestModelsWithAList(t *testing.T) {
	for model, want := range map[string]bool{
		"gemini-2.5-flash": true, "gemini-2.5-pro": true, "gemini-2.0-flash-001": true, "gemini-2": true, "models/gemini-2.5-pro": true,
		"gemini-2.5-pro-preview-06-05": false, "gemini-3-pro-preview": false, "gemini-3-flash": false, "gemini-20-pro": false,
		"gemini-25": false, "": false, "gemma-2": false, "auto": false,
	} {
		tool := WriteTodos(&Todos{}, func() string { return model })
		if got := tool.When(); got != want {
			t.Errorf("%q: %v", model, got)
		}
	}
	var none *Todos
	none.Restore(nil)
	if none.Lines() != nil {
		t.Error("there is a list without a list")
	}
	if WriteTodos(nil, func() string { return "gemini-2.5-pro" }).When() {
		t.Error("offered without a list")
	}
	if !WriteTodos(&Todos{}, nil).When() {
		t.Error("not offered where the model does not matter")
	}
}

func TestTodosOfAConversation(t *testing.T) {
	said := func(id, args string) *genai.Content {
		var m map[string]any
		if err := json.Unmarshal([]byte(args), &m); err != nil {
			t.Fatal(err)
		}
		return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "so"}, {FunctionCall: &genai.FunctionCall{ID: id, Name: "write_todos", Args: m}}}}
	}
	answered := func(id, key string) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
			ID: id, Name: "write_todos", Response: map[string]any{key: "text"}}}}}
	}
	const one = `{"todos":[{"description":"x","status":"pending"}]}`
	for _, test := range []struct {
		name    string
		history []*genai.Content
		want    []string
	}{
		{"nothing", nil, nil},
		{"no list", []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser)}, nil},
		{"one", []*genai.Content{said("1", fiveTodos), answered("1", "output")}, fiveLines},
		{"the last", []*genai.Content{said("1", one), answered("1", "output"), said("2", fiveTodos), answered("2", "output")}, fiveLines},
		{"the last that worked", []*genai.Content{said("1", fiveTodos), answered("1", "output"), said("2", one), answered("2", "error")}, fiveLines},
		{"nonsense", []*genai.Content{said("1", fiveTodos), answered("1", "output"), said("2", `{"todos":7}`), answered("2", "output")}, fiveLines},
		{"cleared", []*genai.Content{said("1", one), answered("1", "output"), said("2", `{"todos":[]}`), answered("2", "output")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := &Todos{items: []todo{{"old", "pending"}}}
			list.Restore(test.history)
			if got := list.Lines(); !slices.Equal(got, test.want) {
				t.Errorf("the list is %q", got)
			}
		})
	}
}
