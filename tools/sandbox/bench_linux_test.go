package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkConfine runs a command that does nothing: by itself, handed to stages
// that had a moment to get ready, one command right after the other, started by
// the small program, by this one, and at the next step. What is above the first
// is what confinement costs. A busy machine tells more by the best time.
func BenchmarkConfine(b *testing.B) {
	program, err := helper()
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	for _, c := range []struct {
		name  string
		k     *Kernel
		start bool
		pause time.Duration
	}{
		{"not", nil, false, 0},
		{"not, after a pause", nil, false, 50 * time.Millisecond},
		{"ready", New(Options{Helper: program}), true, 50 * time.Millisecond},
		{"at once", New(Options{Helper: program}), true, 0},
		{"helper", New(Options{Helper: program}), false, 0}, {"itself", New(Options{}), false, 0},
		{"Landlock", New(Options{Helper: program, Without: []string{"namespaces"}}), false, 0},
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
				b.StopTimer()
				time.Sleep(c.pause)
				b.StartTimer()
				began := time.Now()
				cmd := exec.Command("/bin/true")
				cmd.Dir, cmd.SysProcAttr = root, &syscall.SysProcAttr{Setsid: true}
				cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
				var ended <-chan syscall.WaitStatus
				if c.start {
					ended, err = c.k.Start(cmd, Profile{Root: root})
				} else {
					err = begin(c.k, cmd, Profile{Root: root})
				}
				if err != nil {
					b.Fatal(err)
				}
				if ended != nil {
					if status, ok := <-ended; !ok || status != 0 {
						b.Fatal(status)
					}
				} else if err := cmd.Wait(); err != nil {
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

// begin starts cmd confined by k, if there is one, with nothing made ready.
func begin(k *Kernel, cmd *exec.Cmd, p Profile) error {
	if k == nil {
		return cmd.Start()
	}
	release, err := k.Confine(cmd, p)
	if err != nil {
		return err
	}
	defer release()
	return cmd.Start()
}
