package model

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
)

// What has to do with too many open files is told from what waiting may change.
func TestTooMany(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://host", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	look := func(text string) error { return dial(&net.DNSError{Err: text, Name: "host"}) }
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"of the process", dial(os.NewSyscallError("socket", syscall.EMFILE)), true},
		{"of the system", dial(os.NewSyscallError("socket", syscall.ENFILE)), true},
		{"in the resolver", look("dial udp 192.0.2.1:53: socket: " + syscall.EMFILE.Error()), true},
		{"nobody there", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), false},
		{"no such name", look("no such host"), false},
		{"broken off", io.ErrUnexpectedEOF, false},
		{"a text of somebody's", errors.New(syscall.EMFILE.Error()), false},
	} {
		if got := tooMany(c.err); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
