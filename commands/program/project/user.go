package project

import (
	"gemline/commands/cli"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/workspace"
)

// A User is the other side of the conversations: a person at the terminal, or programs.
type User struct {
	Interactive bool              // a person sits at the terminal
	Serving     *cli.Serving      // how programs are served; nil if none are
	Editor      workspace.Editor  // has files open
	Servers     []settings.Server // MCP servers that the editor names
	flags       *flags.Set
}

// SeveralAnswers reports whether a run may give several answers, each with its own time.
func (u *User) SeveralAnswers() bool {
	return u.Interactive || u.flags.Talks() || u.flags.ACP || u.Serving != nil
}

// Attended reports whether anybody is there to ask.
func (u *User) Attended() bool { return u.Interactive || u.flags.AskTTY }

// Consulted reports whether anybody is asked about the folder's trust and wishes.
func (u *User) Consulted() bool { return u.Attended() || u.flags.AskTrust }

// Answered reports whether a person or a program answers the model's questions.
func (u *User) Answered() bool {
	return u.Attended() || (u.flags.Talks() || u.flags.ACP) && !u.flags.NoInput
}
