package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// A Config says what is kept, and where.
type Config struct {
	Dir       string // of the store, which is made when it is needed; "" is nowhere
	Off       string // why nothing is kept, "" if something is
	Workspace *workspace.Workspace
	Ledger    *disk.Ledger
	Except    []string            // directories that are passed over
	Session   func() string       // the id of the session
	Hide      func(string) string // takes secrets out of what is said of a change; nil takes none
	Notify    func(string)        // tells what is odd but no error
	Strict    func() bool         // reports whether a call is asked about that can't be taken back; nil is no
	Limits    Limits
	Files     Files // nil is the system's
}

// A Keeper keeps states of the files of a session. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	mu      sync.Mutex
	repo    *repo // nil before it is needed
	top     *node
	names   map[string]string // files that edits have named, and from where on they are looked at
	rules   string            // what was seen of ignore files that are not below a directory that is worked in
	swept   bool              // all was looked at once
	short   error             // why only what is named is kept
	failed  error             // why the last call was not kept, nil if it was
	tip     string            // the last state of the session
	known   bool              // the nodes have what it holds
	turn    Turn
	changed map[string]Change // by calls of the turn, from what was there before it
	unsure  bool              // they may have changed more
	told    map[string]bool
	index   map[string]indexed   // of the user's repositories, by their paths
	saved   bool                 // the index on the disk is that of top
	own     map[string]disk.Look // what commands of the session have made that is not covered
}

// New returns a Keeper. Nothing is touched before the first call that may change
// something.
func New(cfg Config) *Keeper {
	cfg.Limits = cfg.Limits.orDefault()
	if cfg.Files == nil {
		cfg.Files = OS{}
	}
	if cfg.Hide == nil {
		cfg.Hide = func(text string) string { return text }
	}
	return &Keeper{cfg: cfg, names: map[string]string{}, told: map[string]bool{}, index: map[string]indexed{}}
}

// For returns a Keeper for another session in the same folder.
func (k *Keeper) For(session string) *Keeper {
	cfg := k.cfg
	cfg.Session = func() string { return session }
	return New(cfg)
}

// Copy has the session begin with the states of another one, whose copy it is: what that
// one has changed can be taken back in both. Where nothing is kept of that one, or
// something of this one already, nothing is done.
func (k *Keeper) Copy(from string) error {
	if k.cfg.Off != "" || !CanName(from) {
		return nil
	}
	err := k.with(context.Background(), func() error {
		tip, err := k.repo.ref(from)
		if err != nil || tip == "" || k.tip != "" {
			return err
		}
		return k.repo.setRef(k.cfg.Session(), tip)
	})
	return ifKept(err)
}

// ifKept is err, but for that there is no store.
func ifKept(err error) error {
	if errors.Is(err, ErrNothing) || errors.Is(err, ErrNowhere) {
		return nil
	}
	return err
}

// Why nothing can be taken back.
var (
	ErrNowhere = errors.New("there is no home directory to keep checkpoints in")
	ErrOff     = errors.New("checkpoints are switched off")
)

// Ready returns why what calls change can't be taken back here, nil if it can. It
// makes the repository, and looks at no files: that there are too many of them
// shows when a command has run.
func (k *Keeper) Ready() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.open(); err != nil {
		return err
	}
	return cmp.Or(k.short, k.failed)
}

// open opens the repository.
func (k *Keeper) open() error {
	switch {
	case k.cfg.Off != "":
		return fmt.Errorf("%w: %s", ErrOff, k.cfg.Off)
	case k.cfg.Dir == "":
		return ErrNowhere
	case k.repo != nil:
		return nil
	}
	repo, err := create(k.cfg.Dir, k.cfg.Files)
	if err != nil {
		return fmt.Errorf("no checkpoint can be made: %w", err)
	}
	k.repo = repo
	return nil
}

// Close keeps what is known of the files for the next session, and closes the
// repository.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.repo == nil {
		return
	}
	if k.swept && !k.saved {
		k.save()
	}
	k.repo.close()
	k.repo = nil
}

// use begins work with the repository, and ends with done.
func (k *Keeper) use(ctx context.Context) (done func(), err error) {
	if err := k.open(); err != nil {
		return nil, err
	}
	done, collected, err := k.repo.use(ctx)
	if err != nil {
		return nil, err
	}
	if k.top == nil {
		k.top = k.load()
		k.swept = k.top != nil
		if k.top == nil {
			k.top = &node{}
		}
	} else if collected {
		k.reset()
	}
	// Another process may have taken something back.
	if session := k.cfg.Session(); session == "" {
		return done, nil // nothing will be added
	} else if tip, err := k.repo.ref(session); err != nil || tip != k.tip {
		k.tip, k.known = "", false
		if _, err := k.repo.heading(tip); err == nil {
			k.tip = tip
		}
	}
	return done, nil
}

