package session

import (
	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/limit"
	"gemline/engine/policy"
	"gemline/engine/tally"
	"gemline/repl/report"
)

// A Config says which conversation begins, and with what. Its zero value is a new conversation by
// the settings, in which no user can be asked.
type Config struct {
	Open        journal.OpenOptions  // the session to resume, fork or begin
	directories []string             // more directories of the workspace
	Model       string               // "" is the model of the settings
	thinking    string               // the thinking level of models; "" means the level in the settings
	MaxTurns    int                  // requests for a prompt; 0 is the limit of the settings
	System      string               // the system instruction; "" is gemline's own
	Generator   engine.Generator     // answers in place of the model, without tools; may be nil
	Trial       bool                 // nothing is recorded
	Scratch     string               // where a trial stores states of files; "" if it changes none
	Limits      *limit.Config        // of this conversation alone, nil without limits
	policy      *policy.Policy       // nil is the project's
	Schema      *report.OutputSchema // nil if any answer will do
	Tally       *tally.Tally         // counts what the conversation uses; not nil
	Notify      func(string)         // prints warnings; nil uses the project's status
	Approver    engine.Approver      // nil if no user can be asked
}
