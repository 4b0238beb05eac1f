// Evals lets a model do tasks through gemline, and looks at what came of them.
//
//	evals [-m MODEL] [-n N] [-json FILE] [-C DIR] PROGRAM [TASK ...]
//	evals -compare A.json B.json
//
// A task is a file of tasks/: its first line says what it shows, "prompt" is what is asked,
// "args" are further flags, "project/" and "home/" are files, "setup" and "after" are scripts
// that run in the project before and after it is committed. Each line of "check" is a script of
// its own that fails if the task is not done. It finds the answer in $ANSWER, the tool calls in
// $CALLS (a line each: the name and its arguments) and the whole record in $RECORD. A command
// that must fail has "not" before it.
//
// Without a model the answers are those of "recording", and those of "broken" have to fail the
// check: a check that nothing fails shows nothing. With -C DIR, tasks are folders of DIR in the
// format of Terminal-Bench 2, which run in containers of podman; without a model their solutions
// play the recordings, and nothing the broken ones.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gemline/engine/text"
)

// A result is how often a task was done, and what that took.
type result struct {
	Task    string  `json:"task"`
	Runs    int     `json:"runs"`
	Passed  int     `json:"passed"`
	Tokens  int     `json:"tokens"`  // of all runs
	Seconds float64 `json:"seconds"` // of all runs
	Failure string  `json:"failure,omitempty"`

	CostUSD *float64 `json:"cost_usd,omitempty"` // of all runs; nil if the price of a run is unknown

	unusable string // why no run can use the model
}

// A summary is the file that -json writes and -compare reads.
type summary struct {
	Model   string   `json:"model"` // "" is the recordings
	Results []result `json:"results"`
}

// help is what evals -h prints above the flags.
const help = `usage: evals [-m MODEL] [-n N] [-json FILE] [-C DIR] PROGRAM [TASK ...]
       evals -compare A.json B.json

PROGRAM is the gemline that does the tasks. TASK is the name of a file in
` + tasksDir + ` without .txtar; without names, all tasks
are done. Without -m, recordings are played once, and no model is asked. Run it
in the top directory of a clone, as make evals does:

  make evals MODEL=gemini-3.8-flash N=5 JSON=a.json TASKS="edits_one_line"

or

  go run ./commands/program/testdata/evals -m gemini-3.8-flash -n 5 ./gemline edits_one_line
  go run ./commands/program/testdata/evals -compare a.json b.json

`

func main() {
	if err := evals(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "evals:", err)
		os.Exit(1)
	}
}

// evals does what the arguments say.
func evals(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("evals", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is returned
	model := flags.String("m", "", "the `MODEL` that is tried; none plays the recordings")
	runs := flags.Int("n", 1, "how often each task is tried, `N` times")
	file := flags.String("json", "", "write the results to `FILE`")
	containers := flags.String("C", "", "tasks are folders of `DIR` in the format of Terminal-Bench")
	two := flags.Bool("compare", false, "compare two files of results")
	err := flags.Parse(args)
	switch rest := flags.Args(); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, help)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return nil
	case err != nil:
		return fmt.Errorf("%w; evals -h says more", err)
	case *two && len(rest) != 2:
		return fmt.Errorf("-compare takes two files of results, not %d; evals -h says more", len(rest))
	case *two:
		return compare(out, rest[0], rest[1])
	case *runs < 1:
		return fmt.Errorf("-n %d: a task is tried once or more often", *runs)
	case *runs > 1 && *model == "":
		return fmt.Errorf("-n %d is for a model, -m; recordings are played once", *runs)
	case len(rest) == 0:
		return errors.New("the PROGRAM is missing; evals -h says more")
	default:
		return run(out, *model, *containers, *file, *runs, rest[0], rest[1:])
	}
}

// run tries the tasks, as many side by side as there are processors, and prints a line for each.
func run(out io.Writer, model, containers, file string, runs int, program string, names []string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("no program to try: %w", err)
	}
	tasks, err := load(containers, names)
	if err != nil {
		return err
	}
	if file != "" { // before the tasks are paid for
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		f.Close()
	}
	results := make([]result, len(tasks))
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	var answered atomic.Bool
	var unusable atomic.Pointer[string] // ends all, if no run was answered before
	for i, t := range tasks {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if unusable.Load() != nil {
				return
			}
			r := try(t, program, model, runs)
			switch {
			case r.Tokens > 0:
				answered.Store(true)
			case model != "" && r.unusable != "" && !answered.Load():
				unusable.Store(&r.unusable)
			}
			results[i] = r
		})
	}
	all.Wait()
	if why := unusable.Load(); why != nil {
		return fmt.Errorf("%s can't be used:\n%s", model, *why)
	}
	failed := report(out, model, results)
	if file != "" {
		b, err := json.MarshalIndent(summary{model, results}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o666); err != nil {
			return err
		}
	}
	switch {
	case model == "" && failed > 0:
		return fmt.Errorf("of %s, %d failed", text.Count(len(tasks), "task"), failed)
	case model != "" && !slices.ContainsFunc(results, func(r result) bool { return r.Tokens > 0 }):
		return fmt.Errorf("%s has answered in no run", model)
	}
	return nil
}

