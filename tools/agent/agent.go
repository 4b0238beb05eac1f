// Package agent has agents: a model with a task, tools and instructions of its own, whose
// report is the outcome of a call.
//
// A [Definition] says what an agent is. [Tool] is the tool by which it is called. The
// conversation that the agent has is made by somebody else, of an [engine.Engine]; a [Task]
// is what that needs to know of the call, and what reads it.
//
// # One report
//
// An agent is done when it has called complete_task, whose argument is its report. Who ends
// without it, by words, by too many requests or too much time, is asked for it once more.
// Nothing else of what an agent says reaches the model that has called it.
//
// # Judged as ever
//
// Calls of an agent are judged by the same policy, which knows whose they are, and what is
// left open is asked at the same place. While somebody is asked, and while what an agent
// tells is shown, its time stands still.
//
// # Agents on other servers
//
// What such an agent does there nobody here judges, so the call of it is asked about. What
// it answers is its report.
//
// # No agent calls agents
//
// Nor does one ask the user anything, or begin and end plan mode.
package agent

import (
	"time"

	"google.golang.org/genai"

	"gemline/tools/agent/remote"
)

// A Definition is what an agent is.
type Definition struct {
	Name        string
	Label       string // the name that people read, may be empty
	Description string // for the model that may call it

	Source string       // who brings it: built-in, project, user, or the name of an extension
	File   string       // empty if it is built in
	Print  string       // what tells the contents of the file from others
	Off    string       // why it can't be called, empty if it can
	Notes  []*FileError // what of the file has no effect, or another than it says

	// Misread are values that are not understood, of which something safe was made.
	Misread []error

	// Prompt is the system instruction; ${query} and the like in it are replaced by what
	// [Task.Instruction] says. Core has gemline's own stand before it.
	Prompt string
	Core   bool

	Tools   []string       // names and patterns of those that it may call; nil is all
	Except  []string       // names and patterns of those that it may not
	Servers map[string]any // MCP servers of its own, as settings have them
	Given   map[string]any // those that the user's settings give it, which come first

	// Remote says where an agent is that works on another server, nil for one that works
	// here. Of what follows, and of Prompt and Tools, only Time says something of it.
	Remote *remote.Server

	Model   string // empty is that of the conversation that calls it
	Class   string // without Model: the class of models, of the family of that conversation's
	Config  *genai.GenerateContentConfig
	Most    int           // requests, 0 is DefaultTurns
	Time    time.Duration // 0 is DefaultTime
	Input   string        // the placeholder of the prompt, "" is query
	Report  string        // the argument of complete_task, "" is result
	Schema  string        // of that argument, "" is a text
	Display func(report any) string
}

// What an agent may take where its definition says nothing.
const (
	DefaultTurns = 30
	defaultTime  = 10 * time.Minute
)
