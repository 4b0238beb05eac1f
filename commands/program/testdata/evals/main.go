// Evals lets a model do tasks through gemline, and looks at what came of them.
//
//	evals [-m MODEL] [-n N] [-json FILE] [-C DIR] PROGRAM [TASK ...]
//	evals -compare A.json B.json
//
// A task is a file of tasks/: its first line says what it shows, "prompt" is what is asked,
// "args" are further flags, "project/" and "home/" are files, "setup" and "after" are scripts
// that run in the project before and after it is committed, and "check" is a script that fails
// if the task is not done. It finds the answer in $ANSWER, the tool calls in $CALLS (a line each: the name and its
// arguments) and the whole record in $RECORD.
//
// Without a model the answers are those of "recording", and those of "broken" have to fail the
// check: a check that nothing fails shows nothing. With -C DIR, tasks are folders of DIR in the
// format of Terminal-Bench 2, which run in containers of podman; without a model their solutions
// play the recordings, and nothing the broken ones.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// A result is how often a task was done, and what that took.
type result struct {
	Task    string  `json:"task"`
	Runs    int     `json:"runs"`
	Passed  int     `json:"passed"`
	Tokens  int     `json:"tokens"`   // of all runs
	CostUSD float64 `json:"cost_usd"` // of all runs, as far as prices are known
	Seconds float64 `json:"seconds"`  // of all runs
	Failure string  `json:"failure,omitempty"`
}

// A summary is the file that -json writes and -compare reads.
type summary struct {
	Model   string   `json:"model"` // "" is the recordings
	Results []result `json:"results"`
}

func main() {
	model := flag.String("m", "", "the `MODEL` that is tried; none plays the recordings")
	runs := flag.Int("n", 1, "how often each task is tried")
	file := flag.String("json", "", "write the results to `FILE`")
	containers := flag.String("C", "", "tasks are folders of `DIR` in the format of Terminal-Bench")
	two := flag.Bool("compare", false, "compare two files of results")
	flag.Parse()
	err := fmt.Errorf("usage: evals [flags] PROGRAM [TASK ...]")
	switch {
	case *two && flag.NArg() == 2:
		err = compare(flag.Arg(0), flag.Arg(1))
	case !*two && flag.NArg() > 0:
		err = run(*model, *containers, *file, max(*runs, 1), flag.Arg(0), flag.Args()[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evals:", err)
		os.Exit(1)
	}
}

// run tries the tasks, as many side by side as there are processors, and prints a line for each.
func run(model, containers, file string, runs int, program string, names []string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	tasks, err := load(containers, names)
	if err != nil {
		return err
	}
	results := make([]result, len(tasks))
	slots := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, t := range tasks {
		all.Go(func() {
			slots <- struct{}{}
			results[i] = try(t, program, model, runs)
			<-slots
		})
	}
	all.Wait()
	failed := report(results)
	if file != "" {
		b, err := json.MarshalIndent(summary{model, results}, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o666); err != nil {
			return err
		}
	}
	if model == "" && failed > 0 {
		return fmt.Errorf("%d of %d recordings are not what they should be", failed, len(tasks))
	}
	return nil
}

// report prints a line for each task, and one for all. It returns how many did not always pass.
func report(results []result) (failed int) {
	var sum result
	for _, r := range results {
		mark := "ok  "
		if r.Passed < r.Runs {
			mark = "FAIL"
			failed++
		}
		fmt.Printf("%s %-32s %s  %d tokens  $%.4f  %.1f s\n", mark, r.Task, rate(r), r.Tokens, r.CostUSD, r.Seconds)
		if r.Failure != "" {
			fmt.Println("     " + strings.ReplaceAll(strings.TrimSpace(r.Failure), "\n", "\n     "))
		}
		sum.Runs += r.Runs
		sum.Passed += r.Passed
		sum.Tokens += r.Tokens
		sum.CostUSD += r.CostUSD
		sum.Seconds += r.Seconds
	}
	fmt.Printf("%d tasks: %s  %d tokens  $%.4f  %.1f s\n", len(results), rate(sum), sum.Tokens, sum.CostUSD, sum.Seconds)
	return failed
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

// compare prints what two files of results say of the tasks that both have, and marks those
// whose intervals don't overlap.
func compare(a, b string) error {
	var of [2]summary
	for i, path := range []string{a, b} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &of[i]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	var sums [2]result
	for _, x := range of[0].Results {
		for _, y := range of[1].Results {
			if x.Task == y.Task {
				fmt.Println(difference(x.Task, x, y))
				for i, r := range []result{x, y} {
					sums[i].Runs += r.Runs
					sums[i].Passed += r.Passed
				}
			}
		}
	}
	fmt.Println(difference("all", sums[0], sums[1]))
	return nil
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
