package command

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/toolkit"
)

// confinedDoc is what the model is told of commands that are confined, and
// moreSchema how it may ask for more.
const (
	confinedDoc = "Commands are confined: they can write to the workspace and to temporary files, and reach no network. If one needs more, ask for just that with additional_permissions; the user decides."

	moreSchema = `,
"additional_permissions":{"type":"object","description":"Rights that this command can't do without; the user is asked","properties":{
"network":{"type":"boolean"},
"fileSystem":{"type":"object","properties":{
"read":{"type":"array","items":{"type":"string"}},
"write":{"type":"array","items":{"type":"string"}},
"protected":{"type":"boolean","description":"Write to .git and .gemini in the workspace, too"}}}}}`
)

// more are the rights that a call asks for, as the model writes them.
type more struct {
	Network bool `json:"network"`
	Files   struct {
		Read  []string `json:"read"`
		Write []string `json:"write"`

		Protected bool `json:"protected"` // what is protected in the workspace
	} `json:"fileSystem"`
}

// args returns m as arguments have it, nil if it asks for nothing.
func (m more) args() map[string]any {
	args, files := map[string]any{}, map[string]any{}
	if m.Network {
		args["network"] = true
	}
	for name, list := range map[string][]string{"read": m.Files.Read, "write": m.Files.Write} {
		if len(list) > 0 {
			paths := make([]any, len(list))
			for i, p := range list {
				paths[i] = p
			}
			files[name] = paths
		}
	}
	if m.Files.Protected {
		files["protected"] = true
	}
	if len(files) > 0 {
		args["fileSystem"] = files
	}
	if len(args) == 0 {
		return nil
	}
	return args
}

// with returns m and what r holds beyond it.
func (m more) with(r engine.Rights) more {
	m.Network = m.Network || r.Network
	m.Files.Read = append(slices.Clone(m.Files.Read), r.Read...)
	m.Files.Write = append(slices.Clone(m.Files.Write), r.Write...)
	m.Files.Protected = m.Files.Protected || r.Protected
	return m
}

// rights returns m as rights.
func (m more) rights() engine.Rights {
	return engine.Rights{Network: m.Network, Read: m.Files.Read, Write: m.Files.Write, Protected: m.Files.Protected}
}

// beyond returns what the call asks for, or names, that a command does not have anyway.
func (c shellCall) beyond() (engine.Rights, error) {
	want := c.More
	if c.env.Answered {
		want = want.with(c.env.Launcher.Needs(c.plan(), c.read.Inputs))
	}
	r, err := c.env.Launcher.Beyond(want.rights(), c.dir)
	if err != nil {
		return r, toolkit.Misuse("%v", err)
	}
	return r, nil
}

// image reports whether commands see the programs of a container's image.
func (env Tools) image() bool {
	return env.Launcher.Sandbox != nil && env.Launcher.Sandbox.State().Image()
}

// hold says in in how the command is held, and what may be offered beyond it.
func (c shellCall) hold(in *engine.Intent) {
	if c.env.Launcher.Sandbox == nil {
		return
	}
	state, p := c.env.Launcher.State(), c.env.Launcher.Given(c.rights)
	in.Plan.Confined = c.looks || state.Confined() && !p.Network && !p.Unprotected && c.rights.None()
	in.Plan.Held = c.env.Launcher.Held()
	in.Plan.Undoable = !c.looks && c.undoable()
	if !c.looks && c.holdable() {
		held := c.runShellCommandArgs
		held.ReadOnly = true
		in.Plan.ReadOnly = held.args()
	}
	dials := launch.Dialers(c.read.Commands)
	if state.Network && !p.Network && !c.env.Launcher.Config.Offline && (len(c.rights.Read) == 0 || len(dials) > 0) {
		online := c.runShellCommandArgs
		online.More.Network = true
		in.Plan.Online, in.Plan.Dials = online.args(), dials
	}
}

// connected returns c with the network, if its programs are known to want one
// and it runs unasked with it.
func (c shellCall) connected(ctx context.Context, tool engine.Tool) shellCall {
	if c.env.Launcher.Sandbox == nil || c.env.Gives == nil || c.rights.Network || len(launch.Dialers(c.read.Commands)) == 0 {
		return c
	}
	next, err := c, error(nil)
	next.More.Network = true
	if next.rights, err = next.beyond(); err != nil || !next.rights.Network {
		return c
	}
	if !c.env.Gives(ctx, engine.Proposal{Tool: tool, Args: next.args(), Intent: next.intent()}) {
		return c
	}
	return next
}

// unheld returns c not held to looking, if it runs unasked without that.
func (c shellCall) unheld(ctx context.Context, tool engine.Tool) shellCall {
	if !c.looks || c.ReadOnly || c.env.Gives == nil {
		return c
	}
	next := c.free()
	if next.undoable() { // what was committed is looked into first
		return c
	}
	if c.env.Gives(ctx, engine.Proposal{Tool: tool, Args: next.args(), Intent: next.intent()}) {
		return next
	}
	return c
}

// again asks for the rights that a command has failed without, and runs it
// with them if it is given them.
func (c shellCall) again(ctx context.Context, tool engine.Tool, host engine.Host,
	cmd launch.Command, o shell.Outcome, lacks engine.Rights, refused []string) (engine.Result, error) {
	next := c
	next.More = c.More.with(lacks)
	var err error
	if next.rights, err = next.beyond(); err != nil {
		return c.env.outcome(o)
	}
	in := next.intent()
	in.Plan.Failed, in.Plan.Refused, in.Draft, in.Plan.Online, in.Plan.ReadOnly = lacks.String(), refused, nil, nil, nil
	answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Args: next.args(), Intent: in})
	if err != nil {
		return engine.Result{}, err
	}
	if _, ok := answer.(engine.Allowed); ok {
		cmd.Rights = next.opened(next.rights)
		return c.env.outcome(c.env.Launcher.Run(ctx, cmd))
	}
	r, err := c.env.outcome(o)
	return denied(r, err, answer, "The command failed; it probably needs "+in.Plan.Failed+", which it was not given.", "it probably needs "+in.Plan.Failed)
}

// denied returns the result of a call with what was said to the question whether
// it may do more, for want of which it failed.
func denied(r engine.Result, err error, answer engine.Answer, said, lacked string) (engine.Result, error) {
	switch a := answer.(type) {
	case engine.Refused:
		if a.Note != "" {
			said += " The user said: " + a.Note
		}
	case engine.Unasked:
		if failed := (*engine.CallError)(nil); errors.As(err, &failed) {
			said = strings.TrimSuffix(said, ".") + ": " + a.Advice
			failed.Lacked, failed.Allow, failed.Rule = lacked, a.Advice, a.Rule
			if a.Rule != nil { // the advice says what forbids it, not what would allow it
				failed.Lacked, failed.Allow = lacked+"; denied: "+a.Advice, ""
			}
		}
	}
	r.Text += "\n" + said
	if failed := (*engine.CallError)(nil); errors.As(err, &failed) {
		failed.Message = r.Text
	}
	return r, err
}
