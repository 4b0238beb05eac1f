package command

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/shell/script"
	"gemline/tools/toolkit"
)

//go:embed doc/run_shell_command.md
var runShellCommandDoc string

// shellName is the name of the tool that runs commands.
const shellName = "run_shell_command"

// shellError is the error class of failed commands.
const shellError = "shell_execute_error"

// runShellCommand returns the tool that runs a command line.
func runShellCommand(env Tools) (tool engine.Tool) {
	doc, schema := runShellCommandDoc, fmt.Sprintf(runShellCommandSchema, "")
	if env.Launcher.Sandbox != nil {
		doc, schema = strings.TrimSpace(doc)+" "+confinedDoc, fmt.Sprintf(runShellCommandSchema, moreSchema)
	}
	known := newKnown()
	env.protect(known)
	tool = toolkit.Define(shellName, "Shell", engine.Execute, doc, schema,
		func(ctx context.Context, a runShellCommandArgs) (engine.Call, error) {
			c, err := a.prepare(env)
			if err != nil {
				return engine.Call{}, err
			}
			c.known = known
			if paths := changedByGit(ctx, c); len(paths) > 0 {
				c.args.More = c.args.More.with(engine.Rights{Write: paths})
				if c.rights, err = c.beyond(); err != nil {
					return engine.Call{}, err
				}
			}
			c = c.withNetwork(ctx, tool).withoutReadOnly(ctx, tool)
			in := c.intent()
			c.unasked = in.Plan.Revertible
			return engine.Call{Intent: in,
				Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
					if env.WithheldNotice != nil {
						if text := env.WithheldNotice(); text != "" {
							host.Emit(engine.Notice{Text: text})
						}
					}
					r, err := c.run(ctx, tool, host)
					return c.violation(r, err)
				}}, nil
		})
	return tool
}

// A shellCall is a command line with its confinement. prepare parses it, checkReadOnly judges
// whether it is read-only, and beyond finds the rights that it needs. By the rules, withNetwork
// and withoutReadOnly change the confinement. Then run runs it; if it lacked a right, again or
// askWithoutReadOnly asks the user.
type shellCall struct {
	args     runShellCommandArgs
	env      Tools
	dir      string
	read     script.Script // the parsed command
	text     string        // the text that runs
	rights   engine.Rights // rights beyond those of all commands
	readOnly bool          // it is confined to read-only
	follows  bool          // its output never ends, as with tail -f
	listed   []string      // outside directories whose entries the command lists
	git      gitUse        // its use of git if read-only
	known    *known        // findings shared with other commands
	unasked  bool          // it was judged as revertible
	asked    bool          // the question of mustAsk was asked
}

// prepare checks the arguments.
func (a runShellCommandArgs) prepare(env Tools) (c shellCall, err error) {
	switch {
	case strings.TrimSpace(a.Command) == "":
		return c, toolkit.Misuse("Command cannot be empty.")
	case strings.IndexByte(a.Command, 0) >= 0:
		return c, toolkit.Misuse("Command cannot hold a NUL byte.")
	}
	c = shellCall{args: a, env: env}
	if c.dir, err = a.dir(env); err != nil {
		return c, err
	}
	c.read, c.text = a.read()
	if script.RewritesGitSetup(c.read.Commands) {
		c.args.More.Files.Protected = true
	}
	if !env.Launcher.Config.Offline && slices.ContainsFunc(c.read.Commands, func(command engine.Command) bool {
		return downloads(command, c.dir, env.Workspace.Roots())
	}) {
		c.args.More.Network = true
	}
	c.rights, err = c.beyond()
	if err == nil && runtime.GOOS != "windows" {
		c.checkReadOnly()
	}
	return c, err
}

// read returns the parsed command, and the text to run. For a plain script, the text is made
// from the parsed form, which is judged, not from the model's bytes.
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

