//go:build unix

package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// behind continues a stopped group when it is no longer in the terminal's foreground. It
// polls for at most five seconds, so that nothing stays stopped if no shell takes the
// terminal, and in the background, so that the caller need not wait.
const behind = `
front() {
	if [ -r /proc/$1/stat ]; then
		read -r line </proc/$1/stat
		set -- ${line##*) }
		echo $6
	else
		ps -o tpgid= -p $1
	fi
}
look() {
	n=0
	while [ $n -lt 100 ] && [ $(front $1) -eq $2 ]; do
		n=$((n+1))
		sleep 0.05
	done
	kill -CONT -$2
}
look "$@" &
`

// ResumeBehind starts a process that continues this program and its group, which is about to
// be stopped, when a shell has taken the terminal.
func ResumeBehind(group int) error {
	cmd := exec.Command("/bin/sh", "-c", behind, "gemline-behind", strconv.Itoa(os.Getpid()), strconv.Itoa(group))
	cmd.Env = []string{"PATH=/bin:/usr/bin"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that it is not stopped with the group
	return cmd.Run()
}
