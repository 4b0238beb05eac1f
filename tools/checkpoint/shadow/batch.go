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
	names   map[string]bool // of the packs that were written, or were to be
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
	packed := deflated(content)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending[sum] {
		return sum, nil
	}
	return sum, b.put(sum, func(out []byte) []byte { return appendObject(out, kind, len(content), packed) })
}

// deflated returns content compressed.
func deflated(content []byte) []byte {
	var out bytes.Buffer
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&out)
	z.Write(content)
	z.Close()
	return out.Bytes()
}

// put adds an object, as a pack has it, to what waits to be written.
func (b *Batch) put(sum Sum, add func(out []byte) []byte) error {
	if len(b.bytes) == 0 {
		b.bytes = make([]byte, 12, 4096)
	}
	at := len(b.bytes)
	b.bytes = add(b.bytes)
	b.objects = append(b.objects, packed{sum, uint32(at), checksum(b.bytes[at:])})
	b.pending[sum] = true
	if len(b.bytes) < mostPending {
		return nil
	}
	return b.flush()
}

func (b *Batch) has(sum Sum) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending[sum] || b.r.has(sum)
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
	if b.names == nil {
		b.names = map[string]bool{}
	}
	b.names[name] = true
	if err := b.r.put(at, name+".pack", append(b.bytes, trailer...)); err != nil {
		return err
	}
	if err := b.r.put(at, name+".idx", index); err != nil {
		if !b.r.knows(name) {
			at.Remove(name + ".pack")
		}
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
	b.bytes, b.objects = nil, nil
	return nil
}