// take looks at files, at all of them or at those that are named, and returns what differs
// from the last state.
func (k *Keeper) take(ctx context.Context, all bool, paths []string) (changes []Change, s *sweep, err error) {
	defer func() {
		if err != nil {
			k.reset()
		}
	}()
	s = k.newSweep(ctx)
	if all && k.short == nil {
		if err := k.sweep(s); err != nil {
			if !errors.Is(err, errTooMuch) {
				return nil, s, err
			}
			k.short = err
			k.top = &node{}
			s = k.newSweep(ctx)
		}
	}
	if all { // those that the rest does not show
		for path := range k.names {
			if n := k.top.at(path, false); n == nil || n.cover == named {
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		s.path(k.top, k.names[path], path)
	}
	if s.err != nil {
		return nil, s, s.err
	}
	changes, err = k.differs()
	return changes, s, err
}

// differs returns what differs from the last state.
func (k *Keeper) differs() ([]Change, error) {
	if !k.known {
		all, err := states(k.repo, k.cfg.Session())
		if err != nil && k.tip != "" {
			return nil, err
		}
		k.top.forget()
		for _, s := range slices.Backward(all) {
			if s.Parent == "" {
				if s.changes, err = k.repo.changes(s.ID); err != nil {
					return nil, err
				}
			}
			for _, c := range s.changes {
				if checkPath(c.Path) == nil { // else nobody has seen it here
					k.top.at(c.Path, true).was = c.After
				}
			}
		}
		k.known = true
	}
	changes := k.top.diff("", nil)
	if len(changes) == 0 {
		k.top.clean()
	}
	return changes, nil
}

// sweep looks at all files.
func (k *Keeper) sweep(s *sweep) error {
	rules := k.rulesAbove()
	s.sorted, s.first = rules != k.rules && k.swept, !k.swept
	if s.first {
		k.repo.know()
		s.until = s.at.Add(k.cfg.Limits.First)
	}
	roots := k.cfg.Workspace.Roots()
	for range 2 {
		for _, root := range roots {
			if !slices.ContainsFunc(roots, func(other string) bool {
				return other != root &&
					disk.Inside(other, root)
			}) {
				s.root(k.top.at(root, true), root)
			}
		}
		if s.err != nil {
			return s.err
		}
		if s.sorted || !s.ruled.Load() {
			break
		}
		s.sorted = true
	}
	k.rules, k.swept = rules, true
	return nil
}

// rulesAbove returns what there is to see of the ignore files that hold for what is
// worked in and do not lie there.
func (k *Keeper) rulesAbove() string {
	var b strings.Builder
	for _, root := range k.cfg.Workspace.Roots() {
		top := workspace.Top(root)
		for dir := root; ; dir = filepath.Dir(dir) {
			for _, name := range []string{".gitignore", ".git", ".git/info/exclude"} {
				if info, err := os.Lstat(filepath.Join(dir, name)); err == nil &&
					(!info.IsDir() && dir != root || name != ".gitignore") {
					if info.IsDir() {
						fmt.Fprintln(&b, dir, name)
						continue
					}
					fmt.Fprintln(&b, dir, name, info.Size(), info.ModTime().UnixNano())
				}
			}
			if dir == top || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return b.String()
}

// name has a file kept from now on, whatever rules say of it, and returns where it is:
// a link is kept as one.
func (k *Keeper) name(path string) string {
	path = filepath.Join(disk.Follow(filepath.Dir(path)), filepath.Base(path))
	k.keep(path)
	return path
}

// keep is name for a path that lies behind no link.
func (k *Keeper) keep(path string) {
	if _, ok := k.names[path]; ok {
		return
	}
	k.names[path], _ = k.base(path)
}

// base returns the directory that a path is reached from: one that is worked in, or else the
// nearest one that is there.
func (k *Keeper) base(path string) (base string, within bool) {
	for _, root := range k.cfg.Workspace.Roots() {
		if disk.Inside(root, path) && root != path && len(root) > len(base) {
			base = root
		}
	}
	if base != "" {
		return base, true
	}
	for base = filepath.Dir(path); base != filepath.Dir(base); base = filepath.Dir(base) {
		if info, err := os.Stat(base); err == nil && info.IsDir() {
			break
		}
	}
	return base, false
}

// commit keeps a state as the last one of the session: what differs, and what is said of it.
func (k *Keeper) commit(b *batch, changes []Change, r Record) error {
	r.Session, r.Time, r.Whole = k.cfg.Session(), cmp.Or(r.Time, time.Now()), k.swept && k.short == nil
	r.Asked, r.Title = k.cfg.Hide(r.Asked), k.cfg.Hide(r.Title)
	record, err := json.Marshal(r)
	if err != nil {
		return err
	}
	id, err := b.commit(&heading{Parent: k.tip, Record: record}, changes)
	if err == nil {
		err = k.repo.setRef(k.cfg.Session(), id)
	}
	if err != nil {
		k.reset()
		return err
	}
	k.top.clean()
	k.tip, k.saved = id, false
	return nil
}

// tell tells something once.
func (k *Keeper) tell(text string) {
	if k.cfg.Notify != nil && !k.told[text] {
		k.told[text] = true
		k.cfg.Notify(text)
	}
}
