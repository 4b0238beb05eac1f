package ide

import "os"

// ancestors returns this process's ancestors, the nearest first. An editor is among them:
// the parent or grandparent of a terminal's shell.
func ancestors() (all []int) {
	const most = 32
	for pid := parent(os.Getpid()); pid > 1 && len(all) < most; pid = parent(pid) {
		all = append(all, pid)
	}
	return all
}
