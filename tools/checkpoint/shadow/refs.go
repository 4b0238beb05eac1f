package shadow

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// refs is where names of states are.
const refs = "refs/sessions"

// CanName reports whether a state may have a name, which becomes that of a file.
func CanName(name string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	other := func(r rune) bool { return !strings.ContainsRune(chars, r) }
	return name != "" && len(name) <= 128 && name[0] != '.' && !strings.ContainsFunc(name, other)
}

// A Ref is the name of a state, which keeps it and those before it.
type Ref struct {
	Name    string
	Changed time.Time
}

// Refs returns the names of states, in no order.
func (r *Repo) Refs() (list []Ref, err error) {
	entries, err := r.dir.List(filepath.FromSlash(refs))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !CanName(e.Name()) || strings.HasPrefix(e.Name(), temporary) {
			continue
		}
		if info, err := r.dir.Lstat(filepath.Join(filepath.FromSlash(refs),
			e.Name())); err == nil && info.Mode().IsRegular() {
			list = append(list, Ref{e.Name(), info.ModTime()})
		}
	}
	return list, err
}

// Ref returns the state of a name, "" if there is none.
func (r *Repo) Ref(name string) (Sum, error) {
	if !CanName(name) {
		return "", fmt.Errorf("%.80q can't be the name of a state", name)
	}
	b, err := r.read(filepath.Join(filepath.FromSlash(refs), name), mostLine)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return ParseSum(strings.TrimSuffix(string(b), "\n"))
}

// SetRef gives a state a name. The disk has it then.
func (r *Repo) SetRef(name string, sum Sum) error {
	if !CanName(name) {
		return fmt.Errorf("%.80q can't be the name of a state", name)
	}
	at, err := r.sub(filepath.FromSlash(refs))
	if err != nil {
		return err
	}
	defer at.Close()
	if err := r.put(at, name, []byte(sum.String()+"\n")); err != nil {
		return err
	}
	return r.files.Sync(at)
}

// DropRef takes the name from a state, which [Repo.Collect] removes then.
func (r *Repo) DropRef(name string) error {
	if !CanName(name) {
		return nil
	}
	at, err := r.sub(filepath.FromSlash(refs))
	if err != nil {
		return err
	}
	defer at.Close()
	if err := at.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.files.Sync(at)
}
