//go:build !unix

package line

// A typeaheadListener reads nothing here, since a read can't be cancelled.
type typeaheadListener struct {
	came  chan struct{}
	heard heard
}

func (s *source) listen() *typeaheadListener        { return nil }
func (e *typeaheadListener) pause() (resume func()) { return func() {} }
func (e *typeaheadListener) close() heard           { return e.heard }
