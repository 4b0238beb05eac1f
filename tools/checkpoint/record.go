package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// A Kind is the cause of a state.
type Kind string

// The kinds of states.
const (
	External Kind = "found"    // changes by others since the last state
	ToolCall Kind = "call"     // a call
	Undone   Kind = "undo"     // turns were undone
	Redone   Kind = "redo"     // turns were redone
	Started  Kind = "begun"    // an undo or a redo begins
	Restored Kind = "restored" // a file was restored from the trash: a turn of its own
)

// A Record describes a state.
type Record struct {
	Kind    Kind      `json:"kind"`
	Session string    `json:"session"`
	Time    time.Time `json:"time"`

	Turn  string `json:"turn,omitempty"`  // of a call
	Asked string `json:"asked,omitempty"` // the beginning of the question
	Print string `json:"print,omitempty"` // of the question, see [Fingerprint]
	Tool  string `json:"tool,omitempty"`
	Title string `json:"title,omitempty"`

	NotKept  []string `json:"lost,omitempty"`  // files changed or deleted whose contents are not stored
	More     int      `json:"more,omitempty"`  // how many more there are
	GitMoved []string `json:"moved,omitempty"` // parts of git that moved: HEAD, branches, the index
	Partial  string   `json:"short,omitempty"` // why only files that edits name are recorded

	Turns      []string `json:"turns,omitempty"` // that were undone or redone
	Unfinished bool     `json:"part,omitempty"`  // some changes were not made

	Whole  bool `json:"whole,omitempty"`  // all files were scanned
	Unsure bool `json:"unsure,omitempty"` // others may have made some changes: the call was interrupted
}

// UnmarshalJSON reads a record. A record in a form of a later release counts as a change by
// others, so that the states before it can still be reached.
func (r *Record) UnmarshalJSON(b []byte) error {
	type wire Record
	if json.Unmarshal(b, (*wire)(r)) != nil {
		*r = Record{Kind: External}
	}
	return nil
}

// A State is a stored state of a session.
type State struct {
	Record
	ID, Parent string

	changes []Change // from the state before
}

// mostStates limits how many states of a session are read.
const mostStates = 20_000

// states returns the states of a session with their changes, the last first. The changes of the
// store's first state, which are all its files, are read only if first is true.
func states(r *store, session string, first bool) (list []State, err error) {
	id, err := r.ref(session)
	for err == nil && id != "" && len(list) < mostStates {
		var about heading
		if about, err = r.heading(id); err != nil {
			break
		}
		s := State{Record: about.Record, ID: id, Parent: about.Parent}
		if first || s.Parent != "" {
			if s.changes, err = r.changes(id); err != nil {
				break
			}
		}
		list, id = append(list, s), s.Parent
	}
	if errors.Is(err, errMissing) && len(list) > 0 { // later states can be read
		err = nil
	}
	return list, err
}

// A ChangedTurn is a turn that has changed something.
type ChangedTurn struct {
	Of     Turn
	Time   time.Time
	Calls  []State // the first one first
	Undone bool
}

// Entries of NotKept for changes that no state has: an earlier state can't be read, or a call was
// not recorded. The call and the reason follow.
const (
	MissingChanges = "earlier changes: their checkpoint is missing"
	UnrecordedCall = "a call that was not recorded"
)

// turns returns the turns of a session that have changed something, the last one first.
func turns(all []State) (list []*ChangedTurn) {
	byID := map[string]*ChangedTurn{}
	for _, s := range slices.Backward(all) {
		switch s.Kind {
		case ToolCall, Restored:
			d := byID[s.Turn]
			if d == nil {
				d = &ChangedTurn{Of: Turn{s.Turn, s.Asked, s.Print}, Time: s.Time}
				byID[s.Turn] = d
				list = append(list, d)
			}
			d.Calls = append(d.Calls, s)
		case Undone, Redone:
			for _, id := range s.Turns {
				if d := byID[id]; d != nil {
					d.Undone = s.Kind == Undone
				}
			}
		}
	}
	if len(list) > 0 && all[len(all)-1].Parent != "" {
		list[0].Calls[0].NotKept = append(list[0].Calls[0].NotKept, MissingChanges)
	}
	slices.Reverse(list)
	return list
}

// String names the turn.
func (d *ChangedTurn) String() string {
	return cmp.Or(d.Of.Asked, "what was done at "+d.Time.Format("15:04"))
}
