package tracker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

// Lines returns the tasks in a directory as a tree, nil if there are none or dir is nil.
func Lines(dir func() string) []string {
	if dir == nil {
		return nil
	}
	tasks, err := (&Store{Dir: dir}).All()
	switch {
	case err != nil:
		return []string{"the tasks can't be read: " + err.Error()}
	case len(tasks) == 0:
		return nil
	}
	return strings.Split(Tree(tasks), "\n")
}

// The properties of the tracker's schemas.
const (
	taskID     = `{"type":"string","description":"Six hexadecimal digits"}`
	taskStatus = `{"type":"string","enum":["open","in_progress","blocked","closed"]}`
	taskType   = `{"type":"string","enum":["epic","task","bug"]}`
	taskIDs    = `{"type":"array","items":{"type":"string"},"description":"The ids of tasks that come first"}`
)

// schemaOf returns the schema of an object. properties alternates names, with a star if
// required, and descriptions.
func schemaOf(properties ...string) string {
	var all, required []string
	for i := 0; i+1 < len(properties); i += 2 {
		name, must := strings.CutSuffix(properties[i], "*")
		if must {
			required = append(required, name)
		}
		all = append(all, fmt.Sprintf("%q:%s", name, properties[i+1]))
	}
	list, _ := json.Marshal(required)
	if required == nil {
		list = []byte("[]")
	}
	return `{"type":"object","properties":{` + strings.Join(all, ",") + `},"required":` + string(list) + `}`
}

const anyText = `{"type":"string"}`

type createTaskArgs struct {
	Title        string   `json:"title"`
	Description  string   `json:"description"`
	Type         string   `json:"type"`
	Parent       string   `json:"parentId"`
	Dependencies []string `json:"dependencies"`
}

type updateTaskArgs struct {
	ID           string    `json:"id"`
	Title        *string   `json:"title"`
	Description  *string   `json:"description"`
	Status       *string   `json:"status"`
	Dependencies *[]string `json:"dependencies"`
}

type taskArgs struct {
	ID string `json:"id"`
}

type listTasksArgs struct {
	Status string `json:"status"`
	Type   string `json:"type"`
	Parent string `json:"parentId"`
}

type dependencyArgs struct {
	Task       string `json:"taskId"`
	Dependency string `json:"dependencyId"`
}

// taskTools implements the tools.
type taskTools struct{ store *Store }

// Tools returns the tools that store tasks with their dependencies in a directory, for work
// that is too large for a list. If dir is nil, no tool is offered.
func Tools(dir func() string) engine.Tools {
	s := taskTools{&Store{Dir: dir}}
	list := engine.Tools{
		trackerTool("tracker_create_task", "Create Task",
			"Creates a task of work that has many: an epic, a task or a bug, below another if parentId says so.",
			schemaOf("title*", anyText, "description*", anyText, "type*", taskType, "parentId",
				taskID, "dependencies", taskIDs), s.createTask),
		trackerTool("tracker_update_task", "Update Task",
			"Changes a task. One whose dependencies are not closed can't be closed.",
			schemaOf("id*", taskID, "title", anyText, "description", anyText, "status", taskStatus,
				"dependencies", taskIDs), s.updateTask),
		trackerTool("tracker_get_task", "Get Task", "Returns all that is known of a task.",
			schemaOf("id*", taskID), s.getTask),
		trackerTool("tracker_list_tasks", "List Tasks", "Lists the tasks, or those of a status, a type or a parent.",
			schemaOf("status", taskStatus, "type", taskType, "parentId", taskID), s.listTasks),
		trackerTool("tracker_add_dependency", "Add Dependency", "Says that a task can't be closed before another.",
			schemaOf("taskId*", taskID, "dependencyId*", taskID), s.addDependency),
		trackerTool("tracker_visualize", "Visualize Tracker", "Shows all tasks as a tree.", schemaOf(),
			func(struct{}) (string, error) {
				tasks, err := s.store.All()
				return Tree(tasks), err
			}),
	}
	for i := range list {
		list[i].When = func() bool { return dir != nil }
	}
	return list
}

// trackerTool makes a tool of the tracker from the function for its arguments.
func trackerTool[A any](name, label, doc, schema string, do func(A) (string, error)) engine.Tool {
	return toolkit.Define(name, label, engine.Think, doc, schema, func(_ context.Context, a A) (engine.Call, error) {
		return engine.Call{Intent: engine.Intent{Title: "tasks: " + strings.ToLower(label)},
			Run: func(context.Context, engine.Host) (engine.Result, error) {
				text, err := do(a)
				if no := RefusedError(""); errors.As(err, &no) {
					err = &engine.CallError{Type: engine.ExecutionFailed, Message: "Error: " + string(no)}
				}
				if err != nil {
					return engine.Result{}, err
				}
				return engine.Result{Text: text, Display: inWords.Replace(text)}, nil
			}}, nil
	})
}

// inWords replaces the model's symbols by words for the user.
var inWords = strings.NewReplacer("⭕", "open", "🚧", "in progress", "⛔", "blocked", "✅", "closed",
	"└─ Depends on", "depends on")

func (s taskTools) createTask(a createTaskArgs) (string, error) {
	t, err := s.store.Create(Task{Title: text.Words(a.Title), Description: a.Description,
		Type: a.Type, Status: "open",
		Parent: a.Parent, Dependencies: append([]string{}, a.Dependencies...)})
	return fmt.Sprintf("Created task %s: %s", t.ID, t.Title), err
}

func (s taskTools) updateTask(a updateTaskArgs) (string, error) {
	t, err := s.store.Update(a.ID, func(t *Task) {
		set(&t.Title, a.Title)
		t.Title = text.Words(t.Title)
		set(&t.Description, a.Description)
		set(&t.Status, a.Status)
		if a.Dependencies != nil {
			t.Dependencies = append([]string{}, *a.Dependencies...)
		}
	})
	return fmt.Sprintf("Updated task %s. Status: %s", a.ID, t.Status), err
}

// set assigns a value unless it is nil.
func set(to, given *string) {
	if given != nil {
		*to = *given
	}
}

func (s taskTools) getTask(a taskArgs) (string, error) {
	tasks, err := s.store.All()
	if err != nil {
		return "", err
	}
	t := Find(tasks, a.ID)
	if t == nil {
		return fmt.Sprintf("Task %s not found.", a.ID), nil
	}
	b, err := json.MarshalIndent(t, "", "  ")
	return string(b), err
}

func (s taskTools) listTasks(a listTasksArgs) (string, error) {
	tasks, err := s.store.All()
	var lines []string
	for _, t := range tasks {
		if fits(a.Status, t.Status) && fits(a.Type, t.Type) && fits(a.Parent, t.Parent) {
			lines = append(lines, fmt.Sprintf("- [%s] %s (%s)", t.ID, t.Title, t.Status))
		}
	}
	if lines == nil {
		return "No tasks found matching the criteria.", err
	}
	return strings.Join(lines, "\n"), err
}

// fits reports whether value equals wanted; "" matches any value.
func fits(wanted, value string) bool { return wanted == "" || wanted == value }

func (s taskTools) addDependency(a dependencyArgs) (string, error) {
	if a.Task == a.Dependency {
		return "", RefusedError("Task " + a.Task + " cannot depend on itself.")
	}
	_, err := s.store.Update(a.Task, func(t *Task) { t.Dependencies = append(t.Dependencies, a.Dependency) })
	return fmt.Sprintf("Linked %s -> %s.", a.Task, a.Dependency), err
}
