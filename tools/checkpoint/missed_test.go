package checkpoint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A call that can't be recorded, because the disk is full before or after it, is named by the
// undo of its turn, also in a later session.
func TestMissedCall(t *testing.T) {
	for room := range 9 {
		left := 1 << 30
		p := newPlace(t, func(c *Config) { c.create = poor{&left}.create })
		p.write("a", "1")
		p.turn("first", func() { p.write("a", "2") })
		left = room
		p.turn("second", func() { p.write("a", "3"); os.Remove(filepath.Join(p.dir, "b")) },
			func() { left = 1 << 30; p.write("c", "3") })
		if room%2 == 0 {
			p.again("session-1")
		}
		list, err := p.Turns(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told := len(p.told) > 0; !told {
			continue // there was room
		}
		plan, err := p.Undo(t.Context(), list[:1])
		named := err == nil && slices.ContainsFunc(plan.NotKept, func(l string) bool { return strings.HasPrefix(l, UnrecordedCall+": a command, since ") })
		if !named || list[0].Of.Asked != "second" {
			t.Errorf("%d: %q, %v: undo of %q", room, plan.NotKept, err, list[0].Of.Asked)
		}
	}
}
