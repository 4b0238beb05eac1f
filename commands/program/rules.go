package program

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gemline/engine/policy"
	"gemline/settings"
)

// rules returns what judges calls: the rules that come with the program, those
// of files, and what the settings say. A file that is not understood is an
// error, since nobody knows what it would deny.
func (s *Project) rules(unattended bool) (*policy.Policy, error) {
	if s.unread != nil {
		return nil, s.unread
	}
	all, warnings, err := policy.Load(s.ruleFiles())
	for _, w := range warnings {
		s.notify(w)
	}
	if err != nil {
		return nil, err
	}
	listed, err := s.listed(unattended)
	if err != nil {
		return nil, err
	}
	all = append(all, listed...)
	if given := s.flags.AllowedTools; len(given) > 0 {
		more, err := policy.Lists{Allowed: given, As: "--allowed-tools"}.Rules(policy.User, "the command line")
		if wrong := (*policy.FileError)(nil); errors.As(err, &wrong) {
			return nil, &settings.UsageError{Message: wrong.Message}
		}
		if slices.ContainsFunc(given, func(entry string) bool { return strings.Contains(entry, "(") }) {
			s.notify("commands that --allowed-tools does not name are denied (policy files say more: gemline help policy)")
		}
		all = append(all, more...)
	}
	all = append(all, policy.Network(s.confinement.offline, s.confinement.asked)...)
	if s.settings.NoAlways {
		all = slices.DeleteFunc(all, policy.Rule.Kept)
	}
	p := policy.New(policy.Mode(s.settings.ApprovalMode), all...)
	p.Unattended, p.Shelf, p.Confined = unattended, s.shelf(), s.contained
	return p, nil
}

// contained reports whether commands are kept from writing elsewhere and from the
// network.
func (p *Project) contained() bool {
	return !p.confinement.network && p.confinement.state().Confined()
}

// shelf returns where "always" is kept: nowhere, if the user's own rules are
// not those that hold.
func (p *Project) shelf() policy.Shelf {
	if p.paths.Home == "" || len(p.flags.Policy)+len(p.own.PolicyPaths) > 0 {
		return policy.Shelf{}
	}
	here := p.paths.Folder("")
	return policy.Shelf{User: p.paths.User("policies", "auto-saved.toml"), Project: p.paths.User("policies", "projects", settings.Hash(here)+".toml"),
		About: "You said always to this in " + here + ".", Told: func(text string) { p.notify(text) }, Kept: func(text string) { p.tell(text) }}
}

// listKeys are the settings that stand for rules.
var listKeys = map[string]func(l *policy.Lists, values []string){
	"tools.core":                 func(l *policy.Lists, values []string) { l.Core = values },
	"tools.allowed":              func(l *policy.Lists, values []string) { l.Allowed = values },
	"tools.exclude":              func(l *policy.Lists, values []string) { l.Exclude = values },
	"tools.confirmationRequired": func(l *policy.Lists, values []string) { l.Confirm = values },
	"mcp.excluded":               func(l *policy.Lists, values []string) { l.Excluded = values },
}

// listed returns the rules that settings stand for, each with its place.
func (p *Project) listed(unattended bool) (all []policy.Rule, err error) {
	add := func(tier policy.Tier, from string, l policy.Lists) {
		more, wrong := l.Rules(tier, from)
		all, err = append(all, more...), cmp.Or(err, wrong)
	}
	say := func(tier policy.Tier, key string, said []settings.Said) {
		for _, one := range said {
			l := policy.Lists{Line: one.Line, Column: one.Column}
			listKeys[key](&l, one.Values)
			add(tier, one.File, l)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(listKeys)) {
		if key != "tools.allowed" || len(p.flags.AllowedTools) == 0 {
			say(policy.User, key, p.own.Said(key))
		}
		say(policy.Project, key, slices.DeleteFunc(p.settings.Said(key), func(one settings.Said) bool { return one.Scope != settings.Workspace }))
	}
	p.served(unattended, func(from string, l policy.Lists) { add(policy.User, from, l) })
	return all, err
}

// served adds rules that let tools of MCP servers run unasked, as the user's
// settings have it. A name of which a project says what it stands for is not
// what the user has meant.
func (p *Project) served(unattended bool, add func(from string, l policy.Lists)) {
	foreign := map[string]bool{}
	for _, server := range p.settings.Servers() {
		if foreign[server.Name] = server.Scope == settings.Workspace; foreign[server.Name] {
			continue
		}
		l := policy.Lists{Line: server.Line}
		if server.Trusted {
			l.Trusted = []string{server.Name}
		}
		if unattended && p.own.On("mcp.autoAllowInHeadless") {
			l.Unasked = []string{server.Name}
		}
		add(server.File, l)
	}
	for _, one := range p.own.Said("mcp.allowed") {
		add(one.File, policy.Lists{Line: one.Line, Servers: slices.DeleteFunc(one.Values, func(name string) bool { return foreign[name] })})
	}
}

// ruleFiles returns where rules are looked for.
func (p *Project) ruleFiles() []policy.Source {
	system := policy.Source{Path: settings.SystemPolicies(p.os.Lookup), Tier: policy.Admin, Exposed: settings.Exposed}
	list := []policy.Source{system}
	admin := append(append([]string{}, p.flags.AdminPolicy...), p.own.AdminPolicyPaths...)
	if system.Holds() {
		if len(admin) > 0 {
			p.notify("this machine's administrator has policy files in " + system.Path + ", so --admin-policy and adminPolicyPaths are ignored")
		}
		admin = nil
	}
	for _, path := range admin {
		list = append(list, policy.Source{Path: p.place(path), Tier: policy.Admin, Must: true})
	}
	user := p.flags.Policy
	if len(user) == 0 {
		user = p.own.PolicyPaths
	}
	for _, path := range user {
		list = append(list, policy.Source{Path: p.place(path), Tier: policy.User, Must: true})
	}
	if len(user) == 0 && p.paths.Home != "" {
		list = append(list, policy.Source{Path: p.paths.User("policies"), Tier: policy.User}, policy.Source{Path: p.shelf().Project, Tier: policy.User})
	}
	if p.trust.State == settings.Trusted && !p.paths.AtHome() {
		list = append(list, policy.Source{Path: p.paths.Workspace("policies"), Tier: policy.Project})
	}
	return append(list, p.extensionRules()...)
}

// place returns the path that a word of the user's means.
func (o *Options) place(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) && o.paths.Home != "" {
		path = o.paths.Home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.paths.Cwd, path)
	}
	return path
}

// guarded returns the files that are not edited like others, those called by
// names among them.
func (p *Project) guarded(names []string) policy.Guarded {
	g := policy.Guarded{Names: names, Roots: p.workspace.Roots, Own: []string{p.paths.Workspace()}}
	if p.paths.Home != "" {
		g.Own, g.Free = append(g.Own, p.paths.User()), []string{p.paths.User("tmp")}
		g.Kept = []string{"chats", "batches", "logs.json", "shell_history", "background-processes", ".project_root"}
	}
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		if filepath.IsAbs(dir) {
			g.Programs = append(g.Programs, dir)
		}
	}
	if p.store.Temp != "" {
		g.Notes = []string{filepath.Join(p.store.Temp, "memory")}
	}
	return g
}
