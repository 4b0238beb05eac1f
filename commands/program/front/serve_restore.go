package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/commands/program/session"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/checkpoint"
)

// A restorable is a call whose changes a client may undo.
type restorable struct {
	Message    string `json:"messageId"` // of the turn's message
	Checkpoint string `json:"checkpoint"`
}

// A restoreReply is the reply of the Gemini CLI's server to a restore request.
type restoreReply struct {
	Type    string `json:"type"`
	Kind    string `json:"messageType"`
	Content string `json:"content"`
}

// restoreMessage returns a reply with a text.
func restoreMessage(kind, content string) restoreReply { return restoreReply{"message", kind, content} }

// checkpointName returns the name of a call, by which clients identify it in later requests.
func checkpointName(c checkpoint.State) string {
	at := strings.ReplaceAll(c.Time.UTC().Format("2006-01-02T15-04-05.000Z"), ".", "_")
	return at + "-" + c.Tool
}

// eachRestorable calls do for each session of the project that changed files, the latest first,
// with the calls that did. gemline undo finds the same calls.
func eachRestorable(ctx context.Context, p *project.Project,
	do func(k *checkpoint.Keeper, calls []checkpoint.State) (more bool, err error)) error {
	s, err := session.Begin(ctx, p, session.Config{Tally: ending.NewTally()})
	if err != nil {
		return err
	}
	defer s.Close()
	ids, err := s.Keeper.Sessions(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		return err
	}
	for _, id := range ids {
		k := s.Keeper.For(id)
		list, err := k.Turns(ctx)
		more := true
		if errors.Is(err, checkpoint.ErrNothing) {
			err = nil
		}
		if calls := checkpoint.Calls(list); err == nil && len(calls) > 0 {
			more, err = do(k, calls)
		}
		k.Close()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// restorables lists the calls that can be undone, the latest first.
func restorables(ctx context.Context, p *project.Project) (restoreReply, error) {
	all := []restorable{}
	err := eachRestorable(ctx, p, func(_ *checkpoint.Keeper, calls []checkpoint.State) (bool, error) {
		all = append(all, lists.Map(calls, func(c checkpoint.State) restorable { return restorable{c.Turn, checkpointName(c)} })...)
		return true, nil
	})
	b, jerr := text.JSON(all, "")
	return restoreMessage("info", string(b)), cmp.Or(err, jerr)
}

// restoreTo restores the state before a call, except files that others have changed since.
func restoreTo(ctx context.Context, p *project.Project, name string) ([]restoreReply, error) {
	name = strings.TrimSuffix(name, ".json")
	if name == "" {
		return []restoreReply{restoreMessage("error", "Please provide a checkpoint name to restore.")}, nil
	}
	said := []restoreReply{restoreMessage("error", "File not found: "+name+".json")}
	err := eachRestorable(ctx, p, func(k *checkpoint.Keeper, calls []checkpoint.State) (bool, error) {
		i := slices.IndexFunc(calls, func(c checkpoint.State) bool { return checkpointName(c) == name })
		if i < 0 {
			return true, nil
		}
		plan, err := k.UndoCalls(ctx, calls[:i+1])
		if err != nil {
			return false, err
		}
		o, err := k.Apply(ctx, plan)
		if err != nil {
			return false, err
		}
		said = restoreReport(calls[i], plan, o, filepath.Base)
		return false, nil
	})
	return said, err
}

// restoreReport describes the outcome of restoring the state before a call.
func restoreReport(c checkpoint.State, p *checkpoint.Plan, o checkpoint.Outcome, rel func(string) string) []restoreReply {
	done := fmt.Sprintf("Restored project to the state before the tool call: %s (%s)", text.OneLine(c.Title, 100), o.Count())
	said := []restoreReply{restoreMessage("info", done)}
	p.Changes = nil // only what is not done
	return append(said, lists.Map(append(p.Lines(rel), o.Lines(rel)...), func(l string) restoreReply { return restoreMessage("error", l) })...)
}
