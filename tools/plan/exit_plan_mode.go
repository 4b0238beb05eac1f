package plan

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"gemline/engine"
	"gemline/tools/files"
	"gemline/tools/toolkit"
)

//go:embed doc/exit_plan_mode.md
var exitPlanModeDoc string

// ExitName is the name of the tool that asks for the approval of a plan.
const ExitName = "exit_plan_mode"

const exitPlanModeSchema = `{"type":"object","properties":{
"plan_filename":{"type":"string","description":"Such as plan.md"}},
"required":["plan_filename"]}`

type exitPlanModeArgs struct {
	Name string `json:"plan_filename"`
}

// ExitTool returns the tool that asks for the approval of a plan, and ends plan mode after
// the approval.
func (p *Folder) ExitTool() engine.Tool {
	var tool engine.Tool
	tool = toolkit.Define(ExitName, "Exit Plan Mode", engine.Planning, exitPlanModeDoc, exitPlanModeSchema,
		func(_ context.Context, a exitPlanModeArgs) (engine.Call, error) {
			r, err := p.read(a.Name)
			if err != nil {
				return engine.Call{}, err
			}
			name := filepath.Base(r.Path)
			in := engine.Intent{Title: "hand in the plan " + name}
			return engine.Call{Intent: in, Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
				if !p.Planning() {
					return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed,
						Message: "Plan mode is off already."}
				}
				if !p.HasUser {
					return p.withoutUser(name, host)
				}
				return p.ask(ctx, host, tool, name)
			}}, nil
		})
	tool.When = func() bool { return p != nil && p.Planning() }
	return tool
}

// withoutUser handles a plan that no user can approve: the model returns to its previous
// mode. If the user chose plan mode, the mode stays.
func (p *Folder) withoutUser(name string, host engine.Host) (engine.Result, error) {
	r, err := p.read(name)
	if err != nil {
		return engine.Result{}, err
	}
	if p.entered.Load() {
		return p.approve(r.Path, "", false)
	}
	host.Emit(engine.Notice{Info: true, Text: "the plan is stored: " + r.Path})
	return engine.Result{Display: "kept; plan mode stays on", Text: "The plan is stored at: " + r.Path +
		"\nNobody is there to approve it, so plan mode stays on. End with a summary of the plan, and say where it is."}, nil
}

// ask asks the user about a plan, and again after each change by the user.
func (p *Folder) ask(ctx context.Context, host engine.Host, tool engine.Tool, name string) (engine.Result, error) {
	changed := false
	tool.Fit = func(args map[string]any) (map[string]any, string, error) { // checks the arguments of an edited proposal
		if _, ok := args["plan"].(string); !ok {
			return args, "", toolkit.Misuse("the changed plan was expected as the argument plan")
		}
		return args, "", nil
	}
	for {
		r, err := p.read(name)
		if err != nil {
			return engine.Result{}, err
		}
		answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Args: planArgs(name, nil),
			Intent: p.question(r, name)})
		if err != nil {
			return engine.Result{}, err
		}
		at := "\n\nThe plan is stored at: " + r.Path + "\n"
		switch a := answer.(type) {
		case engine.Allowed:
			mode := ""
			if a.Scope != engine.Once {
				mode = a.Grant.Target
			}
			return p.approve(r.Path, mode, changed)
		case engine.Changed:
			if _, _, err := tool.Fit(a.Args); err != nil {
				return engine.Result{}, err
			}
			if err := r.Propose(a.Args["plan"].(string)); err != nil {
				return engine.Result{}, err
			}
			if err := r.Write(ctx); err != nil {
				return engine.Result{}, err
			}
			changed = true
		case engine.Refused:
			said := "Plan rejected. No feedback provided." + at + "Ask the user what to change in it."
			if a.Note != "" {
				said = "Plan rejected. User feedback: " + a.Note + at + "Revise the plan based on the feedback."
			}
			return engine.Result{Text: said, Display: "the plan is not approved; plan mode stays on", Verdict: "not approved"}, nil
		default:
			return engine.Result{Display: "no answer; plan mode stays on", Verdict: "not approved",
				Text: "User cancelled the plan approval dialog. The plan was not approved and you are still in Plan Mode."}, nil
		}
	}
}

// question returns the question about a plan. "Always" chooses the next mode.
func (p *Folder) question(r *files.Revision, name string) engine.Intent {
	modes := p.Modes()
	in := engine.Intent{Title: fmt.Sprintf("carry out %s in %s: %s", name, modes[0].Name, modes[0].Meaning),
		Detail: strings.TrimSpace(r.File.Text),
		Yes:    "the plan is approved and carried out in " + modes[0].Name,
		No:     "plan mode stays on; the model reads the words behind n, and revises the plan",
		Draft: &engine.Draft{Name: name, Text: r.File.Text,
			Args: func(text string) map[string]any { return planArgs(name, &text) }}}
	for _, m := range modes[1:] {
		in.Grants = append(in.Grants, engine.Grant{Label: "carry it out in " + m.Name,
			Tool: ExitName, Target: m.Name})
	}
	return in
}

// planArgs returns the arguments of a proposed plan: its name, and its text if the user has
// changed it.
func planArgs(name string, text *string) map[string]any {
	args := map[string]any{"plan_filename": name}
	if text != nil {
		args["plan"] = *text
	}
	return args
}

// approve ends plan mode.
func (p *Folder) approve(path, mode string, changed bool) (engine.Result, error) {
	into := p.Modes()[0]
	for _, m := range p.Modes() {
		if m.Name == mode {
			into = m
		}
	}
	said, err := p.Leave(mode)
	if err != nil {
		return engine.Result{}, &engine.CallError{Type: engine.ExecutionFailed, Message: err.Error()}
	}
	p.entered.Store(false)
	p.approved.Store(&path)
	text := Approval + said + ".\n\n" + stored + path + "\nRead and follow the plan strictly during implementation."
	if changed {
		text += " The user has changed it."
	}
	return engine.Result{Text: text, Display: "plan mode is over; approval mode: " + into.Name +
		" (" + into.Meaning + ")"}, nil
}
