// Command real asks the real server, with the key in the environment, for what gemline
// relies on. Its arguments are the program, and a directory for the recording.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"gemline/commands/program/acceptance/real"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: real GEMLINE RECORDING")
	}
	gemline, err := filepath.Abs(os.Args[1])
	if err != nil {
		return err
	}
	recording, err := filepath.Abs(os.Args[2])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gemline-real-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	passed, of, err := real.Run(ctx, real.Options{Gemline: gemline, Environ: os.Environ(), Dir: dir, Recording: recording, Out: os.Stdout})
	if err == nil && passed < of {
		err = fmt.Errorf("%d of %d failed", of-passed, of)
	}
	return err
}