// report prints a line for each task, and one for all. It returns how many did not always pass.
func report(out io.Writer, model string, results []result) (failed int) {
	var sum result
	var costs []*float64
	for _, r := range results {
		mark := "ok  "
		if r.Passed < r.Runs {
			mark = "FAIL"
			failed++
		}
		fmt.Fprintf(out, "%s %-32s %s\n", mark, r.Task, took(model, r))
		if r.Failure != "" {
			fmt.Fprintln(out, "     "+strings.ReplaceAll(strings.TrimSpace(r.Failure), "\n", "\n     "))
		}
		sum.Runs += r.Runs
		sum.Passed += r.Passed
		sum.Tokens += r.Tokens
		sum.Seconds += r.Seconds
		costs = append(costs, r.CostUSD)
	}
	sum.CostUSD = total(costs)
	fmt.Fprintf(out, "%s: %s\n", text.Count(len(results), "task"), took(model, sum))
	return failed
}

// took prints how often a task was done and what that took. Recordings cost nothing.
func took(model string, r result) string {
	switch {
	case model == "":
		return fmt.Sprintf("%s  %.1f s", rate(r), r.Seconds)
	case r.CostUSD == nil:
		return fmt.Sprintf("%s  %d tokens  cost unknown  %.1f s", rate(r), r.Tokens, r.Seconds)
	}
	return fmt.Sprintf("%s  %d tokens  $%.4f  %.1f s", rate(r), r.Tokens, *r.CostUSD, r.Seconds)
}

// total returns the sum of costs, nil if a cost is unknown.
func total(costs []*float64) *float64 {
	var sum float64
	for _, c := range costs {
		if c == nil {
			return nil
		}
		sum += *c
	}
	return &sum
}

// rate prints a share with its Wilson interval of 95 %.
func rate(r result) string {
	low, high := interval(r)
	return fmt.Sprintf("%d/%d (%.0f to %.0f %%)", r.Passed, r.Runs, 100*low, 100*high)
}

func interval(r result) (low, high float64) {
	const z = 1.96 // of 95 %
	if r.Runs == 0 {
		return 0, 1
	}
	n := float64(r.Runs)
	p := float64(r.Passed) / n
	middle, width := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-width)/(1+z*z/n)), min(1, (middle+width)/(1+z*z/n))
}

// compare prints what two files of results say of the tasks that both have, marks the tasks whose
// intervals don't overlap, and names the tasks that one file has alone.
func compare(out io.Writer, a, b string) error {
	x, err := read(a)
	if err != nil {
		return err
	}
	y, err := read(b)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(x, func(r result) bool { return has(y, r.Task) }) {
		return fmt.Errorf("%s and %s have no task in common", a, b)
	}
	for _, only := range []struct {
		file string
		a, b []result
	}{{a, x, y}, {b, y, x}} {
		for _, r := range only.a {
			if !has(only.b, r.Task) {
				fmt.Fprintf(out, "  %-32s only in %s\n", r.Task, only.file)
			}
		}
	}
	var sums [2]result
	for _, x := range x {
		for _, y := range y {
			if x.Task == y.Task {
				fmt.Fprintln(out, difference(x.Task, x, y))
				for i, r := range []result{x, y} {
					sums[i].Runs += r.Runs
					sums[i].Passed += r.Passed
				}
			}
		}
	}
	fmt.Fprintln(out, difference("all", sums[0], sums[1]))
	return nil
}

// has reports whether results have a task.
func has(results []result, task string) bool {
	return slices.ContainsFunc(results, func(r result) bool { return r.Task == task })
}

// read returns the results in a file that -json has written.
func read(path string) ([]result, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s summary
	if json.Unmarshal(b, &s) != nil || len(s.Results) == 0 {
		return nil, fmt.Errorf("%s holds no results, as evals -json writes them", path)
	}
	for _, r := range s.Results {
		if r.Task == "" || r.Runs < 1 || r.Passed < 0 || r.Passed > r.Runs {
			return nil, fmt.Errorf("%s: the task %q passed %d of %d runs, which can't be", path, r.Task, r.Passed, r.Runs)
		}
	}
	return s.Results, nil
}

func difference(name string, x, y result) string {
	xl, xh := interval(x)
	yl, yh := interval(y)
	mark := " "
	switch {
	case yl > xh:
		mark = "+"
	case yh < xl:
		mark = "-"
	}
	return fmt.Sprintf("%s %-32s %-24s %s", mark, name, rate(x), rate(y))
}
