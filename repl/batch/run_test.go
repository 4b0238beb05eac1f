package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/report"
	"gemline/repl/schema"
)

// A told is what is written, one entry for each Write.
type told struct {
	mu     sync.Mutex
	writes []string
}

func (o *told) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes = append(o.writes, string(b))
	return len(b), nil
}

func (o *told) note(text string) { o.Write([]byte(text)) }

var errHard = errors.New("too hard")

// outcome knows one failure and calls the others errors.
func outcome(err error) report.Outcome {
	switch {
	case err == nil:
		return report.Outcome{}
	case errors.Is(err, errHard):
		return report.Outcome{Err: err, ExitCode: 66, Reason: "refused", ErrorType: "Hard"}
	}
	return report.Outcome{Err: err, ExitCode: 1, Reason: "error", ErrorType: "Error"}
}

// echo answers a prompt with itself; "hard" prompts fail.
func echo(_ context.Context, t Task) error {
	t.Reporter.Begin(report.Init{Session: "s" + t.Item.ID, Model: "m"})
	if strings.HasPrefix(t.Item.Prompt, "hard") {
		return errHard
	}
	t.Reporter.Event(engine.Text{Delta: t.Item.Prompt})
	return nil
}

func prompts(texts ...string) Source {
	return Source{Reader: strings.NewReader(strings.Join(texts, "\n")), Name: "the test"}
}

func newBatch(source Source) (r *Config, out, notes *told) {
	out, notes = &told{}, &told{}
	return &Config{Source: source, Format: Lines, Jobs: 1, Ask: echo, Errors: Errors{Outcome: outcome}, Out: out, Notify: notes.note}, out, notes
}

// An item as the tests look at it.
type shown struct {
	Type     string
	Index    int
	ID       string
	Status   string
	Response string
	Code     int    `json:"exit_code"`
	Reason   string `json:"termination_reason"`
	Attempt  int
	Model    string
	Session  string `json:"session_id"`
	Error    struct{ Message string }
}

// show returns the records, each of which must be one line of one write, with
// no key twice.
func show(t *testing.T, out *told) (all []shown) {
	t.Helper()
	for _, w := range out.writes {
		checkSchema(t, w)
		if strings.Count(w, "\n") != 1 || !strings.HasSuffix(w, "\n") {
			t.Errorf("a write is no line: %q", w)
		}
		var s shown
		if err := json.Unmarshal([]byte(w), &s); err != nil {
			t.Fatalf("%v in %q", err, w)
		}
		d, keys := json.NewDecoder(strings.NewReader(w)), map[string]bool{}
		d.Token()
		for d.More() {
			key, _ := d.Token()
			if keys[fmt.Sprint(key)] {
				t.Errorf("%q is there twice: %s", key, w)
			}
			keys[fmt.Sprint(key)] = true
			var v json.RawMessage
			d.Decode(&v)
		}
		all = append(all, s)
	}
	return all
}

// published is the schema that users are given.
var published = sync.OnceValue(func() *jsonschema.Schema {
	text, _ := schema.Text("batch")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource("batch", doc)
	}
	if err != nil {
		panic(err)
	}
	return c.MustCompile("batch")
})

