package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/tools/checkpoint"
)

// undoCommand is gemline undo.
type undoCommand struct {
	Session string `placeholder:"ID" complete:"session" help:"The session, as for --resume: a number of the list, an id, how one begins, a name or latest; the last one that has changed something if none is named."`
	DryRun  bool   `name:"dry-run" help:"Say what would be done, and do nothing."`
	Force   bool   `help:"Overwrite what others have changed since, too."`
}

// Run undoes the changes of a session's last turn.
func (c *undoCommand) Run(ctx context.Context, out *Output, here *Folder, project Project) error {
	k, err := project.Keeper()
	if err != nil {
		return err
	}
	defer k.Done()
	session, d, err := lastTurn(ctx, here, k.Keeper, c.Session)
	if err != nil {
		return err
	}
	keeper := k.Keeper.For(session)
	defer keeper.Close()
	p, err := keeper.Undo(ctx, []*checkpoint.ChangedTurn{d})
	if err != nil {
		return err
	}
	doc := undone{Session: session, Turn: d.Of.Asked, DryRun: c.DryRun, Changes: pathsOf(p.Changes),
		Others: pathsOf(p.Conflicts),
		Lost:   append([]string{}, p.NotKept...), Moved: append([]string{}, p.GitMoved...), Failed: []string{}}
	if c.Force {
		p.Overwrite()
	}
	ls, in := p.Lines(k.Rel), "in session "+text.ShortID(session)
	if c.Force && len(doc.Others) > 0 {
		ls = append(ls, "changed by others since, and overwritten: "+text.List(lists.Map(doc.Others, k.Rel)))
	}
	if c.DryRun {
		return out.show(doc, append(ls, "would take back: "+d.String(), in)...)
	}
	o, err := keeper.Apply(ctx, p)
	if err != nil {
		return err
	}
	doc.Done, doc.Failed = o.Done, append(doc.Failed, o.Failed...)
	ls = append(ls, o.Lines(k.Rel)...)
	if err := out.show(doc, append(ls, fmt.Sprintf("took back: %s (%s)", d, o.Count()), in)...); err != nil {
		return err
	}
	switch {
	case len(o.Failed) > 0:
		return errors.New(text.Count(len(o.Failed), "file") + " could not be brought back")
	case slices.Contains(p.NotKept, checkpoint.MissingChanges):
		return errors.New("a checkpoint is missing, so earlier changes of this turn may stay")
	case slices.ContainsFunc(p.NotKept, func(lost string) bool { return strings.HasPrefix(lost, checkpoint.UnrecordedCall) }):
		return errors.New("a call of this turn was not recorded, and what it changed stays")
	case len(p.Conflicts) > 0:
		return errors.New("files that others have changed since are as they were; gemline undo --force overwrites them")
	}
	return nil
}

// undone is the output of gemline undo --json.
type undone struct {
	Session string   `json:"session"`
	Turn    string   `json:"turn"`
	DryRun  bool     `json:"dry_run"`
	Changes []string `json:"changes"`
	Others  []string `json:"others"`
	Lost    []string `json:"lost"`
	Moved   []string `json:"moved"`
	Failed  []string `json:"failed"`
	Done    int      `json:"done"`
}

func pathsOf(list []checkpoint.Change) []string {
	return lists.Map(list, func(c checkpoint.Change) string { return c.Path })
}

// lastTurn returns the last turn of a session that is not undone, and the session's id. Without a
// session, it takes the last session with such a turn.
func lastTurn(ctx context.Context, here *Folder, k *checkpoint.Keeper, session string) (string, *checkpoint.ChangedTurn, error) {
	ids, err := k.Sessions(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		return "", nil, err
	}
	if session != "" && !slices.Contains(ids, session) { // a session without states, or an abbreviated id
		s, err := sessionID{session}.ProvideSession(here)
		if err != nil {
			return "", nil, err
		}
		session = s.ID
	}
	if session != "" {
		ids = []string{session}
	}
	undone := map[string]bool{} // by turn: undone in a copy of the session
	for _, id := range ids {
		one := k.For(id)
		list, err := one.Turns(ctx)
		one.Close()
		if err != nil {
			return "", nil, err
		}
		for _, d := range list {
			if !d.Undone && !undone[d.Of.ID] {
				return id, d, nil
			}
			undone[d.Of.ID] = true
		}
	}
	return "", nil, checkpoint.ErrNothing
}

// trashCommand is gemline trash.
type trashCommand struct {
	List    trashList    `cmd:"" default:"withargs" help:"List the files that calls deleted or overwrote." slash:"list"`
	Restore trashRestore `cmd:"" help:"Bring one back, at its place or elsewhere." slash:"restore"`
}

// A trash holds the files that calls deleted or overwrote, and the means to restore them.
type trash struct {
	*Kept
	list []checkpoint.DiscardedFile
}

// ProvideTrash returns the trash. The caller calls its Done.
func (*trashCommand) ProvideTrash(ctx context.Context, project Project) (*trash, error) {
	k, err := project.Keeper()
	if err != nil {
		return nil, err
	}
	list, err := k.Keeper.Trash(ctx)
	if err != nil && !errors.Is(err, checkpoint.ErrNothing) {
		k.Done()
		return nil, err
	}
	return &trash{k, list}, nil
}

