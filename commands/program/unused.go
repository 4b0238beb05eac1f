package program

import (
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

// tellUnused says what is set up and not in use yet.
func (p *Project) tellUnused() {
	unused := p.Options.unused()
	p.status.unused.Store(&unused)
	if line := settings.Shorten(unused); line != "" {
		p.notify("not in use yet: " + line + "; gemline doctor says more")
	}
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
