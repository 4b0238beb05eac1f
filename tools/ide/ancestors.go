package ide

import "os"

// ancestors returns the processes that this one runs below, the nearest first. An editor is
// one of them: the parent of a terminal's shell, or the parent of that.
func ancestors() (all []int) {
	const most = 32
	for pid := parent(os.Getpid()); pid > 1 && len(all) < most; pid = parent(pid) {
		all = append(all, pid)
	}
	return all
}
