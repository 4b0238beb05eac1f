package commands

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// Browse opens an address, which begins with http:// or https://, with the first browser program
// that is installed. It returns a line that names the program, "" if it started none, and does not
// wait. Unless the user asked for a browser (wanted), it starts none in an ssh session, on a
// terminal that can only print, or without a desktop, where nobody may see it. getenv is the
// environment for that decision; the program gets environ.
func Browse(getenv func(string) string, environ []string, address string, wanted bool) string {
	if !wanted && (getenv("SSH_CONNECTION")+getenv("SSH_TTY") != "" || getenv("TERM") == "dumb") {
		return ""
	}
	for _, p := range browsers(getenv, wanted) {
		if _, err := exec.LookPath(p[0]); err != nil {
			continue
		}
		cmd := exec.Command(p[0], append(p[1:], address)...)
		cmd.Env = environ
		if cmd.Start() != nil {
			continue
		}
		go cmd.Wait()
		return fmt.Sprintf("%s opens it", p[0])
	}
	return ""
}

// browsers returns the programs that open addresses.
func browsers(getenv func(string) string, wanted bool) (programs [][]string) {
	for command := range strings.SplitSeq(getenv("BROWSER"), ":") {
		if words := strings.Fields(strings.ReplaceAll(command, "%s", "")); len(words) > 0 {
			programs = append(programs, words)
		}
	}
	switch {
	case runtime.GOOS == "darwin":
		programs = append(programs, []string{"open"})
	case runtime.GOOS == "windows":
		programs = append(programs, []string{"rundll32", "url.dll,FileProtocolHandler"})
	case getenv("WSL_DISTRO_NAME") != "":
		programs = append(programs, []string{"wslview"})
	case wanted, getenv("WAYLAND_DISPLAY")+getenv("DISPLAY") != "":
		programs = append(programs, []string{"xdg-open"})
	}
	return programs
}
