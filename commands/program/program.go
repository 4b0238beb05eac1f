// Package program is one start of gemline: it reads the command line, starts a front end for it,
// and reports how the run ended. [Main] is the process, [Run] the program in it.
//
// # Four packages below this one
//
// Package project finds what the user wants for a directory, and opens the directory. Package
// session begins conversations in it. Package front has the front ends that hold conversations,
// and the sub-commands. Package ending classifies how a run ended. Each package uses only
// packages named before it, and front uses all.
//
// # Settings end here
//
// These packages turn settings into the plain values that the packages of engine, tools and repl
// are given. Only main and the drivers of its tests import them.
//
// # The outcome is reported once
//
// However a run ends, by an error, a signal, a deadline or a panic, [Run] classifies the end once,
// in one table, reports it once, and returns the exit code.
//
// # The process is given
//
// Arguments, streams, environment and exit are a [project.Process], so that the whole
// program can be run inside another.
package program

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/genai"

	"gemline/commands/program/ending"
	"gemline/commands/program/front"
	"gemline/commands/program/project"
	"gemline/engine/limit"
	"gemline/engine/model"
	"gemline/engine/policy"
	"gemline/repl/report"
	"gemline/tools/shell"
)

// Run runs the program and returns its exit code. Whatever happens, the outcome is reported once,
// at the end.
func Run(p project.Process) (code int) {
	log.SetOutput(io.Discard) // libraries log messages that no user asked for
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		p.RedirectOutput(null)
	}
	r, command, err := front.New(p)
	subcommand := command != nil
	shell.Conceal() // if the system refuses, children still lack the keys
	defer r.Options.Ledger.Close()
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	if d := time.Duration(r.Options.Flags.Timeout); d > 0 && !r.Options.User.SeveralAnswers() && r.Options.Flags.Batch == "" {
		late, cancel := context.WithTimeoutCause(ctx, d, limit.Timeout(d))
		defer cancel()
		ctx = late
	}
	reporter := sync.OnceValue(func() report.Reporter { return r.Reporter(subcommand, stop) })
	defer listen(ctx, stop, r.Options.User.Interactive, r.SurvivesHangup, p.Exit, func(err error) { // until the last word is written
		defer func() { recover() }() // the run is over, and nobody can get the panic
		r.Abandon()
		r.Finish(ctx, reporter(), err)
	})()
	defer func() {
		if v := recover(); v != nil {
			if r.Options.Flags.Debug {
				fmt.Fprintln(r.Options.Env.Process.Stderr, r.Options.Secrets.Text(fmt.Sprintf("%v\n%s", v, debug.Stack())))
			}
			code = r.Finish(ctx, reporter(), &ending.Crash{Value: v, ResumeCommand: r.Status.StoredResumeCommand()})
		}
	}()
	var tables sync.WaitGroup
	defer tables.Wait()
	if err == nil {
		err = r.PrepareOutput(subcommand)
	}
	switch {
	case err != nil:
		r.Options.ReadHere(subcommand) // it finds the output format in the settings
	case !r.Options.Flags.Version && !r.Options.Flags.Help:
		if !subcommand {
			tables.Go(func() { readTables(p.Getenv) })
		}
		if err = r.Options.ReadHere(subcommand); err != nil && subcommand && command[0] == "update" {
			err = r.Options.Read(os.TempDir(), subcommand) // a sub-command needs no directory, and the working directory may be gone
		}
	}
	switch {
	case err != nil:
	case front.WantsInfo(r.Options.Flags):
		if err = front.PrintInfo(r.Options); err == nil {
			return 0
		}
	case subcommand:
		if err = r.RunSubcommand(ctx, reporter(), command); err == nil {
			return 0
		}
	default:
		err = r.Start(ctx, reporter())
	}
	return r.Finish(ctx, reporter(), err)
}

// readTables reads the tables of rules and providers while the settings are read, and makes
// encoding/json cache the type of parts. A caller that needs a table earlier waits for it, and gets
// the panic of a table with a mistake.
func readTables(getenv func(string) string) {
	defer func() { recover() }()
	policy.New(policy.Default)
	model.NewProviders(nil, getenv)
	json.Marshal((*genai.Part)(nil)) // the type in the session's file
}
