package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gemline/repl/internal/line"
	"gemline/repl/output"
)

// A Decision is what the user says about a folder.
type Decision int

// The zero Decision is not to trust it this time.
const (
	NotNow Decision = iota
	TrustFolder
	TrustParent
	DoNotTrust
)

// Trust asks whether a folder may bring what it holds, given as lines. No
// answer, and one that is no choice, mean [NotNow]. Ctrl-C is an error.
func (c *Console) Trust(ctx context.Context, folder string, brings []string) (Decision, error) {
	c.Out.Line(output.Permission, "%s is not known yet. If you trust it, it brings:", output.EscapeLine(folder))
	for _, b := range brings {
		c.Out.Styled(output.Normal, "  "+output.EscapeLine(b))
	}
	parent := filepath.Dir(folder)
	c.Out.Line(output.Info, "1 trust %s", output.EscapeLine(folder))
	c.Out.Line(output.Info, "2 trust %s and all in it", output.EscapeLine(parent))
	c.Out.Line(output.Info, "3 don't trust it, and don't ask again")
	for range invalidAnswers {
		s, err := c.ask(ctx, "1, 2, 3, or Enter for not now: ")
		switch {
		case err == io.EOF:
			return NotNow, nil
		case errors.Is(err, line.ErrInterrupt), errors.Is(err, line.ErrCleared):
			return NotNow, fmt.Errorf("%w: %w", context.Canceled, errInterrupt)
		case err != nil:
			return NotNow, err
		}
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "1":
			return TrustFolder, nil
		case "2":
			return TrustParent, nil
		case "3":
			return DoNotTrust, nil
		case "", "n", "no":
			return NotNow, nil
		}
		c.Out.Line(output.Info, "%q is none of the choices", s)
	}
	return NotNow, nil
}
