package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/checkpoint"
)

// undoCommands undo changes and remove messages.
type undoCommands struct {
	c        *Conversation
	out      io.Writer
	screen   *Screen
	sessions Sessions
	confirm  func(ctx context.Context, about string) (bool, error)
	prefill  func(text string)
}

func (cmd undoCommands) set() Set {
	return Set{
		{Name: "changes", Summary: "the files that this session has changed", Run: cmd.changes},
		{Name: "diff", Summary: "all that this session has changed, as a diff", Run: cmd.diff},
		{Name: "redo", Summary: "do again what /undo took back last", Run: cmd.redo},
		{Name: "restore", Args: "[N|NAME]", Summary: "list the calls that changed files, or go back to before one", Run: cmd.restore,
			Complete: func(_ context.Context, _, _ string) []string { return cmd.sessions.Saved.Checkpoints() }},
		{Name: "rewind", Args: "[N [both|conversation|files]]", Run: cmd.rewind,
			Summary: "list your prompts, or go back to before prompt N"},
		{Name: "undo", Usual: true, Args: "[N]", Run: cmd.undo,
			Summary: "take back the changes of the last turn, or of the last N, in files"},
	}
}

func (cmd undoCommands) undo(ctx context.Context, arg string) error {
	n, err := number(arg, "/undo takes a number of turns")
	if err != nil {
		return err
	}
	list, err := cmd.c.Keeper.Turns(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		return err
	}
	list = slices.DeleteFunc(list, func(d *checkpoint.ChangedTurn) bool { return d.Undone })
	switch {
	case len(list) == 0:
		return cmp.Or(cmd.unrecorded(), checkpoint.ErrNothing)
	case n > len(list):
		return misused("turns that have changed something: %d", len(list))
	}
	return cmd.takeBack(ctx, list[:n])
}

// number reads a number from 1 on; an empty arg is 1. Taken describes the command's arguments, for
// the error.
func number(arg, taken string) (int, error) {
	if arg == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return 0, misused("%s, not %.60q", taken, arg)
	}
	return n, nil
}

// takeBack undoes turns.
func (cmd undoCommands) takeBack(ctx context.Context, list []*checkpoint.ChangedTurn) error {
	p, err := cmd.c.Keeper.Undo(ctx, list)
	if err != nil {
		return err
	}
	return cmd.apply(ctx, p, "took back: "+strings.Join(lists.Map(list, (*checkpoint.ChangedTurn).String), "; "))
}

// apply carries out a plan, and asks about files that others have changed.
func (cmd undoCommands) apply(ctx context.Context, p *checkpoint.Plan, what string) error {
	if err := sentences(cmd.out, escaped(p.Lines(cmd.c.Workspace.Rel))...); err != nil {
		return err
	}
	if len(p.Conflicts) > 0 && cmd.confirm != nil {
		yes, err := cmd.confirm(ctx, "overwrite what others have changed in "+text.Count(len(p.Conflicts), "file")+", too? /redo would bring it back")
		if err != nil {
			return err
		}
		if !yes && len(p.Changes) == 0 {
			return sentences(cmd.out, "nothing is changed")
		}
		if p.Settled = true; yes {
			if err := sentences(cmd.out, escaped(checkpoint.ChangeLines(p.Conflicts, cmd.c.Workspace.Rel))...); err != nil {
				return err
			}
			p.Overwrite()
		}
	}
	o, err := cmd.c.Keeper.Apply(ctx, p)
	if err != nil {
		return err
	}
	said := append(escaped(o.Lines(cmd.c.Workspace.Rel)), fmt.Sprintf("%s (%s)", text.PrintableLine(what), o.Count()))
	if err := sentences(cmd.out, said...); err != nil || o.Done == 0 {
		return err
	}
	note := engine.Note(fmt.Sprintf("The user has changed files back or forth with /%s: read a file again before you rely on what it holds.", p.Kind))
	return cmd.c.Engine.Add(ctx, note)
}

