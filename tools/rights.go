package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/tools/sandbox"
	"gemline/tools/shell"
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

// mostRights is how many paths a call may ask for of each kind. Nobody reads
// more in a question.
const mostRights = 20

// rights returns what m asks for that a command does not have anyway. Where
// nothing is kept from commands, there is nothing to ask for.
func (env Env) rights(m more, dir string) (r engine.Rights, err error) {
	if env.Sandbox == nil {
		return r, nil
	}
	state, p := env.Sandbox.State(), env.Profile()
	r.Network = m.Network && state.Network && !p.Network
	if !state.Files {
		return r, nil
	}
	r.Protected = m.Files.Protected && !p.Unlimited
	if r.Write, err = places(m.Files.Write, dir); err != nil {
		return r, err
	}
	for i, path := range r.Write {
		for _, closed := range above(path, p.ReadOnly) {
			r.Write[i] = closed // it is opened as a whole
		}
	}
	reads, err := places(m.Files.Read, dir)
	for _, path := range append(reads, r.Write...) {
		if len(above(path, p.Hidden)) > 0 {
			r.Read = append(r.Read, path)
		}
	}
	slices.Sort(r.Read)
	r.Read = slices.Compact(r.Read)
	var more []string
	for _, path := range r.Write {
		switch inside := among(path, append([]string{p.Root}, p.Write...)); {
		case writable(path, p):
		case inside && !among(path, p.ReadOnly):
			r.Protected = true
		default:
			more = append(more, path)
		}
	}
	r.Write = more
	return r, err
}

// image reports whether commands see the programs of a container's image.
func (env Env) image() bool { return env.Sandbox != nil && env.Sandbox.State().Image() }

// writable reports whether a command confined by p can write at path.
func writable(path string, p sandbox.Profile) bool {
	if !among(path, append([]string{p.Root}, p.Write...)) {
		return false
	}
	if p.Unlimited {
		return true
	}
	protected := func(element string) bool {
		return strings.EqualFold(element, ".git") || strings.EqualFold(element, ".gemini")
	}
	return !among(path, p.ReadOnly) && !slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), protected)
}

// above returns those of dirs, without links, that path is or lies below.
func above(path string, dirs []string) (found []string) {
	for _, dir := range dirs {
		if dir = disk.Follow(dir); among(path, []string{dir}) {
			found = append(found, dir)
		}
	}
	return found
}

// among reports whether path is one of dirs or lies below one.
func among(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir != "" && disk.Inside(disk.Follow(dir), path)
	})
}

