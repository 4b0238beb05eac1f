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

// errPanic is the error of a batch that a panic ends.
var errPanic = errors.New("a panic")

// A Task is what carrying out one item takes.
type Task struct {
	Item     Item
	Tally    *tally.Tally
	Reporter report.Reporter
	Schema   *report.OutputSchema // what the answer must hold, nil if any will do

	// Generator, if not nil, is asked in place of the usual one, and is
	// offered no tools.
	Generator engine.Generator

	// Trial says that the run is to leave no trace: it may be made again.
	Trial bool
}

// A StateFile says where the state of a batch is stored.
type StateFile struct {
	// File keeps it for good, and what failed is asked again by the next
	// run. If it is empty, a file in Dir is kept until every item was asked;
	// if that is empty, too, none is kept.
	File, Dir string

	// Fresh begins anew, whatever is done.
	Fresh bool
}

// Config says what a batch is and how it is carried out.
type Config struct {
	Source Source
	Format Format
	State  StateFile

	// Key stands for everything beside an item that its answer depends on:
	// items that were done under another key are done again.
	Key string

	// Jobs is how many items are worked on at once.
	Jobs int

	// Unordered prints records as they come, instead of in the order of the
	// items.
	Unordered bool

	// Ask carries out an item for its Reporter, which it does not finish. It
	// is called by several goroutines at once. When ctx is done it returns
	// soon.
	Ask func(ctx context.Context, t Task) error

	// Schema, if not nil, returns what the answer to an item must hold.
	Schema func(Item) (*report.OutputSchema, error)

	// Service, if not nil, is left the requests of all items, of which each
	// may make one. Jobs and [Errors.Spent] mean nothing then.
	Service Service

	Errors Errors

	// Tally, if not nil, counts what all items take.
	Tally *tally.Tally

	// Out gets a line for each item, in one Write. Broken, if not nil, is
	// told when that fails.
	Out    io.Writer
	Broken func(error)

	// Quiet leaves only errors of the batch itself on Err.
	Quiet bool

	// Notify tells the user something in a line, beside the answers. It may
	// be called by several goroutines at once.
	Notify func(string)
}

// Errors says what an error of [Config.Ask] means.
type Errors struct {
	// Spent, if not nil, reports whether an error means that what
	// the batch as a whole may spend is spent. An item that met it at once
	// was not begun, and no other is.
	Spent func(error) bool

	// Refused, if not nil, reports whether an error means that the server would answer
	// no other item either: the key or the credit is the cause. Nothing more is begun
	// then, the batch ends with that error, and the next run begins the item again.
	Refused func(error) bool

	// Outcome classifies an error.
	Outcome func(error) report.Outcome
}

// A runner carries out a batch.
type runner struct {
	Config
	reading   <-chan read
	state     *state
	printer   printer
	sums      sums
	open      bool // there may be more items
	running   int
	spent     error          // why nothing more is begun
	failure   error          // of reading
	exhausted bool           // every item was tried: there is nothing to go on with
	panic     parallel.Panic // of whoever reads or carries out items
}

// sums are the numbers of a batch.
type sums struct {
	items    int // that were read
	answered int
	failed   map[string]int // by termination reason
	notBegun int            // failed without having been begun
	before   int            // done by an earlier run
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

// patience is how long the first prompt may take before the user is told.
const patience = 2 * time.Second

// progress is how often the user is told how far it is.
const progress = 10 * time.Second

// Run carries out the batch. It returns [ErrFailed] if that came to its end
// with failures, and the error of ctx if it was stopped before: then what had
// ended is printed, and a later Run of the same state does the rest.
//
// A panic of whoever reads or carries out items stops the batch in the same
// way, and goes on here, where the caller can recover.
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

// begin waits for the first item, and carries out the batch.
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

// run carries out the batch that begins with an item.
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
		r.state.remove() // what stays is found again and is complete
		return
	}
	r.state.Close()
}

// tellResumed prints how far an earlier run has come.
func (r *runner) tellResumed() {
	if n, answered := r.state.len(); n > 0 {
		done := n
		if r.State.File != "" {
			done = answered
		}
		r.tell("continuing a batch: %s done before; --batch-fresh begins anew", text.Count(done, "item"))
	}
}

// An ending is an item that has ended.
type ending struct {
	Item Item
	entry
	cut   bool  // it was stopped, and has not ended at all
	panic bool  // it was cut by one
	spent error // it was not begun, as nothing is left to spend
	end   error // of the batch: the item was refused, as all would be
	tally *tally.Tally
}

// work reads items and carries them out until there are no more.
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

// stopped returns a channel that tells once that ctx is done.
func stopped(ctx context.Context, open bool) <-chan struct{} {
	if !open {
		return nil
	}
	return ctx.Done()
}

// start begins an item, or has it printed if it is done.
func (r *runner) start(ctx context.Context, it Item, done chan<- ending) {
	e, known := r.storedResult(it)
	if known {
		r.sums.before++
		r.ended(it.Index, e)
		return
	}
	e.attempt++
	if r.spent != nil && it.Err == nil {
		r.hold(it, e, r.spent)
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

// storedResult returns an item's entry, and whether it is final. For an item that is asked again,
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

// answer carries out an item.
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

// store keeps the record of an item that has ended, and has it printed.
func (r *runner) store(e ending) {
	if r.Tally != nil && e.tally != nil {
		r.Tally.Add(e.tally)
	}
	switch {
	case e.cut:
		return
	case e.spent != nil:
		r.spent = e.spent
		r.hold(e.Item, e.entry, e.spent)
		return
	}
	kept, err := r.state.add(e.Item.Index, e.entry)
	if err != nil {
		r.tell("progress can no longer be saved, so a run that stops begins anew: %v", err)
	}
	r.ended(e.Item.Index, kept)
}

// hold lets an item fail that is not begun. That is not kept: a later run
// begins it.
func (r *runner) hold(it Item, e entry, err error) {
	e.attempt--
	sh := newItemReport(report.Config{Err: io.Discard, Quiet: true})
	r.sums.notBegun++
	r.ended(it.Index, sh.finish(it, e, r.Errors.Outcome(err)))
}

// ended counts an item, and prints it and the items that waited for it.
func (r *runner) ended(index int, e entry) {
	if e.code == 0 {
		r.sums.answered++
	} else {
		r.sums.failed[e.reason]++
	}
	r.printer.add(index, e)
}

// end prints what still waits, and tells how the batch went.
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
	if r.printer.lost != nil { // nobody reads: say nothing
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

// String returns the number of items, of answers and of failures by reason.
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

// tell tells the user something about the batch.
func (r *runner) tell(format string, args ...any) {
	if !r.Quiet {
		r.Notify(fmt.Sprintf("batch: "+format, args...))
	}
}