func escaped(ls []string) []string { return lists.Map(ls, text.PrintableLine) }

func (cmd undoCommands) redo(ctx context.Context, _ string) error {
	p, err := cmd.c.Keeper.Redo(ctx)
	if err != nil {
		return err
	}
	return cmd.apply(ctx, p, "done again")
}

func (cmd undoCommands) changes(ctx context.Context, _ string) error {
	list, _, err := cmd.c.Keeper.Changed(ctx, cmd.c.Workspace.Rel)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		return err
	}
	if len(list) == 0 {
		return cmd.noChanges()
	}
	return sentences(cmd.out, lists.Map(list, func(s checkpoint.FileStat) string {
		s.Path = cmd.c.Workspace.Rel(s.Path)
		return text.PrintableLine(s.String())
	})...)
}

// unrecorded returns why changes were not recorded, nil if they were.
func (cmd undoCommands) unrecorded() error {
	if err := cmd.c.Keeper.Failed(); err != nil {
		return fmt.Errorf("changes of files could not be recorded: %w", disk.AsFull(err))
	}
	return nil
}

// noChanges says that the session has changed no files, or why none are known.
func (cmd undoCommands) noChanges() error {
	if err := cmd.unrecorded(); err != nil {
		return err
	}
	return sentences(cmd.out, "this session has changed no files")
}

func (cmd undoCommands) diff(ctx context.Context, _ string) error {
	_, patch, err := cmd.c.Keeper.Changed(ctx, cmd.c.Workspace.Rel)
	switch {
	case err != nil && !errors.Is(err, checkpoint.ErrNothing):
		return err
	case patch == "":
		return cmd.noChanges()
	}
	if cmd.screen != nil && cmd.screen.Patch != nil {
		cmd.screen.Patch(patch)
		return nil
	}
	columns := strings.Split(strings.TrimSuffix(patch, "\n"), "\t") // a file name may contain tabs
	return lines(cmd.out, strings.Join(lists.Map(columns, text.Printable), "\t"))
}

func (cmd undoCommands) rewind(ctx context.Context, args string) error {
	asked, err := cmd.questions(ctx)
	if err != nil {
		return err
	}
	if args == "" {
		return cmd.listQuestions(ctx, asked)
	}
	word, what, _ := strings.Cut(args, " ")
	n, err := number(word, "/rewind takes the number of a question, which /rewind lists")
	switch {
	case err != nil:
		return err
	case n > len(asked):
		return misused("there is no question %d; /rewind lists %d", n, len(asked))
	case what == "":
		what = "both"
	case what != "both" && what != "conversation" && what != "files":
		return misused("/rewind %d takes both, conversation or files", n)
	}
	if what != "conversation" {
		var list []*checkpoint.ChangedTurn
		for _, q := range asked[:len(asked)-n+1] { // counted as by /history and /fork
			list = append(list, q.done...)
		}
		if list = slices.DeleteFunc(list, func(d *checkpoint.ChangedTurn) bool { return d.Undone }); len(list) > 0 {
			err = cmd.takeBack(ctx, list)
		} else {
			err = sentences(cmd.out, "no changes of files since then are recorded")
		}
		if err != nil {
			return err
		}
	}
	if what == "files" {
		return nil
	}
	return cmd.forget(asked[len(asked)-n])
}

// forget returns to the state before a question, and offers the question's words as the next input.
func (cmd undoCommands) forget(q asked) error {
	if err := cmd.c.Engine.Rewrite(slices.Clone(cmd.c.Engine.History()[:q.at])); err != nil {
		return err
	}
	if err := sentences(cmd.out, "the conversation goes on before: "+text.PrintableLine(text.OneLine(q.text, 100))); err != nil {
		return err
	}
	if cmd.prefill != nil {
		cmd.prefill(q.text)
	}
	return nil
}

