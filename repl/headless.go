package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gemline/engine"
)

// ErrAsked ends a run that has nobody to ask, where that was wished for.
var ErrAsked = errors.New("a call needs an approval and nobody can be asked")

// ErrDenied ends a run in which a rule denied a call, where that was wished for.
var ErrDenied = errors.New("a rule denies a call")

// ruledOut returns an [ErrDenied] if ev says that a rule denied a call.
func ruledOut(ev engine.Event) error {
	f, ok := ev.(engine.Finished)
	var ce *engine.CallError
	if !ok || f.Unasked != "" || !errors.As(f.Err, &ce) || ce.Type != engine.PolicyViolation {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDenied, what(f))
}

// Headless is the approver of a run without a user: it refuses, and says what
// would allow the call.
type Headless struct {
	FailOnAsk bool   // end the run with ErrAsked instead
	Rules     string // the directory of the user's rules, if they count
}

// Approve implements [engine.Approver]. A call that has failed for want of a
// right is over, so it ends no run.
func (h Headless) Approve(ctx context.Context, p engine.Proposal) (engine.Answer, error) {
	if err := ctx.Err(); err != nil {
		return engine.Answer{}, err
	}
	advice := h.advice(p)
	if h.FailOnAsk && p.Intent.Failed == "" {
		return engine.Answer{}, fmt.Errorf("%w: %s. %s", ErrAsked, p.Tool.Name(), advice)
	}
	return engine.Answer{Unasked: advice}, nil
}

// advice says what would allow p.
func (h Headless) advice(p engine.Proposal) string {
	if len(p.Intent.Questions) > 0 {
		return "Questions are answered in a session at a terminal."
	}
	var ways []string
	if rule := inline(p.Intent.Grants); rule != "" && h.Rules != "" {
		ways = append(ways, fmt.Sprintf("have a file in %s say %s", h.Rules, rule))
	}
	switch r := p.Intent.Rights; {
	case !r.None(): // no more than this call needs, and nothing that switches protection off
		ways = append(ways, "run it in a session at a terminal, where it is asked about")
	case p.Tool.Kind == engine.Edit:
		ways = append(ways, "run with --approval-mode auto_edit")
	default:
		ways = append(ways, "run with --approval-mode yolo")
	}
	return "To allow it, " + strings.Join(ways, ", or ") + "."
}

// longestRule is how many characters of a rule are worth advising.
const longestRule = 400

// inline returns the rule that the first of grants would be kept as, on a line
// that is a whole file of rules; "" if there is none.
func inline(grants []engine.Grant) string {
	if len(grants) == 0 {
		return ""
	}
	head, body, ok := strings.Cut(strings.TrimSpace(grants[0].Rule), "\n")
	if !ok || head != "[[rule]]" || len(body) > longestRule || hides(body) {
		return ""
	}
	return "rule = [{ " + strings.ReplaceAll(body, "\n", ", ") + " }]"
}
