// Session says something in a conversation that is kept in a directory, goes on with it the
// next time, and shows answers while they come.
//
//	GEMINI_API_KEY=... go run ./docs/examples/session DIR "My name is Ada."
//	GEMINI_API_KEY=... go run ./docs/examples/session DIR "What is my name?"
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
	"gemline/engine/model"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: session DIR TEXT")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(dir, text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // what was said stays
	defer stop()
	g, err := model.NewGenai(model.Options{APIKey: os.Getenv("GEMINI_API_KEY"),
		BaseURL: os.Getenv("GOOGLE_GEMINI_BASE_URL")})
	if err != nil {
		return err
	}
	defer g.Close()
	session, err := journal.Open(journal.Config{Dir: dir}, journal.OpenOptions{Resume: true, Selector: "latest"})
	if errors.Is(err, journal.ErrNoSessions) { // it is the first
		session, err = journal.Open(journal.Config{Dir: dir}, journal.OpenOptions{})
	}
	if err != nil {
		return err
	}
	defer session.File.Close()
	fmt.Fprintf(os.Stderr, "session %s, %d messages\n", session.File.ID(), len(session.History))
	e := engine.New(engine.Config{Model: "gemini-3.8-flash",
		Generator: model.Retry(g, model.RetryOptions{}), Journal: session.File}, session.History...)
	for ev, err := range e.Run(ctx, genai.NewPartFromText(text)) {
		switch ev := ev.(type) {
		case engine.Text:
			fmt.Print(ev.Delta)
		case engine.Retry:
			fmt.Fprintln(os.Stderr, "asked again:", ev.Err)
			if ev.Restart {
				fmt.Print("\n") // the answer begins anew
			}
		case nil:
			return err
		}
	}
	fmt.Println()
	return nil
}
