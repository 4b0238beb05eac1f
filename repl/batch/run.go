package batch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gemline/engine"
	"gemline/engine/parallel"
	"gemline/engine/tally"
	"gemline/engine/text"
	"gemline/repl/input"
	"gemline/repl/report"
)

// ErrFailed is the error of a finished batch with failed items.
var ErrFailed = errors.New("some items of the batch failed")

// errPanic is the error of a batch that ends by a panic.
var errPanic = errors.New("a panic")

// A Task holds the parts for answering an item.
type Task struct {
	Item     Item
	Tally    *tally.Tally
	Reporter report.Reporter
	Schema   *report.OutputSchema // the schema of the answer, nil if any answer will do

	// Generator, if not nil, replaces the usual generator, and gets no tools.
	Generator engine.Generator

	// Trial says that the run must leave no trace: it may be repeated.
	Trial bool
}

// A StateFile says where the state of a batch is stored.
type StateFile struct {
	// File stores the state permanently, and the next run repeats failed items. If it is empty, a
	// file in Dir stores the state until every item is answered. If both are empty, nothing is
	// stored.
	File, Dir string

	// Fresh ignores and replaces an existing state.
	Fresh bool
}

// Config is the configuration of a batch.
type Config struct {
	Source Source
	Format Format
	State  StateFile

	// Key identifies everything except the item that an answer depends on. Items with another
	// stored key are repeated.
	Key string

	// Jobs is how many items run at once.
	Jobs int

	// Unordered prints records when items end, instead of in the order of the items.
	Unordered bool

	// Ask answers an item for its Reporter, which it does not finish. Several goroutines call it at
	// once. After the end of ctx it returns soon.
	Ask func(ctx context.Context, t Task) error

	// Schema, if not nil, returns the schema for the answer to an item.
	Schema func(Item) (*report.OutputSchema, error)

	// Service, if not nil, gets the requests of all items; each item makes at most one request.
	// Jobs and [Errors.Spent] have no effect then.
	Service Service

	Errors Errors

	// Tally, if not nil, counts the use of all items.
	Tally *tally.Tally

	// Out gets a line for each item, each in one Write. Broken, if not nil, gets the error of a
	// Write.
	Out    io.Writer
	Broken func(error)

	// Quiet writes only errors of the batch itself to Err.
	Quiet bool

	// Notify prints a notice in a line, beside the answers. It must be safe for concurrent use.
	Notify func(string)
}

// Errors classifies the errors of [Config.Ask].
type Errors struct {
	// Spent, if not nil, reports whether an error means that the budget of the batch is used up. No
	// further item begins then. An item that got the error at once counts as not begun.
	Spent func(error) bool

	// Refused, if not nil, reports whether an error means that the server would refuse all items:
	// for the key, or for lack of credit. No further item begins then, the batch ends with that
	// error, and the next run repeats the item.
	Refused func(error) bool

	// Outcome classifies an error.
	Outcome func(error) report.Outcome
}

// A runner runs a batch.
type runner struct {
	Config
	reading   <-chan read
	state     *state
	printer   printer
	sums      sums
	open      bool // more items may follow
	running   int
	spent     error          // why no more items begin
	failure   error          // of reading
	exhausted bool           // every item was tried, so nothing can be resumed
	panic     parallel.Panic // of the goroutines that read or answer items
}

// sums are the counts of a batch.
type sums struct {
	items    int // read items
	answered int
	failed   map[string]int // by reason
	notBegun int            // failed without a start
	before   int            // finished by an earlier run
}

func (s *sums) ended() int { return s.answered + s.failures() }

func (s *sums) failures() (n int) {
	for _, m := range s.failed {
		n += m
	}
	return n
}

// window is how many records may wait in memory for an earlier item.
const window = 1024

// patience is how long the first prompt may take before a notice.
const patience = 2 * time.Second

// progress is the interval of progress notices.
const progress = 10 * time.Second

// Run runs the batch. It returns [ErrFailed] if the finished batch has failed items. If ctx ends
// first, it prints the ended items and returns the error of ctx; a later Run with the same state
// answers the rest.
//
// A panic of a goroutine that reads or answers items stops the batch in the same way. Run repeats
// the panic for the caller, who may recover it.
func Run(ctx context.Context, c Config) error {
	r := newRunner(c)
	err := r.begin(ctx)
	r.panic.Raise()
	return err
}

func newRunner(c Config) *runner {
	c.Jobs = max(1, c.Jobs)
	return &runner{Config: c, open: true, sums: sums{failed: map[string]int{}},
		printer: printer{out: c.Out, broken: c.Broken, unordered: c.Unordered, ready: map[int]entry{}}}
}

