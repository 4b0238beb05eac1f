package project

import (
	"gemline/commands/cli"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/workspace"
)

// A User is whom the conversations are held with: a person at the terminal, or programs.
type User struct {
	Interactive bool              // a person sits at the terminal
	Serving     *cli.Serving      // other programs; nil if it does not
	Editor      workspace.Editor  // that has files open
	Servers     []settings.Server // MCP servers that the editor names
	flags       *flags.Set
}

// SeveralAnswers reports whether there may be more than one answer, each with its
// own time.
func (u *User) SeveralAnswers() bool {
	return u.Interactive || u.flags.Talks() || u.flags.ACP || u.Serving != nil
}

// Attended reports whether anybody is there to ask.
func (u *User) Attended() bool { return u.Interactive || u.flags.AskTTY }

// Consulted reports whether anybody is asked about what the folder brings.
func (u *User) Consulted() bool { return u.Attended() || u.flags.AskTrust }

// Answered reports whether the model's questions are, by a person or a program.
func (u *User) Answered() bool {
	return u.Attended() || (u.flags.Talks() || u.flags.ACP) && !u.flags.NoInput
}
