package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/shell"
)

// taskCommands are about commands that run in the background.
type taskCommands struct {
	c   *Conversation
	out io.Writer
}

func (cmd taskCommands) set() Set {
	aliases := []string{"bg", "background"}
	return Set{{Name: "tasks", Aliases: aliases, Summary: "what runs in the background", Run: cmd.listTasks, Sub: Set{
		{Name: "list", Summary: "the commands that were left to run, and how they ended", Run: cmd.listTasks},
		{Name: "show", Args: "PID [LINES]", Summary: "the end of what one has printed", Run: cmd.showTask, Complete: cmd.completeTask},
		{Name: "stop", Args: "PID", Summary: "end a command, with all processes that it started", Run: cmd.stopTask, Complete: cmd.completeTask},
	}}}
}

func (cmd taskCommands) listTasks(_ context.Context, _ string) error {
	jobs := cmd.c.Jobs.List()
	if len(jobs) == 0 {
		return sentences(cmd.out, "nothing runs in the background")
	}
	return sentences(cmd.out, lists.Map(jobs, func(j shell.Job) string {
		return fmt.Sprintf("%d %s: %s", j.PID, taskState(j), text.OneLine(j.Command, 200))
	})...)
}

// taskState describes the state of j in words.
func taskState(j shell.Job) string {
	switch {
	case j.Running:
		return "running for " + time.Since(j.Started).Round(time.Second).String()
	case j.Signal != 0:
		return "ended by " + j.SignalName
	case !j.Known:
		return "ended"
	case j.Code != 0:
		return fmt.Sprintf("failed with %d", j.Code)
	}
	return "done"
}

// shownLines is how many lines /tasks show prints by default.
const shownLines = 20

func (cmd taskCommands) showTask(_ context.Context, args string) error {
	words := strings.Fields(args)
	most := shownLines
	if len(words) == 2 {
		n, err := strconv.Atoi(words[1])
		if err != nil || n < 1 {
			return misused("%q is no number of lines: /tasks show PID [LINES]", words[1])
		}
		most, words = n, words[:1]
	}
	pid, err := taskOf(words)
	if err != nil {
		return err
	}
	tail, shown, total, err := cmd.c.Jobs.Tail(pid, most)
	if errors.Is(err, shell.ErrUnknown) {
		return noTask(pid)
	}
	if err != nil {
		return unavailable("what %d has printed can't be read: %v", pid, err)
	}
	switch {
	case total == 0:
		return sentences(cmd.out, fmt.Sprintf("%d has printed nothing", pid))
	case shown < total:
		tail = fmt.Sprintf("the last %d of %d lines:\n%s", shown, total, tail)
	}
	return lines(cmd.out, strings.TrimSuffix(tail, "\n"))
}

func (cmd taskCommands) stopTask(_ context.Context, args string) error {
	pid, err := taskOf(strings.Fields(args))
	if err != nil {
		return err
	}
	if err := cmd.c.Jobs.Stop(pid); err != nil {
		return noTask(pid)
	}
	return sentences(cmd.out, fmt.Sprintf("%d is ended", pid))
}

// taskOf returns the number in words, which must be the only word.
func taskOf(words []string) (int, error) {
	if len(words) != 1 {
		return 0, misused("which one? /tasks lists them by their process ids")
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil {
		return 0, misused("%q is no process id; /tasks lists them", words[0])
	}
	return pid, nil
}

func noTask(pid int) error {
	return unavailable("no background command has the process id %d; /tasks lists them", pid)
}

func (cmd taskCommands) completeTask(context.Context, string, string) []string {
	return lists.Map(cmd.c.Jobs.List(), func(j shell.Job) string { return strconv.Itoa(j.PID) })
}
