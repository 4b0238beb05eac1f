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

// A Config says which files are kept, and where.
type Config struct {
	Dir       string // of the store, which is made when it is needed; "" is nowhere
	Off       string // why nothing is kept, "" if something is
	Workspace *workspace.Workspace
	Ledger    *disk.Ledger
	Except    []string            // directories that are passed over
	Session   func() string       // the id of the session
	Hide      func(string) string // takes secrets out of the description of a change; nil takes none
	Notify    func(string)        // shows a notice that is no error
	Strict    func() bool         // reports whether a call is asked about that can't be taken back; nil is no

	MostBytes  int64         // of a file that is kept; 0 is 64 MiB
	LongestGit time.Duration // that git is waited for; 0 is ten seconds

	create func(at *os.Root) (file, error) // begins a file of the store
}

// A Keeper keeps states of the files of a session. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	mu      sync.Mutex
	history *history
	git     *repositories
	turn    turnWork
	failed  error // why the last call was not kept, nil if it was
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
	k.git = &repositories{cfg: &k.cfg, index: map[disk.Stamp]string{}}
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
	return ifKept(err)
}

// ifKept is err, but for that there is no store.
func ifKept(err error) error {
	if errors.Is(err, ErrNothing) || errors.Is(err, ErrNoHome) || errors.Is(err, ErrOff) {
		return nil
	}
	return err
}

// Why nothing can be taken back.
var (
	ErrNoHome = errors.New("there is no home directory to keep checkpoints in")
	ErrOff    = errors.New("checkpoints are switched off")
)

// CheckReady returns why what calls change can't be taken back here, nil if it can. It
// makes the store, and looks at no files: that there are too many of them
// shows when a command has run.
func (k *Keeper) CheckReady() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return cmp.Or(k.history.open(), k.history.partial, k.failed)
}

// Close keeps the known state of the files for the next session, and closes the store.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.history.store != nil && k.history.scanned {
		k.history.save()
	}
	k.history.close()
}

// once returns a function that tells each text once. Keepers of several sessions may share it.
func once(notify func(string)) func(string) {
	var told sync.Map
	return func(text string) {
		if _, again := told.LoadOrStore(text, true); notify != nil && !again {
			notify(text)
		}
	}
}
