package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A history holds the states of a session, and the known state of the files, from which the
// next state is made.
type history struct {
	cfg   *Config
	store *store // nil before it is needed
	tip   string // the last state of the session
	known bool   // the nodes have the contents of the last state

	top     *node           // nil before it is needed
	names   map[string]bool // files that calls have named; they are stored even if ignored
	rules   string          // the states of ignore files above the roots
	scanned bool            // all files were scanned once
	partial error           // the reason why only named files are stored
	missed  []Record        // calls whose changes no state has; the next use of the store records them
}

// open opens the store.
func (h *history) open() error {
	switch {
	case h.cfg.Off != "":
		return fmt.Errorf("%w: %s", ErrOff, h.cfg.Off)
	case h.cfg.Dir == "":
		return ErrNoHome
	case h.store != nil:
		return nil
	}
	store, err := create(h.cfg.Dir, h.cfg.create)
	switch {
	case errors.Is(err, errNewer) || errors.As(err, new(*damagedError)): // read-only commands report it, too
		return err
	case err != nil:
		return fmt.Errorf("no checkpoint can be made: %w", err)
	}
	h.store = store
	return nil
}

// use begins work with the store, and ends with done.
func (h *history) use(ctx context.Context) (done func(), err error) {
	if err := h.open(); err != nil {
		return nil, err
	}
	done, collected, err := h.store.use(ctx)
	if err != nil {
		return nil, err
	}
	if first := h.top == nil; first || collected {
		h.reset()
		if first {
			h.load()
		}
	}
	// Another process may have undone changes.
	if session := h.cfg.Session(); session == "" {
		return done, nil // nothing will be added
	} else if tip, err := h.store.ref(session); err != nil || tip != h.tip {
		if err == nil && tip != "" {
			_, err = h.store.heading(tip)
		}
		if err != nil {
			tip = ""
			h.cfg.Notify(fmt.Sprintf("earlier changes can't be taken back: %v", err))
		}
		h.tip, h.known = tip, false
	}
	for len(h.missed) > 0 && h.commit(nil, h.missed[0]) == nil {
		h.missed = h.missed[1:]
	}
	return done, nil
}

// take scans all files, or the named ones, and returns the differences from the last state.
func (h *history) take(ctx context.Context, kind Kind, all bool, paths []string) (changes []Change, s *scan, err error) {
	s = h.newScan(ctx, kind)
	defer func() {
		s.fail(nil)
		if err != nil {
			h.reset()
		}
	}()
	if all && h.partial == nil {
		if err := s.all(); errors.Is(err, errTooMuch) {
			h.partial, h.top = err, &node{}
			h.store.discard()
			s = h.newScan(ctx, kind)
		} else if err != nil {
			return nil, s, err
		}
	}
	if all { // named files that the scan does not reach
		for path := range h.names {
			if n := h.top.at(path, false); n == nil || n.tracking == explicit {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		s.path(path)
	}
	if err := context.Cause(s.ctx); err != nil {
		return nil, s, err
	}
	changes, err = h.differs()
	return changes, s, err
}

// differs returns what differs from the last state.
func (h *history) differs() ([]Change, error) {
	if !h.known {
		all, err := states(h.store, h.cfg.Session(), true)
		if err != nil && h.tip != "" {
			return nil, err
		}
		h.top.forget()
		for _, s := range slices.Backward(all) {
			for _, c := range s.changes {
				if checkPath(c.Path) == nil { // an invalid path was never scanned here
					h.top.at(c.Path, true).was = c.After
				}
			}
		}
		h.known = true
	}
	return h.top.diff(nil), nil
}

// commit stores a state as the session's last one: its changes and its record.
func (h *history) commit(changes []Change, r Record) error {
	r.Session, r.Time, r.Whole = h.cfg.Session(), cmp.Or(r.Time, time.Now()), h.scanned && h.partial == nil
	r.Asked, r.Title = h.cfg.Hide(r.Asked), h.cfg.Hide(r.Title)
	id, err := h.store.commit(&heading{Parent: h.tip, Record: r}, changes)
	if err == nil {
		err = h.store.setRef(h.cfg.Session(), id)
	}
	if err != nil {
		h.store.discard()
		h.reset()
		return err
	}
	h.top.clean()
	h.tip = id
	return nil
}

// recordExternal records the current files, if others have changed some.
func (h *history) recordExternal(ctx context.Context, all bool, paths []string) error {
	changes, _, err := h.take(ctx, External, all, paths)
	if err != nil || len(changes) == 0 && h.tip != "" {
		return err
	}
	if h.partial != nil && all {
		h.cfg.Notify(fmt.Sprintf("%v: an undo brings back only the files that commands name", h.partial))
	}
	return h.commit(changes, Record{Kind: External})
}

// reset forgets the known state of the files, which may no longer be the state on the disk.
func (h *history) reset() {
	h.top, h.known, h.scanned = &node{}, false, false
}

// close closes the store.
func (h *history) close() {
	if h.store != nil {
		h.store.close()
		h.store = nil
	}
}

// begin records the current files at the paths of a plan, and that the plan is carried out.
// Files that the user or an interrupted undo has restored already are recorded as the turn
// left them, so that a redo brings back the turn's version. It returns the plan's paths with
// theirs.
func (h *history) begin(ctx context.Context, p *Plan, paths []string) ([]string, error) {
	there, _, err := h.take(ctx, Started, false, paths)
	if err != nil {
		return nil, err
	}
	for _, c := range p.already {
		n := h.top.at(c.Path, true)
		there = slices.DeleteFunc(there, func(t Change) bool { return t.Path == c.Path })
		there, paths = append(there, Change{Path: c.Path, Before: n.was, After: c.Before}), append(paths, c.Path)
	}
	err = h.commit(there, Record{Kind: Started})
	for _, c := range p.already {
		h.top.at(c.Path, true).was = c.Before
	}
	return paths, err
}

// stored returns the content of a version, "" if the version is no file.
func (h *history) stored(v Version) (content string) {
	if v.file() {
		b, _ := h.store.content(v.Sum, h.cfg.MostBytes)
		content = string(b)
	}
	return content
}
