package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gemline/engine/journal"
	"gemline/engine/lists"
	"gemline/repl/attach"
	"gemline/settings/project"
)

// attachCommand is gemline attach.
type attachCommand struct {
	Session string `arg:"" optional:"" help:"The id of a live session, how it begins, or its number in the list, which is printed without it."`
}

// live returns the live sessions of all directories.
func live(ctx context.Context, paths project.Paths) []attach.Session {
	var dirs []string
	if paths.Home != "" {
		tmp := paths.User("tmp")
		found, _ := fs.Glob(os.DirFS(tmp), "*/sockets")
		dirs = lists.Map(found, func(name string) string { return filepath.Join(tmp, name) })
	}
	return attach.Live(ctx, dirs...)
}

// showLive prints live sessions.
func (out *Output) showLive(all []attach.Session) error {
	var list []attach.Info
	var lines []string
	for i, s := range all {
		list = append(list, s.Info)
		lines = append(lines, fmt.Sprintf("%d. %s%s", i+1, titleOf(s), s.Describe()))
	}
	return out.listing(map[string]any{"live": list}, lines, "no session is live")
}

// titleOf returns the title of a live session, and a comma, "" if its file has none.
func titleOf(s attach.Session) string {
	list, err := journal.List(filepath.Join(filepath.Dir(s.Dir), "chats"))
	i := slices.IndexFunc(list, func(kept journal.Session) bool { return kept.ID == s.ID })
	if err != nil || i < 0 {
		return ""
	}
	return list[i].Title + ", "
}

// Run shows a live session, or lists them.
func (c *attachCommand) Run(ctx context.Context, out *Output, here *Folder, show Attach) error {
	all := live(ctx, here.Paths)
	if c.Session == "" {
		return out.showLive(all)
	}
	found := matchingSessions(all, c.Session)
	switch {
	case len(found) == 0:
		return &NoSessionError{fmt.Errorf("no live session %.100q; gemline attach lists those there are", c.Session)}
	case len(found) > 1:
		return &NoSessionError{fmt.Errorf("%d live sessions go by %.100q; gemline attach lists them, with the numbers that they can be named by", len(found), c.Session)}
	case show == nil:
		return &NoSessionError{fmt.Errorf("gemline attach needs a terminal of its own, outside of a session")}
	}
	conn, err := attach.Dial(ctx, found[0].Dir, found[0].ID)
	if err != nil {
		return &NoSessionError{err}
	}
	return show(ctx, conn)
}

// matchingSessions returns the sessions that match a word: the id, the number in the list or the
// beginning of the id.
func matchingSessions(all []attach.Session, word string) (found []attach.Session) {
	by := func(is func(id string) bool) []attach.Session {
		return slices.DeleteFunc(slices.Clone(all), func(s attach.Session) bool { return !is(s.ID) })
	}
	if found = by(func(id string) bool { return id == word }); len(found) > 0 {
		return found
	}
	if n, err := strconv.Atoi(word); err == nil && n > 0 && n <= len(all) {
		return all[n-1 : n]
	}
	return by(func(id string) bool { return strings.HasPrefix(id, word) })
}
