package limit

import (
	"fmt"
	"strings"
	"time"
)

// Kind says which limit an [Error] is about.
type Kind int

// The limits.
const (
	Tokens Kind = iota + 1
	Cost
	Calls
	Time
)

// String returns the limit in one word, as records show it.
func (k Kind) String() string {
	return [...]string{"limit", "max_tokens", "max_cost", "max_tool_calls", "timeout"}[max(0, min(k, Time))]
}

// flag returns the flag that sets the limit.
func (k Kind) flag() string { return "--" + strings.ReplaceAll(k.String(), "_", "-") }

// An Error says that a limit stopped something.
type Error struct {
	Kind    Kind
	Message string // names the limit, on one line
	Advice  string // how to continue, on one line; it names the flag
	Unsent  bool   // a request was stopped before it was sent
}

// Error returns the message and the hint, on one line.
func (e *Error) Error() string { return e.Message + "; " + e.Advice }

// Hint says how to continue.
func (e *Error) Hint() string { return e.Advice }

// Timeout returns the error of a run that took longer than d.
func Timeout(d time.Duration) *Error {
	return &Error{Kind: Time, Message: fmt.Sprintf("stopped: %s is over", quoted(Time, brief(d))),
		Advice: "--timeout sets the limit"}
}

// A Config holds the limits. The zero Config limits nothing.
type Config struct {
	Tokens int           // of all requests, prompts included; 0 means no limit
	Cost   float64       // US dollars, for models that have a price; 0 means no limit
	Calls  int           // of tools; 0 means no limit
	Time   time.Duration // of each Run; 0 means no limit

	// Price returns the price of a model's tokens, if known. Nil means that no price is known.
	Price func(model string) (Price, bool)

	// Resume, if not nil, returns the command that resumes the session, or "" if there is none.
	Resume func() string
}

// stopped returns the error of a limit.
func (c *Config) stopped(k Kind, format string, args ...any) *Error {
	e := &Error{Kind: k, Message: fmt.Sprintf(format, args...), Advice: k.flag() + " sets the limit"}
	if c.Resume == nil || k == Time {
		return e
	}
	if command := c.Resume(); command != "" {
		e.Advice = fmt.Sprintf("%s %s %s goes on", command, k.flag(),
			map[Kind]string{Tokens: "N", Calls: "N", Cost: "AMOUNT"}[k])
	}
	return e
}

// quoted returns a limit as an argument of a command line.
func quoted(k Kind, value string) string { return k.flag() + " " + value }

// brief formats d for a command line: 1m30s, and 5m rather than 5m0s.
func brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
