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

// A Notifier calls for the user's attention, once for each event: by a program of the user that
// reads one JSON object, or else by the terminal.
type Notifier struct {
	// Method is osc9, osc777, bell or auto. Empty or none is none.
	Method string

	// Command is a program with its arguments, used in place of Method. It gets the alert on
	// standard input.
	Command []string
	Environ []string

	// Confine, if not nil, confines the program before it is started.
	Confine func(*exec.Cmd) error

	// Terminal gets the control sequences. A terminal that can only append gets only the bell, and
	// only if Method is bell.
	Terminal io.Writer
	Smart    bool
	Lookup   func(string) (string, bool)

	// Dir and ID, if not nil, identify the session.
	Dir string
	ID  func() string

	// Warn prints, at the next alert, that the program failed. It is called on the goroutine that
	// calls Notify.
	Warn func(text string)

	mu     sync.Mutex
	failed error // the program's error
	warned bool
}

// patience is the timeout of a notifying program, which may speak a sentence.
const patience = 30 * time.Second

// Notify calls for attention, and does not wait for it. A nil Notifier does nothing.
func (n *Notifier) Notify(a Alert) {
	if n == nil {
		return
	}
	n.warnOnce()
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

// warnOnce warns once that the program failed.
func (n *Notifier) warnOnce() {
	n.mu.Lock()
	err, warned := n.failed, n.warned
	n.warned = warned || err != nil
	n.mu.Unlock()
	if err != nil && !warned && n.Warn != nil {
		n.Warn("the notification command failed: " + err.Error())
	}
}

// run starts the program. It kills the program after patience. A session that ends earlier lets the
// program run.
func (n *Notifier) run(a Alert) {
	a.Text = output.EscapeLine(a.Text) // it may be text of the model
	b, _ := json.Marshal(a)            // it holds only texts, so it can't fail
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
