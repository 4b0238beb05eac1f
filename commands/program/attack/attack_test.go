//go:build unix

package attack

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	et "gemline/engine/enginetest"
)

// built makes the program as it is given to users, once.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("GEMLINE_BUILT"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "gemline-attack-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gemline")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "gemline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func program(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	if et.Raced { // what is attacked is built as for users
		fmt.Println("nothing is attacked with the race detector: it would see the attackers only")
		return
	}
	code := m.Run()
	if path, err := built(); err == nil && os.Getenv("GEMLINE_BUILT") == "" {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// A tally counts cases, by group.
type tally struct {
	mu     sync.Mutex
	counts map[string]map[string]int
}

func newTally() *tally {
	return &tally{counts: map[string]map[string]int{}}
}

// count adds a test when it ends.
func (c *tally) count(t *testing.T, group string) {
	t.Cleanup(func() {
		switch {
		case t.Skipped():
			c.add(group, "skipped")
		case t.Failed():
			c.add(group, "failed")
		default:
			c.add(group, "passed")
		}
	})
}

func (c *tally) add(group, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts[group] == nil {
		c.counts[group] = map[string]int{}
	}
	c.counts[group][what]++
}

// report prints the counts, a line for each group.
func (c *tally) report(name string) {
	var b strings.Builder
	sum := map[string]int{}
	for _, group := range slices.Sorted(maps.Keys(c.counts)) {
		n := c.counts[group]
		fmt.Fprintf(&b, "%s: %-10s %3d passed, %d failed, %d skipped\n", name, group, n["passed"], n["failed"], n["skipped"])
		for what, k := range n {
			sum[what] += k
		}
	}
	fmt.Fprintf(&b, "%s: %-10s %3d passed, %d failed, %d skipped\n", name, "all", sum["passed"], sum["failed"], sum["skipped"])
	fmt.Print(b.String())
}

func TestCases(t *testing.T) { table(t, "cases.jsonl", 1) }
func TestOwn(t *testing.T)   { table(t, "own.jsonl", 10) }

// table runs the cases of a file and prints how many passed. Without SOAK it runs one of every
// few cases whose ids begin alike. TestNetwork runs the cases that need a network of their own.
func table(t *testing.T, name string, every int) {
	if et.Soak() {
		every = 1
	}
	c := newTally()
	t.Cleanup(func() { c.report(strings.TrimSuffix(name, ".jsonl")) })
	known := map[string]bool{}
	met := map[string]int{} // of each kind, which is how names begin
	for _, l := range lines(t, name) {
		if known[l.ID] {
			t.Errorf("%s is there twice", l.ID)
		}
		known[l.ID] = true
		if l.Group == "network" {
			continue
		}
		kind, _, _ := strings.Cut(l.ID, "-")
		met[kind]++
		if (met[kind]-1)%every != 0 {
			continue
		}
		t.Run(l.ID, func(t *testing.T) {
			t.Parallel()
			c.count(t, l.Group)
			try(t, l)
		})
	}
}
