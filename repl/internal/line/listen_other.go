//go:build !unix

package line

// A typeaheadListener would read text typed meanwhile. Here waiting can't be given up, so it reads nothing.
type typeaheadListener struct {
	came  chan struct{}
	heard heard
}

func (s *source) listen() *typeaheadListener        { return nil }
func (e *typeaheadListener) pause() (resume func()) { return func() {} }
func (e *typeaheadListener) close() heard           { return e.heard }