type trashList struct{}

// Run prints the list, the latest first.
func (*trashList) Run(out *Output, trash *trash) error {
	defer trash.Done()
	var ls []string
	for i, d := range trash.list {
		ls = append(ls, fmt.Sprintf("%d: %s, %s %s by %s", i+1, trash.Rel(d.Path), d.Action,
			d.Time.Local().Format(time.DateTime), cmp.Or(text.OneLine(d.Title, 80), "a call")))
	}
	return out.listing(map[string]any{"files": trash.list}, ls, "nothing was deleted or overwritten by calls here")
}

type trashRestore struct {
	File string `arg:"" help:"The file, or its number in the list."`
	To   string `placeholder:"PATH" complete:"files" help:"Where to; its own place if nothing is said."`
	Yes  bool   `short:"y" help:"Don't ask."`
}

// Run restores a file.
func (c *trashRestore) Run(ctx context.Context, out *Output, here *Folder, ask *Asker, trash *trash) error {
	defer trash.Done()
	k, list := trash.Kept, trash.list
	path := filepath.Clean(disk.Absolute(c.File, here.Paths.Folder(""), here.Paths.Home))
	i := slices.IndexFunc(list, func(d checkpoint.DiscardedFile) bool { return d.Path == path })
	if n, err := strconv.Atoi(c.File); i < 0 && err == nil && n > 0 && n <= len(list) {
		i = n - 1
	}
	if i < 0 {
		return misused("%s was not deleted or overwritten by a call; %s lists the files that were",
			text.PrintableLine(c.File), ask.says("trash list"))
	}
	keeper := k.Keeper // the current session stores overwritten files
	if ask.In != nil {
		keeper = keeper.For(list[i].Session)
		defer keeper.Close()
	}
	to := list[i].Path
	if c.To != "" {
		to = filepath.Join(disk.ResolveLinks(filepath.Dir(disk.Absolute(c.To, here.Paths.Folder(""),
			here.Paths.Home))), filepath.Base(c.To))
	}
	p, err := keeper.Recover(ctx, list[i], to)
	if err != nil {
		return err
	}
	if p.Empty() {
		return out.show(map[string]any{"path": to, "restored": false}, k.Rel(to)+" is as it was")
	}
	yes := c.Yes
	if !yes {
		about, err := c.question(ctx, k, list[i], p.Changes[0])
		if err != nil {
			return err
		}
		if yes, err = ask.confirm(ctx, about); err != nil {
			return err
		}
	}
	if !yes {
		return out.show(map[string]any{"path": to, "restored": false}, "nothing is changed")
	}
	o, err := keeper.Apply(ctx, p)
	if err == nil && len(o.Failed) > 0 {
		err = errors.New(text.PrintableLine(o.Failed[0]))
	}
	if err != nil {
		return err
	}
	return out.show(map[string]any{"path": to, "restored": true},
		"brought back "+k.Rel(to)+"; "+ask.says("undo")+" takes that back")
}

// question asks whether to restore a file, and describes the file now in its place.
func (c *trashRestore) question(ctx context.Context, k *Kept, d checkpoint.DiscardedFile,
	change checkpoint.Change) (string, error) {
	is, comes, err := k.Keeper.DescribeChange(ctx, change)
	from, to := k.Rel(d.Path), k.Rel(change.Path)
	until := fmt.Sprintf("until %s (%s)", d.Time.Local().Format(time.DateTime), comes)
	switch there := change.Before.Exists(); {
	case !there && from == to:
		return "bring back " + to + " as it was " + until + "?", err
	case !there:
		return "make " + to + ", with " + from + " as it was " + until + "?", err
	case from == to:
		return "overwrite " + to + " (now " + is + ") with what it was " + until + "? --to PATH puts it elsewhere", err
	default:
		return "overwrite " + to + " (now " + is + ") with " + from + " as it was " + until + "?", err
	}
}

// says returns a command as the user types it here.
func (ask *Asker) says(command string) string {
	if ask.In == nil {
		return "/" + command
	}
	return "gemline " + command
}

// confirm asks a question with the answer yes or no. The end of the input means no.
func (ask *Asker) confirm(ctx context.Context, about string) (bool, error) {
	switch {
	case ask.Confirm != nil:
		return ask.Confirm(ctx, about)
	case ask.In == nil || ask.Err == nil:
		return false, errors.New("nobody can be asked here; --yes answers")
	}
	line, err := ask.ask(about + " [y/N] ")
	if err != nil {
		fmt.Fprintln(ask.Err)
		return false, errUnanswered
	}
	line = strings.ToLower(line)
	return line == "y" || line == "yes", nil
}

// errUnanswered says that the input ended before an answer.
var errUnanswered = errors.New("nobody has answered; --yes does")

// ask returns the next line of standard input, or [io.EOF] at the end of the input.
func (ask *Asker) ask(question string) (string, error) {
	io.WriteString(ask.Err, text.PrintableLine(question)) // the text may come from an extension
	if ask.typed == nil {
		ask.typed = bufio.NewReader(ask.In)
	}
	line, err := ask.typed.ReadString('\n')
	if line != "" {
		err = nil
	}
	return strings.TrimSpace(line), err
}
