package command

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/shell"
	"gemline/tools/toolkit"
)

//go:embed doc/list_background_processes.md
var listBackgroundProcessesDoc string

// listBackgroundProcesses returns the tool that lists background commands.
func listBackgroundProcesses(env Tools) engine.Tool {
	return toolkit.Define("list_background_processes", "List Background Processes", engine.Think, listBackgroundProcessesDoc,
		`{"type":"object","properties":{}}`,
		func(context.Context, struct{}) (engine.Call, error) {
			return engine.Call{
				Intent: engine.Intent{Title: "list background processes"},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					text := jobList(env.Launcher.Jobs.List())
					return engine.Result{Text: text, Display: text}, nil
				},
			}, nil
		})
}

func jobList(jobs []shell.Job) string {
	if len(jobs) == 0 {
		return "No background processes found."
	}
	lines := make([]string, len(jobs))
	for i, j := range jobs {
		state := "EXITED"
		if j.Running {
			state = "RUNNING"
		}
		command, more := text.First(text.Words(j.Command), 200)
		if more {
			command += "..."
		}
		lines[i] = fmt.Sprintf("- [PID %d] %s: `%s`", j.PID, state, command)
		if j.Known && j.Signal == 0 {
			lines[i] += fmt.Sprintf(" (Exit Code: %d)", j.Code)
		}
		if j.Signal != 0 {
			lines[i] += fmt.Sprintf(" (Signal: %d)", j.Signal)
		}
	}
	return strings.Join(lines, "\n")
}
