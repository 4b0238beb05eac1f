package commands

import (
	"context"

	"google.golang.org/genai"
)

// A Screen is how a session shows what happens and reads what is typed. Each
// of the functions that take a word changes one thing, unless the word is
// empty, and says the state that it is in.
type Screen struct {
	Accessible func(word string) (state string, err error)
	Stream     func(word string) (state string, err error)
	Detail     func(word string) (state string, err error)
	Vi         func(word string) (state string, err error)

	Asked   func(text string) // shows what the user has said, a line
	Answer  func(text string) // shows an answer
	Kept    func() []Output   // what was not shown in full, the last one last
	Entered func() []string   // what was typed, the last one last
}

// An Output is one that was not shown in full.
type Output struct {
	Number int
	Title  string
	Text   string
}

// errNoScreen is the error of a command that is about the session's own screen
// where there is none.
var errNoScreen = unavailable("this is for a session at a terminal")

// state returns what changes one thing of the screen, and prints its state.
func state(of func(*Screen) func(string) (string, error)) func(context.Context, *App, string) ([]*genai.Part, error) {
	return func(_ context.Context, app *App, word string) ([]*genai.Part, error) {
		if app.Screen == nil {
			return nil, errNoScreen
		}
		said, err := of(app.Screen)(word)
		if err != nil {
			return nil, err
		}
		return nil, sentences(app.Out, said)
	}
}

// words returns what completes one of a few words.
func words(all ...string) func(context.Context, *App, string) []string {
	return func(context.Context, *App, string) []string { return all }
}
