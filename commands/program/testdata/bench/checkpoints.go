package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// checkpoints measures what keeping the states of files adds to commands, in a folder of
// one file and in a large one, beside what git takes to find out the same.
func (b *bench) checkpoints() {
	const files, calls = 10_000, 10
	b.env = []string{"GEMINI_SANDBOX=false"}
	defer func() { b.env = nil }()
	quiet, writes := `{"name":"run_shell_command","args":{"command":"true %d"}}`, `{"name":"run_shell_command","args":{"command":"echo %d >changed.txt"}}`
	bash := b.times(wall, func() sample { return b.run("bash", "-c", "true") })
	small := b.added(b.project(""), quiet, calls)
	row("a command in a folder of one file, what checkpoints add", "ms", small, "bash -c true", bash)

	tree := filepath.Join(b.dir, "kept")
	check(plant(tree, files))
	git := func(args ...string) sample {
		return b.runIn(tree, append([]string{"git", "--git-dir", filepath.Join(b.dir, "git"), "--work-tree", tree}, args...)...)
	}
	anew := func(also func() sample) (xs []float64) {
		for range min(b.runs, 5) {
			check(os.RemoveAll(filepath.Join(b.dir, "home", ".gemini", "history")))
			xs = append(xs, wall(also()))
		}
		sort.Float64s(xs)
		return xs
	}
	b.server.calls(quiet, 1, 1)
	b.settings(uncheckpointed)
	us := func() sample { return b.runIn(tree, b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q") }
	without := median(b.times(wall, us))
	b.settings("")
	all := func(xs []float64) (less []float64) {
		for _, x := range xs {
			less = append(less, max(0, x-without))
		}
		return less
	}
	tar := b.times(wall, func() sample { return b.runIn(b.dir, "tar", "-I", "gzip -1", "-cf", "kept.tar.gz", "kept") })
	row(fmt.Sprintf("the first checkpoint of %d files", files), "ms", all(anew(us)), "tar and gzip -1", tar)
	git("init", "-q")
	git("add", "-A")
	status := b.times(wall, func() sample { return git("status", "--porcelain") })
	row(fmt.Sprintf("the first of a run, nothing of %d files changed", files), "ms", all(b.times(wall, us)), "git status", status)
	same := b.added(tree, quiet, calls)
	row(fmt.Sprintf("a checkpoint, nothing of %d files changed", files), "ms", half(same), "git status", status)
	var keep []float64
	for i := range b.runs {
		check(os.WriteFile(filepath.Join(tree, "changed.txt"), fmt.Appendln(nil, i), 0o600))
		keep = append(keep, wall(git("add", "-A"))+wall(git("write-tree")))
	}
	sort.Float64s(keep)
	var one []float64
	for _, x := range b.added(tree, writes, calls) {
		one = append(one, max(0, x-median(same)/2)) // the one before is of nothing
	}
	row(fmt.Sprintf("a checkpoint, one of %d files changed", files), "ms", one, "git add, write-tree", keep)
}

// uncheckpointed are settings without checkpoints.
const uncheckpointed = `{"general":{"checkpointing":{"enabled":false}}}`

// half returns the halves: a command has a checkpoint before it and one behind it.
func half(xs []float64) (less []float64) {
	for _, x := range xs {
		less = append(less, x/2)
	}
	return less
}

// added returns what checkpoints add to one command of several. In a small folder, and on
// a busy machine, that is mostly noise.
func (b *bench) added(dir, call string, calls int) (xs []float64) {
	us := func() sample { return b.runIn(dir, b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q") }
	for range min(b.runs, 5) {
		b.settings(uncheckpointed)
		without := b.once(calls, call, us)
		b.settings("")
		xs = append(xs, max(0, b.once(calls, call, us)-without))
	}
	sort.Float64s(xs)
	return xs
}