// checkReadOnly notes which commands of the line are read-only, and whether the whole line can
// be confined to read-only.
func (c *shellCall) checkReadOnly() {
	if c.args.ReadOnly && c.canRunReadOnly() { // by the user's choice
		c.readOnly = true
		if l := (readOnlyCheck{c: c}); l.repository(c.dir) == "" {
			c.git = gitUse{dirs: []string{c.dir}, shows: true, names: objects(c.args.Command)}
		}
		return
	}
	c.git = showing(*c)
	plain := c.read.Class == engine.Plain
	if !plain && !c.read.Loose {
		return
	}
	l := readOnlyCheck{c: c, dirs: []string{c.dir}, programs: map[string]string{}, repositories: map[string]string{}}
	if slices.ContainsFunc(c.read.Reads, func(file string) bool {
		return l.names(engine.Word{Text: file, Known: true}, false) != ""
	}) {
		return
	}
	apart, all, first := make([]bool, len(c.read.Commands)), true, ""
	for i := range c.read.Commands {
		command := &c.read.Commands[i]
		command.Risk = l.command(*command)
		command.Safe = command.Risk == ""
		apart[i] = command.Safe && plain && l.beside(*command)
		all, first = all && command.Safe, cmp.Or(first, command.Risk)
	}
	c.readOnly = all && c.canRunReadOnly()
	if c.env.Launcher.Sandbox == nil { // an error says that no sandbox confines them
		return
	}
	for i := range c.read.Commands {
		if command := &c.read.Commands[i]; command.Safe && !c.readOnly && !apart[i] {
			command.Safe, command.Risk = false, "beside it, "+cmp.Or(first, "nothing is confined to reading")
		}
	}
	if !c.readOnly {
		return
	}
	if len(c.read.Reads) == 0 && !slices.ContainsFunc(c.read.Commands, l.opens) {
		c.listed = l.listed
	}
	c.git = l.git
	c.git.shows = c.git.shows || c.git.dirs != nil && slices.ContainsFunc(c.read.Commands, l.strays)
}

// canRunReadOnly reports whether the call can be confined to read-only.
func (c *shellCall) canRunReadOnly() bool {
	if c.env.Launcher.Sandbox == nil || c.args.Background || c.args.More.args() != nil || !c.rights.Empty() {
		return false
	}
	state := c.env.Launcher.Sandbox.State()
	return state.Confined() && state.RunsReadOnly
}

// beyond returns the rights that the call requests or needs beyond those of all commands.
func (c shellCall) beyond() (engine.Rights, error) {
	want := c.args.More
	if c.env.HasUser {
		want = want.with(c.env.Launcher.Needs(c.plan(), c.read.Inputs))
	}
	r, err := c.env.Launcher.ExtraRights(want.rights(), c.dir)
	if err != nil {
		return r, toolkit.Misuse("%v", err)
	}
	return r, nil
}

// withNetwork returns c with the network, if its programs are known to need it and the call
// then runs without approval.
func (c shellCall) withNetwork(ctx context.Context, tool engine.Tool) shellCall {
	if c.env.Launcher.Sandbox == nil || c.env.AutoGrant == nil || c.rights.Network || len(launch.NetworkPrograms(c.read.Commands)) == 0 {
		return c
	}
	next, err := c, error(nil)
	next.args.More.Network = true
	if next.rights, err = next.beyond(); err != nil || !next.rights.Network {
		return c
	}
	if !c.env.AutoGrant(ctx, engine.Proposal{Tool: tool, Args: next.args.args(), Intent: next.intent()}) {
		return c
	}
	return next
}

// withoutReadOnly returns c without the confinement to read-only, if c runs unasked without it.
func (c shellCall) withoutReadOnly(ctx context.Context, tool engine.Tool) shellCall {
	if !c.readOnly || c.args.ReadOnly || c.env.AutoGrant == nil {
		return c
	}
	next := c.unconfined()
	if next.revertible() { // commits are searched for secrets first
		return c
	}
	if c.env.AutoGrant(ctx, engine.Proposal{Tool: tool, Args: next.args.args(), Intent: next.intent()}) {
		return next
	}
	return c
}

// unconfined returns c without the confinement to read-only, so that the user is asked.
func (c shellCall) unconfined() shellCall {
	c.readOnly, c.args.ReadOnly = false, false
	c.read.Commands = slices.Clone(c.read.Commands)
	for i := range c.read.Commands {
		c.read.Commands[i].Safe = false
	}
	return c
}

