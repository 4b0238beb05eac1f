package commands

import (
	"context"

	"google.golang.org/genai"
)

// editor is here to be listed: the reader of lines opens the editor where
// there is a terminal to lend to it.
func editor() *Command {
	return &Command{Name: "editor", Usual: true, Args: "[TEXT]", Summary: "write the next prompt in your editor",
		Run: func(_ context.Context, app *App, _ string) ([]*genai.Part, error) {
			if app.Screen != nil {
				return nil, unavailable("no editor was found; set VISUAL, EDITOR or general.preferredEditor")
			}
			return nil, unavailable("/editor works only when it is typed at the prompt of a session")
		}}
}
