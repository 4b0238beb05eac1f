package program

import (
	"gemline/settings"
)

// unused lists what is set up and not in use yet.
func (o *Options) unused() []settings.Unused {
	return o.settings.Unused(o.lookup)
}

// tellUnused says what is set up and not in use yet.
func (p *Project) tellUnused() {
	unused := p.opts.unused()
	p.status.unused.Store(&unused)
	if line := settings.Shorten(unused); line != "" {
		p.status.notify("not in use yet: " + line + "; gemline doctor says more")
	}
}
