//go:build !unix

package line

// jobs is nothing here: programs are not stopped.
type jobs struct{}

func newJobs(*modes, func() bool, func()) *jobs { return &jobs{} }

func (*jobs) stop()  {}
func (*jobs) close() {}
