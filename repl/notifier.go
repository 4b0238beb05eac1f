package repl

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"sync"
	"time"

	"gemline/repl/output"
)

// An Alert is one event that calls for the user's attention.
type Alert struct {
	Event string `json:"event"` // "permission", "question", "done" or "failed"
	Text  string `json:"text"`  // one line that says more
	Dir   string `json:"directory"`
	ID    string `json:"session_id"`
}

// A Notifier calls for the user's attention, in one way for one event: by a
// program of the user's that reads one JSON object, or else by the terminal.
type Notifier struct {
	// Method is osc9, osc777, bell or auto. Empty or none is none.
	Method string

	// Command is a program and its arguments, which takes the place of
	// Method. It gets the alert on standard input.
	Command []string
	Environ []string

	// Confine, if not nil, confines the program before it is started.
	Confine func(*exec.Cmd) error

	// Terminal is where sequences go. A terminal that can only append gets
	// none but the bell, and that only if bell was chosen by name.
	Terminal io.Writer
	Smart    bool
	Lookup   func(string) (string, bool)

	// Dir and ID, if not nil, say which session calls.
	Dir string
	ID  func() string

	// Warn tells, later, of a program that can't be run. It is called on the
	// goroutine that calls Notify.
	Warn func(text string)

	mu     sync.Mutex
	failed error // of a program
	warned bool
}

// patience is how long a notifying program may take: to speak a sentence takes some time.
const patience = 30 * time.Second

// Notify calls for attention, and does not wait for it. A nil Notifier does nothing.
func (n *Notifier) Notify(a Alert) {
	if n == nil {
		return
	}
	n.complain()
	a.Dir = cmp.Or(a.Dir, n.Dir)
	if a.ID == "" && n.ID != nil {
		a.ID = n.ID()
	}
	switch {
	case len(n.Command) > 0:
		n.run(a)
	case n.Method == "", n.Method == "none", !n.Smart && n.Method != "bell":
	default:
		io.WriteString(n.Terminal, output.NotificationSequence(n.Method, "gemline", a.Text, n.Lookup))
	}
}

// complain tells once that the program did not work.
func (n *Notifier) complain() {
	n.mu.Lock()
	err, warned := n.failed, n.warned
	n.warned = warned || err != nil
	n.mu.Unlock()
	if err != nil && !warned && n.Warn != nil {
		n.Warn("the notification command failed: " + err.Error())
	}
}

// run starts the program. It and what waits for it end when patience does, at
// the latest; a session that ends before leaves it alone.
func (n *Notifier) run(a Alert) {
	a.Text = output.EscapeLine(a.Text) // it may be the model's
	b, _ := json.Marshal(a)            // texts
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, n.Command[0], n.Command[1:]...)
		cmd.Stdin, cmd.Env = bytes.NewReader(append(b, '\n')), n.Environ
		err := error(nil)
		if n.Confine != nil {
			err = n.Confine(cmd)
		}
		if err == nil {
			err = cmd.Run()
		}
		if err != nil {
			n.mu.Lock()
			n.failed = err
			n.mu.Unlock()
		}
	}()
}
