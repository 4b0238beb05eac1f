// Package session begins conversations: [Begin] makes a [Session] in a project, with its file,
// rules, tools and engine. A front end ranges over [Session.Run].
//
// # A conversation is complete from the start
//
// A Session is complete when Begin returns it, and closes what it owns. A prompt, a session at
// a terminal, /clear, a program that talks and each item of a batch begin in
// the same way, and differ in their [Config].
//
// # Conversations share only the project
//
// Conversations of one project may run side by side: each has its own rules, grants, file and
// models.
package session

import (
	"gemline/commands/program/project"
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/hook"
	"gemline/engine/loop"
	"gemline/engine/memory"
	"gemline/engine/steer"
	"gemline/tools/checkpoint"
)

// A Session is one conversation in a project: its history and its file, the rules that were
// granted and what it may spend.
type Session struct {
	Project    *project.Project
	Config     Config
	Notices    *Notices
	Journal    *Journal
	agents     *agents
	Hooks      *hook.Hooks // nil if there are none
	Models     *Models
	Memory     *memory.Memory
	Keeper     *checkpoint.Keeper // stores states of files, for undo
	Rules      *Rules
	Tools      *Toolbox
	Engine     *engine.Engine
	compressor *compress.Compressor
	guard      *loop.Guard // against loops; nil if the settings switch it off
	Hints      steer.Hints // the user's hints that were not sent to the model yet
}

// ModelName returns the name of the current model, "" before the engine is made.
func (s *Session) ModelName() string {
	if s.Engine == nil {
		return ""
	}
	return s.Engine.Model()
}
