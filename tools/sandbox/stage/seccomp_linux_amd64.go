package stage

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_X86_64

// refusedHere are refused calls of this architecture only.
var refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS__SYSCTL}

// otherNumbers refuses this architecture's second set of call numbers.
var otherNumbers = []unix.SockFilter{
	{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: 1 << 30},
	answer(unheard),
}
