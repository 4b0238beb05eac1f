//go:build !unix

package line

// An ear would read what is typed meanwhile. Here waiting can't be given up, so nothing is.
type ear struct {
	came  chan struct{}
	heard heard
}

func (s *source) listen() *ear        { return nil }
func (e *ear) pause() (resume func()) { return func() {} }
func (e *ear) close() heard           { return e.heard }
