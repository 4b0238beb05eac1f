package program

import (
	"slices"

	"gemline/engine/disk"
	"gemline/engine/policy"
	"gemline/tools/mask"
	"gemline/tools/sandbox"
)

// masks returns what is not there of programs that are denied, for commands that
// may do what p says.
func (c *confinement) masks(denied []policy.Denied, p sandbox.Profile) (all []mask.Mask) {
	if len(denied) == 0 {
		return nil
	}
	var names []string
	for _, d := range denied {
		names = append(names, d.Program)
		all = append(all, mask.Mask{Program: d.Program, Left: "nothing masks programs here"})
	}
	if c.sandbox == nil || !c.state().Masks {
		return all
	}
	all = c.finder.Find(names)
	for i := range all {
		movable := func(file string) bool {
			return slices.ContainsFunc(append([]string{p.Root}, p.Write...), func(dir string) bool { return disk.Inside(disk.Follow(dir), file) })
		}
		if all[i].Left == "" && slices.ContainsFunc(all[i].Files, movable) {
			all[i].Left = "commands can write where it is, and could move it"
		}
	}
	return all
}

// withMasks returns p with what programs are masked that are denied.
func (c *confinement) withMasks(p sandbox.Profile, denied []policy.Denied) sandbox.Profile {
	for _, m := range c.masks(denied, p) {
		p.Masked = append(p.Masked, m.Files...)
	}
	return p
}

// masked returns what reports whether no command that may do what profile says can
// run one of programs.
func (c *confinement) masked(profile func() sandbox.Profile) func(programs []string) bool {
	return func(programs []string) bool {
		var denied []policy.Denied
		for _, name := range programs {
			denied = append(denied, policy.Denied{Program: name})
		}
		return !slices.ContainsFunc(c.masks(denied, profile()), func(m mask.Mask) bool { return m.Left != "" })
	}
}
