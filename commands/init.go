package commands

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"google.golang.org/genai"

	"gemline/engine/memory"
)

// initPrompt asks for the context file of a project.
const initPrompt = `Look at this project and write GEMINI.md in its top directory: what somebody who works on it for the first time must know and can't see at a glance. First read the README, the build and configuration files and a few files from each part of the source.

For a software project say in short plain sections: what it is for; how it is built, run, tested and linted, with the exact commands as the files have them; how it is laid out and where a change of each kind belongs; the conventions that its code follows and its tools check. For another kind of folder say what it holds, how it is ordered and how its content is meant to be used.

Say only what you have seen in the files. Leave out what every project has. Stay below 80 lines.`

func (cmd memoryCommands) initialize(_ context.Context, _, args string) ([]*genai.Part, error) {
	path := filepath.Join(cmd.c.Workspace.Roots()[0], memory.DefaultName)
	info, err := cmd.c.Workspace.Lstat(path)
	empty := err == nil && info.Mode().IsRegular() && info.Size() == 0
	if !empty && !errors.Is(err, fs.ErrNotExist) {
		return nil, unavailable("%s is there already; ask the model to improve it, or move it away", memory.DefaultName)
	}
	return []*genai.Part{genai.NewPartFromText(strings.TrimSpace(initPrompt + "\n\n" + args))}, nil
}