func (c shellCall) intent() engine.Intent {
	title := commandTitle(c.args.Command)
	how := "run"
	if c.args.Background {
		how += " in the background"
	}
	if c.dir != c.env.Workspace.Roots()[0] {
		how += " in " + script.Quote(text.Name(c.env.Workspace.Rel(c.dir)))
	}
	target, exact := c.dir+"\x00"+c.args.Command, "always this command"
	if !c.rights.Empty() {
		target += "\x00" + c.rights.String()
		exact += ", with " + c.rights.String()
	}
	in := engine.Intent{
		Title:  how + ": " + title,
		Detail: c.args.Command,
		Grants: []engine.Grant{{Label: exact, Tool: shellName, Target: target}},
		Draft:  &engine.Draft{Name: "command.sh", Text: c.args.Command, Args: c.args.changed},
		Plan:   c.plan(),
	}
	c.describeConfinement(&in)
	return in
}

// plan returns the programs that run, and their files.
func (c shellCall) plan() engine.Plan {
	p := engine.Plan{Commands: c.read.Commands, Class: c.read.Class, Why: c.read.Why, Writes: c.read.Writes,
		Dir: c.dir, Rights: c.rights, IsReadOnly: c.readOnly}
	if c.git.shows || records(c.read) {
		p.MustAsk = c.mustAsk
	}
	return p
}

// describeConfinement sets the fields of an intent that describe the command's confinement,
// and the further rights that may be offered.
func (c shellCall) describeConfinement(in *engine.Intent) {
	if c.env.Launcher.Sandbox == nil {
		return
	}
	state, p := c.env.Launcher.State(), c.env.Launcher.SandboxWith(c.rights)
	in.Plan.Confined = c.readOnly || state.Confined() && !p.Network && !p.Unprotected && c.rights.Empty()
	in.Plan.Limits = c.env.Launcher.Limits()
	in.Plan.Revertible = !c.readOnly && c.revertible()
	if !c.readOnly && c.canRunReadOnly() {
		held := c.args
		held.ReadOnly = true
		in.Plan.ReadOnlyArgs = held.args()
	}
	dials := launch.NetworkPrograms(c.read.Commands)
	if state.Network && !p.Network && !c.env.Launcher.Config.Offline && (len(c.rights.Read) == 0 || len(dials) > 0) {
		online := c.args
		online.More.Network = true
		in.Plan.NetworkArgs, in.Plan.NetworkPrograms = online.args(), dials
	}
}

// run runs the command, and again if the user grants a right that it lacked.
func (c shellCall) run(ctx context.Context, tool engine.Tool, host engine.Host) (engine.Result, error) {
	if _, err := c.args.dir(c.env); err != nil { // a link may lead elsewhere by now
		return engine.Result{}, err
	}
	if c.readOnly {
		return c.runReadOnly(ctx, tool, host)
	}
	cmd := launch.Command{Text: c.text, Dir: c.dir, Rights: c.rights, Loopback: true}
	unasked := c.revertible()
	if unasked && !c.asked {
		if why := c.mustAsk(ctx); why != "" {
			return c.askWithoutReadOnly(ctx, tool, host, shell.Outcome{Err: errNotRun}, engine.Rights{}, false, why)
		}
	}
	switch {
	case !unasked && c.unasked && c.env.Revertible():
		return engine.Result{}, &engine.CallError{Type: engine.NeedsConfirmation, Display: "it could not be taken back",
			Message: "The command did not run: by now there is more here than can be kept from it. Call it again."}
	case !unasked:
		cmd.Rights = c.env.agreed(c.known, c.rights)
		cmd.Rights.Removed = launch.Removed(c.plan())
	case records(c.read):
		cmd.Rights = c.env.opened(c.known, c.rights)
	}
	cmd.KillLeftovers = unasked
	return c.checked(ctx, tool, host, func(g *guard) (engine.Result, error) {
		if c.args.Background && c.env.Launcher.Jobs != nil && !unasked {
			return c.start(ctx, cmd, g)
		}
		return c.once(ctx, tool, host, cmd, g)
	})
}

var errNotRun = errors.New("it did not run")

// mustAsk returns the reason for a question before the command runs: the confinement can't
// hide secrets in commits, and programs that git runs may remove data of a repository.
func (c shellCall) mustAsk(ctx context.Context) (why string) {
	if c.git.shows {
		_, why = c.before(ctx)
	}
	if why == "" && records(c.read) && c.revertible() {
		why = c.env.runByGit(ctx, c.read, c.dir)
	}
	return why
}