func checkSchema(t *testing.T, line string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
	if err == nil {
		err = published().Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

func responses(all []shown) (s string) {
	for _, it := range all {
		s += it.Response + it.Error.Message + ";"
	}
	return s
}

func TestRecords(t *testing.T) {
	r, out, notes := newBatch(prompts(`{"prompt":"one","id":"a"}`, `{"prompt":"hard"}`, `{"prompt":"x","hm":1}`))
	r.Format = JSONL
	if err := Run(t.Context(), *r); !errors.Is(err, ErrFailed) {
		t.Errorf("%v", err)
	}
	all := show(t, out)
	want := []shown{
		{Type: "item", ID: "a", Status: "success", Response: "one", Reason: "completed", Attempt: 1, Model: "m", Session: "sa"},
		{Type: "item", Index: 1, ID: "1", Status: "error", Code: 66, Reason: "refused", Attempt: 1, Model: "m", Session: "s1"},
		{Type: "item", Index: 2, ID: "2", Status: "error", Code: 1, Reason: "error", Attempt: 1},
	}
	want[1].Error.Message = "too hard"
	want[2].Error.Message = all[2].Error.Message
	for i := range want {
		if all[i] != want[i] {
			t.Errorf("%+v", all[i])
		}
	}
	if got := notes.writes[len(notes.writes)-1]; got != "batch: 3 items: 1 answered, 2 failed (1 error, 1 refused)" {
		t.Errorf("%q", got)
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n"} {
		r, out, _ := newBatch(prompts(text))
		if err := Run(t.Context(), *r); err == nil || err.Error() != "there is no prompt in the batch" || len(out.writes) > 0 {
			t.Errorf("%v, %q", err, out.writes)
		}
	}
}

// However the items overtake each other, they are told in order, or as they
// come; and no more are worked on at once than was said.
func TestOrder(t *testing.T) {
	const items, jobs = 300, 7
	for _, unordered := range []bool{false, true} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("unordered=%v/kept=%v", unordered, keep), func(t *testing.T) {
				var texts []string
				for i := range items {
					texts = append(texts, strconv.Itoa(i))
				}
				r, out, _ := newBatch(prompts(texts...))
				r.Jobs, r.Unordered = jobs, unordered
				if keep {
					r.State.Dir = t.TempDir()
				}
				var atWork, most atomic.Int32
				var first sync.WaitGroup
				first.Add(1)
				r.Ask = func(ctx context.Context, turn Task) error {
					if n := atWork.Add(1); n > most.Load() {
						most.Store(n)
					}
					defer atWork.Add(-1)
					switch turn.Item.Index {
					case 0:
						first.Wait() // the first item takes longest
					case items - 1:
						defer first.Done()
					}
					for range rand.IntN(20) {
						runtime.Gosched()
					}
					return echo(ctx, turn)
				}
				if err := Run(t.Context(), *r); err != nil {
					t.Fatal(err)
				}
				all := show(t, out)
				seen := map[string]bool{}
				for i, it := range all {
					seen[it.Response] = true
					if !unordered && it.Index != i {
						t.Fatalf("line %d is item %d", i, it.Index)
					}
				}
				if len(all) != items || len(seen) != items || most.Load() > jobs {
					t.Errorf("%d lines, %d items, %d at once", len(all), len(seen), most.Load())
				}
				if unordered && all[0].Index == 0 {
					t.Error("the first item was told first")
				}
			})
		}
	}
}

// What waits in memory for a slow item is bounded.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var texts []string
		for i := range 3 * window {
			texts = append(texts, strconv.Itoa(i))
		}
		r, out, _ := newBatch(prompts(texts...))
		r.Jobs = 2
		var begun atomic.Int32
		slow := make(chan struct{})
		r.Ask = func(ctx context.Context, turn Task) error {
			begun.Add(1)
			if turn.Item.Index == 0 {
				<-slow
			}
			return echo(ctx, turn)
		}
		done := make(chan error)
		go func() { done <- Run(t.Context(), *r) }()
		synctest.Wait()
		if n := begun.Load(); n < window || n > window+2 {
			t.Errorf("%d items were begun", n)
		}
		close(slow)
		if err := <-done; err != nil || len(show(t, out)) != len(texts) {
			t.Errorf("%v, %d", err, len(out.writes))
		}
	})
}

