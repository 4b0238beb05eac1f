//go:build unix

package shell

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A watch ends commands when this process is killed and can't do it itself: a
// small program that is told which groups there are, and ends those that are
// left when the pipe it is told by is closed. The zero watch has no such
// program and does nothing. It is safe for concurrent use.
type watch struct {
	mu     sync.Mutex
	closed bool
	cmd    *exec.Cmd
	pipe   *os.File // our end; nil if there is none
}

// watcher reads "+ N" and "- N" for groups that come and go, and "=" when all
// have gone.
const watcher = `all=' '
while read -r op id; do
	case $op in
	+) all="$all$id " ;;
	-) case $all in *" $id "*) all="${all%% $id *} ${all#* $id }" ;; esac ;;
	=) all=' ' ;;
	esac
done
set -- $all
for id; do kill -TERM "-$id"; done
[ $# = 0 ] || sleep 1
for id; do kill -KILL "-$id"; done`

// ready starts the program, if that was not done or tried before.
func (w *watch) ready() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.cmd == nil {
		w.start()
	}
}

// add begins to watch a group.
func (w *watch) add(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("+ %d\n", group)
}

// drop forgets a group, which is over: its number may become another's.
func (w *watch) drop(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("- %d\n", group)
}

// close ends the watching of all groups. There is none after it.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.pipe == nil {
		return
	}
	w.tell("=\n")
	w.pipe.Close()
	w.pipe = nil
	late := time.AfterFunc(time.Second, func() { w.cmd.Process.Kill() }) // somebody may have stopped it
	defer late.Stop()
	w.cmd.Wait()
}

func (w *watch) tell(format string, args ...any) {
	if w.pipe == nil {
		return
	}
	w.pipe.SetWriteDeadline(time.Now().Add(time.Second)) // it need not read
	fmt.Fprintf(w.pipe, format, args...)                 // nor be there any more
}

func (w *watch) start() {
	w.cmd = exec.Command("/bin/sh", "-c", watcher, "gemline-watch")
	w.cmd.Env = []string{"PATH=/bin:/usr/bin"}
	w.cmd.Dir = "/" // nothing is held busy
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return
	}
	defer theirs.Close()
	w.cmd.Stdin = theirs
	if w.cmd.Start() != nil {
		ours.Close()
		return
	}
	w.pipe = ours
}