// before returns the view of a command confined to read-only, and the reason for a question
// before it runs, although a built-in rule allows it.
func (c shellCall) before(ctx context.Context) (look *launch.ReadOnlyView, why string) {
	look, why = c.readOnlyView()
	if why == "" && c.git.shows {
		why = c.committed(ctx, look)
	}
	return look, why
}

// runReadOnly runs the command confined to read-only. If the confinement prevents its work,
// the user is asked as for any other command.
func (c shellCall) runReadOnly(ctx context.Context, tool engine.Tool, host engine.Host) (engine.Result, error) {
	look, why := c.before(ctx)
	if why != "" && c.args.ReadOnly { // the user chose to run it without access to secrets
		c.git = gitUse{}
		look, why = c.readOnlyView()
	}
	if why != "" {
		return c.askWithoutReadOnly(ctx, tool, host, shell.Outcome{Err: errNotRun}, engine.Rights{}, false, why)
	}
	cmd := launch.Command{Text: c.text, Dir: c.dir, ReadOnly: look}
	if c.follows {
		cmd.Limit.Timeout = watched
	}
	cmd.Output = func(s string) { host.Emit(engine.Output{Delta: s}) }
	o := runOnce(ctx, c, cmd)
	lacks, wrote, why := c.wanted(o)
	if why == "" {
		r, err := c.env.outcome(o)
		if o.Code != 0 && passes(o, c.dir, look.Hidden) {
			err = nil
		}
		return r, err
	}
	return c.askWithoutReadOnly(ctx, tool, host, o, lacks, wrote, why)
}

// checked runs a command. The user is asked about its changes to guarded files, and refused
// changes are taken back. A process that the command leaves running is checked when it ends.
func (c shellCall) checked(ctx context.Context, tool engine.Tool, host engine.Host,
	run func(g *guard) (engine.Result, error)) (engine.Result, error) {
	g := c.guard()
	if c.env.Guards == nil || c.env.Launcher == nil || c.env.Workspace == nil || !c.env.Launcher.State().Files {
		return run(&g)
	}
	before, ok := g.files(true, mostSeen, mostGuarded)
	r, err := run(&g)
	if !ok {
		if !c.known.unchecked {
			c.known.unchecked = true
			host.Emit(engine.Notice{Text: "this folder is too large to find files that other programs obey, such as .github/workflows, after a command has made or changed them"})
		}
		return r, err
	}
	after, _ := g.files(len(g.left) > 0, math.MaxInt, math.MaxInt)
	in := c.intent()
	in.Plan.Revertible, in.Grants, in.Draft, in.Plan.NetworkArgs, in.Plan.ReadOnlyArgs = false, nil, nil, nil, nil
	writing := func(paths ...string) engine.Proposal {
		in := in
		in.Plan.Writes = append(slices.Clip(in.Plan.Writes), paths...)
		return engine.Proposal{Tool: tool, Args: c.args.args(), Intent: in}
	}
	unasked := func(q engine.Proposal) bool { // in yolo mode, the command may also name the files
		return c.env.AutoGrant != nil && c.env.AutoGrant(ctx, q)
	}
	kept := after
	if len(g.left) > 0 && !unasked(writing(filepath.Join(c.env.Workspace.Roots()[0], ".envrc"))) {
		defer func() { g.checkLater(g.left[0], kept) }()
	}
	made, whole := g.made(before, after)
	if len(made) == 0 {
		return r, err
	}
	q := writing(made...)
	if unasked(q) {
		return r, err
	}
	what := "it " + g.describe(made)
	q.Intent.Plan.Failure.Reason, q.Intent.Plan.Rights = what, engine.Rights{} // which the user has granted
	answer, aerr := host.Approve(ctx, q)
	if _, yes := answer.(engine.Allowed); yes && aerr == nil {
		return r, err
	}
	aerr = errors.Join(aerr, g.putBack(made, before))
	kept = before
	if aerr != nil {
		return r, errors.Join(err, aerr)
	}
	if err == nil {
		err = &engine.CallError{Type: shellError, Display: "failed", Message: r.Text}
	}
	said := "The command was done, but " + what + ". That was not allowed: the new files there have names that end in .put-aside and a number now"
	if whole {
		said += ", and the former files are as before"
	}
	return denied(r, err, answer, said+".", what)
}