// begin waits for the first item, and runs the batch.
func (r *runner) begin(ctx context.Context) error {
	r.reading = r.read(ctx)
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		select {
		case first := <-r.reading:
			return r.run(ctx, first)
		case <-slow.C:
			r.tell("waiting for the first prompt")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run runs the batch that begins with an item.
func (r *runner) run(ctx context.Context, first read) error {
	if errors.Is(first.err, io.EOF) {
		return &input.Error{Message: "there is no prompt in the batch"}
	}
	if first.err != nil {
		return first.err
	}
	var err error
	if r.state, err = r.find(first.Item); err != nil {
		return err
	}
	r.printer.state = r.state
	defer r.closeState()
	r.tellResumed()
	work := r.work
	if r.Service != nil {
		work = (&client{runner: r, groups: map[string]*group{}}).work
	}
	return r.end(ctx, work(ctx, first))
}

// find opens the state of the batch that begins with an item.
func (r *runner) find(first Item) (*state, error) {
	path := r.State.File
	if path == "" {
		if r.State.Dir == "" {
			return memory(), nil
		}
		sum := sha256.Sum256([]byte(cmp.Or(r.Source.Name, first.hash("")) + "\x00" + r.Key))
		path = filepath.Join(r.State.Dir, hex.EncodeToString(sum[:8])+".jsonl")
	}
	s, err := openState(path, r.State.Fresh)
	var wrong *input.Error
	switch {
	case err == nil, errors.As(err, &wrong):
		return s, err
	case r.State.File != "":
		return nil, &input.Error{Message: "the state file of the batch: " + err.Error(), Err: err}
	}
	r.tell("progress can't be saved, so a run that stops begins anew: %v", err)
	return memory(), nil
}

// closeState closes the state. It removes the state after a finished batch, unless the user
// has named its file.
func (r *runner) closeState() {
	if r.exhausted && r.State.File == "" {
		r.state.remove() // a file that remains is complete, and so is found again
		return
	}
	r.state.Close()
}

// tellResumed prints the progress of an earlier run.
func (r *runner) tellResumed() {
	if n, answered := r.state.len(); n > 0 {
		done := n
		if r.State.File != "" {
			done = answered
		}
		r.tell("continuing a batch: %s done before; --batch-fresh begins anew", text.Count(done, "item"))
	}
}

// An ending is the end of an item.
type ending struct {
	Item Item
	entry
	cut   bool  // it was interrupted, so it has no result
	panic bool  // a panic interrupted it
	spent error // it did not begin, since the budget is used up
	end   error // of the batch: the server would refuse all items
	tally *tally.Tally
}

// work reads items and answers them until there are no more.
func (r *runner) work(ctx context.Context, first read) error {
	done := make(chan ending)
	tick := time.NewTicker(progress)
	defer tick.Stop()
	r.sums.items++
	r.start(ctx, first.Item, done)
	for r.open || r.running > 0 {
		from := r.reading
		if !r.open || r.running >= r.Jobs || len(r.printer.ready) >= window && r.state.volatile() {
			from = nil
		}
		select {
		case got := <-from:
			switch {
			case ctx.Err() != nil:
				r.open = false
			case errors.Is(got.err, io.EOF):
				r.open = false
			case got.err != nil:
				r.open, r.failure = false, got.err
			default:
				r.sums.items++
				r.start(ctx, got.Item, done)
			}
		case e := <-done:
			if r.running--; e.panic {
				r.open, r.failure = false, errPanic
			}
			if r.store(e); e.end != nil {
				r.open, r.failure = false, cmp.Or(r.failure, e.end)
			}
		case <-tick.C:
			r.progress()
		case <-stopped(ctx, r.open):
			r.open = false
		}
	}
	return r.failure
}

// stopped returns a channel that sends once when ctx ends.
func stopped(ctx context.Context, open bool) <-chan struct{} {
	if !open {
		return nil
	}
	return ctx.Done()
}

// start begins an item, or prints its stored record.
func (r *runner) start(ctx context.Context, it Item, done chan<- ending) {
	e, known := r.storedResult(it)
	if known {
		r.sums.before++
		r.ended(it.Index, e)
		return
	}
	e.attempt++
	if r.spent != nil && it.Err == nil {
		r.failUnbegun(it, e, r.spent)
		return
	}
	r.running++
	go func() {
		end := ending{Item: it, cut: true, panic: true}
		defer func() { done <- end }()
		defer r.panic.Catch()
		end = r.answer(ctx, it, e, nil)
	}()
}

// storedResult returns the stored entry of an item, and whether it is final. For a repeated item,
// the entry has the number of attempts.
func (r *runner) storedResult(it Item) (entry, bool) {
	hash := it.hash(r.Key)
	e, ok := r.state.take(it.Index, hash)
	switch {
	case !ok:
		return entry{hash: hash}, false
	case e.code == 0, r.State.File == "":
		return e, true
	}
	return entry{hash: hash, attempt: e.attempt}, false
}

// answer answers an item.
func (r *runner) answer(ctx context.Context, it Item, e entry, g engine.Generator) ending {
	t := Task{Item: it, Generator: g, Tally: &tally.Tally{Class: func(err error) string { return r.Errors.Outcome(err).Reason }}}
	err := it.Err
	if err == nil && r.Schema != nil {
		t.Schema, err = r.Schema(it)
	}
	c, trial := g.(*capture)
	t.Trial = trial
	m := &noteWriter{notify: r.Notify, id: it.ID, quiet: r.Quiet, unreleased: trial}
	sh := newItemReport(report.Config{Err: m, Tally: t.Tally, Schema: t.Schema, Quiet: r.Quiet})
	p, fetched := g.(*replay)
	if fetched {
		sh.job = p.job
	}
	t.Reporter = sh
	if err == nil {
		err = r.Ask(ctx, t)
	}
	if err != nil && ctx.Err() != nil || trial && c.request != nil {
		return ending{Item: it, entry: e, cut: true, tally: t.Tally}
	}
	if err != nil && !fetched && r.Errors.Refused != nil && r.Errors.Refused(err) {
		return ending{Item: it, entry: e, cut: true, end: err, tally: t.Tally}
	}
	if err != nil && r.Errors.Spent != nil && r.Errors.Spent(err) && t.Tally.Tokens() == 0 {
		return ending{Item: it, entry: e, spent: err}
	}
	m.release()
	return ending{Item: it, entry: sh.finish(it, e, r.Errors.Outcome(err)), tally: t.Tally}
}

// store stores and prints the record of an ended item.
func (r *runner) store(e ending) {
	if r.Tally != nil && e.tally != nil {
		r.Tally.Add(e.tally)
	}
	switch {
	case e.cut:
		return
	case e.spent != nil:
		r.spent = e.spent
		r.failUnbegun(e.Item, e.entry, e.spent)
		return
	}
	kept, err := r.state.add(e.Item.Index, e.entry)
	if err != nil {
		r.tell("progress can no longer be saved, so a run that stops begins anew: %v", err)
	}
	r.ended(e.Item.Index, kept)
}

// failUnbegun makes an item fail that did not begin. It stores nothing: a later run begins the item.
func (r *runner) failUnbegun(it Item, e entry, err error) {
	e.attempt--
	sh := newItemReport(report.Config{Err: io.Discard, Quiet: true})
	r.sums.notBegun++
	r.ended(it.Index, sh.finish(it, e, r.Errors.Outcome(err)))
}

// ended counts an item, and prints the items that are next.
func (r *runner) ended(index int, e entry) {
	if e.code == 0 {
		r.sums.answered++
	} else {
		r.sums.failed[e.reason]++
	}
	r.printer.add(index, e)
}

// end prints the remaining items, and the outcome of the batch.
func (r *runner) end(ctx context.Context, err error) error {
	r.printer.flush()
	err = cmp.Or(err, ctx.Err())
	r.exhausted = err == nil && r.printer.lost == nil && r.sums.notBegun == 0
	switch {
	case err != nil:
	case r.printer.lost != nil:
		err = r.printer.lost
	case r.sums.answered < r.sums.items:
		err = ErrFailed
	}
	if r.printer.lost != nil { // nobody reads the output
		return err
	}
	r.tell("%s", r.sums.String())
	switch {
	case ctx.Err() == nil && (err == nil || errors.Is(err, ErrFailed)), r.state.volatile():
	case len(r.state.jobs) > 0:
		r.tell("the server continues its jobs; run the same command again to fetch the answers")
	case r.sums.ended() > 0:
		r.tell("run the same command again to continue")
	}
	return err
}

// String returns the counts of items, of answers and of failures by reason.
func (s *sums) String() string {
	text := fmt.Sprintf("%s: %d answered", text.Count(s.items, "item"), s.answered)
	if n := s.failures(); n > 0 {
		why := slices.SortedFunc(maps.Keys(s.failed), func(a, b string) int {
			return cmp.Or(cmp.Compare(s.failed[b], s.failed[a]), cmp.Compare(a, b))
		})
		for i, reason := range why {
			why[i] = fmt.Sprintf("%d %s", s.failed[reason], reason)
		}
		text += fmt.Sprintf(", %d failed (%s)", n, strings.Join(why, ", "))
	}
	if n := s.items - s.ended(); n > 0 {
		text += fmt.Sprintf(", %d stopped", n)
	}
	if s.before > 0 {
		text += fmt.Sprintf("; %d of them in earlier runs", s.before)
	}
	return text
}

func (r *runner) progress() {
	text := fmt.Sprintf("%s done", text.Count(r.sums.ended(), "item"))
	if n := r.sums.failures(); n > 0 {
		text += fmt.Sprintf(", %d of them failed", n)
	}
	r.tell("%s, %d running", text, r.running)
}

// tell prints a notice about the batch.
func (r *runner) tell(format string, args ...any) {
	if !r.Quiet {
		r.Notify(fmt.Sprintf("batch: "+format, args...))
	}
}
