// Package project opens a working directory: it finds the directory's configuration, and leaves out
// parts without the user's trust or consent. A front end makes [Options] by [New], reads them for a
// directory, and calls [Open] for the [Project] that all conversations there share.
//
// [Options] join the command line, the environment and the settings files for a folder; the
// folder's own settings count if it is trusted.
//
// # The user consents to each program of a project
//
// Hooks, MCP servers, agents, commands that declare tools and the check of the work are found here.
// Each program of a project is an item, with a fingerprint of all files that would run.
// [Options.AskTrust] asks about the folder and [Options.Agree] for consent; no program of the
// project runs before.
//
// # Options make the parts of a project
//
// [NewLauncher] makes the launcher that confines commands, [NewWorkspace] the workspace,
// and [NewPolicy] the policy that judges calls. [Open] makes all of these, the [Connections] to MCP
// servers, and the [ModelServer] that answers requests. The [Project] is complete when it is
// returned, and closes what it owns.
package project

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gemline/commands/cli"
	"gemline/engine/charset"
	"gemline/engine/disk"
	"gemline/engine/journal"
	"gemline/engine/network"
	"gemline/engine/prompt"
	"gemline/engine/redact"
	"gemline/repl/input"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/flags"
	"gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/shell/script"
	"gemline/tools/web"
)

// Options join the command line, the environment and the settings files for a directory. They start
// and create nothing.
type Options struct {
	Env             Env
	User            User
	found           found
	Flags           *flags.Set
	Paths           project.Paths
	Settings        *settings.Settings
	userSettings    *settings.Settings // without the project's settings
	Warnings        []string           // about the settings; printed once
	LoadError       error              // of the settings; it ends a run, but not a sub-command
	Trust           trust.Status
	consents        *consents        // to programs that the project wants to run
	Worktree        string           // the name of the run's worktree, "" for none
	Secrets         *redact.Redactor // removes secrets from all stored, printed and sent texts
	Ledger          *disk.Ledger     // of files that are being written
	extensionValues *sync.Map        // by the extension's directory
}

// found holds parts of the folder's configuration. A field is nil until its first use.
type found struct {
	hooks     *HookSet
	discovery *discovery
	servers   *serverSet
	agents    *AgentSet
}

// New returns options of the command line only; [Options.Read] adds the rest. Serving is nil unless
// the run serves other programs.
func New(p Process, line *flags.Set, serving *cli.Serving) *Options {
	return &Options{Env: Env{Process: p}, User: User{Serving: serving, flags: line}, Flags: line,
		Secrets: &redact.Redactor{}, Settings: settings.Default()}
}

// projectFileCounts reports whether the project's file at a path is used: the project is trusted, and no
// link leads out of it.
func (o *Options) projectFileCounts(path string) bool {
	return o.Trust.State == trust.Trusted && !o.Paths.AtHome() && settings.LinksOutside(path, o.Paths.Cwd) == ""
}

// Charsets returns the decoder of texts by the settings and the user's language.
func Charsets(o *Options) charset.Decoder {
	return charset.New(o.Settings.FileEncoding, Locale(o))
}

// Locale returns the user's locale of characters.
func Locale(o *Options) string {
	return cmp.Or(o.Env.Process.Getenv("LC_ALL"), o.Env.Process.Getenv("LC_CTYPE"), o.Env.Process.Getenv("LANG"))
}

// SessionToOpen returns the conversation that the command line resumes, forks or begins.
func SessionToOpen(o *Options) journal.OpenOptions {
	return journal.OpenOptions{Resume: o.Flags.Resume.Set, Selector: o.Flags.Resume.Value, Fork: o.Flags.Fork,
		Session: o.Flags.Session, ID: o.Flags.SessionID, Import: o.Flags.SessionFile}
}

// Signs returns the values that decide the mode of a terminal.
func (o *Options) Signs() output.Signs {
	flag, off := o.Flags.PlainFlag()
	return output.Signs{Flag: flag, FlagOff: off, Setting: &o.Settings.ScreenReader, Terminal: true,
		Lookup: o.Env.Process.Lookup}
}

// WorktreePrefix returns the text before a command of the user that makes it run in the run's
// worktree, "" without a worktree.
func (o *Options) WorktreePrefix() string {
	if o.Worktree == "" {
		return ""
	}
	return "cd " + script.Quote(o.Paths.Cwd) + " && "
}

// SystemMD returns the value of a variable that names a file with the system prompt. A value
// without a path means the project's file, which may be no link out of the project.
func SystemMD(o *Options, name string) string {
	v := o.Env.Getenv(name)
	reads := name == "GEMINI_SYSTEM_MD"
	if on := strings.ToLower(v); (on == "1" || on == "true") &&
		(reads && o.Trust.State < trust.Unneeded || settings.LinksOutside(o.Paths.Workspace("system.md"), o.Paths.Cwd) != "") {
		return ""
	}
	return v
}

// CheckSystemMD returns why a run can't use the file that GEMINI_SYSTEM_MD names.
func CheckSystemMD(o *Options) error {
	err := prompt.Override{SystemMD: SystemMD(o, "GEMINI_SYSTEM_MD")}.Check(promptEnvironment(o))
	if err != nil {
		return &input.Error{Message: err.Error(), Err: err}
	}
	return nil
}

// promptEnvironment returns the directories from which paths of system prompts are resolved.
func promptEnvironment(o *Options) prompt.Environment {
	return prompt.Environment{Home: o.Paths.Home, Roots: []string{o.Paths.Cwd}}
}

const homeDirectory = "your home directory"

// TooWide names the first of dirs that is a home or the root directory, "" if none is.
func (o *Options) TooWide(dirs ...string) string {
	for _, dir := range dirs {
		dir = o.Paths.Folder(dir)
		if slices.ContainsFunc(o.Paths.Homes(), func(home string) bool { return dir == disk.ResolveLinks(home) }) {
			return homeDirectory
		}
		if filepath.Dir(dir) == dir {
			return "the root directory"
		}
	}
	return ""
}

// unused lists settings that have no effect yet.
func (o *Options) unused() []settings.Unused {
	return o.Settings.Unused(o.Env.Lookup)
}

// Folder returns the directory as sub-commands see it.
func (o *Options) Folder() *cli.Folder {
	brings := func(i trust.Item) bool { return i.Kind == "MCP server" || i.Kind == "extension" }
	return &cli.Folder{Today: o.Env.Process.Today, Paths: o.Paths, Lookup: o.Env.Lookup, DotEnv: o.Env.dotenv, Flags: o.Flags,
		Trusted: o.Trust.State == trust.Trusted, Withheld: o.Trust.State < trust.Unneeded && slices.ContainsFunc(o.Trust.Contents, brings), Unused: o.unused}
}

// Network returns the way to other machines: through the user's proxy, directly, or none when
// offline.
func (o *Options) Network() network.Network {
	n := network.From(o.Env.Getenv)
	n.Offline = o.Settings.Offline
	return n
}

// WebConfig returns the configuration of the public web.
func WebConfig(o *Options) web.Config {
	return web.Config{UserAgent: "gemline/" + cmp.Or(o.Env.Process.Version, "0"), Network: o.Network()}
}
