package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noOrders is no socket.
const noOrders = -1

// Order has the spare at the other end of a socket run what a Spec in a file
// says, which writes to out and errs. A spare that is gone is an error.
func Order(socket int, spec, out, errs *os.File) error {
	return order(socket, int(spec.Fd()), int(out.Fd()), int(errs.Fd()))
}

func order(socket int, files ...int) error {
	return os.NewSyscallError("sendmsg", unix.Sendmsg(socket, []byte{1}, unix.UnixRights(files...), nil, unix.MSG_NOSIGNAL))
}

// Socket returns the two ends of what a spare is ordered by.
func Socket() (ours, theirs int, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return ends[0], ends[1], os.NewSyscallError("socketpair", err)
}

// errUnordered is why a spare ends that nobody needed.
var errUnordered = errors.New("there was no order")

// ordered waits for an order. It takes the streams in it for its own and
// returns the file of the Spec, and that. Until then nothing of a command is
// known here.
func ordered(socket int) (fd int, spec *Spec, err error) {
	const files = 3
	control := make([]byte, unix.CmsgSpace(4*files))
	var n, size int
	for {
		n, size, _, _, err = unix.Recvmsg(socket, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil || n == 0 {
		return 0, nil, errUnordered
	}
	var fds []int
	if messages, err := unix.ParseSocketControlMessage(control[:size]); err == nil && len(messages) == 1 {
		fds, _ = unix.ParseUnixRights(&messages[0])
	}
	if len(fds) != files {
		return 0, nil, errors.New("an order without its files")
	}
	for i, fd := range fds[1:] {
		if err := unix.Dup3(fd, 1+i, 0); err != nil {
			return 0, nil, os.NewSyscallError("dup3", err)
		}
		unix.Close(fd)
	}
	spec, err = read(fds[0])
	return fds[0], spec, err
}

// stay is a first stage that has its second one ready before there is a
// command. Nobody hears what goes wrong until then: whoever orders sees that
// it is gone.
func (o *outerStage) stay(socket int) int {
	deaf()
	ours, theirs, err := Socket()
	if err != nil {
		return Failed
	}
	second, err := o.start(innerSpare, nil, theirs)
	if err != nil {
		return Failed
	}
	unix.Close(theirs)
	if !second.holds(socket) {
		return Failed
	}
	if o.fd, o.spec, err = ordered(socket); errors.Is(err, errUnordered) {
		return Failed
	}
	if err == nil && o.spec.Alone {
		err = inherit()
	}
	if err != nil {
		o.say(fmt.Sprintf("take an order: %v", err))
		return Failed
	}
	order(ours, o.fd, 1, 2) // if that is gone, it has said why
	unix.Close(ours)
	o.orders = socket
	return o.oversee(second, nil)
}

// report tells whoever gave the order how the command ended. What is left to do
// then is to take the namespaces down, which the command has no part in, and
// which takes longer than some commands.
func (o *outerStage) report() {
	status := o.status()
	for fd := 1; fd <= 2; fd++ { // nobody is to wait for the end of what is written
		if null, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
			unix.Dup3(null, fd, 0)
			unix.Close(null)
		}
	}
	unix.Sendmsg(o.orders, binary.NativeEndian.AppendUint32(nil, uint32(status)), nil, nil, unix.MSG_NOSIGNAL)
}

// Ended waits until the first stage at the other end of a socket says how its
// command ended, with nothing left of it. It reports false if only the end of
// that stage tells.
func Ended(socket *os.File) (status syscall.WaitStatus, ok bool) {
	var b [4]byte
	if n, err := socket.Read(b[:]); n != len(b) || err != nil {
		return 0, false
	}
	return syscall.WaitStatus(binary.NativeEndian.Uint32(b[:])), true
}

// holds waits until the socket has something to say, and reports false if the
// second stage has ended before.
func (s *secondStage) holds(socket int) bool {
	both := []unix.PollFd{{Fd: int32(socket), Events: unix.POLLIN}, {Fd: int32(s.status.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(both, -1)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && both[0].Revents != 0
		}
	}
}

// await waits for an order and becomes what would have been started for it.
func (in *innerStage) await() error {
	_, spec, err := ordered(in.orders)
	unix.Close(in.orders)
	if errors.Is(err, errUnordered) {
		syscall.Exit(Failed)
	}
	if err != nil {
		return err
	}
	in.spec, in.args, in.env = spec, spec.Args, spec.Env
	return os.Chdir(spec.Dir)
}
