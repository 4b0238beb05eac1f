package main

import (
	"context"
	"os"
	"os/exec"
	"sort"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/policy"
	"gemline/tools/command"
	"gemline/tools/launch"
	"gemline/tools/shell"
	"gemline/tools/workspace"
)

// judge measures what it takes to read a script of 200 commands and to look
// where its words lead, and what to judge it by rules.
func (b *bench) judge() {
	const commands = 200
	ws, err := workspace.New(workspace.Config{Roots: []string{b.project("")}})
	check(err)
	check(exec.Command("git", "init", "-q", b.project("")).Run())
	run := command.Tools{Workspace: ws, Launcher: &launch.Launcher{Config: launch.Config{Shell: shell.Settings{Environ: os.Environ()}}}}
	tool := run.List()[0]
	rules, _, err := policy.Parse("bench.toml", policy.User, []byte(strings.Repeat(`
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["go test", "npm test", "make"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["rm", "git push"]
decision = "deny"
priority = 100
`, 10)))
	check(err)
	p := policy.New(policy.Default, rules...)
	for _, kind := range []struct{ name, script string }{
		{"that look", "cat small.txt | grep -n 'a line' | head -5; git log --oneline -5; "},
		{"of all kinds", "if test -f x; then FOO=1 go test ./... | tee $out; fi; sed -i s/a/b/ *.c; "},
	} {
		unit := len(scriptCommands(tool, kind.script))
		args := map[string]any{"command": strings.Repeat(kind.script, commands/unit)}
		var read, judged []float64
		for range b.runs {
			const times = 20
			start := time.Now()
			var call engine.Call
			for range times {
				call, err = tool.Prepare(context.Background(), args)
				check(err)
			}
			read = append(read, ms(time.Since(start))/times)
			start = time.Now()
			for range times {
				p.Judge(context.Background(), engine.Proposal{Tool: tool, Args: args, Intent: call.Intent})
			}
			judged = append(judged, ms(time.Since(start))/times)
		}
		sort.Float64s(read)
		sort.Float64s(judged)
		row("reading 200 commands "+kind.name, "ms", read, "", nil)
		row("judging 200 commands "+kind.name, "ms", judged, "", nil)
	}
}

// scriptCommands returns the commands that are read in a script.
func scriptCommands(tool engine.Tool, script string) []engine.Command {
	call, err := tool.Prepare(context.Background(), map[string]any{"command": script})
	check(err)
	return call.Intent.Plan.Commands
}
