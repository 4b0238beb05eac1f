package command

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/files"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/shell/script"
	"gemline/tools/toolkit"
)

//go:embed doc/run_shell_command.md
var runShellCommandDoc string

const runShellCommandSchema = `{"type":"object","properties":{
"command":{"type":"string"},
"description":{"type":"string","description":"What it is for, in a few words"},
"dir_path":{"type":"string","description":"Where to run it; the working directory if absent"},
"is_background":{"type":"boolean"},
"delay_ms":{"type":"integer","minimum":0,"description":"How long to watch a background command start; 200 if absent"}%s},
"required":["command"]}`

type runShellCommandArgs struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Dir         string `json:"dir_path"`
	Background  bool   `json:"is_background"`
	Delay       *int64 `json:"delay_ms"`
	More        more   `json:"additional_permissions"`
	ReadOnly    bool   `json:"read_only"` // of the user's: no schema has it
}

// shellError is the class of commands that failed, in whatever way.
const shellError = "shell_execute_error"

// runShellCommand returns the tool that runs a command line.
func runShellCommand(env Tools) (tool engine.Tool) {
	doc, schema := runShellCommandDoc, fmt.Sprintf(runShellCommandSchema, "")
	if env.Launcher.Sandbox != nil {
		doc, schema = strings.TrimSpace(doc)+" "+confinedDoc, fmt.Sprintf(runShellCommandSchema, moreSchema)
	}
	known := newKnown()
	env.keeps(known)
	tool = toolkit.Define(shellName, "Shell", engine.Execute, doc, schema,
		func(ctx context.Context, a runShellCommandArgs) (engine.Call, error) {
			c, err := a.prepare(env)
			if err != nil {
				return engine.Call{}, err
			}
			c.known = known
			c = c.connected(ctx, tool).unheld(ctx, tool)
			in := c.intent()
			c.unasked = in.Plan.Undoable
			return engine.Call{Intent: in,
				Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
					if env.Kept != nil {
						if text := env.Kept(); text != "" {
							host.Emit(engine.Notice{Text: text})
						}
					}
					r, err := c.run(ctx, tool, host)
					return c.violation(r, err)
				}}, nil
		})
	return tool
}

// shellName is the name of the tool that runs commands.
const shellName = "run_shell_command"

// A shellCall is one command line, checked.
type shellCall struct {
	runShellCommandArgs
	env     Tools
	dir     string
	read    script.Script // what is known of it
	text    string        // what is run for it
	rights  engine.Rights // beyond what all commands have
	looks   bool          // it is held to looking
	follows bool          // what it looks at goes on and on
	listed  []string      // what it shows the names of then, outside of the project
	git     gitUse        // what it does with git then
	known   *known        // what was found out for others
	unasked bool          // it was judged as what can be taken back
}

// prepare checks the arguments.
func (a runShellCommandArgs) prepare(env Tools) (c shellCall, err error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return c, toolkit.Misuse("Command cannot be empty.")
	case strings.IndexByte(a.Command, 0) >= 0:
		return c, toolkit.Misuse("Command cannot hold a NUL byte.")
	}
	c = shellCall{runShellCommandArgs: a, env: env}
	if c.dir, err = a.dir(env); err != nil {
		return c, err
	}
	c.read, c.text = a.read()
	if script.Rebuilds(c.read.Commands) {
		c.More.Files.Protected = true
	}
	if !env.Launcher.Config.Offline && slices.ContainsFunc(c.read.Commands, c.downloads) {
		c.More.Network = true
	}
	c.rights, err = c.beyond()
	if err == nil && runtime.GOOS != "windows" {
		c.lookOver()
	}
	return c, err
}

