package program

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"gemline/commands/cli"
	"gemline/repl/report"
	"gemline/tools/sandbox"
)

// A confinement is what the commands of a run are held by, and to what.
type confinement struct {
	sandbox sandbox.Sandbox // nil if nothing holds them
	why     string          // then
	quiet   bool            // whoever runs gemline knows
	granted []string        // what commands may write to besides
	network bool            // and whether they reach the network
	offline bool            // whether none is given it
	asked   bool            // whether none is given it unasked
	places  places

	// promised is set when a record has said that commands are confined,
	// before any was. Then none runs that is not.
	promised *atomic.Bool
}

// newConfinement returns a confinement by box whose commands have caches of their
// own. A soft one is the default: where nothing of it is in force, commands run
// without.
func newConfinement(box sandbox.Sandbox, soft bool, at places) *confinement {
	promised := &atomic.Bool{}
	return &confinement{sandbox: withCaches{box, soft, promised, at.caches(), at.goCache()}, promised: promised}
}

// Close lets go of what the sandbox has left.
func (c *confinement) Close() {
	if closer, ok := c.sandbox.(interface{ Close() error }); ok {
		closer.Close()
	}
}

// state says what is in force.
func (c *confinement) state() sandbox.State {
	if c.sandbox == nil {
		return sandbox.State{Name: "none", Step: c.why}
	}
	return c.sandbox.State()
}

// contained reports whether commands are kept from writing elsewhere and from the
// network.
func (c *confinement) contained() bool { return !c.network && c.state().Confined() }

// lack says what commands are not kept from, "" if nothing or if whoever runs
// gemline knows.
func (c *confinement) lack() string {
	switch st := c.state(); {
	case st.Confined() || c.quiet:
		return ""
	case st.Files:
		return fmt.Sprintf("commands are confined in part (%s: %s): they may reach the network; gemline sandbox status says why", st.Name, st.Step)
	default:
		return fmt.Sprintf("commands are not confined (%s): those that you allow run with all your rights; gemline sandbox status says why", cmp.Or(st.Step, "nothing is in force"))
	}
}

// profile returns what commands may do that work in root and in more.
func (c *confinement) profile(root string, more []string) sandbox.Profile {
	p := sandbox.Profile{Root: root, Write: slices.Concat(more, c.granted), Network: c.network, Hooks: c.places.hooks()}
	if dir := c.places.caches(); dir != "" {
		p.Write = append(p.Write, dir)
	}
	p.Hidden = sandbox.Except(c.places.hidden(), c.granted, append([]string{root}, more...))
	return p
}

// record returns what confines commands, for a record: what is certain before
// commands have run, and afterwards what was in force.
func (c *confinement) record() *report.Sandbox {
	if f, ok := c.sandbox.(withCaches); ok {
		return c.told(f.least())
	}
	return c.told(c.state())
}

// told returns st as a record has it, which is as good as a promise.
func (c *confinement) told(st sandbox.State) *report.Sandbox {
	if c.promised != nil && st.Confined() {
		c.promised.Store(true)
	}
	return &report.Sandbox{Name: st.Name, Step: st.Step, Files: st.Files, Network: st.Network}
}

// describe returns what the sub-commands about it go by. Commands are given
// environ.
func (c *confinement) describe(environ []string) cli.Confinement {
	box, _ := c.sandbox.(withCaches)
	return cli.Confinement{Sandbox: c.sandbox, Chosen: !box.soft, State: c.state,
		Profile: c.profile(c.places.Folder(""), nil), Place: c.places.place, Environ: environ}
}
