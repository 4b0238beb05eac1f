// Bench-terminal measures what gemline writes to a terminal for one question
// to a server that takes its time, and prints a row for each mode.
//
//	go run ./commands/program/testdata/bench-terminal ./gemline
//
// WAIT sets how long the server waits (10s), IDLE how long nobody types (60s).
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

const (
	question = "hello world"
	answer   = "One two three four five six seven eight nine ten."
)

// modes are the environments to measure in.
var modes = []struct{ name, term, env string }{
	{"plain, TERM=dumb", "dumb", ""},
	{"plain, ACCESSIBLE=1", "xterm-256color", "ACCESSIBLE=1"},
	{"smart", "xterm-256color", ""},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bench-terminal PROGRAM")
		os.Exit(2)
	}
	bin, err := filepath.Abs(os.Args[1])
	if err != nil {
		panic(err)
	}
	wait, idle := duration("WAIT", 10*time.Second), duration("IDLE", time.Minute)
	fmt.Printf("one question of %d characters; the server waits %v and streams 10 words (%d characters)\n\n", len(question), wait, len(answer))
	fmt.Printf("| mode | start-up bytes | idle %v | typing %d characters | one turn: bytes / ESC / erase / cursor-up / CR without LF |\n|---|---|---|---|---|\n", idle, len(question))
	for _, m := range modes {
		b := measure(bin, m.term, m.env, wait, idle)
		turn := teletype.CostOf(b.Turn)
		fmt.Printf("| %s | %d | %d | %d | %d / %d / %d / %d / %d |\n", m.name, len(b.Start), len(b.Idle), len(b.Typing),
			turn.Bytes, turn.Escapes, turn.Erasures, turn.Ups, turn.Returns)
	}
}

func duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv(name)); err == nil {
		return d
	}
	return otherwise
}

// measure runs the program in a home and a project of its own.
func measure(bin, term, env string, wait, idle time.Duration) teletype.Bill {
	server := et.NewServer(et.Slow(et.Streams(strings.SplitAfter(answer, " ")...), wait))
	defer server.Close()
	dir, err := os.MkdirTemp("", "gemline-bench-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	t := &stage{}
	defer t.end()
	return teletype.Measure(t, teletype.Command{
		Path: bin, Args: []string{"-m", "gemini-3.8-flash"}, Dir: dir, Term: term, Wait: wait + time.Minute,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GEMINI_API_KEY=key-of-the-bench", "GOOGLE_GEMINI_BASE_URL=" + server.URL, env},
	}, teletype.Errand{Ready: "> ", Typed: question, Done: "done:", Idle: idle})
}

// A stage stands in for a test: what fails ends the program.
type stage struct {
	testing.TB // what is not used here
	ends       []func()
}

func (s *stage) Helper()          {}
func (s *stage) Failed() bool     { return false }
func (s *stage) Cleanup(f func()) { s.ends = append(s.ends, f) }
func (s *stage) end() {
	for _, f := range s.ends {
		f()
	}
}

func (s *stage) Fatal(args ...any)            { s.Fatalf("%s", fmt.Sprint(args...)) }
func (s *stage) Fatalf(f string, args ...any) { fmt.Fprintf(os.Stderr, f+"\n", args...); os.Exit(1) }
func (s *stage) Skip(args ...any)             { s.Fatal(args...) }
