//go:build linux

package attack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A target is a program that a rule denies, and what shows that it has run.
type target struct {
	name, path string
	removes    bool // a file is gone then, else there is one
}

// targets are one that comes with the system, and one that is found by PATH, which
// is a program of its own by a name that nobody knows.
func targets(t *testing.T) []target {
	t.Helper()
	bin, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	touch, err := exec.LookPath("touch")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(touch)
	if err != nil {
		t.Fatal(err)
	}
	strike := filepath.Join(bin, "strike")
	if err := os.WriteFile(strike, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(strike, filepath.Join(bin, "x")).Run(); err != nil {
		t.Skip("a copy of touch does not run here: ", err)
	}
	rm, err := exec.LookPath("rm")
	if err != nil {
		t.Fatal(err)
	}
	if rm, err = filepath.EvalSymlinks(rm); err != nil || filepath.Base(rm) != "rm" {
		t.Skip("rm is many programs here: ", rm)
	}
	return []target{{name: "rm", path: rm, removes: true}, {name: "strike", path: strike}}
}

// A spelling is one of spellings with its places filled in.
type spelling struct {
	target
	script, canary string
}

// spelled returns every so many of the spellings for a target.
func spelled(of target, every int) (all []spelling) {
	for i, s := range spellings {
		if i%every != 0 {
			continue
		}
		canary := fmt.Sprintf("c%03d-%s", i, of.name)
		fill := strings.NewReplacer("{P}", of.name, "{A}", of.path, "{C}", canary, "{T}", "t-"+canary)
		all = append(all, spelling{of, fill.Replace(s), canary})
	}
	return all
}

// lay puts the canary of x into dir.
func (x spelling) lay(t *testing.T, dir string) {
	t.Helper()
	err := os.Mkdir(filepath.Join(dir, "t-"+x.canary), 0o755)
	if x.removes {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, x.canary), nil, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// struck reports whether the program has run.
func (x spelling) struck(dir string) bool { return exists(filepath.Join(dir, x.canary)) != x.removes }

// rule denies the targets.
const rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"rm\", \"strike\"]\ndecision = \"deny\"\npriority = 1\n"

// deniedNest is a place with the rule, in which strike is found by PATH.
func deniedNest(t *testing.T, all []target, rules string, calls []any) *nest {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"id": "denied", "call": calls, "setup": map[string]any{
		"policy": rules, "argv": []any{"--approval-mode", "yolo"}, "sandbox": true, "timeout": 600,
		"env":           map[string]any{"PATH": filepath.Dir(all[1].path) + ":" + os.Getenv("PATH")},
		"user_settings": map[string]any{"tools": map[string]any{"shell": map[string]any{"inactivityTimeout": 20}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return build(t, line{ID: "denied", raw: string(raw)})
}

// inSandbox runs scripts one after the other in a sandbox, where nobody judges their
// words, and returns those that have run the program.
func inSandbox(t *testing.T, all []target, rules string, list []spelling) (struck []spelling) {
	t.Helper()
	n := deniedNest(t, all, rules, nil)
	for _, x := range list {
		x.lay(t, n.ws)
		n.write(filepath.Join(n.ws, "s-"+x.canary), x.script+"\n", 0o644)
	}
	args := append(n.flags(), "sandbox", "run", "--", "bash", "-c", `for s in s-*; do timeout -k 1 10 bash "$s" </dev/null; done`)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, program(t), args...)
	cmd.Dir, cmd.Env = n.ws, n.environment()
	out, err := cmd.CombinedOutput()
	if status := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &status) || strings.Contains(string(out), "gemline: ")) {
		t.Fatalf("%v: %s", err, out)
	}
	for _, x := range list {
		if x.struck(n.ws) {
			struck = append(struck, x)
		}
	}
	return struck
}

// sample is how many spellings are left out for each that is tried.
func sample() int {
	if os.Getenv("SOAK") != "" {
		return 1
	}
	return 48
}

// A program that a rule denies is run by no spelling of it in yolo, neither by one
// that its words give away nor by another: the kernel has no such program for it.
// Without the rule most of them run it.
func TestDenied(t *testing.T) {
	all := targets(t)
	c := newTally()
	t.Cleanup(func() { c.report("denied") })
	const batch = 40
	for _, of := range all {
		for list := range slices.Chunk(spelled(of, sample()), batch) {
			t.Run(of.name+"/"+list[0].canary, func(t *testing.T) {
				t.Parallel()
				for _, x := range inSandbox(t, all, rule, list) {
					if _, applet := strings.CutPrefix(x.script, "busybox "); applet {
						continue // it is another program that deletes, which only its words tell
					}
					t.Errorf("in the sandbox %s was run by %s", of.name, x.script)
					c.add("sandbox", "failed")
				}
				unheld := inSandbox(t, all, "", list)
				if len(unheld) < len(list)/4 {
					t.Errorf("only %d of %d spellings run %s without a rule", len(unheld), len(list), of.name)
				}
				var calls []any
				for _, x := range list {
					calls = append(calls, map[string]any{"name": "run_shell_command", "args": map[string]any{"command": x.script}})
				}
				n := deniedNest(t, all, rule, []any{calls})
				for _, x := range list {
					x.lay(t, n.ws)
				}
				o := n.run()
				if len(o.calls) != len(list) || !o.confined() {
					t.Fatalf("%d of %d calls were made; exit code %d: %s", len(o.calls), len(list), o.code, o.stderr)
				}
				for _, x := range list {
					if x.struck(n.ws) {
						t.Errorf("%s was run by %s", of.name, x.script)
						c.add("yolo", "failed")
						continue
					}
					c.add("yolo", "passed")
					c.add("sandbox", "passed")
				}
				for range unheld {
					c.add("real", "passed")
				}
				if told := n.told(true); !strings.Contains(told, `denies "`+of.name+`"`) {
					t.Errorf("the model is not told the rule: %s", told)
				}
			})
		}
	}
}
