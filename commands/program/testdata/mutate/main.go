// Command mutate asks how much the tests of a package notice. It makes many
// small mistakes in the package's code, one at a time, and runs the tests: a
// mistake that they let pass is something that no test speaks of.
//
//	go run ./commands/program/testdata/mutate [-sample N] [-seed N] [-list] DIRECTORY...
//
// All mistakes of a package are compiled into one test binary, and a variable
// of the environment says which of them is made. The tests run with -short,
// the slow ones last. A mistake that makes no difference to anybody is named in
// equivalent.txt, with the reason; one that is listed there and noticed is
// an error, so that the list stays true.
//
// It ends with 1 if fewer than nine tenths of a package's mistakes are noticed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// enough is the share of mistakes that have to be noticed.
const enough = 0.9

// variable is what tells the tests which mistake to make.
const variable = "MUTANT"

func main() {
	sample := flag.Int("sample", 0, "try this many mistakes of each package; 0 is all")
	seed := flag.Uint64("seed", 1, "what the sample is drawn by")
	slow := flag.String("slow", "Against|TestQuote|Properties|Random|Bounds|Grammar|^Fuzz", "the tests that run last")
	workers := flag.Int("workers", 2, "how many tests run side by side")
	only := flag.String("only", "", "only mistakes whose name holds this")
	list := flag.Bool("list", false, "list the mistakes and try none")
	flag.Parse()
	if err := run(flag.Args(), options{*sample, *seed, *slow, *only, *workers, *list}); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	sample     int
	seed       uint64
	slow, only string
	workers    int
	list       bool
}

func run(dirs []string, o options) error {
	known, err := equivalents("commands/program/testdata/mutate/equivalent.txt")
	if err != nil {
		return err
	}
	var failures []error
	for _, dir := range dirs {
		if err := try(filepath.Clean(dir), o, known); err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", dir, err))
		}
	}
	return errors.Join(failures...)
}

// equivalents reads the list of mistakes that make no difference: a name, --,
// and the reason.
func equivalents(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, reason, ok := strings.Cut(line, " -- ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no reason", path, i+1)
		}
		known[name] = reason
	}
	return known, nil
}

// try makes the mistakes of the package in dir.
func try(dir string, o options, known map[string]string) error {
	all, files, err := rewrite(dir)
	if err != nil {
		return err
	}
	for name := range known {
		if strings.HasPrefix(name, dir+"/") && filepath.Dir(strings.SplitN(name, " ", 2)[0]) == dir && !slices.ContainsFunc(all, func(m mutant) bool { return m.name == name }) {
			return fmt.Errorf("equivalent.txt names what is not there: %s", name)
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !strings.Contains(m.name, o.only) })
	if o.sample > 0 && o.sample < len(chosen) {
		r := rand.New(rand.NewPCG(o.seed, 0))
		r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		chosen = chosen[:o.sample]
		slices.SortFunc(chosen, func(a, b mutant) int { return a.id - b.id })
	}
	if o.list {
		for _, m := range chosen {
			fmt.Println(m.name)
		}
		return nil
	}
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	b, err := build(dir, tmp, files)
	if err != nil {
		return err
	}
	start := time.Now()
	if out, ok := b.test(0, time.Hour, "-test.skip="+o.slow); !ok {
		return fmt.Errorf("the tests fail as it is:\n%s", out)
	}
	quick := time.Since(start)
	if out, ok := b.test(0, time.Hour, "-test.run="+o.slow); !ok {
		return fmt.Errorf("the tests fail as it is:\n%s", out)
	}
	long := time.Since(start)

	passed := make([]bool, len(chosen))
	var wg sync.WaitGroup
	next := make(chan int)
	for range o.workers {
		wg.Go(func() {
			for i := range next {
				id := chosen[i].id
				_, ok := b.test(id, 10*time.Second+10*quick, "-test.skip="+o.slow)
				if ok {
					_, ok = b.test(id, 10*time.Second+10*long, "-test.run="+o.slow)
				}
				passed[i] = ok
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	wg.Wait()
	return report(dir, len(all), chosen, passed, known)
}

func report(dir string, all int, chosen []mutant, passed []bool, known map[string]string) error {
	noticed, same := 0, 0
	var wrong []string
	for i, m := range chosen {
		switch reason := known[m.name]; {
		case passed[i] && reason != "":
			same++
		case passed[i]:
			fmt.Printf("%s: not noticed: %s\n", m.place, m.name)
		case reason != "":
			wrong = append(wrong, m.name)
			noticed++
		default:
			noticed++
		}
	}
	share := 1.0
	if n := len(chosen) - same; n > 0 {
		share = float64(noticed) / float64(n)
	}
	fmt.Printf("%s: %d mistakes, %d tried, %d make no difference, %d of the other %d noticed (%.1f %%)\n",
		dir, all, len(chosen), same, noticed, len(chosen)-same, 100*share)
	if wrong != nil {
		return fmt.Errorf("noticed, though equivalent.txt says that they make no difference:\n%s", strings.Join(wrong, "\n"))
	}
	if share < enough {
		return fmt.Errorf("%.1f %% are fewer than %.0f %%", 100*share, 100*enough)
	}
	return nil
}

// A binary holds the tests of a package.
type binary struct{ path, dir string }

// build compiles the tests of a package with the files that hold the mistakes.
func build(dir, tmp string, files map[string][]byte) (binary, error) {
	replace := map[string]string{}
	for name, text := range files {
		place := filepath.Join(tmp, name)
		if err := os.WriteFile(place, text, 0o600); err != nil {
			return binary{}, err
		}
		real, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return binary{}, err
		}
		replace[real] = place
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return binary{}, err
	}
	if err := os.WriteFile(filepath.Join(tmp, "overlay.json"), overlay, 0o600); err != nil {
		return binary{}, err
	}
	b := binary{filepath.Join(tmp, "mutants.test"), dir}
	cmd := exec.Command("go", "test", "-c", "-overlay", filepath.Join(tmp, "overlay.json"), "-o", b.path, "./"+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary{}, fmt.Errorf("%w\n%s", err, out)
	}
	return b, nil
}

// test runs the tests with a mistake, and reports whether they pass. A mistake
// may have them take all there is of memory or time.
func (b binary) test(id int, most time.Duration, args ...string) (out []byte, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	args = append([]string{"-c", `ulimit -v 6000000 2>/dev/null; exec "$0" "$@"`, b.path, "-test.short", "-test.failfast"}, args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), variable+"="+strconv.Itoa(id))
	var buf bytes.Buffer
	cmd.Stdout, cmd.Stderr = &buf, &buf
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return buf.Bytes(), err == nil
}
