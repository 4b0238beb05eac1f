package program

import (
	"time"

	"gemline/engine/text"
	"gemline/repl/output"
	"gemline/settings/trust"
	"gemline/tools/launch"
	"gemline/tools/mask"
	"gemline/tools/shell"
)

// newLauncher makes what starts commands, as the settings have them confined.
func newLauncher(o *Options) (*launch.Launcher, error) {
	if o.loadError != nil {
		return nil, o.loadError
	}
	s, err := o.settings.Confinement(o.userSettings, o.flags, o.lookup)
	if err != nil {
		return nil, err
	}
	at := o.places()
	cfg := launch.Config{Shell: o.shellSettings(), Word: s.Word, By: s.By,
		Inside: o.os.getenv("SANDBOX"), Image: s.Image, Getenv: o.getenv,
		Hidden: at.hidden(), Hooks: at.hooks(), Temp: at.temp(), Caches: at.caches(), Built: at.goCache(),
		Found: at.found(), Network: s.Network, Offline: s.Offline, Asked: s.Asked}
	if s.File != "" {
		cfg.Where = "tools.sandbox in " + text.EscapeLine(s.File)
	}
	for _, path := range s.Paths {
		cfg.Write = append(cfg.Write, at.place(path))
	}
	if o.trust.State == trust.Trusted && !o.paths.AtHome() {
		cfg.Seatbelt = append(cfg.Seatbelt, o.paths.Workspace())
		cfg.Project = o.paths.Folder("")
	}
	if o.paths.Home != "" {
		cfg.Seatbelt = append(cfg.Seatbelt, o.paths.User())
	}
	l, err := launch.New(cfg)
	if err == nil {
		l.Finder = &mask.Finder{Path: o.os.getenv("PATH"), Home: o.paths.Home}
		l.Roots = func() []string { return []string{o.paths.Folder("")} }
		l.Agreed = func() []string { return o.agreed.held() }
	}
	return l, err
}

// shellSettings returns how commands run.
func (o *Options) shellSettings() shell.Settings {
	return shell.Settings{
		Environ:    o.environ(),
		Inactivity: time.Duration(max(0, o.settings.Inactivity)) * time.Second,
		PTY:        o.interactive && o.settings.Terminal && (o.settings.Says("tools.shell.enableInteractiveShell") || output.Decide(o.signs()).Smart),
		Charsets:   o.charsets(),
		Pager:      o.settings.Pager,
		Reveal:     !o.settings.Redact, Allowed: o.settings.AllowedVars, Blocked: o.settings.BlockedVars,
	}
}
