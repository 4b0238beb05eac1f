package ide

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine"
	"gemline/engine/text"
)

// A diff is a change that is open in the editor.
type diff struct {
	path     string
	draft    *engine.Draft
	to       *link
	opened   chan struct{}         // closed when that has succeeded or failed
	decision chan engine.Answer    // holds one
	answered func(a engine.Answer) // receives the decision
}

// A Terminal asks about a change in parallel to the editor.
type Terminal interface {
	engine.Approver

	// AnsweredElsewhere returns the error that ends a question after its answer in the editor. how
	// describes the answer.
	AnsweredElsewhere(how string) error

	// Changed prints how the proposed change was edited. It shows p, the edited change,
	// unless p is nil because a question about it follows.
	Changed(how string, p *engine.Proposal)
}

// Approver returns an Approver that opens a change in the editor while the terminal asks
// about it.
func (c *Client) Approver(at Terminal) engine.Approver { return approver{at, c} }

type approver struct {
	Terminal
	client *Client
}

// Approve implements [engine.Approver].
func (a approver) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	to, in := a.client.link(), p.Intent
	if to == nil || p.Tool.Kind != engine.Edit || in.Draft == nil || len(in.Paths) == 0 ||
		!filepath.IsAbs(in.Paths[0]) {
		return a.Terminal.Approve(ctx, p)
	}
	asking, end := context.WithCancelCause(ctx)
	defer end(nil)
	d := &diff{path: in.Paths[0], draft: in.Draft, to: to,
		opened: make(chan struct{}), decision: make(chan engine.Answer, 1)}
	d.answered = func(answer engine.Answer) { end(a.AnsweredElsewhere(how(answer, to.editor))) }
	a.client.put(d)
	defer a.client.remove(d)
	go a.client.openDiff(asking, d)
	answer, err := a.Terminal.Approve(asking, p)
	select {
	case decision := <-d.decision:
		if err != nil && ctx.Err() == nil { // the editor's answer ended the question
			a.made(ctx, p, decision)
			return decision, nil
		}
	default:
	}
	_, allowed := answer.(engine.Allowed)
	_, again := answer.(engine.Changed)
	switch {
	case err != nil || !allowed && !again:
		go d.close(context.WithoutCancel(ctx))
		return answer, err
	case again: // it opens another change of the file
		d.close(ctx)
		return answer, nil
	}
	if edited, ok := d.close(ctx); ok {
		a.Changed("it was changed in "+to.editor+" meanwhile; this is what would be written now:", nil)
		return engine.Changed{Args: d.draft.Args(edited)}, nil // the edited text was not shown here
	}
	return answer, nil
}

// made shows the change that was accepted in the editor if it differs from the proposed
// change. Its errors are found when it is carried out.
func (a approver) made(ctx context.Context, p engine.Proposal, answer engine.Answer) {
	changed, ok := answer.(engine.Changed)
	if !ok {
		return
	}
	if call, err := p.Tool.Prepare(ctx, changed.Args); err == nil {
		p.Args, p.Intent = changed.Args, call.Intent
		a.Changed("", &p)
	}
}

// how returns the answer in the editor as a line.
func how(a engine.Answer, editor string) string {
	switch a.(type) {
	case engine.Allowed:
		return "accepted in " + editor
	case engine.Changed:
		return "accepted in " + editor + ", as it was changed there"
	}
	return "refused in " + editor
}

func (c *Client) put(d *diff) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.diffs[d.path] = d
}

func (c *Client) remove(d *diff) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.diffs[d.path] == d {
		delete(c.diffs, d.path)
	}
}

// openDiff opens a change in the editor. On failure only the terminal asks about the
// change.
func (c *Client) openDiff(ctx context.Context, d *diff) {
	defer close(d.opened)
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	_, err := d.call(ctx, "openDiff", map[string]any{"filePath": d.path, "newContent": d.draft.Text})
	if err == nil || ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	told := d.to.failed
	d.to.failed = true
	c.mu.Unlock()
	if !told {
		c.cfg.Tell(d.to.editor + " does not show the change: " + text.OneLine(err.Error(), 200))
	}
}

// call calls a tool of the companion.
func (d *diff) call(ctx context.Context, name string, args map[string]any) (said string, err error) {
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := d.to.conn.Call(ctx, protocol.MethodToolsCall,
		map[string]any{"name": name, "arguments": args}, &r); err != nil {
		return "", err
	}
	for _, c := range r.Content {
		said += c.Text
	}
	if r.IsError {
		return "", errors.New(said)
	}
	return said, nil
}

// close closes the change in the editor. If the user has edited the proposed text there, it
// returns the edited text.
func (d *diff) close(ctx context.Context) (edited string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	select {
	case <-d.opened:
	case <-ctx.Done():
		return "", false
	}
	said, err := d.call(ctx, "closeDiff", map[string]any{"filePath": d.path, "suppressNotification": true})
	var final struct{ Content *string }
	if err != nil || json.Unmarshal([]byte(said), &final) != nil || final.Content == nil {
		return "", false
	}
	return d.edited(*final.Content)
}

// edited returns a text with the line ends of the draft, and whether it differs from the
// draft.
func (d *diff) edited(s string) (string, bool) {
	if !strings.Contains(d.draft.Text, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s, s != d.draft.Text
}

// decided handles an answer of the editor. It ignores answers about changes that are not
// open.
func (c *Client) decided(l *link, method protocol.MCPMethod, params json.RawMessage) {
	var said struct {
		FilePath string
		Content  *string
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	c.mu.Lock()
	d := c.diffs[said.FilePath]
	if d != nil && d.to == l {
		delete(c.diffs, said.FilePath)
	}
	c.mu.Unlock()
	if d == nil || d.to != l {
		return
	}
	var answer engine.Answer = engine.Refused{}
	if method != diffRejected && said.Content != nil {
		answer = engine.Allowed{}
		if edited, ok := d.edited(*said.Content); ok {
			answer = engine.Changed{Args: d.draft.Args(edited), Agreed: true}
		}
	} else if method == diffAccepted { // an acceptance without the text is ignored
		return
	}
	d.decision <- answer
	d.answered(answer)
}