// once runs a command, and again if the user grants a right that it lacked. g gets the
// processes in the background.
func (c shellCall) once(ctx context.Context, tool engine.Tool, host engine.Host,
	cmd launch.Command, g *guard) (engine.Result, error) {
	cmd.Output = func(s string) { host.Emit(engine.Output{Delta: s}) }
	o := runOnce(ctx, c, cmd)
	g.left = o.Background
	if lacks, refused := c.env.Launcher.MissingRights(c.plan(), o); !lacks.Empty() {
		return c.again(ctx, tool, host, cmd, o, g, lacks, refused)
	}
	return c.env.outcome(o)
}

// runOnce runs a command. If the confinement kept git from writing to a repository, the exit code
// is 125, even if the last command of the line succeeded. If git failed at the sandbox's placeholder
// for .gemini, the output says why.
func runOnce(ctx context.Context, c shellCall, cmd launch.Command) shell.Outcome {
	o := c.env.Launcher.Run(ctx, cmd)
	if o.OK() && (c.readOnly || c.revertible()) && lockedOut().MatchString(launch.OutputEnd(o.Output)) && slices.ContainsFunc(c.read.Commands, func(command engine.Command) bool {
		name, _ := command.Program()
		return name == "git"
	}) {
		o.Code = 125
	}
	if !o.OK() && placeholderKept().MatchString(launch.OutputEnd(o.Output)) {
		const why = "\ngemline: sandbox: git failed at .gemini, which is here only while a command runs, so that no command makes it." +
			" Look at git status and git stash list, and leave .gemini out next time: git clean -e .gemini, git stash -a -- ':!.gemini'"
		o.Output = strings.TrimSuffix(o.Output, "\n") + why
		cmd.Output(why)
	}
	return o
}

// lockedOut matches messages of git that could not write to a repository.
var lockedOut = text.Pattern(`(?m)^(fatal|error): .*\.git/.*: Read-only file system$`)

// placeholderKept matches messages of git that could not remove or write the .gitignore of the
// placeholder.
var placeholderKept = text.Pattern(`(?m)^warning: failed to remove (.*/)?\.gemini/\.gitignore: Read-only|^\.gemini/\.gitignore already exists, no checkout`)

// start runs a command in the background and waits for a moment, so that an immediate
// failure is reported.
func (c shellCall) start(ctx context.Context, cmd launch.Command, g *guard) (engine.Result, error) {
	env := c.env
	pid, err := env.Launcher.Start(cmd)
	if err != nil {
		return env.outcome(shell.Outcome{Err: err})
	}
	watch := 200 * time.Millisecond
	if c.args.Delay != nil {
		watch = delay(*c.args.Delay)
	}
	j, err := env.Launcher.Jobs.Wait(ctx, pid, watch)
	switch {
	case err != nil: // it was interrupted
		env.Launcher.Jobs.Stop(pid)
		return env.outcome(shell.Outcome{Cancelled: true, Output: j.Output})
	case !j.Running:
		return env.outcome(shell.Outcome{Output: j.Output, Code: j.Code, Signal: j.Signal, SignalName: j.SignalName})
	}
	g.left = []int{pid}
	said := fmt.Sprintf("Command moved to background (PID: %d).", pid)
	r := engine.Result{Text: said + " Output hidden. Use read_background_output to view it." + env.ports(cmd), Display: said}
	if j.Output != "" {
		r.Text += "\nOutput so far:\n" + text.Untrusted(j.Output) + env.denials(shell.Outcome{Output: j.Output})
	}
	return r, nil
}

// ports says from where a server in the background can be reached.
func (env Tools) ports(c launch.Command) string {
	switch st := env.Launcher.State(); {
	case !st.Network || c.Rights.Network:
		return ""
	case st.Loopback:
		return " Later commands of this session reach the ports that it listens on at 127.0.0.1; nothing outside does."
	}
	return " No other command reaches the ports that it listens on."
}

