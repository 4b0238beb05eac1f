package project

import (
	"maps"
	"slices"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/lists"
	"gemline/engine/policy"
	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/extension"
	"gemline/settings/project"
	"gemline/tools/launch"
)

// A policyBuilder makes a policy from the rules of a directory: built-in rules, rule files, and
// rules for settings and flags.
type policyBuilder struct {
	opts     *Options
	launcher *launch.Launcher
	warn     func(string)
	tell     func(string) // prints a note that is no warning
}

// NewPolicy returns the policy that judges calls, for commands that l starts. Warn prints the
// problems of rules, and tell prints which rules were stored. An unreadable file of rules is an
// error, since nobody knows what it denies.
func NewPolicy(o *Options, l *launch.Launcher, unattended bool, warn, tell func(string)) (*policy.Policy, error) {
	b := policyBuilder{o, l, warn, tell}
	if b.opts.LoadError != nil {
		return nil, b.opts.LoadError
	}
	all, warnings, err := policy.Load(b.files())
	text.Each(warnings, b.warn)
	if err != nil {
		return nil, err
	}
	all = append(all, b.settingRules(unattended)...)
	if given := b.opts.Flags.AllowedTools; len(given) > 0 {
		more, wrong := policy.Lists{Allowed: given, AllowedName: "--allowed-tools"}.Rules(policy.User, "the command line")
		text.Each(wrong, b.warn)
		if slices.ContainsFunc(more, func(r policy.Rule) bool { return r.Verdict == engine.Deny }) {
			b.warn("commands that --allowed-tools does not name are denied (policy files say more: gemline help policy)")
		}
		all = append(all, more...)
	}
	never := ""
	switch {
	case b.launcher.Config.Cut:
		never = "--offline"
	case b.launcher.Config.Offline:
		never = "--no-network"
	}
	all = append(all, policy.Network(never, b.launcher.Config.Asked)...)
	if b.opts.Settings.NoAlways {
		all = slices.DeleteFunc(all, policy.Rule.Learned)
	}
	p := policy.New(policy.Mode(b.opts.Settings.ApprovalMode), all...)
	p.Unattended, p.Store, p.Confined = unattended, b.store(), b.launcher.Contained
	return p, nil
}

// store returns the file for "always" answers: none if other files replace the user's own rules.
func (b policyBuilder) store() policy.Store {
	if b.opts.Paths.Home == "" || len(b.opts.Flags.Policy)+len(b.opts.userSettings.PolicyPaths) > 0 {
		return policy.Store{}
	}
	here := b.opts.Paths.Folder("")
	return policy.Store{User: b.opts.Paths.User("policies", "auto-saved.toml"),
		Project: b.opts.Paths.User("policies", "projects", project.Hash(here)+".toml"),
		About:   "You said always to this in " + here + ".", Failed: b.warn, Saved: b.tell}
}

// listKeys maps settings to the rules that they stand for.
var listKeys = map[string]func(l *policy.Lists, values []string){
	"tools.core":                 func(l *policy.Lists, values []string) { l.Core = values },
	"tools.allowed":              func(l *policy.Lists, values []string) { l.Allowed = values },
	"tools.exclude":              func(l *policy.Lists, values []string) { l.Exclude = values },
	"tools.confirmationRequired": func(l *policy.Lists, values []string) { l.Confirm = values },
	"mcp.excluded":               func(l *policy.Lists, values []string) { l.Excluded = values },
}

// settingRules returns the rules for settings, each with the position of its setting.
func (b policyBuilder) settingRules(unattended bool) (all []policy.Rule) {
	add := func(tier policy.Tier, from string, l policy.Lists) {
		more, wrong := l.Rules(tier, from)
		text.Each(wrong, b.warn)
		all = append(all, more...)
	}
	say := func(tier policy.Tier, key string, said []settings.KeyValues) {
		for _, one := range said {
			l := policy.Lists{Line: one.Line, Column: one.Column}
			listKeys[key](&l, one.Values)
			add(tier, one.File, l)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(listKeys)) {
		if key != "tools.allowed" || len(b.opts.Flags.AllowedTools) == 0 {
			say(policy.User, key, b.opts.userSettings.Values(key))
		}
		say(policy.Project, key, slices.DeleteFunc(b.opts.Settings.Values(key),
			func(one settings.KeyValues) bool { return one.Scope != settings.Workspace }))
	}
	for _, x := range b.opts.ActiveExtensions() {
		if len(x.Contents.ExcludeTools) > 0 {
			add(policy.Extension, x.Manifest(), policy.Lists{Exclude: x.Contents.ExcludeTools})
		}
	}
	b.serverRules(unattended, func(from string, l policy.Lists) { add(policy.User, from, l) })
	return all
}

// serverRules adds rules that let tools of MCP servers run unasked, by the user's settings. It
// leaves out servers that the project defines: the user may have meant another server of
// that name.
func (b policyBuilder) serverRules(unattended bool, add func(from string, l policy.Lists)) {
	foreign := map[string]bool{}
	for _, server := range b.opts.Settings.Servers() {
		if foreign[server.Name] = server.Scope == settings.Workspace; foreign[server.Name] {
			continue
		}
		l := policy.Lists{Line: server.Line}
		if server.Trusted {
			l.Trusted = []string{server.Name}
		}
		if unattended && b.opts.userSettings.Enabled("mcp.autoAllowInHeadless") {
			l.Unasked = []string{server.Name}
		}
		add(server.File, l)
	}
	for _, one := range b.opts.userSettings.Values("mcp.allowed") {
		add(one.File, policy.Lists{Line: one.Line,
			Servers: slices.DeleteFunc(one.Values, func(name string) bool { return foreign[name] })})
	}
}

// files returns the sources of rules.
func (b policyBuilder) files() []policy.Source {
	system := policy.Source{Path: settings.SystemPolicies(b.opts.Env.Process.Lookup), Tier: policy.Admin, WorldWritable: disk.WorldWritable}
	list := []policy.Source{system}
	admin := append(append([]string{}, b.opts.Flags.AdminPolicy...), b.opts.userSettings.AdminPolicyPaths...)
	if system.Exists() {
		if len(admin) > 0 {
			b.warn("this machine's administrator has policy files in " + system.Path +
				", so --admin-policy and adminPolicyPaths are ignored")
		}
		admin = nil
	}
	required := func(tier policy.Tier, paths []string) []policy.Source {
		return lists.Map(paths, func(path string) policy.Source {
			return policy.Source{Path: userDirs{b.opts}.resolve(path), Tier: tier, Required: true}
		})
	}
	list = append(list, required(policy.Admin, admin)...)
	user := b.opts.Flags.Policy
	if len(user) == 0 {
		user = b.opts.userSettings.PolicyPaths
	}
	list = append(list, required(policy.User, user)...)
	if len(user) == 0 {
		list = append(list, policy.Source{Path: b.opts.Paths.User("policies"), Tier: policy.User},
			policy.Source{Path: b.store().Project, Tier: policy.User})
	}
	if dir := b.opts.Paths.Workspace("policies"); b.opts.projectFileCounts(dir) {
		list = append(list, policy.Source{Path: dir, Tier: policy.Project})
	}
	if b.opts.userSettings.Extensions { // they can only restrict, so they hold even if a project switches the extension off
		for _, dir := range extension.Policies(extensionConfig(b.opts, b.opts.userSettings)) {
			list = append(list, policy.Source{Path: dir, Tier: policy.Extension})
		}
	}
	return list
}