// A batch that was broken off is gone on with: what had ended is told again
// and not asked again, unless it is another item now.
func TestGoingOn(t *testing.T) {
	dir := t.TempDir()
	run := func(jobs int, stop bool, texts ...string) (asked, told string, notes []string) {
		r, out, n := newBatch(prompts(texts...))
		r.State.Dir, r.Jobs, r.Key = dir, jobs, "key"
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.Ask = func(ctx context.Context, turn Task) error {
			asked += turn.Item.Prompt + ";"
			if stop && turn.Item.Prompt == "three" {
				cancel()
				return ctx.Err()
			}
			return echo(ctx, turn)
		}
		if err := Run(ctx, *r); stop != errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		return asked, responses(show(t, out)), n.writes
	}
	asked, told, notes := run(1, true, "one", "hard two", "three", "four")
	if asked != "one;hard two;three;" || told != "one;too hard;" || notes[len(notes)-1] != "batch: run the same command again to continue" {
		t.Errorf("asked %q, told %q, %q", asked, told, notes)
	}
	asked, told, notes = run(1, true, "one", "two", "three", "four")
	if asked != "two;three;" || told != "one;two;" || notes[0] != "batch: continuing a batch: 2 items done before; --batch-fresh begins anew" {
		t.Errorf("asked %q, told %q, %q", asked, told, notes)
	}
	asked, told, notes = run(1, false, "one", "two", "3", "four")
	if asked != "3;four;" || told != "one;two;3;four;" || notes[len(notes)-1] != "batch: 4 items: 4 answered; 2 of them in earlier runs" {
		t.Errorf("asked %q, told %q, %q", asked, told, notes)
	}
	if asked, _, _ = run(1, false, "one"); asked != "one;" {
		t.Errorf("a batch that is over is gone on with: %q", asked)
	}
}

// A state that is kept for good asks again what failed, and only that.
func TestKeptForGood(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	for i, want := range []string{"one;hard two;three;", "hard two;", "one;hard two;three;", ""} {
		asked := ""
		r, out, _ := newBatch(prompts("one", "hard two", "three"))
		r.State.File, r.State.Fresh = file, i == 2
		r.Ask = func(ctx context.Context, turn Task) error {
			asked += turn.Item.Prompt + ";"
			if i == 2 {
				turn.Item.Prompt = "easy"
			}
			return echo(ctx, turn)
		}
		err := Run(t.Context(), *r)
		if errors.Is(err, ErrFailed) != (i < 2) || asked != want {
			t.Errorf("run %d: %v, asked %q", i, err, asked)
		}
		if all := show(t, out); len(all) != 3 || i == 1 && all[1].Attempt != 2 || all[0].Attempt != 1 {
			t.Errorf("run %d: %+v", i, all)
		}
	}
}

// When the budget of the batch is spent, the other items fail with that reason
// and are not begun; a later run begins them.
func TestSpent(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []string{"one;two;", "three;four;"} {
		asked, refused := "", 0
		r, out, _ := newBatch(prompts("one", "two", "three", "four"))
		r.State.Dir = dir
		r.Ask = func(ctx context.Context, turn Task) error {
			if strings.Count(asked, ";") >= 2 {
				if refused++; refused > 1 {
					t.Error("another was begun")
				}
				return errHard
			}
			asked += turn.Item.Prompt + ";"
			return echo(ctx, turn)
		}
		r.Errors.Spent = func(err error) bool { return errors.Is(err, errHard) }
		err := Run(t.Context(), *r)
		all := show(t, out)
		if errors.Is(err, ErrFailed) != (i == 0) || asked != want || len(all) != 4 {
			t.Errorf("run %d: %v, asked %q, %+v", i, err, asked, all)
		}
		if i == 0 && (all[2].Code != 66 || all[3].Error.Message != "too hard" || all[3].Attempt != 0) {
			t.Errorf("%+v", all)
		}
	}
}

// The user is told how far it is, but not often.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, notes := newBatch(prompts("one", "hard two", "three"))
		r.Ask = func(ctx context.Context, turn Task) error {
			time.Sleep(9 * time.Second)
			return echo(ctx, turn)
		}
		Run(t.Context(), *r)
		want := []string{"batch: 1 item done, 1 running", "item 1: error: too hard", "batch: 2 items done, 1 of them failed, 1 running",
			"batch: 3 items: 2 answered, 1 failed (1 refused)"}
		if got := strings.Join(notes.writes, "\n"); got != strings.Join(want, "\n") {
			t.Error(got)
		}
		r, _, notes = newBatch(prompts("one", "hard two"))
		r.Quiet = true
		if Run(t.Context(), *r); len(notes.writes) > 0 {
			t.Errorf("told in a quiet run: %q", notes.writes)
		}
	})
}