// An asked is a question of the user, with its place in the history, and the turns that changed
// files before the next question, the latest first.
type asked struct {
	at   int
	text string
	done []*checkpoint.ChangedTurn

	// Whether calls may have changed files that no record tells of, such as calls in another program.
	unrecorded bool
}

// questions returns the user's questions, the latest first.
func (cmd undoCommands) questions(ctx context.Context) (list []asked, err error) {
	turns, err := cmd.c.Keeper.Turns(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) && !errors.Is(err, checkpoint.ErrOff) &&
		!errors.Is(err, checkpoint.ErrNoHome) {
		return nil, err
	}
	history := cmd.c.Engine.History()
	all, typed := journal.Turns(history), journal.Turns(journal.Transcript(cmd.c.Journal, history))
	for i, t := range slices.Backward(all) {
		q := asked{at: t.From, text: t.Question}
		if len(typed) == len(all) { // nothing was compressed
			q.text = typed[i].Question
		}
		mine := func(d *checkpoint.ChangedTurn) bool {
			said := func(c *genai.Content) bool { return d.Of.Print == checkpoint.Fingerprint(c.Parts) }
			return slices.ContainsFunc(history[t.From:t.To], said) || d.Of.Asked != "" &&
				strings.Contains(text.OneLine(t.Question, 1<<20), strings.TrimSuffix(d.Of.Asked, "..."))
		}
		if j := slices.IndexFunc(turns, mine); j >= 0 {
			q.done, turns = turns[:j+1], turns[j+1:]
		}
		q.unrecorded = len(q.done) == 0 && slices.ContainsFunc(history[t.From:t.To], cmd.mayChange)
		list = append(list, q)
	}
	return list, nil
}

// mayChange reports whether a message has calls of tools that are not known to be read-only.
func (cmd undoCommands) mayChange(c *genai.Content) bool {
	return slices.ContainsFunc(c.Parts, func(p *genai.Part) bool {
		return p.FunctionCall != nil && !slices.ContainsFunc(cmd.c.Tools.Tools(), func(t engine.Tool) bool {
			return t.Name() == p.FunctionCall.Name && t.Kind.ReadOnly()
		})
	})
}

func (cmd undoCommands) listQuestions(ctx context.Context, list []asked) error {
	switch {
	case len(list) == 0 && len(journal.Turns(journal.Transcript(cmd.c.Journal, nil))) > 0:
		return sentences(cmd.out, "nothing was asked since the conversation was compressed, and /rewind reaches no further back")
	case len(list) == 0:
		return sentences(cmd.out, "nothing was asked yet")
	}
	var ls []string
	for i, q := range list {
		files, added, removed := map[string]bool{}, 0, 0
		for _, d := range q.done {
			stats, err := cmd.c.Keeper.Stats(ctx, d)
			if err != nil {
				return err
			}
			for _, s := range stats {
				files[s.Path] = true
				added, removed = added+s.Added, removed+s.Removed
			}
		}
		what := " (no files changed)"
		if n := len(files); n > 0 {
			what = fmt.Sprintf(" (%s, +%d -%d)", text.Count(n, "file"), added, removed)
		} else if q.unrecorded {
			what = ""
		}
		ls = append(ls, fmt.Sprintf("%d: %s%s", len(list)-i, text.PrintableLine(text.OneLine(q.text, 100)), what))
	}
	return sentences(cmd.out, append(ls, "/rewind N goes back to before one of them, with its files; /rewind N conversation or files does half of that")...)
}

func (cmd undoCommands) restore(ctx context.Context, arg string) error {
	theirs := cmd.sessions.Saved.Checkpoints()
	if slices.Contains(theirs, arg) {
		return cmd.restoreOriginal(ctx, arg)
	}
	list, err := cmd.c.Keeper.Turns(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		return err
	}
	calls := checkpoint.Calls(list)
	if arg == "" {
		return cmd.listCalls(calls, theirs)
	}
	n, err := number(arg, "/restore takes a call or a record, which /restore lists")
	if err != nil {
		return err
	}
	if n > len(calls) {
		return misused("there is no call %d; /restore lists %d", n, len(calls))
	}
	p, err := cmd.c.Keeper.UndoCalls(ctx, calls[:n])
	if err != nil {
		return err
	}
	if err := cmd.apply(ctx, p, "went back to before: "+calls[n-1].Title); err != nil {
		return err
	}
	return cmd.forgetCall(ctx, calls[n-1])
}

