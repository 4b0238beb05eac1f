package checkpoint

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/text"
)

// A Turn is a prompt with the work that it causes.
type Turn struct{ ID, Asked, Print string }

// Run returns a Run whose calls belong to one turn.
func (k *Keeper) Run(run engine.Run) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		turn := Turn{uuid.NewString(), text.OneLine(engine.TextOf(parts), 200), Fingerprint(parts)}
		k.mu.Lock()
		k.turn = turnWork{of: turn}
		k.mu.Unlock()
		run(ctx, parts...)(yield)
	})
}

// Files returns how many files the calls of the turn, commands included, have changed. A
// file with its original contents again does not count. Files reports false if the number is
// not known.
func (k *Keeper) Files() (n int, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, g := range targets(k.turn.calls) {
		if (Change{Before: g.after, After: g.before}).ofFile() {
			n++
		}
	}
	return n, len(k.turn.calls) > 0 && !k.turn.unsure
}

// A turnWork records the changes by the calls of a turn.
type turnWork struct {
	of     Turn
	calls  []State // the last one first
	unsure bool    // they may have changed more
}

// Fingerprint returns a hash of a question's text, 16 hexadecimal digits.
func Fingerprint(parts []*genai.Part) string {
	sum := sha256.Sum256([]byte(engine.TextOf(parts)))
	return hex.EncodeToString(sum[:8])
}

// Tools returns the tools of ts with scans of the files before and after each call that may
// change some. For a call that is confined to read-only, files are scanned only if the user
// allows more.
func (k *Keeper) Tools(ts engine.Toolset) engine.Toolset {
	return engine.Map(ts, func(t engine.Tool) engine.Tool {
		if t.Kind.ReadOnly() || t.Kind == engine.AskUser || t.Kind == engine.Planning {
			return t
		}
		prepare := t.Prepare
		t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
			call, err := prepare(ctx, args)
			run := call.Run
			if err != nil || run == nil {
				return call, err
			}
			h := &watching{k: k, tool: t, call: call}
			call.Extend = h.end
			call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
				h.Host = host
				if !call.Intent.Plan.IsReadOnly {
					if err := h.start(ctx, args); err != nil {
						return engine.Result{}, err
					}
				}
				r, err := run(ctx, h)
				h.end(context.WithoutCancel(ctx))
				return r, err
			}
			return call, nil
		}
		return t
	})
}

// A watching host scans the files before and after a call. The first scan is at the start of
// the call, or when the user extends its rights.
type watching struct {
	engine.Host
	k      *Keeper
	tool   engine.Tool
	call   engine.Call
	begun  bool
	failed error    // why the files before the call are not recorded
	git    []string // the states of the user's repositories

	paths   []string // files that the call is known to write
	outside []string // written paths without a stored state, each with the reason
}

// Approve implements [engine.Approver].
func (h *watching) Approve(ctx context.Context, q engine.Proposal) (engine.Answer, error) {
	a, err := h.Host.Approve(ctx, q)
	if _, ok := a.(engine.Allowed); ok && err == nil {
		return h.watch(ctx, q, a)
	}
	return a, err
}

// start scans the files before the call. It returns an error if the call must not run.
func (h *watching) start(ctx context.Context, args map[string]any) error {
	if h.call.Args != nil {
		args = h.call.Args
	}
	answer, err := h.watch(ctx, engine.Proposal{Tool: h.tool, Args: args, Intent: h.call.Intent}, engine.Allowed{})
	return cmp.Or(err, ctx.Err(), engine.Refusal(h.tool, answer)) // a cancelled call must not run, as the scan may be incomplete
}

// watch scans the files before an allowed call. If the scan fails, and calls run unasked
// only because they can be undone, the user is asked about this call.
func (h *watching) watch(ctx context.Context, q engine.Proposal, allowed engine.Answer) (engine.Answer, error) {
	err := h.begin(ctx)
	if err == nil || h.k.cfg.Strict == nil || !h.k.cfg.Strict() {
		return allowed, nil
	}
	q.Intent.Ask, q.Intent.Grants, q.Intent.Draft = fmt.Sprintf("this could not be taken back: %v", err), nil, nil
	return h.Host.Approve(ctx, q)
}

// edits reports whether the call names all files that it changes.
func (h *watching) edits() bool {
	return h.tool.Kind == engine.Edit && len(h.call.Intent.Paths) > 0
}

// begin records the files before the call.
func (h *watching) begin(ctx context.Context) error {
	if h.begun {
		return nil
	}
	err := h.look(ctx, h.before)
	if h.begun, h.failed = err == nil, err; err != nil && ctx.Err() == nil {
		h.k.cfg.Notify("what follows can't be taken back: " + disk.AsFull(err).Error()) // the same text each time, so that repetitions are not printed
	}
	return err
}

