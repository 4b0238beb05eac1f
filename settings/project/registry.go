package project

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gemline/engine/disk"
)

// A Store is where the program keeps what belongs to one directory.
type Store struct {
	Root string // the directory, symbolic links resolved
	Slug string // its short name in the registry
	Hash string // the SHA-256 of Root in hexadecimal, for session files
	Temp string // ~/.gemini/tmp/<slug>; empty if there is no home directory

	Unsaved bool // Temp can't be written, as [Paths.Register] has said
}

// Chats returns the directory of the project's session files.
func (p Store) Chats() string {
	if p.Temp == "" {
		return ""
	}
	return filepath.Join(p.Temp, "chats")
}

// History returns the directory for the states of the project's files, "" if there is no place
// for it. Other programs keep theirs beside it.
func (p Store) History() string {
	if p.Temp == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(filepath.Dir(p.Temp)), "history", p.Slug, "gemline")
}

// Hash returns the SHA-256 of path in hexadecimal.
func Hash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// Register finds the project of the working directory in the registry of
// projects, and enters it there if it is not known yet.
//
// The Store can be used even beside an error, which says that the registry could not be read or
// written: it then has the slug that would have been entered.
func (p Paths) Register(ctx context.Context) (Store, error) {
	root, r := p.registry()
	if p.Home == "" {
		return p.store(root, slugOf(root)), errors.New("no home directory: nothing of this session can be kept")
	}
	slug, err := r.slug(ctx)
	s := p.store(root, slug)
	s.Unsaved = errors.Is(err, errUnsaved)
	return s, err
}

// registry returns the directory that is worked in, and the registry as seen from there.
func (p Paths) registry() (root string, r registry) {
	root = disk.ResolveLinks(p.Cwd)
	r = registry{dir: p.User(), root: root}
	if runtime.GOOS == "windows" {
		r.root = strings.ToLower(root)
	}
	return root, r
}

// store returns what belongs to the project at root, under its short name.
func (p Paths) store(root, slug string) Store {
	return Store{Root: root, Hash: Hash(root), Slug: slug, Temp: p.User("tmp", slug)}
}

// All returns the projects that something is kept of, by the names of their directories.
func (p Paths) All() (all []Store) {
	if p.Home == "" {
		return nil
	}
	r := registry{dir: p.User()}
	kept, _ := os.ReadDir(p.User("tmp"))
	for _, e := range kept {
		if root := r.owner(e.Name(), "tmp"); e.IsDir() && root != "" {
			all = append(all, p.store(root, e.Name()))
		}
	}
	slices.SortFunc(all, func(a, b Store) int { return strings.Compare(a.Root, b.Root) })
	return all
}

// Registered returns the project of the working directory if it is in the registry,
// and writes nothing.
func (p Paths) Registered() (Store, bool) {
	if p.Home == "" {
		return Store{}, false
	}
	root, r := p.registry()
	ps, err := r.read()
	slug := ps.slugs[r.key()]
	if err != nil || !usable(slug) || !r.free(slug) {
		return Store{}, false
	}
	return p.store(root, slug), true
}

// Expected returns the project of the working directory as it is in the registry, or else
// as it might be entered there: under a name that no project has. It writes nothing.
func (p Paths) Expected() Store {
	if known, ok := p.Registered(); ok || p.Home == "" {
		return known
	}
	root := disk.ResolveLinks(p.Cwd)
	return p.store(root, Hash(root))
}

// slugOf turns the last element of a path into a name that is safe anywhere.
func slugOf(path string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(filepath.Base(path)) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	if b.Len() == 0 {
		return "project"
	}
	return b.String()
}

// A registry is projects.json beside the directories it gives out, seen from
// the project at root. Other programs write to it at the same time.
type registry struct {
	dir  string // ~/.gemini
	root string
}

// key returns root as projects.json can hold it. Projects with one key change the entry in turn,
// and each keeps the slug whose marker names it.
func (r registry) key() string { return strings.ToValidUTF8(r.root, "\uFFFD") }

// projects is the content of projects.json. Keys that we do not know are kept.
type projects struct {
	slugs map[string]string
	rest  map[string]json.RawMessage
}

const (
	marker  = ".project_root" // names the owner of a slug's directory
	maxFile = 4 << 20         // bytes of a file that is read
)

// slug returns the slug of the project, registered if that is possible.
func (r registry) slug(ctx context.Context) (string, error) {
	ps, err := r.read()
	if err == nil {
		if s := ps.slugs[r.key()]; usable(s) && r.owner(s, "tmp") == r.root {
			return s, nil
		}
	}
	guess := r.choose(ps)
	if err != nil {
		return guess, err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return guess, r.unsaved(err)
	}
	l, err := Acquire(ctx, filepath.Join(r.dir, "projects.json.lock"))
	if err != nil {
		return guess, r.unsaved(err)
	}
	defer l.Release()
	if ps, err = r.read(); err != nil { // another process may have written
		return guess, err
	}
	s := r.choose(ps)
	if err := r.claim(s); err != nil {
		return s, r.unsaved(err)
	}
	if ps.slugs[r.key()] == s {
		return s, nil
	}
	ps.slugs[r.key()] = s
	if err := r.write(ps, l); err != nil {
		return s, r.unsaved(err)
	}
	return s, nil
}

var errUnsaved = errors.New("this session is not saved")

