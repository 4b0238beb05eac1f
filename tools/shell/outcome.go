package shell

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An Outcome is the outcome of a command. The zero Outcome is a success without output.
type Outcome struct {
	Output string // its output, see the package's page
	Binary bool   // Output is only a message with the size
	Stderr string // the second output, if the two are separate
	Cut    bool   // one of the outputs was cut

	Err        error // it could not be started
	Code       int   // its exit code, 0 if a signal ended it
	Signal     int   // the signal that ended it, or 0
	SignalName string

	Cancelled bool          // ended because the context was done
	Limit     time.Duration // ended because it ran into this limit, or 0
	Quiet     bool          // Limit is the limit of time without output

	Group      int   // the process group, 0 if it was never started
	Background []int // processes that the Jobs took over
}

// OK reports whether the command ran to its end and reported success.
func (o Outcome) OK() bool {
	return o.Err == nil && o.Code == 0 && o.Signal == 0 && !o.Cancelled && o.Limit == 0
}

// Text returns the outcome for the model.
func (o Outcome) Text() string {
	switch {
	case o.Cancelled:
		return o.stopped("Command was cancelled by user before it could complete.")
	case o.Limit > 0:
		return o.stopped(fmt.Sprintf("Command was automatically cancelled because it exceeded the timeout of %s.", o.Exceeded()))
	}
	lines := []string{"Output: " + cmp.Or(o.Output, "(empty)")}
	if o.Err != nil {
		lines = append(lines, "Error: "+o.Err.Error())
	}
	if o.Code != 0 {
		lines = append(lines, fmt.Sprintf("Exit Code: %d", o.Code))
	}
	if o.Signal != 0 {
		lines = append(lines, fmt.Sprintf("Signal: %d", o.Signal))
	}
	if len(o.Background) > 0 {
		pids := make([]string, len(o.Background))
		for i, pid := range o.Background {
			pids[i] = strconv.Itoa(pid)
		}
		lines = append(lines, "Background PIDs: "+strings.Join(pids, ", "),
			fmt.Sprintf("Process Group PGID: %d", o.Group))
	}
	return strings.Join(lines, "\n")
}

func (o Outcome) stopped(why string) string {
	if o.Output == "" {
		return why + " There was no output before it was cancelled."
	}
	return why + " Below is the output before it was cancelled:\n" + o.Output
}

// Exceeded describes the limit that ended the command.
func (o Outcome) Exceeded() string {
	s := fmt.Sprintf("%.1f minutes", o.Limit.Minutes())
	if o.Limit < time.Minute {
		s = fmt.Sprintf("%.1f seconds", o.Limit.Seconds())
	}
	if o.Quiet {
		s += " without output"
	}
	return s
}

// Status describes in one line how the command failed, "" for a success.
func (o Outcome) Status() string {
	switch {
	case o.Cancelled:
		return "Command was cancelled."
	case o.Limit > 0:
		return fmt.Sprintf("Command was cancelled after %s.", o.Exceeded())
	case o.Err != nil:
		return "Command failed: " + o.Err.Error()
	case o.Signal != 0 && o.SignalName != "":
		return fmt.Sprintf("Command terminated by signal: %s.", o.SignalName)
	case o.Signal != 0:
		return fmt.Sprintf("Command terminated by signal: %d.", o.Signal)
	case o.Code != 0:
		return fmt.Sprintf("Command exited with code %d.", o.Code)
	}
	return ""
}

// Shown returns the outcome of a command that the user ran, for the user and the model.
func (o Outcome) Shown() string {
	output := cmp.Or(o.Output, "(Command produced no output)")
	if status := o.Status(); status != "" {
		return status + "\n" + output
	}
	return output
}
