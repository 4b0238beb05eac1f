// Demo lets a recorded conversation do real work: in a fresh copy of a small
// project with a bug, gemline looks around, reads, edits a file, runs the test
// and answers. The model's part is played from recording.jsonl; the engine, the
// tools and the questions are real, and this program types the answers.
//
//	go run ./docs/demo ./gemline
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/creack/pty"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo PROGRAM")
		os.Exit(2)
	}
	if err := demo(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(bin string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	recording, err := filepath.Abs("docs/demo/recording.jsonl")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gemline-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	project, home := filepath.Join(dir, "words"), filepath.Join(dir, "home")
	if err := os.CopyFS(project, os.DirFS("docs/demo/project")); err != nil {
		return err
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	if out, err := test(project).CombinedOutput(); err == nil {
		return errors.New("the project's test passes before anything was done")
	} else {
		fmt.Printf("$ go test ./...\n%s\n$ gemline\n", out)
	}
	cmd := exec.Command(bin, "-m", "gemini-3.8-flash", "--fake-responses", recording)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "GEMINI_CLI_HOME="+home, "TERM=dumb", "GOFLAGS=", "CI=", "GITHUB_ACTIONS=", "GEMINI_API_KEY=", "GEMINI_CLI_TRUST_WORKSPACE=true")
	if err := converse(cmd, []step{
		{"> ", "The test of this package fails. Find out why and mend it.\n"},
		{choices, "y\n"},
		{choices, "y\n"},
		{"> ", "/quit\n"},
	}); err != nil {
		return err
	}
	out, err := test(project).CombinedOutput()
	fmt.Printf("$ go test ./...\n%s", out)
	if err != nil {
		return errors.New("the project's test still fails")
	}
	return nil
}

func test(dir string) *exec.Cmd {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	return cmd
}

// A step waits for the end of what the program has written and then types.
type step struct{ wait, send string }

// converse runs cmd on a terminal, shows what it writes, and types the steps.
func converse(cmd *exec.Cmd, steps []step) error {
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		return err
	}
	defer tty.Close()
	watchdog := time.AfterFunc(15*time.Minute, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	var seen []byte
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		os.Stdout.Write(bytes.ReplaceAll(buf[:n], []byte("\r\n"), []byte("\n")))
		seen = append(seen, buf[:n]...)
		if len(steps) > 0 && atPrompt(seen, steps[0].wait) {
			if _, err := io.WriteString(tty, steps[0].send); err != nil {
				return err
			}
			steps, seen = steps[1:], nil
		}
		if err != nil { // the terminal of a program that has ended
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	if len(steps) > 0 {
		return fmt.Errorf("gemline left without showing %q", steps[0].wait)
	}
	return nil
}

// choices is what the last line of a question begins with.
const choices = "y n "

// atPrompt reports whether the last line of seen is a prompt, or a question's
// line of choices.
func atPrompt(seen []byte, prompt string) bool {
	line := seen[bytes.LastIndexByte(seen, '\n')+1:]
	if prompt == choices {
		return bytes.HasPrefix(line, []byte(choices)) && bytes.HasSuffix(line, []byte(": "))
	}
	return string(line) == prompt
}
