package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"gemline/engine/disk"
	"gemline/tools/workspace"
)

// A Config says which files are recorded, and where.
type Config struct {
	Dir       string // of the store, created when needed; "" stores nothing
	Off       string // why recording is off, "" if it is on
	Workspace *workspace.Workspace
	Ledger    *disk.Ledger
	Except    []string            // directories that are skipped
	Session   func() string       // the id of the session
	Hide      func(string) string // redacts secrets in the description of a change; nil redacts none
	Notify    func(string)        // shows a notice that is no error
	Strict    func() bool         // reports whether calls that can't be undone need approval; nil means no

	MostBytes  int64         // of a file whose content is stored; 0 is 64 MiB
	LongestGit time.Duration // timeout of git; 0 is ten seconds

	create func(at *os.Root) (file, error) // begins a file of the store
}

// A Keeper records the states of the files in a session. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	mu      sync.Mutex
	history *history
	git     *repositories
	turn    turnWork
	failed  error // why the last call was not recorded, nil if it was
}

// New returns a Keeper. Nothing is touched before the first call that may change
// something.
func New(cfg Config) *Keeper {
	cfg.MostBytes, cfg.LongestGit = cmp.Or(cfg.MostBytes, 64<<20), cmp.Or(cfg.LongestGit, 10*time.Second)
	if cfg.create == nil {
		cfg.create = createFile
	}
	if cfg.Hide == nil {
		cfg.Hide = func(text string) string { return text }
	}
	k := &Keeper{cfg: cfg}
	k.cfg.Notify = once(cfg.Notify)
	k.history = &history{cfg: &k.cfg, names: map[string]bool{}}
	k.git = &repositories{cfg: &k.cfg, index: map[disk.Stat]string{}}
	return k
}

// For returns a Keeper for another session in the same folder.
func (k *Keeper) For(session string) *Keeper {
	cfg := k.cfg
	cfg.Session = func() string { return session }
	return New(cfg)
}

// Copy has the session begin with the states of the session that it copies, so that the changes
// can be undone in both. It does nothing if the copied session has no states, or this session has
// some already.
func (k *Keeper) Copy(from string) error {
	err := k.with(context.Background(), func() error {
		tip, err := k.history.store.ref(from)
		if err != nil || tip == "" || k.history.tip != "" {
			return err
		}
		return k.history.store.setRef(k.cfg.Session(), tip)
	})
	return ignoreNoStore(err)
}

// ignoreNoStore returns err, or nil if err says that there is no store.
func ignoreNoStore(err error) error {
	if errors.Is(err, ErrNothing) || errors.Is(err, ErrNoHome) || errors.Is(err, ErrOff) {
		return nil
	}
	return err
}

// Reasons why nothing can be undone.
var (
	ErrNoHome = errors.New("there is no home directory to keep checkpoints in")
	ErrOff    = errors.New("checkpoints are switched off")
)

// CheckReady returns why the changes of calls can't be undone here, nil if they can. It
// creates the store, and scans no files: only a command shows that there are too many.
func (k *Keeper) CheckReady() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cmp.Or(k.history.open(), k.history.partial, k.failed)
}

// Failed returns why the last call was not recorded, nil if it was.
func (k *Keeper) Failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

// Close saves the known state of the files for the next session, and closes the store.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.history.missed) > 0 {
		if done, err := k.history.use(context.Background()); err == nil {
			done()
		}
	}
	if k.history.store != nil && k.history.scanned {
		k.history.save()
	}
	k.history.close()
}

// once returns a function that passes each text to notify once. Keepers of several sessions
// may share it.
func once(notify func(string)) func(string) {
	var told sync.Map
	return func(text string) {
		if _, again := told.LoadOrStore(text, true); notify != nil && !again {
			notify(text)
		}
	}
}