// run runs the command, and once more if it lacked a right that the user gives.
func (c shellCall) run(ctx context.Context, tool engine.Tool, host engine.Host) (engine.Result, error) {
	if _, err := c.runShellCommandArgs.dir(c.env); err != nil { // it may lead elsewhere by now
		return engine.Result{}, err
	}
	if c.looks {
		return c.look(ctx, tool, host)
	}
	cmd := launch.Command{Text: c.text, Dir: c.dir, Rights: c.rights, Loopback: true}
	unasked := c.undoable()
	if unasked && c.git.shows { // which what holds such commands can't hide
		if _, why := c.before(ctx); why != "" {
			return c.unlooked(ctx, tool, host, shell.Outcome{Err: errHeld}, engine.Rights{}, false, why)
		}
	}
	switch {
	case !unasked && c.unasked && c.env.Undoable():
		return engine.Result{}, &engine.CallError{Type: engine.NeedsConfirmation, Display: "it could not be taken back",
			Message: "The command did not run: by now there is more here than can be kept from it. Call it again."}
	case !unasked:
		cmd.Rights = c.agreed(c.rights)
	case c.records():
		cmd.Rights = c.opened(c.rights)
	}
	if c.Background && c.env.Launcher.Jobs != nil && !unasked {
		return c.start(ctx, c.env, cmd)
	}
	cmd.Alone = unasked
	return c.checked(ctx, tool, host, func() (engine.Result, error) { return c.once(ctx, tool, host, cmd) })
}

// once runs a command, and once more if it lacked a right that the user gives.
func (c shellCall) once(ctx context.Context, tool engine.Tool, host engine.Host,
	cmd launch.Command) (engine.Result, error) {
	cmd.Output = func(s string) { host.Emit(engine.Output{Delta: s}) }
	o := c.env.Launcher.Run(ctx, cmd)
	if lacks, refused := c.env.Launcher.Lacks(c.plan(), o); !lacks.None() {
		return c.again(ctx, tool, host, cmd, o, lacks, refused)
	}
	return c.env.outcome(o)
}

// dir returns the directory that the command is to run in.
func (a runShellCommandArgs) dir(env Tools) (string, error) {
	if a.Dir == "" {
		return env.Workspace.Roots()[0], nil
	}
	return files.SearchDir(env.Workspace, a.Dir)
}

// read returns what is known of the command before it runs, and what is run
// for it: of a plain script that is what was judged, and not the model's bytes.
func (a runShellCommandArgs) read() (read script.Script, text string) {
	if runtime.GOOS == "windows" {
		return script.Script{Why: "it is for PowerShell, which is not read"}, a.Command
	}
	read = script.Read(a.Command)
	if text, ok := read.Canonical(); ok {
		return read, text
	}
	return read, a.Command
}

func (c shellCall) intent() engine.Intent {
	title := commandTitle(c.Command)
	how := "run"
	if c.Background {
		how += " in the background"
	}
	if c.dir != c.env.Workspace.Roots()[0] {
		how += " in " + script.Quote(text.Name(c.env.Workspace.Rel(c.dir)))
	}
	target, exact := c.dir+"\x00"+c.Command, "always this command"
	if !c.rights.None() {
		target += "\x00" + c.rights.String()
		exact += ", with " + c.rights.String()
	}
	in := engine.Intent{
		Title:  how + ": " + title,
		Detail: c.Command,
		Grants: []engine.Grant{{Label: exact, Tool: shellName, Target: target}},
		Draft:  &engine.Draft{Name: "command.sh", Text: c.Command, Args: c.changed},
		Plan:   c.plan(),
	}
	c.hold(&in)
	return in
}

// commandTitle returns the first line of a command, and how many lines there are if it is not
// the only one: with blanks between them they would be another command.
func commandTitle(command string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	blank := func(r rune) bool { return r == ' ' || r == '\t' }
	title, more := text.First(strings.Join(strings.FieldsFunc(first, blank), " "), 120) // two lines
	if more {
		title += "..."
	}
	if rest != "" {
		title += fmt.Sprintf(" ... (%d lines)", strings.Count(rest, "\n")+2)
	}
	return title
}

// plan says what is run.
func (c shellCall) plan() engine.Plan {
	p := engine.Plan{Commands: c.read.Commands, Class: c.read.Class, Why: c.read.Why, Writes: c.read.Writes,
		Dir: c.dir, Rights: c.rights, Looks: c.looks}
	if c.git.shows {
		p.Before = func(ctx context.Context) string { _, why := c.before(ctx); return why }
	}
	return p
}

