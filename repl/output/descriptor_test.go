//go:build unix

package output

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What was inherited can be written to and is not passed on. What is closed,
// can't be written to, or is the program's own, is refused.
func TestDescriptor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	inherited := func(f *os.File) int { // a copy that looks as if it were
		n, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := inherited(w)
	w.Close()
	f, err := Descriptor(n)
	if err != nil {
		t.Fatal(err)
	}
	if flags, _ := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC == 0 {
		t.Error("children would have it")
	}
	io.WriteString(f, "hi")
	f.Close()
	if got, _ := io.ReadAll(r); string(got) != "hi" {
		t.Errorf("got %q", got)
	}
	reading := inherited(r)
	defer unix.Close(reading)
	for n, want := range map[int]string{n: "not open", 9999: "not open; a shell opens it with 9999>FILE", int(r.Fd()): "not open", reading: "for reading only"} {
		if _, err := Descriptor(n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("descriptor %d: %v; want %s", n, err, want)
		}
	}
}
