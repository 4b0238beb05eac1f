package project

import (
	"gemline/commands/cli"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/tools/workspace"
)

// A User is the other side of the conversations: a person at the terminal, or programs.
type User struct {
	Interactive   bool              // a person sits at the terminal
	Serving       *cli.Serving      // how programs are served; nil if none are served
	Editor        workspace.Editor  // the editor with open files
	EditorServers []settings.Server // MCP servers that the editor names
	flags         *flags.Set
}

// SeveralAnswers reports whether a run may give several answers, each with its own time.
func (u *User) SeveralAnswers() bool {
	return u.Interactive || u.flags.Talks() || u.flags.ACP || u.Serving != nil
}

// HasUser reports whether a user can be asked.
func (u *User) HasUser() bool { return u.Interactive || u.flags.AskTTY }

// AsksForTrust reports whether a user or a program is asked about trust and consent.
func (u *User) AsksForTrust() bool { return u.HasUser() || u.flags.AskTrust }

// AnswersQuestions reports whether a person or a program answers the model's questions.
func (u *User) AnswersQuestions() bool {
	return u.HasUser() || (u.flags.Talks() || u.flags.ACP) && !u.flags.NoInput
}