// unsaved explains that a project can't be registered, so that its sessions have no place.
func (r registry) unsaved(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		if info, err := os.Stat(filepath.Dir(r.dir)); err == nil && !disk.OwnedByUser(info) {
			return fmt.Errorf("~/.gemini can't be written (%w): %w; HOME is the home of another user, "+
				"and sudo -H, or HOME=... before gemline, makes it yours", disk.AsFull(path.Err), errUnsaved)
		}
		return fmt.Errorf("~/.gemini can't be written (%w): %w", disk.AsFull(path.Err), errUnsaved)
	}
	return fmt.Errorf("register this project: %w", err)
}

// choose returns the slug that the project has or should get. It only reads.
func (r registry) choose(ps projects) string {
	if s := ps.slugs[r.key()]; usable(s) && r.free(s) {
		return s
	}
	taken := map[string]bool{}
	for root, s := range ps.slugs {
		if root != r.key() {
			taken[s] = true
		}
	}
	base := slugOf(r.root)
	for n := 0; ; n++ {
		s := base
		if n > 0 {
			s += "-" + strconv.Itoa(n)
		}
		if !taken[s] && r.free(s) {
			return s
		}
	}
}

// free reports whether no other project's marker is on the directories of s.
func (r registry) free(s string) bool {
	for _, place := range []string{"tmp", "history"} {
		if owner := r.owner(s, place); owner != "" && owner != r.root {
			return false
		}
	}
	return true
}

// owner returns the project that the marker of a slug's directory names, and
// nothing if there is no marker.
func (r registry) owner(s, place string) string {
	b, err := disk.Read(filepath.Join(r.dir, place, s, marker), maxFile)
	if err != nil {
		return ""
	}
	owner := strings.TrimSpace(string(b))
	if runtime.GOOS == "windows" {
		owner = strings.ToLower(owner)
	}
	return owner
}

// claim puts the project's marker on the directories of s.
func (r registry) claim(s string) error {
	for _, place := range []string{"tmp", "history"} {
		dir := filepath.Join(r.dir, place, s)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if r.owner(s, place) != "" {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, marker), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|disk.NoWait, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(r.root)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// read returns the registry, which is empty if the file is missing or empty.
// A file that is something else is left alone.
func (r registry) read() (projects, error) {
	ps := projects{slugs: map[string]string{}, rest: map[string]json.RawMessage{}}
	path := filepath.Join(r.dir, "projects.json")
	b, err := disk.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(b)) == 0 {
		return ps, nil
	}
	if err != nil {
		return ps, err
	}
	if err := json.Unmarshal(b, &ps.rest); err != nil || ps.rest == nil {
		ps.rest = map[string]json.RawMessage{}
		return ps, fmt.Errorf("%s is damaged and left as it is: mend or remove it", path)
	}
	if raw, ok := ps.rest["projects"]; ok {
		if err := json.Unmarshal(raw, &ps.slugs); err != nil {
			return ps, fmt.Errorf("%s is damaged and left as it is: %q: %w", path, "projects", err)
		}
		if ps.slugs == nil { // it said null
			ps.slugs = map[string]string{}
		}
	}
	return ps, nil
}

// write replaces projects.json as a whole, unless the lock was lost meanwhile.
func (r registry) write(ps projects, l *Lock) error {
	ps.rest["projects"], _ = json.Marshal(ps.slugs) // which are texts
	b, _ := json.MarshalIndent(ps.rest, "", "  ")   // which was JSON
	if !l.Held() {
		return errors.New("projects.json.lock was removed by another program")
	}
	return disk.Replace(filepath.Join(r.dir, "projects.json"), b, 0o600)
}

// usable reports whether s, which stands in a file, is the name of a directory.
func usable(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00:")
}

// A Lock is a directory that only one program at a time can make.
type Lock struct {
	path string
	made os.FileInfo
}

const (
	lockStale = 10 * time.Second      // a lock this old was left by a program that died
	lockWait  = 11 * time.Second      // long enough to see a lock become stale
	lockPoll  = 10 * time.Millisecond // between attempts
)

// Acquire makes the directory path, waiting for another program to remove its own. A directory
// that is older than any program needs it counts as abandoned.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			info, err := os.Lstat(path)
			if err != nil {
				return nil, err
			}
			return &Lock{path: path, made: info}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		removeStale(path)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is held by another program", path)
		case <-time.After(lockPoll):
		}
	}
}

// removeStale removes an abandoned lock. It renames the lock first, so that only
// one of two programs removes the lock, and then checks again, so that a fresh
// lock is put back.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) < lockStale {
		return
	}
	aside := fmt.Sprintf("%s.%d", path, os.Getpid())
	if os.Rename(path, aside) != nil {
		return
	}
	if got, err := os.Lstat(aside); err == nil && !sameLock(info, got) {
		if os.Rename(aside, path) == nil {
			return
		}
	}
	os.RemoveAll(aside)
}

// Held reports whether no other program has replaced the lock.
func (l *Lock) Held() bool {
	now, err := os.Lstat(l.path)
	return err == nil && sameLock(l.made, now)
}

// sameLock reports whether a and b are one directory. The time is compared
// too, since a file system may give the same number to the next directory.
func sameLock(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// Release removes the lock, unless another program has replaced it.
func (l *Lock) Release() {
	if l.Held() {
		os.Remove(l.path)
	}
}
