package program

import (
	"gemline/engine"
	"gemline/engine/compress"
	"gemline/engine/hook"
	"gemline/engine/loop"
	"gemline/engine/memory"
	"gemline/engine/steer"
	"gemline/tools/checkpoint"
)

// A Session is one conversation in a Project: what is said and recorded, what was
// granted and what it may spend.
type Session struct {
	project *Project
	Choice
	notices    *notices
	chat       *chat
	agents     *agents
	hooks      *hook.Hooks // nil if there are none
	models     *models
	memory     *memory.Memory
	keeper     *checkpoint.Keeper // of the states of files
	rules      *rules
	tools      *toolbox
	engine     *engine.Engine
	compressor *compress.Compressor
	guard      *loop.Guard // against loops, nil if nobody looks for them
	hints      steer.Hints // the user's, not sent to the model yet
}

// modelName returns the name of the model that is asked, "" before there is a conversation.
func (s *Session) modelName() string {
	if s.engine == nil {
		return ""
	}
	return s.engine.Model()
}
