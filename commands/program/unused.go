package program

import (
	"slices"
	"strings"

	"gemline/engine/text"
	"gemline/settings"
	"gemline/settings/trust"
)

// unused lists what is set up and not in use yet.
func (o *Options) unused() []settings.Unused {
	list, _ := o.installed() // what is wrong with one is told where it is used
	return o.settings.Unused(o.paths, o.trust.State == trust.Trusted, list, o.lookup)
}

// supported says what is set up and not in use yet. A run that nobody watches
// ends if a hook could have kept something from happening in it.
func (p *Project) supported() error {
	unused := p.Options.unused()
	p.status.unused.Store(&unused)
	if line := settings.Shorten(unused); line != "" {
		p.notify("not in use yet: " + line + "; gemline doctor says more")
	}
	watched := p.attended() && p.settings.ApprovalMode != "yolo"
	i := slices.IndexFunc(unused, func(u settings.Unused) bool { return u.Blocks })
	if i < 0 || watched || p.flags.IgnoreUnsupported {
		return nil
	}
	return &settings.UnsupportedError{Hook: unused[i]}
}

// elsewhere says where a name is a command: in a folder of skills, which are not in
// use yet.
func (o *Options) elsewhere(name string) string {
	_, bare, _ := strings.Cut(name, ":") // behind the name of its extension
	for _, u := range o.unused() {
		if known := strings.TrimPrefix(u.Name, "/"); u.Feature == "skills" && (known == name || known == bare) {
			return "it is a skill in " + text.EscapeLine(u.File) + ", and skills are not in use yet"
		}
	}
	return ""
}
