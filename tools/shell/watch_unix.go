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

// A watch ends commands when this process is killed and can't end them itself. It is a small
// program that reads the process groups of commands from a pipe. When the pipe is closed, it
// ends the remaining groups. The zero watch has no program and does nothing. It is safe for
// concurrent use.
type watch struct {
	mu     sync.Mutex
	closed bool
	cmd    *exec.Cmd
	pipe   *os.File // our end; nil if there is none
}

// watcher reads "+ N PIPE" and "- N" when a group begins and ends, and "=" after the last
// group. With a group it ends all processes that write to the group's pipe, also in other
// groups.
const watcher = `all=' '
while read -r op id pipe; do
	case $op in
	+) all="$all$id=$pipe " ;;
	-) case $all in *" $id="*) rest=${all#* $id=} all="${all%% $id=*} ${rest#* }" ;; esac ;;
	=) all=' ' ;;
	esac
done
set -- $all
[ $# != 0 ] || exit 0
end() {
	for at; do kill "$signal" "-${at%%=*}"; done
	case $* in *=pipe*) ;; *) return ;; esac
	for id in $(ls -l /proc/[0-9]*/fd/[12] | awk -v all="$*" '
		BEGIN { n = split(all, at, " "); for (i = 1; i <= n; i++) { sub(/^[0-9]*=/, "", at[i]); if (at[i]) ours[at[i]] = 1 } }
		$NF in ours { split($(NF-2), path, "/"); print path[3] }'); do kill "$signal" "$id"; done
}
signal=-TERM
end "$@"
sleep 1
signal=-KILL
end "$@"`

// ready starts the program at its first call.
func (w *watch) ready() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.cmd == nil {
		w.start()
	}
}

// add watches a group, and other processes that write to a pipe, "" for none.
func (w *watch) add(group int, pipe string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("+ %d %s\n", group, pipe)
}

// drop stops watching an ended group, as its id may be reused.
func (w *watch) drop(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("- %d\n", group)
}

// close stops watching all groups. No more groups can be added.
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
	late := time.AfterFunc(time.Second, func() { w.cmd.Process.Kill() }) // the program may be stopped
	defer late.Stop()
	w.cmd.Wait()
}

func (w *watch) tell(format string, args ...any) {
	if w.pipe == nil {
		return
	}
	w.pipe.SetWriteDeadline(time.Now().Add(time.Second)) // the program may not read
	fmt.Fprintf(w.pipe, format, args...)                 // the program may be gone
}

func (w *watch) start() {
	w.cmd = exec.Command("/bin/sh", "-c", watcher, "gemline-watch")
	w.cmd.Env = []string{"PATH=/bin:/usr/bin"}
	w.cmd.Dir = "/" // so that it blocks no unmount
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