// outcome formats o for the model, with the output cut to its limit.
func (env Tools) outcome(o shell.Outcome) (engine.Result, error) {
	o.Output = env.Outputs.Secrets.RedactKnown(o.Output) // before the output is cut
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

// again asks for the rights that a failed command lacked, and runs it again if the user
// grants them.
func (c shellCall) again(ctx context.Context, tool engine.Tool, host engine.Host,
	cmd launch.Command, o shell.Outcome, g *guard, lacks engine.Rights, refused []string) (engine.Result, error) {
	next := c
	next.args.More = c.args.More.with(lacks)
	var err error
	if next.rights, err = next.beyond(); err != nil {
		return c.env.outcome(o)
	}
	in := next.intent()
	in.Plan.Failure = engine.FailedAttempt{Reason: lacks.String(), Unwritable: refused}
	in.Draft, in.Plan.NetworkArgs, in.Plan.ReadOnlyArgs = nil, nil, nil
	answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Args: next.args.args(), Intent: in})
	if err != nil {
		return engine.Result{}, err
	}
	if _, ok := answer.(engine.Allowed); ok {
		cmd.Rights = c.env.opened(c.known, next.rights)
		o = c.env.Launcher.Run(ctx, cmd)
		g.left, g.writes = append(o.Background, g.left...), append(g.writes, next.rights.Write...)
		return c.env.outcome(o)
	}
	r, err := c.env.outcome(o)
	return denied(r, err, answer, "The command failed; it probably needs "+in.Plan.Failure.Reason+", which it was not given.", "it probably needs "+in.Plan.Failure.Reason)
}

// askWithoutReadOnly asks whether the command may run without the confinement to read-only,
// in which it failed or could not run. wrote says that it only tried to write.
func (c shellCall) askWithoutReadOnly(ctx context.Context, tool engine.Tool, host engine.Host, o shell.Outcome,
	lacks engine.Rights, wrote bool, why string) (engine.Result, error) {
	next := c.unconfined()
	next.args.More = c.args.More.with(lacks)
	var err error
	if next.rights, err = next.beyond(); err != nil {
		return c.env.outcome(o)
	}
	in := next.intent()
	in.Plan.Revertible = in.Plan.Revertible && wrote
	in.Plan.Failure = engine.FailedAttempt{Reason: why, ReadOnly: true}
	in.Draft, in.Plan.NetworkArgs, in.Plan.ReadOnlyArgs = nil, nil, nil
	answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Args: next.args.args(), Intent: in})
	if err != nil {
		return engine.Result{}, err
	}
	if _, ok := answer.(engine.Allowed); ok {
		next.asked, next.unasked = !wrote, false
		return next.run(ctx, tool, host)
	}
	r, err := c.env.outcome(o)
	said := "The command did not run: "
	if c.readOnly {
		said = "The command could only look, and "
	}
	r, err = denied(r, err, answer, said+why+".", why)
	failed := (*engine.CallError)(nil)
	if _, no := answer.(engine.Refused); no && errors.As(err, &failed) {
		failed.Display = "refused"
	}
	return r, err
}

// denied adds the user's answer to the result of a call that failed for lack of a right.
func denied(r engine.Result, err error, answer engine.Answer, said, lacked string) (engine.Result, error) {
	switch a := answer.(type) {
	case engine.Refused:
		if a.Note != "" {
			said += " The user said: " + a.Note
		}
	case engine.Unasked:
		if failed := (*engine.CallError)(nil); errors.As(err, &failed) {
			said = strings.TrimSuffix(said, ".") + ": " + a.Advice
			failed.MissingRights, failed.Advice, failed.Rule = lacked, a.Advice, a.Rule
			if a.Rule != nil { // the advice names the rule that forbids the call
				failed.MissingRights, failed.Advice = lacked+"; denied: "+a.Advice, ""
			}
		}
	}
	r.Text += "\n" + said
	if failed := (*engine.CallError)(nil); errors.As(err, &failed) {
		failed.Message = r.Text
	}
	return r, err
}

// violation turns the result of a call into a denial, if the command has tried to run a
// program that a rule hides. For a command that succeeded, this applies only if its line is
// opaque.
func (c shellCall) violation(r engine.Result, err error) (engine.Result, error) {
	if errors.Is(err, context.Canceled) || err == nil && c.read.Class != engine.Opaque {
		return r, err
	}
	said := c.env.denials(shell.Outcome{Output: r.Display})
	if said == "" {
		return r, err
	}
	r.Display = strings.TrimRight(r.Display, "\n") + "\ndenied by policy in part: " + strings.TrimSpace(said)
	return r, &engine.CallError{Type: engine.PolicyViolation,
		Message: "Tool execution denied by policy in part: what else the command holds may have run. " + r.Text,
		Display: "denied in part: " + strings.TrimSpace(said)}
}
