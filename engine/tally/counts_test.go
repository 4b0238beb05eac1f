package tally

import (
	"errors"
	"testing"
	"time"

	"gemline/engine"
)

// TestAdd counts the same events by two tallies and by one.
func TestAdd(t *testing.T) {
	now := time.Unix(0, 0)
	cost := func(u engine.Usage) (float64, string, bool) { return float64(u.Prompt), "2026-01-01", true }
	half := func(t *Tally, name string) {
		t.Observe(engine.RequestStarted{Model: name}, now)
		t.Observe(engine.Usage{Model: name, Prompt: 10, Output: 2, Cached: 3}, now)
		t.Observe(engine.CallRequested{ID: "1", Name: "edit"}, now)
		t.Observe(engine.CallStateChanged{ID: "1", State: engine.Scheduled}, now)
		t.Observe(engine.CallFinished{ID: "1", Name: "edit", Took: time.Second,
			Result: engine.Result{Changes: []engine.Change{{Path: "a", Added: 2, Removed: 1}}}}, now)
		t.Observe(engine.NestedEvent{ID: "2", Agent: "helper", Event: engine.RequestStarted{Model: "small"}}, now)
		t.Observe(engine.NestedEvent{ID: "2", Agent: "helper", Event: engine.Usage{Model: "small", Prompt: 4}}, now)
		t.Observe(engine.NestedEvent{ID: "2", Agent: "helper", Event: engine.CallFinished{ID: "3", Name: "read", Err: errors.New("no")}}, now)
		t.Observe(engine.CallFinished{ID: "2", Name: "helper", Took: time.Second}, now)
		t.Observe(engine.RequestStarted{Model: name}, now)
		t.End(errors.New("busy"), now)
	}
	one, sum := &Tally{Cost: cost}, &Tally{Cost: cost}
	for _, name := range []string{"large", "small"} {
		half(one, name)
		part := &Tally{}
		half(part, name)
		sum.Add(part)
	}
	want, err := one.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sum.MarshalJSON(); string(got) != string(want) || err != nil {
		t.Errorf("counted\n%s, %v\nwant\n%s", got, err, want)
	}
	if string(sum.Flat(0)) != string(one.Flat(0)) {
		t.Errorf("counted\n%s\nwant\n%s", sum.Flat(0), one.Flat(0))
	}
}
