package session

import (
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/repl/report"
)

// A Choice says which conversation begins.
type Choice struct {
	journal.OpenOptions
	Directories []string             // that are worked in beside the project's
	Model       string               // "" is that of the settings
	Thinking    string               // likewise
	MaxTurns    int                  // 0 is that of the settings
	System      string               // the system instruction, if not our own
	Generator   engine.Generator     // answers in place of the model, without tools
	Trial       bool                 // nothing is recorded
	Scratch     string               // a directory for what a trial has to keep of files, "" if it changes none
	Limits      *limit.Config        // of this conversation alone, nil if there are none
	Policy      *policy.Policy       // nil is the project's
	Schema      *report.OutputSchema // nil if any answer will do
	Tally       *tally.Tally
	Notify      func(string) // nil is the project's
	Approver    engine.Approver
}