// Whoever waits for nothing is told.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		r, _, notes := newBatch(Source{Reader: pr})
		go func() {
			time.Sleep(time.Minute)
			pw.Close()
		}()
		Run(t.Context(), *r)
		if got := strings.Join(notes.writes, "\n"); got != "batch: waiting for the first prompt" {
			t.Error(got)
		}
	})
}

// Standard output is gone: nothing further is begun.
func TestUnwritten(t *testing.T) {
	r, _, _ := newBatch(prompts("one", "two", "three"))
	r.State.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.Out = brokenWriter{}
	r.Broken = func(error) { cancel() }
	b := newRunner(*r)
	if err := b.begin(ctx); err == nil || b.exhausted {
		t.Errorf("%v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// A batch on a pipe is worked on while it comes, and a signal does not wait
// for its end.
func TestPipe(t *testing.T) {
	pr, pw := io.Pipe()
	r, _, _ := newBatch(Source{Reader: pr})
	records := make(chan string)
	r.Out = writerFunc(func(b []byte) { records <- string(b) })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Run(ctx, *r) }()
	for i := range 3 {
		fmt.Fprintf(pw, "prompt %d\n", i)
		if got := <-records; !strings.Contains(got, fmt.Sprintf("prompt %d", i)) {
			t.Errorf("%s", got)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	pw.Close()
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(bytes.Clone(b))
	return len(b), nil
}

// TestRefused has the server refuse the key in the middle of a batch: nothing more is
// begun, the batch ends with that error, and the next run does what is left.
func TestRefused(t *testing.T) {
	errKey := errors.New("the key was refused")
	for _, jobs := range []int{1, 3} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			var mu sync.Mutex
			var asked []string
			refusing := true
			c, out, _ := newBatch(prompts("one", "two", "three", "four", "five", "six"))
			c.Jobs, c.State.File, c.Tally = jobs, filepath.Join(t.TempDir(), "state"), &tally.Tally{}
			c.Errors.Refused = func(err error) bool { return errors.Is(err, errKey) }
			c.Ask = func(ctx context.Context, task Task) error {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, task.Item.Prompt)
				now := time.Unix(0, 0)
				task.Tally.Observe(engine.RequestStarted{Model: "m"}, now)
				if refusing && len(asked) > 1 {
					task.Tally.End(errKey, now)
					return fmt.Errorf("item: %w", errKey)
				}
				task.Tally.Observe(engine.Usage{Model: "m", Prompt: 10, Output: 2}, now)
				return echo(ctx, task)
			}
			if err := Run(t.Context(), *c); !errors.Is(err, errKey) {
				t.Errorf("the batch ended with %v", err)
			}
			if len(asked) > jobs+1 || len(show(t, out)) != 1 {
				t.Errorf("asked %q, records %+v", asked, show(t, out))
			}
			if n := c.Tally.Tokens(); n != 12 {
				t.Errorf("%d tokens", n)
			}
			refusing = false
			c2, out2, notes := newBatch(prompts("one", "two", "three", "four", "five", "six"))
			c2.State, c2.Ask, c2.Errors = c.State, c.Ask, c.Errors
			if err := Run(t.Context(), *c2); err != nil {
				t.Error(err)
			}
			if all := show(t, out2); len(all) != 6 || all[5].Response != "six" {
				t.Errorf("records %+v", all)
			}
			if !strings.Contains(strings.Join(notes.writes, "\n"), "1 item done before") {
				t.Errorf("told %q", notes.writes)
			}
		})
	}
}

// A file that the disk has not got does not take the place of the one before.
func TestNotSynced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Create(path, nil, Source{})
	if err != nil {
		t.Fatal(err)
	}
	o.file.Close()
	left, err := o.Finish(true)
	if b, rerr := os.ReadFile(path); err == nil || left != path+".partial" || string(b) != "before" {
		t.Errorf("%q, %v: %q, %v", left, err, b, rerr)
	}
}
