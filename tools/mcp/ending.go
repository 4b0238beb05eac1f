package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
	"gemline/tools/shell"
)

// A lateError means that a request to a server timed out.
type lateError struct{ limit time.Duration }

// Error names the unit of the setting if the user may have confused it.
func (e *lateError) Error() string {
	s := "no answer within " + e.limit.String()
	if e.limit < time.Second {
		s += " (timeout is in milliseconds)"
	}
	return s
}

// within limits the time of a request to a server.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &lateError{limit})
}

// lost reports whether err means that the server has ended, or can't be reached. Otherwise
// the server itself has reported the error, and is stopped by gemline.
func (p *peer) lost(err error) bool {
	late, file := (*lateError)(nil), (*fs.PathError)(nil)
	return p.conn.Err() != nil || errors.Is(err, rpc.ErrClosed) || errors.As(err, &late) || errors.As(err, &file)
}

// An endError explains why a started server has ended.
type endError struct{ how, hint string }

// Error returns the explanation in one line.
func (e *endError) Error() string { return e.how }

// Hint says where the full output is.
func (e *endError) Hint() string { return e.hint }

// mostPrinted limits the stored output of a server that is no message, in characters.
const mostPrinted = 4000

// ending explains the end of a server: how its program ended, or err after a timeout, and
// the error that it printed.
func (l *serverConn) ending(err error, o shell.Outcome, confined bool) error {
	e := &endError{}
	late := (*lateError)(nil)
	switch {
	case errors.As(err, &late):
		e.how = err.Error()
	case o.Cancelled: // by gemline, as the server could send no more messages
		e.how = "it closed its standard output"
	case o.Signal != 0:
		e.how = "it was ended by " + cmp.Or(o.SignalName, fmt.Sprint("signal ", o.Signal))
	default:
		e.how = fmt.Sprintf("it ended with exit code %d", o.Code)
	}
	l.mu.Lock()
	all := strings.TrimSpace(cmp.Or(strings.TrimSpace(o.Stderr), l.printed))
	l.mu.Unlock()
	said := firstError(all)
	if said != "" {
		e.how += ": " + said
	}
	var hints []string
	if said != all && l.set.Keep != nil {
		if path := l.set.Keep(l.Name, all+"\n"); path != "" {
			hints = append(hints, "all that it said is in "+path)
		}
	}
	if confined {
		hints = append(hints, "it ran confined, as commands of the model do")
	}
	e.hint = strings.Join(hints, "; ")
	return e
}

// naming returns patterns of error messages in a program's output, the surest first: a line
// that begins with an error, maybe after a time and a level; a line with an error; a line that
// names a failed action.
var naming = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, expr := range []string{
		`^\W*(?i:error|fatal|critical|panic)\b|^(\[[^\]]*\]\s*|[-\d:.,TZ/]+\s+)*(\w+ )?([\w.]*(?i:error|exception|panic|fatal|critical)|E[A-Z]{3,})(\b.{0,60}:|!)`,
		`(?i)\b\w*(error|exception|panic|panicked|fatal)\b`,
		`(?i)\b(cannot|can't|can\x{2019}t|could not|unable|no such|not found|not permitted|denied|refused|missing|required|invalid|unknown|unexpected|usage|failed)\b`,
	} {
		all = append(all, regexp.MustCompile(expr))
	}
	return all
})

// noise matches lines without information: frames and ends of a trace, and npm's error code
// before the message.
var noise = text.Pattern(`^\s*(at |File "|throw |raise |goroutine \d|Traceback|Node\.js v|npm (ERR!|error) (code|errno|syscall|path|A complete log)\b|[^\pL\d]*$)`)

// firstError returns the first line with an error, or else the last line with information,
// free of control characters.
func firstError(s string) string {
	const longest = 200 // characters
	var lines []string
	for l := range strings.Lines(s) {
		if !noise().MatchString(l) {
			lines = append(lines, strings.TrimSpace(l))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	said := lines[len(lines)-1]
found:
	for _, expr := range naming() {
		for i, l := range lines {
			if !expr.MatchString(l) {
				continue
			}
			if said = l; strings.HasSuffix(l, ":") && i+1 < len(lines) { // the error comes next
				said += " " + lines[i+1]
			}
			break found
		}
	}
	return cleanLine(said, longest)
}
