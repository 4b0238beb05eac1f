package launch

import (
	"slices"

	"gemline/engine/disk"
	"gemline/tools/mask"
	"gemline/tools/sandbox"
)

// Masks returns the masks of programs for confined commands.
func (l *Launcher) Masks(programs []string) []mask.Mask { return l.masks(programs, l.Profile()) }

// masks is Masks for commands with the profile p.
func (l *Launcher) masks(programs []string, p sandbox.Profile) (all []mask.Mask) {
	if len(programs) == 0 {
		return nil
	}
	if !l.State().Masks {
		for _, name := range programs {
			all = append(all, mask.Mask{Program: name, WhyRunnable: "nothing masks programs here"})
		}
		return all
	}
	all = l.Finder.Find(programs)
	for i := range all {
		movable := func(file string) bool { return disk.InsideAny(append([]string{p.Root}, p.Write...), file) }
		if all[i].WhyRunnable == "" && slices.ContainsFunc(all[i].Files, movable) {
			all[i].WhyRunnable = "commands can write where it is, and could move it"
		}
	}
	return all
}

// Masked reports whether no confined command can run one of programs.
func (l *Launcher) Masked(programs []string) bool {
	return !slices.ContainsFunc(l.Masks(programs), func(m mask.Mask) bool { return m.WhyRunnable != "" })
}
