// Package plan stores the model's plans: a todo list ([Todos]), and plans in a [Folder],
// which the user approves before they are carried out.
//
// # Plan mode writes only plans
//
// In plan mode, the tools that edit write only plans in one [Folder].
package plan

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model/catalog"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/write_todos.md
var writeTodosDoc string

const writeTodosSchema = `{"type":"object","properties":{"todos":{"type":"array","description":"The whole list",
"items":{"type":"object","properties":{
"description":{"type":"string"},
"status":{"type":"string","enum":["pending","in_progress","completed","cancelled","blocked"]}},
"required":["description","status"]}}},"required":["todos"]}`

type writeTodosArgs struct {
	Todos []todo `json:"todos"`
}

type todo struct {
	Description string `json:"description"`
	Status      string `json:"status"`
}

// TodosName is the name of the tool that keeps the model's list.
const TodosName = "write_todos"

const (
	mostTodos   = 100
	longestTodo = 1_000 // characters
)

// Todos is the model's todo list. It is safe for concurrent use. The zero Todos is an empty list,
// and a nil Todos stays empty.
type Todos struct {
	mu    sync.Mutex
	items []todo
}

// Lines returns the list as text: a line with counts, and a line for each item. It returns
// no lines for an empty list.
func (t *Todos) Lines() []string {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.items) == 0 {
		return nil
	}
	return append([]string{overview(t.items)}, itemLines(t.items)...)
}

// Restore sets the list from a conversation's history.
func (t *Todos) Restore(history []*genai.Content) {
	if t == nil {
		return
	}
	failed := map[string]bool{}
	for _, c := range slices.Backward(history) {
		for _, p := range slices.Backward(c.Parts) {
			if fr := p.FunctionResponse; fr != nil && fr.Name == TodosName && fr.Response["error"] != nil {
				failed[fr.ID] = true
			}
			fc := p.FunctionCall
			if fc == nil || fc.Name != TodosName || failed[fc.ID] {
				continue
			}
			if a, err := toolkit.Decode[writeTodosArgs](fc.Args); err == nil && a.check() == nil {
				t.set(a.Todos)
				return
			}
		}
	}
	t.set(nil)
}

func (t *Todos) set(items []todo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items = items
}

// WriteTodos returns write_todos, which stores the model's list. Newer models need no list:
// model returns the name of the current model, and nil means that all models need a list. If
// given is nil, the tool is not offered.
func WriteTodos(given *Todos, model func() string) engine.Tool {
	list := cmp.Or(given, &Todos{})
	tool := toolkit.Define(TodosName, "Write Todos", engine.Think, writeTodosDoc, writeTodosSchema,
		func(_ context.Context, a writeTodosArgs) (engine.Call, error) {
			if err := a.check(); err != nil {
				return engine.Call{}, err
			}
			return engine.Call{Intent: engine.Intent{Title: overview(a.Todos)},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					list.set(a.Todos)
					return a.result(), nil
				}}, nil
		})
	tool.When = func() bool {
		return given != nil && (model == nil || needsTodos(model()))
	}
	return tool
}

// needsTodos reports whether a model works better with a todo list.
func needsTodos(model string) bool {
	name := path.Base(model)
	return catalog.Lookup(name).Kin.Todos && !strings.Contains(name, "preview")
}

func (a writeTodosArgs) check() error {
	if n := len(a.Todos); n > mostTodos {
		return toolkit.Misuse("params/todos must NOT have more than %d items", mostTodos)
	}
	going := 0
	for i, item := range a.Todos {
		switch n := utf8.RuneCountInString(item.Description); {
		case strings.TrimSpace(item.Description) == "":
			return toolkit.Misuse("params/todos/%d/description must not be empty", i)
		case n > longestTodo:
			return toolkit.Misuse("params/todos/%d/description must NOT have more than %d characters", i, longestTodo)
		}
		if item.Status == "in_progress" {
			going++
		}
	}
	if going > 1 {
		return toolkit.Misuse(`Only one task can be "in_progress" at a time.`)
	}
	return nil
}

func (a writeTodosArgs) result() engine.Result {
	if len(a.Todos) == 0 {
		return engine.Result{Text: "Successfully cleared the todo list."}
	}
	lines := []string{"Successfully updated the todo list. The current list is now:"}
	for i, item := range a.Todos {
		lines = append(lines, fmt.Sprintf("%d. [%s] %s", i+1, item.Status, item.Description))
	}
	return engine.Result{Text: strings.Join(lines, "\n"), Display: strings.Join(itemLines(a.Todos), "\n")}
}

// overview counts items in a line.
func overview(items []todo) string {
	if len(items) == 0 {
		return "todo list, cleared"
	}
	done := 0
	for _, item := range items {
		if item.Status == "completed" {
			done++
		}
	}
	return fmt.Sprintf("todo list, %s, %d done", text.Count(len(items), "item"), done)
}

// itemLines returns a line for each item, its state in words.
func itemLines(items []todo) []string {
	words := map[string]string{"completed": "done", "in_progress": "in progress"}
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = fmt.Sprintf("%d %s: %s", i+1, cmp.Or(words[item.Status], item.Status), text.Words(item.Description))
	}
	return lines
}
