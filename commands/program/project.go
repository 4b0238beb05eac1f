package program

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/engine/limit"
	"gemline/engine/memory"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/settings"
	"gemline/tools/shell"
	"gemline/tools/web"
	"gemline/tools/workspace"
)

// A Project is a directory that is worked in, with what all conversations there
// share: the workspace, what confines commands and judges calls, and the model's
// server. It is complete when [Open] returns it, and safe for several Sessions at
// once.
type Project struct {
	*Options
	*status
	store       settings.Project // where its sessions are kept
	workspace   *workspace.Workspace
	complain    func()             // says once what is wrong with its ignore files
	over        *workspace.Overlay // what is written to in place of files, if not nil
	jobs        *shell.Jobs
	shell       shell.Settings
	kept        func() string // tells once what commands are not given
	confinement *confinement  // what holds commands
	web         *web.Fetcher
	policy      *policy.Policy // as it is when a conversation begins
	budget      *limit.Budget  // of all conversations together
	server
	closers []func()
}

// Open makes the owners of what is worked with, in the order in which they need
// each other. The status takes what is odd but no error. After an error nothing stays
// open.
func Open(o *Options, told *status, store settings.Project) (*Project, error) {
	p := &Project{Options: o, status: told, store: store}
	for _, step := range []func() error{p.loadRules, p.work, p.newBudget, p.newGenerator} {
		if err := step(); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Close ends what was begun in the project.
func (p *Project) Close() {
	for _, f := range slices.Backward(p.closers) {
		f()
	}
}

// loadRules finds out what commands are held by and what calls are judged by.
func (p *Project) loadRules() error {
	held, err := p.chooseConfinement() // before the warnings, since what is wrong may be refused
	for _, w := range p.warnings {
		p.notify(w)
	}
	p.confine()
	if err != nil {
		return err
	}
	if err := p.supported(); err != nil {
		return err
	}
	p.confineBy(held)
	p.policy, err = p.rules(!p.answered())
	return err
}

// confine holds a session in a folder that is not trusted to asking.
func (p *Project) confine() {
	if p.trust.State >= settings.Unneeded {
		return
	}
	if len(p.trust.Brings) > 0 {
		p.notify("this folder is not trusted: its settings, .env, context files and all else it brings are not used; /permissions trust asks again")
	}
	if p.settings.Confine() {
		p.notify("this folder is not trusted: the approval mode is default")
	}
}

// work makes the workspace and what commands run in.
func (p *Project) work() (err error) {
	if p.flags.Patch || p.flags.DryRun {
		p.over = &workspace.Overlay{}
	}
	if err = p.openWorkspace(); err != nil {
		return err
	}
	p.shell = shell.Settings{
		Environ:    p.os.Environ(),
		Inactivity: time.Duration(max(0, p.settings.Inactivity)) * time.Second,
		PTY:        p.interactive && p.settings.Terminal,
		Pager:      p.settings.Pager,
		Reveal:     !p.settings.Redact, Allowed: p.settings.AllowedVars, Blocked: p.settings.BlockedVars,
	}
	p.web = p.fetcher()
	p.jobs = shell.NewJobs(p.paths.User("tmp", "background-processes"))
	p.jobs.Secrets = p.secrets
	p.kept = once(p.withheld)
	p.closers = append(p.closers, p.jobs.Close)
	return nil
}

// openWorkspace makes the workspace.
func (p *Project) openWorkspace() (err error) {
	p.workspace, err = workspace.New(workspace.Config{Roots: []string{p.paths.Cwd}, Temp: p.store.Temp, Overlay: p.over, Ledger: p.ledger, Secrets: p.keptSecret,
		RespectGit: p.settings.RespectGit, RespectGemini: p.settings.RespectGemini, IgnoreFiles: p.settings.IgnoreFiles})
	if err != nil {
		return err
	}
	for _, dir := range p.settings.IncludeDirs {
		if err := p.imposed(dir); err != nil {
			p.notify(fmt.Sprintf("the directory is not added: %v", err))
			continue
		}
		p.add(dir)
	}
	p.complain = sync.OnceFunc(func() {
		for _, w := range p.workspace.Complaints() {
			p.notify(w)
		}
	})
	return nil
}

// add has a directory worked in.
func (p *Project) add(dir string) {
	if err := p.workspace.Add(p.paths.Folder(dir)); err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) { // which system call failed says nothing to a user
			err = fmt.Errorf("%s: %w", pe.Path, pe.Err)
		}
		p.notify(fmt.Sprintf("the directory is not added: %v", err))
	}
}

// imposed returns an error if only the project's settings name a directory to
// work in, and the user's secrets are there: whoever trusts a directory that
// others are in as well has not seen what each of them says.
func (p *Project) imposed(dir string) error {
	if slices.Contains(p.own.IncludeDirs, dir) {
		return nil
	}
	path := p.paths.Folder(dir)
	secret := append(p.hidden(), p.paths.Home, p.paths.User())
	i := slices.IndexFunc(secret, func(at string) bool {
		return at != "" && (disk.Inside(path, p.paths.Folder(at)) || at != p.paths.Home && disk.Inside(p.paths.Folder(at), path))
	})
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%s: a project can't add it, since %s is private; gemline --include-directories can", settings.EscapeLine(path), settings.EscapeLine(secret[i]))
}

// trusted returns the directories whose context files are used.
func (p *Project) trusted() []string {
	if p.trust.State < settings.Unneeded {
		return nil
	}
	roots := p.workspace.Roots()
	denied := func(dir string) bool { return dir != roots[0] && p.paths.Denied(dir, p.lookup) }
	return slices.DeleteFunc(slices.Clone(roots), denied)
}

// remember makes the memory that holds the context files.
func (p *Project) remember(warn func(string)) *memory.Memory {
	cfg := memory.Config{User: p.paths.User(), Roots: p.trusted, Names: p.settings.FileNames,
		Foreign:   func(path string) string { return settings.Foreign(path, p.paths.Cwd) },
		Undecided: func() bool { return p.trust.State == settings.Unneeded },
		Markers:   append([]string{}, p.settings.Markers...), // none is not the default
		Flat:      p.settings.ImportFormat == "flat", Withheld: workspace.Withheld, Ledger: p.ledger,
		Warn: warn}
	if p.store.Temp != "" {
		cfg.Private = filepath.Join(p.store.Temp, "memory")
	}
	if p.settings.Extensions {
		cfg.Extensions = func() (files []memory.Extra, warnings []string) {
			list, warnings := p.installed()
			for _, x := range list {
				for _, path := range x.ContextFiles {
					if x.Active {
						files = append(files, memory.Extra{Path: path, Within: x.Dir})
					}
				}
			}
			return files, warnings
		}
	}
	return memory.New(cfg)
}

// fetcher makes what fetches pages: by the user's proxy, if there is one, and
// with the certificates that the API is trusted by.
func (p *Project) fetcher() *web.Fetcher {
	proxies := model.ProxyFrom(p.getenv)
	cfg := web.Config{UserAgent: "gemline/" + cmp.Or(p.os.Version, "0"),
		Proxy: func(u *url.URL) (*url.URL, error) { return proxies.ProxyFunc()(u) }}
	if names := model.CAsFrom(p.getenv); len(names) > 0 {
		cfg.CAs = func() (*x509.CertPool, error) {
			pool, _ := model.Trust(names) // what can't be read is told with the first request
			return pool, nil
		}
	}
	return web.New(cfg)
}

// model returns the name of the model that is asked, unless a conversation has
// another one.
func (p *Project) model() string { return p.reach.Resolve(cmp.Or(p.settings.Model, model.Default)) }
