package shadow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"
)

// Collect removes what no name of a state keeps, and puts what stays into one pack.
// It waits for those who add something, as long as ctx lets it. Until the new pack
// is on the disk, the old ones stay.
func (r *Repo) Collect(ctx context.Context) error {
	if ok, err := r.lock.TryLockContext(ctx, 5*time.Millisecond); !ok {
		return fmt.Errorf("lock the checkpoints: %w", err)
	}
	defer r.lock.Unlock()
	r.mu.Lock()
	r.forget()
	r.list()
	old := r.packs
	r.mu.Unlock()
	all, err := r.Refs()
	if err != nil {
		return err
	}
	kept := map[Sum]bool{}
	fresh := &Batch{r: r, pending: map[Sum]bool{}, again: true}
	for _, ref := range all {
		sum, err := r.Ref(ref.Name)
		if err == nil {
			err = r.keepChain(ctx, fresh, sum, kept)
		}
		if err != nil {
			return err // nothing is removed then
		}
	}
	if err := fresh.Commit(); err != nil {
		return err
	}
	top, err := r.sub(".")
	if err != nil {
		return err
	}
	defer top.Close()
	if err := r.put(top, "generation", fmt.Appendf(nil, "%016x\n", rand.Uint64())); err != nil {
		return err
	}
	return r.sweep(old, fresh.names)
}

// keepChain copies a commit, its tree and what was before it.
func (r *Repo) keepChain(ctx context.Context, to *Batch, sum Sum, kept map[Sum]bool) error {
	for sum != "" && !kept[sum] {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept[sum] = true
		b, err := r.Read(Commit, sum, mostObject)
		if err != nil {
			return err
		}
		c, err := decodeCommit(b)
		if err != nil {
			return err
		}
		if err := r.keepTree(to, c.Tree, kept, 0); err != nil {
			return err
		}
		if _, err := to.Add(Commit, b); err != nil {
			return err
		}
		sum = c.Parent
	}
	return nil
}

// mostDepth is how deep trees may lie in each other.
const mostDepth = 1000

func (r *Repo) keepTree(to *Batch, sum Sum, kept map[Sum]bool, depth int) error {
	if kept[sum] {
		return nil
	}
	if depth > mostDepth {
		return fmt.Errorf("a tree is deeper than %d", mostDepth)
	}
	kept[sum] = true
	b, err := r.Read(Tree, sum, mostObject)
	if err != nil {
		return err
	}
	entries, err := decodeTree(b, r.size)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode.IsDir():
			err = r.keepTree(to, e.Sum, kept, depth+1)
		case !kept[e.Sum]:
			kept[e.Sum] = true
			var content []byte
			if content, err = r.Read(Blob, e.Sum, 1<<40); err == nil {
				_, err = to.Add(Blob, content)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = to.Add(Tree, b)
	return err
}

// sweep removes packs but those of new names, and what killed processes have left.
func (r *Repo) sweep(old []*pack, fresh map[string]bool) error {
	at, err := r.sub(filepath.FromSlash("objects/pack"))
	if err != nil {
		return err
	}
	defer at.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range old {
		if !fresh[p.name] {
			at.Remove(p.name + ".idx") // first: a pack without is none
			at.Remove(p.name + ".pack")
		}
	}
	for _, dir := range []string{".", filepath.FromSlash("objects/pack"), filepath.FromSlash(refs)} {
		entries, _ := r.dir.List(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), temporary) && e.Type().IsRegular() {
				if d, err := r.sub(dir); err == nil {
					d.Remove(e.Name())
					d.Close()
				}
			}
		}
	}
	r.forget()
	return r.files.Sync(at)
}
