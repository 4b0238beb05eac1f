package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// small is how many bytes a pack has that is put together with others.
const small = 1 << 20

// Collect removes what no name of a state keeps. Packs that hold such, and small ones,
// become one; large ones stay as they are. It waits for those who add something, as long
// as ctx lets it. Until the new pack is on the disk, the old ones stay.
func (r *Repo) Collect(ctx context.Context) (err error) {
	if ok, err := r.lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock the checkpoints: %w", err)
	}
	defer r.lock.Unlock()
	r.mu.Lock()
	r.forget()
	r.list()
	old := r.packs
	r.mu.Unlock()
	kept, err := r.reached(ctx)
	if err != nil {
		return err // nothing is removed then
	}
	fresh, stay := r.Begin(), map[string]bool{}
	defer func() {
		if err != nil { // what is there twice now
			for _, p := range old {
				stay[p.name] = true
			}
			r.remove(fresh.packs(), stay)
		}
	}()
	for _, p := range old {
		if err = ctx.Err(); err == nil {
			err = r.move(p, kept, fresh, stay)
		}
		if err != nil {
			return err
		}
	}
	if err = fresh.Commit(); err != nil {
		return err
	}
	top, err := r.sub(".")
	if err != nil {
		return err
	}
	defer top.Close()
	if err = r.put(top, "generation", fmt.Appendf(nil, "%016x\n", rand.Uint64())); err != nil {
		return err
	}
	for name := range fresh.names {
		stay[name] = true
	}
	return r.sweep(old, stay)
}

// move copies what is kept of a pack, unless that may stay.
func (r *Repo) move(p *pack, kept map[Sum]bool, to *Batch, stay map[string]bool) error {
	var live []int
	for i := range p.count {
		if kept[p.sum(i)] && !to.pending[p.sum(i)] {
			live = append(live, i)
		}
	}
	if len(live) == 0 {
		return nil
	}
	r.mu.Lock()
	err := r.openPack(p)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if len(live) == p.count && p.bytes >= small {
		stay[p.name] = true
		for _, i := range live {
			to.pending[p.sum(i)] = true
		}
		return nil
	}
	ends := p.ends()
	for _, i := range live {
		sum := p.sum(i)
		offset, ok := p.find(sum)
		if !ok {
			return errPack
		}
		if err := to.copied(r, p, sum, offset, ends[offset]); err != nil {
			return err
		}
	}
	return nil
}

// copied adds an object as a pack has it, or, if that is a difference, what it comes to.
func (b *Batch) copied(r *Repo, p *pack, sum Sum, from, to int64) error {
	s, err := p.head(from)
	if err != nil || to <= from || to-from > 1<<31 {
		return errors.Join(errPack, err)
	}
	if s.number == ofsDelta || s.number == refDelta {
		r.mu.Lock()
		kind, content, err := r.unpack(p, from, 1<<40, 0)
		r.mu.Unlock()
		if err != nil {
			return err
		}
		return b.put(sum, func(out []byte) []byte { return appendObject(out, kind, len(content), deflated(content)) })
	}
	raw := make([]byte, to-from)
	if _, err := p.file.ReadAt(raw, from); err != nil {
		return err
	}
	return b.put(sum, func(out []byte) []byte { return append(out, raw...) })
}

// ends returns where each object of a pack ends, by where it begins.
func (p *pack) ends() map[int64]int64 {
	var starts []int64
	for i := range p.count {
		if offset, ok := p.find(p.sum(i)); ok {
			starts = append(starts, offset)
		}
	}
	slices.Sort(starts)
	ends := make(map[int64]int64, len(starts))
	for i, from := range starts {
		ends[from] = p.bytes - int64(p.size)
		if i+1 < len(starts) {
			ends[from] = starts[i+1]
		}
	}
	return ends
}

// reached returns all that a name of a state leads to.
func (r *Repo) reached(ctx context.Context) (kept map[Sum]bool, err error) {
	all, err := r.Refs()
	kept = map[Sum]bool{}
	for _, ref := range all {
		sum, err := r.Ref(ref.Name)
		for err == nil && sum != "" && !kept[sum] {
			kept[sum] = true
			var c CommitObject
			if c, err = r.Commit(sum); err == nil {
				err = r.reach(ctx, c.Tree, kept, 0)
			}
			sum = c.Parent
		}
		if err != nil {
			return nil, err
		}
	}
	return kept, err
}

// mostDepth is how deep trees may lie in each other.
const mostDepth = 1000

func (r *Repo) reach(ctx context.Context, tree Sum, kept map[Sum]bool, depth int) error {
	if kept[tree] {
		return nil
	}
	if depth > mostDepth {
		return fmt.Errorf("a tree is deeper than %d", mostDepth)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	kept[tree] = true
	entries, err := r.Tree(tree)
	for _, e := range entries {
		if !e.Mode.IsDir() {
			kept[e.Sum] = true
		} else if err := r.reach(ctx, e.Sum, kept, depth+1); err != nil {
			return err
		}
	}
	return err
}

// packs returns the packs that b has written.
func (b *Batch) packs() (list []*pack) {
	for name := range b.names {
		list = append(list, &pack{name: name})
	}
	return list
}

// remove removes packs but those of some names.
func (r *Repo) remove(packs []*pack, but map[string]bool) {
	at, err := r.sub(filepath.FromSlash("objects/pack"))
	if err != nil {
		return
	}
	defer at.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range packs {
		if !but[p.name] {
			at.Remove(p.name + ".idx") // first: a pack without is none
			at.Remove(p.name + ".pack")
		}
	}
	r.forget()
}

// sweep removes packs but those of some names, and what killed processes have left.
func (r *Repo) sweep(old []*pack, stay map[string]bool) error {
	r.remove(old, stay)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, dir := range []string{".", filepath.FromSlash("objects/pack"), filepath.FromSlash(refs)} {
		at, err := r.sub(dir)
		if err != nil {
			return err
		}
		entries, _ := r.dir.List(dir)
		for _, e := range entries {
			name, pack := strings.CutSuffix(e.Name(), ".pack")
			if pack {
				_, err := at.Lstat(name + ".idx")
				pack = errors.Is(err, fs.ErrNotExist)
			}
			if (pack || strings.HasPrefix(name, temporary)) && e.Type().IsRegular() {
				at.Remove(e.Name())
			}
		}
		err = r.files.Sync(at)
		at.Close()
		if err != nil {
			return err
		}
	}
	r.list()
	return nil
}
