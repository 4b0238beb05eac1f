package disk

import "golang.org/x/sys/unix"

// flushes reports whether [Dir.Flush] flushes to the disk.
const flushes = true

// Flush writes all pending changes to the disk, other programs' included.
func (d *Dir) Flush() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
