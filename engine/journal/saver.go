package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// An UnwrittenError is the error of a failed write. The lines are kept and written with the next
// record.
type UnwrittenError struct{ Err error }

// Error returns the reason.
func (e *UnwrittenError) Error() string { return disk.AsFull(e.Err).Error() }

// Unwrap returns the cause.
func (e *UnwrittenError) Unwrap() error { return e.Err }

// A Saver is an [engine.Journal] around a File. If the File can't be written, the Saver reports
// the failure once, and writes the missing messages later. A nil Saver saves nothing.
type Saver struct {
	file         *File
	tell         func(engine.Notice)
	lastQuestion string // the last question
	since        string // the question from which on messages are missing
	err          error  // the cause, nil if nothing is missing
	Expected     bool   // the user knows that the File can't be written

	above     *Saver // of the conversation that called the agent, or nil
	mu        sync.Mutex
	unwritten []*Saver // of finished agents whose files are incomplete
	said      bool     // the incomplete files were reported
}

// NewSaver returns a Saver that reports by tell.
func NewSaver(f *File, tell func(engine.Notice)) *Saver { return &Saver{file: f, tell: tell} }

// Agent returns a Saver for the conversation of an agent in f. When it is closed, s takes over
// the unwritten messages.
func (s *Saver) Agent(f *File) *Saver {
	return &Saver{file: f, tell: func(engine.Notice) {}, above: s}
}

// Close closes the file of an agent, or passes it to the Saver above if it is incomplete.
func (s *Saver) Close() {
	if s.WriteMissing() == "" || s.above == nil {
		s.file.Close()
		return
	}
	s.above.mu.Lock()
	defer s.above.mu.Unlock()
	s.above.unwritten = append(s.above.unwritten, s)
}

// agents tries again to write agents' messages, and returns the error of messages that are still
// missing.
func (s *Saver) agents() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwritten = slices.DeleteFunc(s.unwritten, func(a *Saver) bool {
		if a.WriteMissing() != "" {
			err = a.err
			return false
		}
		a.file.Close()
		return true
	})
	return err
}

// Record implements [engine.Journal].
func (s *Saver) Record(e engine.Entry) error {
	if c := e.Content; c != nil && !e.Opening && c.Role == genai.RoleUser && HasWords(c) {
		s.lastQuestion = words(c)
	}
	return s.saved(s.file.Record(e))
}

// Result implements [engine.Journal].
func (s *Saver) Result(r engine.CallRecord) error { return s.saved(s.file.Result(r)) }

// Rewrite implements [engine.Journal].
func (s *Saver) Rewrite(said []*genai.Content) error { return s.saved(s.file.Rewrite(said)) }

// saved records the result of a write. A write that will be repeated is no error.
func (s *Saver) saved(err error) error {
	before := s.err
	if !s.file.pending.unwritten {
		s.err = nil
	}
	if err != nil {
		s.err = err
	}
	again := errors.As(err, new(*UnwrittenError))
	switch {
	case s.err == nil && (before != nil || s.file.disk.anew != ""):
		s.tell(engine.Notice{Text: s.file.disk.anew + "this session is saved again, and nothing of it is missing", Info: true})
		s.Expected, s.file.disk.anew = false, ""
	case before == nil && s.err != nil:
		if s.since = s.lastQuestion; again && !s.Expected {
			s.tell(engine.Notice{Text: fmt.Sprintf("this session is no longer saved: %v", err)})
		}
	}
	if again {
		return nil
	}
	return err
}

// WriteMissing tries again to write missing records. It returns a sentence about records that are still missing, ""
// if nothing is.
func (s *Saver) WriteMissing() string {
	if s == nil {
		return ""
	}
	if s.file.pending.unwritten || deleted(s.file) {
		s.saved(s.file.write(nil))
	}
	agents := s.agents()
	switch {
	case s.err != nil && s.since == "": // nothing was asked in words before the failure
		return fmt.Sprintf("nothing more is saved: %v", s.err)
	case s.err != nil:
		return fmt.Sprintf("nothing is saved from %q on: %v", text.OneLine(s.since, 60), s.err)
	case agents == nil:
		s.said = false
		return ""
	}
	missing := fmt.Sprintf("what agents said is not saved: %v", agents)
	if !s.said {
		s.said = true
		s.tell(engine.Notice{Text: missing})
	}
	return missing
}

// Run returns a Run that, at its end, tries again to write missing messages.
func (s *Saver) Run(run engine.Run) engine.Run {
	if s == nil {
		return run
	}
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		over := false
		for ev, err := range run(ctx, parts...) {
			if over = !yield(ev, err) || err != nil; over {
				break
			}
		}
		tell := s.tell
		defer func() { s.tell = tell }()
		if !over {
			s.tell = func(n engine.Notice) { yield(n, nil) }
		}
		s.WriteMissing()
	})
}

var _ engine.Journal = (*Saver)(nil)
