package sandbox

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// BenchmarkConfine runs a command that does nothing: by itself, started by the
// small program, by this one, and at the next step. What is above the first is
// what confinement costs. A busy machine tells more by the best time and by
// the processor's.
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
		{"not", nil}, {"helper", New(Options{Helper: program})}, {"itself", New(Options{})},
		{"Landlock", New(Options{Helper: program, Without: []string{"namespaces"}})},
	} {
		if c.k != nil {
			defer c.k.Close()
			if !c.k.State().Confined() {
				b.Skipf("%+v", c.k.State())
			}
		}
		b.Run(c.name, func(b *testing.B) {
			best, cpu := time.Hour, time.Duration(0)
			for b.Loop() {
				began := time.Now()
				cmd := exec.Command("/bin/true")
				cmd.Dir, cmd.SysProcAttr = root, &syscall.SysProcAttr{Setsid: true}
				if c.k != nil {
					release, err := c.k.Confine(cmd, Profile{Root: root})
					if err != nil {
						b.Fatal(err)
					}
					defer release()
				}
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(began))
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