// forgetCall returns to the state before the question that led to a call, if the user agrees.
func (cmd undoCommands) forgetCall(ctx context.Context, call checkpoint.State) error {
	list, err := cmd.questions(ctx)
	i := slices.IndexFunc(list, func(q asked) bool {
		return len(q.done) > 0 && q.done[len(q.done)-1].Of.ID == call.Turn // the other turns belong to forgotten questions
	})
	if err != nil || i < 0 || cmd.confirm == nil {
		return err
	}
	yes, err := cmd.confirm(ctx, "take back the question, too, and all messages since: "+text.OneLine(list[i].text, 100)+"?")
	if err != nil || !yes {
		return err
	}
	return cmd.forget(list[i])
}

// listCalls lists the calls that can be undone, and checkpoints of the Gemini CLI.
func (cmd undoCommands) listCalls(calls []checkpoint.State, theirs []string) error {
	if len(calls)+len(theirs) == 0 {
		return sentences(cmd.out, "No restorable tool calls found.")
	}
	ls := []string{"Available tool calls to restore:", ""}
	for i, c := range calls {
		ls = append(ls, fmt.Sprintf("%d: %s %s: %s", i+1, c.Time.Local().Format(time.TimeOnly),
			c.Tool, text.PrintableLine(text.OneLine(c.Title, 100))))
	}
	return sentences(cmd.out, append(ls, escaped(theirs)...)...)
}

// restoreOriginal restores a checkpoint of the Gemini CLI: its conversation, and the files if the
// user agrees.
func (cmd undoCommands) restoreOriginal(ctx context.Context, name string) error {
	if cmd.sessions.Resume == nil || cmd.confirm == nil {
		return errOnePrompt
	}
	c, err := cmd.sessions.Saved.Checkpoint(name)
	if err != nil {
		return err
	}
	p, err := cmd.c.Keeper.RestoreCommit(ctx, c.Commit)
	if err != nil {
		return err
	}
	next, err := cmd.sessions.Resume(ctx, journal.OpenOptions{Saved: c.History})
	if err != nil {
		return err
	}
	*cmd.c = *next
	if err := cmd.apply(ctx, p, "went back to "+name); err != nil {
		return err
	}
	return sentences(cmd.out, "not made yet: the call of "+text.PrintableLine(c.Tool)+"; say go on, and the model may make it")
}

// discarded parses arguments in which all words before --to are the name of one file, and all words
// behind it the name of another.
func discarded(args string) ([]string, error) {
	var flags []string
	args = strings.TrimSpace(args)
	for _, yes := range []string{"-y", "--yes"} {
		if rest, ok := strings.CutPrefix(args+" ", yes+" "); ok {
			args, flags = strings.TrimSpace(rest), append(flags, yes)
		} else if rest, ok := strings.CutSuffix(" "+args, " "+yes); ok {
			args, flags = strings.TrimSpace(rest), append(flags, yes)
		}
	}
	args = strings.Replace(args, "--to=", "--to ", 1)
	file, to, elsewhere := strings.Cut(" "+args, " --to ")
	if file, to = strings.TrimSpace(file), strings.TrimSpace(to); file == "" && elsewhere { // --to PATH FILE
		to, file, _ = strings.Cut(to, " ")
	}
	if elsewhere {
		flags = append(flags, "--to="+to)
	}
	if file == "" {
		return flags, nil // the error says that a file is needed
	}
	return append(flags, "--", file), nil
}