// changed returns the arguments of a call that runs text instead.
func (a runShellCommandArgs) changed(text string) map[string]any {
	args := a.args()
	delete(args, "description") // it was another's
	args["command"], args["modified_by_user"] = strings.TrimRight(text, "\r\n"), true
	return args
}

// args returns the arguments as a call has them.
func (a runShellCommandArgs) args() map[string]any {
	args := map[string]any{"command": a.Command}
	if a.Description != "" {
		args["description"] = a.Description
	}
	if a.Dir != "" {
		args["dir_path"] = a.Dir
	}
	if a.Background {
		args["is_background"] = true
	}
	if a.Delay != nil {
		args["delay_ms"] = float64(*a.Delay)
	}
	if a.ReadOnly {
		args["read_only"] = true
	}
	if m := a.More.args(); m != nil {
		args["additional_permissions"] = m
	}
	return args
}

// start runs c in the background and watches it for a moment, so that a
// command that fails at once is told as such.
func (a runShellCommandArgs) start(ctx context.Context, env Tools, c launch.Command) (engine.Result, error) {
	pid, err := env.Launcher.Start(c)
	if err != nil {
		return env.outcome(shell.Outcome{Err: err})
	}
	watch := 200 * time.Millisecond
	if a.Delay != nil {
		watch = delay(*a.Delay)
	}
	j, err := env.Launcher.Jobs.Wait(ctx, pid, watch)
	switch {
	case err != nil && ctx.Err() != nil:
		env.Launcher.Jobs.Stop(pid)
		return env.outcome(shell.Outcome{Cancelled: true, Output: j.Output})
	case err != nil:
		return engine.Result{}, &engine.CallError{Type: shellError, Message: err.Error()}
	case !j.Running:
		return env.outcome(shell.Outcome{Output: j.Output, Code: j.Code, Signal: j.Signal, SignalName: j.SignalName})
	}
	said := fmt.Sprintf("Command moved to background (PID: %d).", pid)
	r := engine.Result{Text: said + " Output hidden. Use read_background_output to view it." + env.ports(c), Display: said}
	if j.Output != "" {
		r.Text += "\nOutput so far:\n" + text.Untrusted(j.Output) + env.denials(shell.Outcome{Output: j.Output})
	}
	return r, nil
}

// ports says who reaches a server that a background command is.
func (env Tools) ports(c launch.Command) string {
	switch st := env.Launcher.State(); {
	case !st.Network || c.Rights.Network:
		return ""
	case st.Loopback:
		return " Later commands of this session reach the ports that it listens on at 127.0.0.1; nothing outside does."
	}
	return " No other command reaches the ports that it listens on."
}

// delay returns how long a tool waits that was asked to wait for ms
// milliseconds.
func delay(ms int64) time.Duration {
	const longest = 10 * time.Minute
	return time.Duration(min(max(ms, 0), longest.Milliseconds())) * time.Millisecond
}

// outcome shapes o for the model, cut to what it is given of an output.
func (env Tools) outcome(o shell.Outcome) (engine.Result, error) {
	o.Output = env.Outputs.Secrets.Known(o.Output) // before any of it is cut
	given, cut := env.Outputs.Cut(shellName, text.Untrusted(o.Text()))
	r := engine.Result{Text: given + env.denials(o), Display: o.Output, Cut: cut}
	if n := len(o.Background); n > 0 {
		r.Display = strings.TrimPrefix(fmt.Sprintf("%s\n(%d left running in the background)", o.Output, n), "\n")
	}
	failed := &engine.CallError{Type: shellError, Message: r.Text}
	switch {
	case o.OK():
		return r, nil
	case o.Cancelled:
		return r, context.Canceled
	case o.Limit > 0:
		failed.Display = "failed: stopped after " + o.Exceeded()
	case o.Err != nil:
		failed.Display = "failed: " + o.Err.Error()
	case o.SignalName != "":
		failed.Display = "failed signal " + o.SignalName
	case o.Signal != 0:
		failed.Display = fmt.Sprintf("failed signal %d", o.Signal)
	default:
		failed.Display = fmt.Sprintf("failed exit %d", o.Code)
	}
	return r, failed
}
