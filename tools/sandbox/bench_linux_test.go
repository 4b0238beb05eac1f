package sandbox

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkConfine runs a command that does nothing: by itself, started by the
// small program, by this one, and at the next step. What is above the first is
// what confinement costs. A busy machine tells more by the best time.
func BenchmarkConfine(b *testing.B) {
	program, err := helper()
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	for _, c := range []struct {
		name string
		k    *Kernel
	}{
		{"not", nil},
		{"helper", New(Options{Helper: program})},
		{"itself", New(Options{})},
		{"Landlock", New(Options{Helper: program, Without: []string{"namespaces"}})},
	} {
		if c.k != nil {
			defer c.k.Close()
			if !c.k.State().Confined() {
				b.Skipf("%+v", c.k.State())
			}
		}
		b.Run(c.name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				cmd := exec.Command("/bin/true")
				cmd.Dir, cmd.SysProcAttr = root, &syscall.SysProcAttr{Setsid: true}
				start := cmd.Start
				if c.k != nil {
					start = func() error { return begin(c.k, cmd, Profile{Root: root}) }
				}
				if err := start(); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[0].Microseconds())/1000, "best-ms")
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
		})
	}
}
