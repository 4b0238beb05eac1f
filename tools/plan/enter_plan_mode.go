package plan

import (
	"context"
	_ "embed"
	"fmt"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/toolkit"
)

//go:embed doc/enter_plan_mode.md
var enterPlanModeDoc string

const enterPlanModeSchema = `{"type":"object","properties":{
"reason":{"type":"string","description":"In a sentence"}}}`

type enterPlanModeArgs struct {
	Reason string `json:"reason"`
}

// EnterTool returns the tool that switches plan mode on.
func (p *Folder) EnterTool() engine.Tool {
	tool := toolkit.Define("enter_plan_mode", "Enter Plan Mode", engine.Planning, enterPlanModeDoc, enterPlanModeSchema,
		func(_ context.Context, a enterPlanModeArgs) (engine.Call, error) {
			title := "change to plan mode"
			if reason := text.Words(a.Reason); reason != "" {
				title += ": " + reason
			}
			return engine.Call{Intent: engine.Intent{Title: title},
				Run: func(context.Context, engine.Host) (engine.Result, error) {
					if p.Planning() {
						return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed,
							Message: "Plan mode is on already."}
					}
					if err := p.make(); err != nil {
						return engine.Result{}, err
					}
					if err := p.Enter(); err != nil {
						return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Message: err.Error()}
					}
					p.entered.Store(true)
					return engine.Result{Display: "plan mode",
						Text: fmt.Sprintf("Switching to Plan mode.\n\nPlans are Markdown files directly in %s.", p.Dir)}, nil
				}}, nil
		})
	tool.When = func() bool { return p != nil && !p.Planning() }
	return tool
}
