// Pipes runs a command against a server with the Gemini API on this machine,
// whose model does what pipes.sh says.
//
//	AGENT=gemline go run ./commands/program/acceptance/testdata/pipes sh commands/program/acceptance/testdata/pipes/pipes.sh
package main

import (
	"fmt"
	"os"
	"os/exec"

	"gemline/engine/enginetest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: pipes COMMAND [ARGUMENT ...]")
		os.Exit(2)
	}
	s := enginetest.NewEcho()
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOOGLE_GEMINI_BASE_URL="+s.URL, "GEMINI_API_KEY=key-of-the-test")
	err := cmd.Run()
	s.Close()
	switch {
	case cmd.ProcessState != nil:
		os.Exit(cmd.ProcessState.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(127)
	}
}
