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

// A Store is the place of the program's files about one directory.
type Store struct {
	Root string // the directory, symbolic links resolved
	Slug string // its short name in the registry
	Hash string // the SHA-256 of Root in hexadecimal, for session files
	Temp string // ~/.gemini/tmp/<slug>; empty if there is no home directory

	Unsaved bool // Temp can't be written, as the error of [Paths.Register] said
}

// Chats returns the directory of the project's session files.
func (p Store) Chats() string {
	if p.Temp == "" {
		return ""
	}
	return filepath.Join(p.Temp, "chats")
}

// History returns the directory for the states of the project's files, "" without a home. Other
// programs store theirs beside it.
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

// Register finds the project of the working directory in the registry of projects, and adds the
// project if it is unknown.
//
// The Store is usable even with an error, which says that the registry could not be read or
// written: it then has the slug that would have been added.
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

// registry returns the real path of the working directory, and the registry for it.
func (p Paths) registry() (root string, r registry) {
	root = disk.ResolveLinks(p.Cwd)
	r = registry{dir: p.User(), root: root}
	if runtime.GOOS == "windows" {
		r.root = strings.ToLower(root)
	}
	return root, r
}

// store returns the Store of the project at root, with its short name.
func (p Paths) store(root, slug string) Store {
	return Store{Root: root, Hash: Hash(root), Slug: slug, Temp: p.User("tmp", slug)}
}

// All returns the projects with stored files, by the names of their directories.
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

// Registered returns the project of the working directory if it is in the registry, or a marker
// names it. It writes nothing.
func (p Paths) Registered() (Store, bool) {
	if p.Home == "" {
		return Store{}, false
	}
	root, r := p.registry()
	ps, _ := r.read() // the markers are there even if the file is damaged
	slug := r.choose(ps)
	if ps.slugs[r.key()] != slug && r.owner(slug, "tmp") != r.root {
		return Store{}, false
	}
	return p.store(root, slug), true
}

// CheckRegistry returns an error if the registry of projects is damaged or can't be read.
func (p Paths) CheckRegistry() error {
	if p.Home == "" {
		return nil
	}
	_, r := p.registry()
	_, err := r.read()
	return err
}

// Expected returns the project of the working directory from the registry, or else as Register
// might add it, but with a slug that no project has. It writes nothing.
func (p Paths) Expected() Store {
	if known, ok := p.Registered(); ok || p.Home == "" {
		return known
	}
	root := disk.ResolveLinks(p.Cwd)
	return p.store(root, Hash(root))
}

// slugOf converts the last element of a path into a safe name.
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

// A registry is projects.json and the directories that it assigns, for the project at root. Other
// programs write to it at the same time.
type registry struct {
	dir  string // ~/.gemini
	root string
}

// key returns the key of root in projects.json, as valid UTF-8. Projects with the same key replace
// each other's entry, and each keeps the slug with its marker.
func (r registry) key() string { return strings.ToValidUTF8(r.root, "\uFFFD") }

// projects is the content of projects.json. Unknown keys are preserved.
type projects struct {
	slugs map[string]string
	rest  map[string]json.RawMessage
}

const (
	marker  = ".project_root" // names the owner of a slug's directory
	maxFile = 4 << 20         // largest size of a file, in bytes
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
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return guess, r.unsaved(err)
	}
	l, err := Acquire(ctx, filepath.Join(r.dir, "projects.json.lock"))
	if err != nil {
		return guess, r.unsaved(err)
	}
	defer l.Release()
	ps, err = r.read() // another process may have changed it
	s := r.choose(ps)
	if err := r.claim(s); err != nil {
		return s, r.unsaved(err)
	}
	if err != nil || ps.slugs[r.key()] == s {
		return s, err
	}
	ps.slugs[r.key()] = s
	if err := r.write(ps, l); err != nil {
		return s, r.unsaved(err)
	}
	return s, nil
}

var errUnsaved = errors.New("this session is not saved")

// unsaved explains that a project can't be registered, so that its sessions can't be stored.
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

// choose returns the slug that the project has or should get. It writes nothing.
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

// free reports whether no other project's marker is in the directories of s.
func (r registry) free(s string) bool {
	for _, place := range []string{"tmp", "history"} {
		if owner := r.owner(s, place); owner != "" && owner != r.root {
			return false
		}
	}
	return true
}

// owner returns the project in the marker of a slug's directory, "" without a marker.
func (r registry) owner(s, place string) string {
	b, err := disk.Read(filepath.Join(r.dir, place, s, marker), maxFile)
	if err != nil {
		return ""
	}
	owner := string(b)
	if owner != r.root { // whose name may end in a newline
		owner = strings.TrimRight(owner, "\r\n")
	}
	if runtime.GOOS == "windows" {
		owner = strings.ToLower(owner)
	}
	return owner
}

// claim writes the project's marker into the directories of s.
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

// read returns the registry, which is empty if the file is missing or empty. Other contents are an
// error.
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
		if ps.slugs == nil { // its value was null
			ps.slugs = map[string]string{}
		}
	}
	return ps, nil
}

// write replaces projects.json, unless the lock was lost meanwhile.
func (r registry) write(ps projects, l *Lock) error {
	ps.rest["projects"], _ = json.Marshal(ps.slugs) // they are texts, so it can't fail
	b, _ := json.MarshalIndent(ps.rest, "", "  ")   // it was parsed from JSON, so it can't fail
	if !l.Held() {
		return errors.New("projects.json.lock was removed by another program")
	}
	return disk.Replace(filepath.Join(r.dir, "projects.json"), b, 0o600)
}

// usable reports whether s, from a file, is a valid name of a directory.
func usable(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00:")
}

// A Lock is a directory, which only one program can create.
type Lock struct {
	path string
	made os.FileInfo
}

const (
	lockStale = 10 * time.Second      // an older lock belongs to a dead program
	lockWait  = 11 * time.Second      // long enough for a lock to become stale
	lockPoll  = 10 * time.Millisecond // between attempts
)

// Acquire creates the directory path. It waits while another program holds the lock. A directory
// that is older than any program needs is abandoned, and is removed.
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

// removeStale removes an abandoned lock. To let only one program remove the lock, removeStale
// renames the lock first. Then it checks the lock again, and puts a fresh lock back.
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

// sameLock reports whether a and b are the same directory. It also compares the time, since a file
// system may reuse the number of a directory.
func sameLock(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime())
}

// Release removes the lock, unless another program has replaced it.
func (l *Lock) Release() {
	if l.Held() {
		os.Remove(l.path)
	}
}
