package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"google.golang.org/genai"
)

func directory() *Command {
	return &Command{Name: "directory", Aliases: []string{"dir"}, Summary: "the directories the model may work in", Sub: Set{
		{Name: "show", Summary: "list them", Run: showDirectories},
		{Name: "add", Args: "PATH[,PATH ...]", Summary: "let the model work in more of them", Run: addDirectories},
	}}
}

func showDirectories(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
	ls := []string{"Current workspace directories:"}
	for _, root := range app.Workspace.Roots() {
		ls = append(ls, "- "+root)
	}
	return nil, lines(app.Out, ls...)
}

// addDirectories tells the model too, or it would not know where to look.
func addDirectories(ctx context.Context, app *App, args string) ([]*genai.Part, error) {
	var added []string
	var failed error
	for _, dir := range strings.Split(args, ",") {
		if dir = strings.TrimSpace(dir); dir == "" {
			continue
		}
		dir = from(app, dir)
		if err := app.Workspace.Add(dir); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		added = append(added, dir)
	}
	if added == nil && failed == nil {
		return nil, errors.New("which directory? /directory add PATH")
	}
	if added != nil {
		if err := lines(app.Out, "added: "+strings.Join(added, ", ")); err != nil {
			return nil, err
		}
		note := genai.NewPartFromText(fmt.Sprintf("The user added these workspace directories: %s", strings.Join(added, ", ")))
		if err := app.Engine.Add(ctx, note); err != nil {
			return nil, err
		}
	}
	return nil, failed
}

// from returns the absolute path of a directory as the user writes it.
func from(app *App, dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~"); ok && app.Home != "" && (rest == "" || rest[0] == '/') {
		dir = filepath.Join(app.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(app.Workspace.Roots()[0], dir)
	}
	return dir
}
