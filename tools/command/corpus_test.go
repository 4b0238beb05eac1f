//go:build linux

package command

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/tools/sandbox"
)

// corpus returns the ordinary commands, with their kinds in the order of the
// file.
func corpus(t *testing.T) (kinds []string, commands map[string][]string) {
	return corpusIn(t, "commands.txt")
}

// corpusIn returns the commands of a file, with their kinds in its order.
func corpusIn(t *testing.T, file string) (kinds []string, commands map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/corpus/" + file)
	if err != nil {
		t.Fatal(err)
	}
	commands = map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if kind, ok := strings.CutPrefix(line, "## "); ok {
			kinds = append(kinds, kind)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			kind := kinds[len(kinds)-1]
			commands[kind] = append(commands[kind], line)
		}
	}
	return kinds, commands
}

// confined returns a bench whose commands are confined, in a repository as git
// makes it.
func confined(t *testing.T) shellBench {
	b := newShellBench(t)
	if out, err := exec.Command("git", "init", "-q", "-b", "main", b.dir).CombinedOutput(); err != nil {
		t.Skipf("git is needed: %v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.env.Launcher.Config.Shell.Environ = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/go/bin", "HOME=" + t.TempDir()}
	b.env.Launcher.Sandbox = fence{sandbox.State{Name: "test", Files: true, Network: true, RunsReadOnly: true}, new(sandbox.Profile)}
	return b
}

// Without any rule of the user's, most of what developers and agents run is
// not asked about. A program that is not installed here counts as if it were:
// that is looked at last.
func TestPromptRate(t *testing.T) {
	b := confined(t)
	tool, p := runShellCommand(b.env), policy.New(policy.Default)
	p.Confined = func() bool { return true }
	kinds, commands := corpus(t)
	all, asked, missing := 0, 0, 0
	for _, kind := range kinds {
		some := 0
		for _, command := range commands[kind] {
			command = strings.ReplaceAll(command, "ROOT", b.dir)
			q := engine.Proposal{Tool: tool, Args: map[string]any{"command": command}}
			q.Intent = b.prepare(tool, q.Args).Intent
			e := p.Explain(q)
			switch {
			case e.Verdict == engine.Allow:
			case strings.HasSuffix(e.Why, "is not installed)"):
				missing++
			default:
				some++
				t.Logf("asks: %-60s %s", command, e.Why)
			}
			all++
		}
		asked += some
		t.Logf("%s: %d ask", kind, some)
	}
	t.Logf("%d of %d ask, %.1f %%; %d programs are not installed", asked, all, 100*float64(asked)/float64(all), missing)
	if all != 200 || asked*100 > all*28 {
		t.Errorf("%d of %d commands ask", asked, all)
	}
}

// Of what is typed in an ordinary day little is asked about: nothing that only looks, and in
// auto only what reaches out.
func TestEveryday(t *testing.T) {
	kinds, commands := corpusIn(t, "everyday.txt")
	for mode, most := range map[policy.Mode]int{policy.Default: 40, policy.Auto: 7} {
		b := confined(t)
		if mode == policy.Auto {
			b.env.Revertible = func() bool { return true }
		}
		if err := os.MkdirAll(filepath.Join(b.dir, "src"), 0o700); err != nil {
			t.Fatal(err)
		}
		tool, p := runShellCommand(b.env), policy.New(mode)
		p.Confined = func() bool { return true }
		all, asked := 0, 0
		for _, kind := range kinds {
			for _, command := range commands[kind] {
				q := engine.Proposal{Tool: tool, Args: map[string]any{"command": command}}
				q.Intent = b.prepare(tool, q.Args).Intent
				all++
				if e := p.Explain(q); e.Verdict != engine.Allow && !strings.HasSuffix(e.Why, "is not installed)") {
					asked++
					t.Logf("%v asks: %-50s %s %s", mode, command, e.Why, q.Intent.Plan.Why)
					if kind == "looking" {
						t.Errorf("%v: %s is asked about: %s", mode, command, e.Why)
					}
				}
			}
		}
		t.Logf("%v: %d of %d ask", mode, asked, all)
		if all != 94 || asked > most {
			t.Errorf("%v: %d of %d ask", mode, asked, all)
		}
	}
}

// In plan mode no command changes anything. What of the ordinary commands runs there is
// run, and the project is as it was.
func TestPlanChangesNothing(t *testing.T) {
	b := confined(t)
	kernel := sandbox.New(sandbox.Options{})
	t.Cleanup(func() { kernel.Close() })
	if !kernel.State().RunsReadOnly {
		t.Skip("the kernel holds no command to looking here: ", kernel.State().Step)
	}
	b.env.Launcher.Sandbox, b.Approver = kernel, no{}
	p := policy.New(policy.Plan)
	p.Confined = func() bool { return true }
	for name, text := range map[string]string{"README.md": "# x\n", "src/main.py": "x = 1\n", "package.json": "{\"scripts\": {}}\n", "go.mod": "module x\n"} {
		path := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, ran := tree(t, b.dir), 0
	kinds, commands := corpus(t)
	tool := runShellCommand(b.env)
	for _, kind := range kinds {
		for _, command := range commands[kind] {
			args := map[string]any{"command": strings.ReplaceAll(command, "ROOT", b.dir)}
			call := b.prepare(tool, args)
			v, reason := p.Judge(t.Context(), engine.Proposal{Tool: tool, Args: args, Intent: call.Intent})
			switch {
			case v == engine.Ask:
				t.Errorf("%s asks", command)
			case v == engine.Deny && !strings.Contains(reason.Text, "Plan mode is read-only"):
				t.Errorf("%s: %s", command, reason.Text)
			case v == engine.Allow:
				call.Run(t.Context(), b) // it may fail
				ran++
			}
		}
	}
	if after := tree(t, b.dir); after != before {
		t.Errorf("after %d commands there is\n%s\nand was\n%s", ran, after, before)
	}
	if ran == 0 {
		t.Error("nothing ran")
	}
	t.Logf("%d ran", ran)
}

// no is an approver that refuses.
type no struct{}

func (no) Approve(context.Context, engine.Proposal) (engine.Answer, error) {
	return engine.Refused{}, nil
}

// tree returns every file below dir with its mode and time.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(path + " " + info.Mode().String() + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
