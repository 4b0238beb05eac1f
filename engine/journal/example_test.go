package journal_test

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/journal"
)

// A conversation is kept while it is held, and gone on with later.
func Example() {
	dir, err := os.MkdirTemp("", "chats")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	say := func(choice journal.OpenOptions, question, answer string) {
		session, err := journal.Open(journal.Config{Dir: dir}, choice)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer session.File.Close()
		e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Says(answer)), Journal: session.File}, session.History...)
		for _, err := range e.Run(context.Background(), genai.NewPartFromText(question)) {
			if err != nil {
				fmt.Println(err)
			}
		}
	}
	say(journal.OpenOptions{}, "What is the capital of Peru?", "Lima.")
	say(journal.OpenOptions{Resume: true, Selector: "latest"}, "And of Chile?", "Santiago.")

	sessions, err := journal.List(dir)
	for _, s := range sessions {
		fmt.Printf("%s (%d messages)\n", s.Title, s.Messages)
	}
	fmt.Println(err)
	// Output:
	// What is the capital of Peru? (4 messages)
	// <nil>
}