// places returns paths as absolute ones without links, so that what is shown
// is what is given.
func places(paths []string, dir string) ([]string, error) {
	var list []string
	if len(paths) > mostRights {
		return nil, misuse("A call can ask for %d paths at most.", mostRights)
	}
	for _, p := range paths {
		if p == "" || strings.IndexByte(p, 0) >= 0 {
			return nil, misuse("A path in additional_permissions can't be empty or hold a NUL byte.")
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		if p = disk.Follow(filepath.Clean(p)); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list, nil
}

// confined returns how a command runs that has been given rights.
func (env Env) confined(r engine.Rights) shell.Settings {
	s := env.Shell
	if env.Sandbox == nil {
		return s
	}
	p := env.profile(r)
	s.Confine = func(cmd *exec.Cmd) (func(), error) { return env.Sandbox.Confine(cmd, p) }
	s.Keeps = sandbox.Keeps
	return s
}

// profile returns what confines a command that has been given rights.
func (env Env) profile(r engine.Rights) sandbox.Profile {
	p := env.Profile()
	p.Network, p.Unlimited = p.Network || r.Network, p.Unlimited || r.Protected
	p.Write = append(slices.Clone(p.Write), r.Write...)
	p.Hidden = without(p.Hidden, r.Read)
	p.ReadOnly = slices.DeleteFunc(slices.Clone(p.ReadOnly), func(path string) bool { return len(r.Write) > 0 && slices.Contains(r.Write, disk.Follow(path)) })
	return p
}

// without returns what of hidden paths stays hidden when others can be read:
// of a directory with such a one in it, all else.
func without(paths, granted []string) (left []string) {
	if len(granted) == 0 { // as nearly always; following links takes its time
		return paths
	}
	for _, path := range paths {
		left = append(left, besides(path, granted)...)
	}
	return left
}

// besides is without for one path. A directory of very many files stays hidden.
func besides(path string, granted []string) (left []string) {
	const most = 1000
	real := disk.Follow(path)
	switch {
	case slices.Contains(granted, real):
		return nil
	case !slices.ContainsFunc(granted, func(g string) bool { return among(g, []string{real}) }):
		return []string{path}
	}
	entries, err := os.ReadDir(real)
	if err != nil || len(entries) > most {
		return []string{path}
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 { // what it leads to is hidden by itself, or not at all
			left = append(left, besides(filepath.Join(real, e.Name()), granted)...)
		}
	}
	return left
}

// hold says in in how the command is held, and what may be offered beyond it.
func (c shellCall) hold(in *engine.Intent) {
	if c.env.Sandbox == nil {
		return
	}
	state, p := c.env.Sandbox.State(), c.env.profile(c.rights)
	in.Plan.Confined = c.looks || state.Confined() && !p.Network && !p.Unlimited && c.rights.None()
	in.Plan.Held = c.env.held()
	if !c.looks && c.holdable() {
		held := c.runShellCommandArgs
		held.ReadOnly = true
		in.Plan.ReadOnly = held.args()
	}
	if state.Network && !p.Network && !c.env.Offline {
		online := c.runShellCommandArgs
		online.More.Network = true
		in.Plan.Online = online.args()
		in.Plan.Dials = dialers(c.read.Commands)
	}
}

// held says what commands can do that have been given no rights, so that
// "commands" before it makes a sentence.
func (env Env) held() string {
	state, p := env.Sandbox.State(), env.Profile()
	dirs := append([]string{"this folder"}, env.Workspace.Roots()[1:]...)
	where := strings.Join(dirs, " and ")
	if n := len(dirs); n > 3 {
		where = fmt.Sprintf("%s and %d others", dirs[0], n-1)
	}
	files := ""
	if state.Files {
		files = "can change files only in " + where
	}
	switch {
	case state.Network && !p.Network && files == "":
		return "have no network, and can change any file"
	case files == "":
		return ""
	case state.Network && !p.Network:
		return files + " and have no network"
	}
	return files + ", and have the network"
}

// connected returns c with the network, if its programs are known to want one
// and it runs unasked with it.
func (c shellCall) connected(ctx context.Context, tool engine.Tool) shellCall {
	if c.env.Sandbox == nil || c.env.Gives == nil || c.rights.Network || len(dialers(c.read.Commands)) == 0 {
		return c
	}
	next, err := c, error(nil)
	next.More.Network = true
	if next.rights, err = c.env.rights(next.More, c.dir); err != nil || !next.rights.Network {
		return c
	}
	next.rights = next.described(next.rights)
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
	if c.env.Gives(ctx, engine.Proposal{Tool: tool, Args: next.args(), Intent: next.intent()}) {
		return next
	}
	return c
}

// again asks for the rights that a command has failed without, and runs it
// with them if it is given them.
func (c shellCall) again(ctx context.Context, tool engine.Tool, host engine.Host, cmd shell.Command, o shell.Outcome, lacks engine.Rights, refused []string) (engine.Result, error) {
	next := c
	next.More = c.More.with(lacks)
	var err error
	if next.rights, err = c.env.rights(next.More, c.dir); err != nil {
		return c.env.outcome(o)
	}
	next.rights = next.described(next.rights)
	in := next.intent()
	in.Plan.Failed, in.Plan.Refused, in.Draft, in.Plan.Online, in.Plan.ReadOnly = lacks.String(), refused, nil, nil, nil
	answer, err := host.Approve(ctx, engine.Proposal{Tool: tool, Args: next.args(), Intent: in})
	if err != nil {
		return engine.Result{}, err
	}
	if _, ok := answer.(engine.Allowed); ok {
		cmd.Settings = c.env.confined(next.rights)
		made := next.make()
		o := shell.Run(ctx, cmd)
		made.settle(o)
		return c.env.outcome(o)
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
