//go:build amd64 || arm64

package stage

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A call is what a filter is shown of a system call.
type call struct {
	arch, number, first, second uint32
}

// evaluate does what the kernel does with a filter.
func evaluate(t *testing.T, p []unix.SockFilter, c call) uint32 {
	t.Helper()
	seen := map[uint32]uint32{atArch: c.arch, atNumber: c.number, atFirst: c.first, atSecond: c.second}
	var a uint32
	for at := 0; at < len(p); at++ {
		i := p[at]
		jump := func(yes bool) {
			if yes {
				at += int(i.Jt)
			} else {
				at += int(i.Jf)
			}
		}
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			v, ok := seen[i.K]
			if !ok {
				t.Fatalf("it looks at %d", i.K)
			}
			a = v
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= i.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(a == i.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(a >= i.K)
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			jump(a > i.K)
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			jump(a&i.K != 0)
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("what is %#x?", i.Code)
		}
	}
	t.Fatal("it has no end")
	return 0
}

// TestFilter asks the filter about every number there is, and about those that
// depend on what a call is made with.
func TestFilter(t *testing.T) {
	inet := []uint32{unix.AF_INET, unix.AF_INET6}
	for _, alone := range []bool{false, true} {
		p := assemble(rules(inet, alone, true))
		if len(p) > unix.BPF_MAXINSNS {
			t.Fatalf("%d instructions", len(p))
		}
		byArguments := []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_PRLIMIT64, unix.SYS_PERSONALITY, unix.SYS_IOCTL, unix.SYS_CLONE, unix.SYS_UNSHARE}
		for n := range uint32(1 << 12) {
			want := uint32(allow)
			switch {
			case slices.Contains(byArguments, n):
				continue
			case slices.Contains(refused, n), slices.Contains(refusedHere, n), alone && slices.Contains(shared, n):
				want = refuse
			case slices.Contains(unknown, n):
				want = unheard
			}
			if got := evaluate(t, p, call{arch: arch, number: n}); got != want {
				t.Errorf("call %d: %#x, not %#x", n, got, want)
			}
		}
		if got := evaluate(t, p, call{arch: arch + 1, number: unix.SYS_READ}); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("another machine's call: %#x", got)
		}
		if got := evaluate(t, p, call{arch: arch, number: 1<<30 | unix.SYS_MOUNT}); got == allow && len(otherNumbers) > 0 {
			t.Errorf("a call by its other number: %#x", got)
		}
	}
	streams, all, none := assemble(rules(inet, false, true)), assemble(rules(inet, false, false)), assemble(rules(nil, false, true))
	for _, c := range []struct {
		filter []unix.SockFilter
		call   call
		want   uint32
	}{
		{streams, call{number: unix.SYS_SOCKET, first: unix.AF_INET, second: unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{streams, call{number: unix.SYS_SOCKET, first: unix.AF_INET6, second: unix.SOCK_DGRAM}, refuse},
		{streams, call{number: unix.SYS_SOCKET, first: unix.AF_UNIX, second: unix.SOCK_STREAM}, refuse},
		{all, call{number: unix.SYS_SOCKET, first: unix.AF_INET, second: unix.SOCK_DGRAM}, allow},
		{all, call{number: unix.SYS_SOCKET, first: unix.AF_NETLINK, second: unix.SOCK_RAW}, refuse},
		{none, call{number: unix.SYS_SOCKET, first: unix.AF_INET, second: unix.SOCK_STREAM}, refuse},
		{all, call{number: unix.SYS_SOCKETPAIR, first: unix.AF_UNIX}, allow},
		{all, call{number: unix.SYS_SOCKETPAIR, first: unix.AF_INET}, refuse},
		{all, call{number: unix.SYS_PRLIMIT64}, allow},
		{all, call{number: unix.SYS_PRLIMIT64, first: 1}, refuse},
		{all, call{number: unix.SYS_PERSONALITY, first: 0xffffffff}, allow},
		{all, call{number: unix.SYS_PERSONALITY, first: 0x0400000}, refuse},
		{all, call{number: unix.SYS_IOCTL, second: unix.TCGETS}, allow},
		{all, call{number: unix.SYS_IOCTL, second: unix.TIOCSTI}, refuse},
		{all, call{number: unix.SYS_IOCTL, second: unix.TIOCLINUX}, refuse},
		{all, call{number: unix.SYS_CLONE, first: unix.CLONE_VM | unix.CLONE_VFORK}, allow},
		{all, call{number: unix.SYS_CLONE, first: unix.CLONE_VM | unix.CLONE_NEWUSER}, refuse},
		{all, call{number: unix.SYS_UNSHARE, first: unix.CLONE_FS}, allow},
		{all, call{number: unix.SYS_UNSHARE, first: unix.CLONE_NEWNET}, refuse},
		{all, call{number: unix.SYS_UNSHARE, first: unix.CLONE_NEWTIME}, refuse},
	} {
		c.call.arch = arch
		if got := evaluate(t, c.filter, c.call); got != c.want {
			t.Errorf("%+v: %#x, not %#x", c.call, got, c.want)
		}
	}
}