// look calls do with the open store, before or after the call. If do fails, the keeper drops
// its known state of the files.
func (h *watching) look(ctx context.Context, do func(context.Context) error) error {
	k := h.k
	err := k.use(ctx, func() error { return do(ctx) })
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed = err; err != nil {
		k.turn.unsure = true
		k.history.reset()
		k.history.close() // another store may be at the path by now
	}
	return err
}

func (h *watching) before(ctx context.Context) error {
	k, plan := h.k, h.call.Intent.Plan
	const outside = ": outside of the workspace"
	for _, path := range append(slices.Clone(h.call.Intent.Paths), plan.Writes...) {
		path = filepath.Clean(disk.Absolute(path, cmp.Or(plan.Dir, k.cfg.Workspace.Roots()[0]), ""))
		if !k.cfg.Workspace.Contains(path) {
			h.outside = append(h.outside, path+outside)
			continue
		}
		h.paths = append(h.paths, k.history.name(path))
		if real := disk.ResolveLinks(path); real != path { // the call writes the link's target
			h.paths = append(h.paths, k.history.name(real))
		}
	}
	for _, path := range plan.Rights.Write {
		h.outside = append(h.outside, path+outside)
	}
	if err := k.history.recordExternal(ctx, !h.edits(), h.paths); err != nil || h.edits() {
		return err
	}
	h.git = k.git.see(ctx)
	return nil
}

// Interrupted records the differences from the session's last state as changes of the call that
// was running when the session ended, if all files had been scanned before the call. Others may
// have made some of the changes, so they are undone like the changes of others: only if the user
// agrees.
func (k *Keeper) Interrupted(ctx context.Context, t Turn, tool, title string) error {
	err := k.with(ctx, func() error {
		all, err := states(k.history.store, k.cfg.Session(), false)
		if err != nil || len(all) == 0 || !all[0].Whole || all[0].Unsure {
			return err
		}
		if i := slices.IndexFunc(all, func(s State) bool { return s.Kind != External }); i >= 0 &&
			all[i].Kind == ToolCall && all[i].Print == t.Print {
			t.ID = all[i].Turn
		}
		changes, _, err := k.history.take(ctx, External, true, nil)
		if err != nil || len(changes) == 0 {
			return err
		}
		r := t.record(tool, title)
		r.Turn, r.Unsure = cmp.Or(t.ID, uuid.NewString()), true
		return k.history.commit(changes, r)
	})
	return ignoreNoStore(err)
}

// end records the files after the call.
func (h *watching) end(ctx context.Context) {
	err := h.failed
	if h.failed = nil; h.begun {
		if err = h.look(ctx, h.after); err != nil {
			h.k.cfg.Notify(fmt.Sprintf("what this call has changed is not certain, and /undo may leave some of it: %v", err))
		}
	}
	if ignoreNoStore(err) == nil {
		return
	}
	h.k.mu.Lock()
	r := h.k.turn.of.record(h.tool.Name(), h.call.Intent.Title)
	r.NotKept = []string{fmt.Sprintf("%s: %s, since %v", UnrecordedCall, h.k.cfg.Hide(text.OneLine(r.Title, 100)), disk.AsFull(err))}
	h.k.history.missed = append(h.k.history.missed, r)
	h.k.mu.Unlock()
	h.k.use(ctx, func() error { return nil }) // which writes it, if there is room for so little
}

// record returns the record of a call of the turn.
func (t Turn) record(tool, title string) Record {
	return Record{Kind: ToolCall, Turn: t.ID, Asked: t.Asked, Print: t.Print, Tool: tool, Title: title}
}

func (h *watching) after(ctx context.Context) error {
	k, edits := h.k, h.edits()
	changes, s, err := k.history.take(ctx, ToolCall, !edits, h.paths)
	if err != nil {
		return err
	}
	r := k.turn.of.record(h.tool.Name(), h.call.Intent.Title)
	slices.Sort(s.lost)
	lost := append(h.outside, s.lost...)
	r.NotKept, r.More = lost[:min(mostNamed, len(lost))], max(0, len(lost)-mostNamed)
	if !edits {
		if seen := k.git.see(ctx); !k.git.silent && len(seen) > 0 { // else the repositories are gone
			h.git, r.GitMoved = seen, movedRefs(h.git, seen)
		}
	}
	if len(changes)+len(s.lost)+len(r.GitMoved) == 0 {
		return nil
	}
	if k.history.partial != nil && !edits {
		r.Partial = k.history.partial.Error()
	}
	if err := k.history.commit(changes, r); err != nil {
		return err
	}
	k.turn.unsure = k.turn.unsure || r.Partial != "" || len(h.outside) > 0
	k.turn.calls = slices.Insert(k.turn.calls, 0, State{changes: changes})
	return nil
}
