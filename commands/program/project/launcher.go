package project

import (
	"time"

	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings"
	"gemline/settings/project"
	"gemline/settings/trust"
	"gemline/tools/launch"
	"gemline/tools/mask"
	"gemline/tools/shell"
)

// NewLauncher returns the launcher of commands, with the confinement of the settings.
func NewLauncher(o *Options) (*launch.Launcher, error) {
	if o.LoadError != nil {
		return nil, o.LoadError
	}
	s, err := o.Settings.Confinement(o.userSettings, o.Flags, o.Env.Lookup)
	if err != nil {
		return nil, err
	}
	at := userDirs{o}
	cfg := launch.Config{Shell: shellSettings(o), Request: launch.Request{Word: s.Word, By: s.By, Commanded: s.By == settings.SandboxFlag,
		Inside: o.Env.Process.Getenv("SANDBOX"), Image: s.Image, Getenv: o.Env.Getenv},
		Hidden: at.hidden(), Hooks: at.hooks(), Temp: below(at.cache(), "tmp"), Built: at.goCache(),
		Caches:  below(at.cache(), project.Hash(o.Paths.Folder(""))), // not the user's cache: a command could put files there that an unconfined program runs
		Network: s.Network, Write: lists.Map(s.Paths, at.resolve), Offline: s.Offline, Cut: s.Cut, Asked: s.Asked}
	if s.File != "" {
		cfg.Request.Where = "tools.sandbox in " + text.PrintableLine(s.File)
	}
	if o.Trust.State == trust.Trusted && !o.Paths.AtHome() {
		cfg.Request.Seatbelt = append(cfg.Request.Seatbelt, o.Paths.Workspace())
		cfg.Request.Project = o.Paths.Folder("")
	}
	if o.Paths.Home != "" {
		cfg.Request.Seatbelt = append(cfg.Request.Seatbelt, o.Paths.User())
	}
	l, err := launch.New(cfg)
	if err == nil {
		l.Finder = &mask.Finder{Path: o.Env.Process.Getenv("PATH"), Home: o.Paths.AccountHome()}
		l.Roots = func() []string { return []string{o.Paths.Folder("")} }
		l.Agreed = func() []string {
			paths := o.consents.guardedPaths(l.Roots())
			if disk.ResolveLinks(o.Paths.User()) != o.Paths.Folder(".gemini") { // the sandbox protects the folder .gemini by its name
				paths = append(paths, o.Paths.User())
			}
			return paths
		}
	}
	return l, err
}

// shellSettings returns the settings for running commands.
func shellSettings(o *Options) shell.Settings {
	return shell.Settings{
		Environ:    o.Env.Environ(),
		Inactivity: time.Duration(max(0, o.Settings.Inactivity)) * time.Second,
		PTY:        o.User.Interactive && o.Settings.Terminal && (o.Settings.IsSet("tools.shell.enableInteractiveShell") || output.Decide(o.Signs()).Smart),
		Charsets:   Charsets(o),
		Pager:      o.Settings.Pager,
		Reveal:     !o.Settings.Redact, Allowed: o.Settings.AllowedVars, Blocked: o.Settings.BlockedVars,
	}
}
