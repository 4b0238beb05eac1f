package shadow

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// mostPending is how many bytes wait to be written, at most.
const mostPending = 32 << 20

// A Batch is objects that are added together. It is safe for concurrent use.
type Batch struct {
	r *Repo

	mu      sync.Mutex
	bytes   []byte // of the pack, with room for its head
	objects []packed
	pending map[Sum]bool
	again   bool            // what is in other packs is added all the same
	names   map[string]bool // of the packs that were written
}

// Begin returns a Batch. The caller holds [Repo.Use] until it is committed.
func (r *Repo) Begin() *Batch { return &Batch{r: r, pending: map[Sum]bool{}} }

var deflaters = sync.Pool{New: func() any {
	z, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	return z
}}

// Add adds an object, unless it is there.
func (b *Batch) Add(kind Kind, content []byte) (Sum, error) {
	sum := sumOf(b.r.size, kind, content)
	if b.has(sum) {
		return sum, nil
	}
	var out bytes.Buffer
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&out)
	z.Write(content)
	z.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending[sum] {
		return sum, nil
	}
	if len(b.bytes) == 0 {
		b.bytes = make([]byte, 12, 4096)
	}
	at := len(b.bytes)
	b.bytes = appendObject(b.bytes, kind, len(content), out.Bytes())
	b.objects = append(b.objects, packed{sum, uint32(at), checksum(b.bytes[at:])})
	b.pending[sum] = true
	if len(b.bytes) < mostPending {
		return sum, nil
	}
	return sum, b.flush()
}

func (b *Batch) has(sum Sum) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending[sum] || !b.again && b.r.has(sum)
}

// Commit has the disk keep what was added.
func (b *Batch) Commit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

// flush writes the pending objects as a pack, and its index behind it.
func (b *Batch) flush() error {
	if len(b.objects) == 0 {
		return nil
	}
	copy(b.bytes, packMagic)
	binary.BigEndian.PutUint32(b.bytes[8:], uint32(len(b.objects)))
	h := newHash(b.r.size)
	h.Write(b.bytes)
	trailer := h.Sum(nil)
	slices.SortFunc(b.objects, func(x, y packed) int { return strings.Compare(string(x.sum), string(y.sum)) })
	index, name := encodeIndex(b.objects, trailer), "pack-"+fileName(trailer)
	at, err := b.r.sub(filepath.FromSlash("objects/pack"))
	if err != nil {
		return err
	}
	defer at.Close()
	if err := b.r.put(at, name+".pack", append(b.bytes, trailer...)); err != nil {
		return err
	}
	if err := b.r.put(at, name+".idx", index); err != nil {
		return err
	}
	if err := b.r.files.Sync(at); err != nil {
		return err
	}
	p, err := newPack(name, index, b.r.size)
	if err != nil {
		return err
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	if !b.r.listed[name] {
		b.r.add(p)
	}
	if b.names == nil {
		b.names = map[string]bool{}
	}
	b.names[name], b.bytes, b.objects = true, nil, nil
	return nil
}
