package checkpoint

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"sync"
	"time"
)

// A batch is a state that is being written.
type batch struct {
	id   string
	file file
	zip  *zip.Writer
}

// newID returns a name for a state. Names sort by time.
func newID() string { return fmt.Sprintf("%016x-%08x", time.Now().UnixNano(), rand.Uint32()) }

var deflaters = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return z
}}

// add stores a content, unless it is stored already. The caller holds [store.use] until
// commit; uncommitted contents are discarded at its end.
func (r *store) add(content []byte) (Sum, error) {
	sum := sumOf(content)
	if known, err := r.claim(sum); known || err != nil {
		return sum, err
	}
	packed := pack(content) // in parallel, without the lock
	r.mu.Lock()
	defer r.mu.Unlock()
	return sum, r.next.put(string(sum), content, packed)
}

// claim assigns a content to the next state, unless a state is known to have it.
func (r *store) claim(sum Sum) (known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.where[sum] != "" {
		return true, nil
	}
	if err = r.begin(); err == nil {
		r.where[sum] = r.next.id
	}
	return false, err
}

// pack returns a content compressed, as states hold it.
func pack(content []byte) *bytes.Buffer {
	z := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(z)
	packed := new(bytes.Buffer)
	z.Reset(packed)
	z.Write(content)
	z.Close()
	return packed
}

// begin begins the next state, unless it has begun.
func (r *store) begin() error {
	if r.next != nil {
		return nil
	}
	f, err := r.create(r.at[statesDir])
	if err == nil {
		r.next = &batch{newID(), f, zip.NewWriter(bufio.NewWriterSize(f, 1<<20))}
	}
	return err
}

// commit writes a state to the disk: its heading, the changes since the state before, and the
// contents that were added since then.
func (r *store) commit(s *heading, changes []Change) (id string, err error) {
	if err := r.begin(); err != nil {
		return "", err
	}
	s.FormatVersion = formatVersion
	lines := make([]byte, 0, 160*len(changes))
	for _, c := range changes {
		lines = c.append(lines)
	}
	about, err := json.Marshal(s)
	err = cmp.Or(err, r.next.put(manifestName, lines, pack(lines)), r.next.put(saidName, about, pack(about)), r.next.zip.Close())
	if err != nil {
		return "", err // the end of [store.use] discards it
	}
	id = r.next.id
	if err = r.next.file.Commit(id + ".zip"); err == nil {
		r.next.file.Discard()
		r.next = nil
	}
	return id, err
}

// put adds a content under a name.
func (b *batch) put(name string, content []byte, packed *bytes.Buffer) error {
	w, err := b.zip.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(content))})
	if err == nil {
		_, err = packed.WriteTo(w)
	}
	return err
}

// discard removes the uncommitted files.
func (r *store) discard() {
	if r.next != nil {
		maps.DeleteFunc(r.where, func(_ Sum, id string) bool { return id == r.next.id })
		r.next.file.Discard()
		r.next = nil
	}
}
