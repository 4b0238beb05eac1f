//go:build linux

package attack

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gemline/tools/web/weblab"
)

// TestNetwork runs the cases about the network in one that lies.
func TestNetwork(t *testing.T) {
	if out, inside := weblab.Enter(t, "GEMLINE_BUILT="+program(t)); !inside {
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "network: ") {
				fmt.Print(l)
			}
		}
		return
	}
	lab := weblab.Open(t)
	c := newTally()
	t.Cleanup(func() { c.report("network") })
	for _, l := range slices.Concat(lines(t, "cases.jsonl"), lines(t, "own.jsonl")) {
		if l.Group != "network" {
			continue
		}
		t.Run(l.ID, func(t *testing.T) {
			c.count(t, l.Group)
			asked, names := len(lab.Asked()), len(lab.Names())
			n := try(t, l)
			if hosts := lab.Asked()[asked:]; slices.ContainsFunc(hosts, func(at string) bool { return at != weblab.Public }) {
				t.Errorf("pages were asked for at %v", hosts)
			}
			if looked := lab.Names()[names:]; n.Expect.NoDNS && len(looked) > 0 {
				t.Errorf("looked up were %v", looked)
			}
		})
	}
}
