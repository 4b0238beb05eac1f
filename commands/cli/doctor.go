package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gemline/engine/lists"
	"gemline/settings"
)

// doctorCommand is gemline doctor.
type doctorCommand struct {
	Online bool `help:"Ask the server for its list of models, and say how long that takes."`
}

// A status is the result of a check.
type status string

// Results of checks.
const (
	healthy status = "ok"
	warning status = "warning" // something works with limits
	failing status = "problem" // gemline can't answer prompts
)

// A finding is the result of a check, in a line.
type finding struct {
	Name   string `json:"name"`
	Status status `json:"status"`
	Text   string `json:"text"`
	Next   string `json:"next,omitempty"` // the next step
}

func fine(format string, args ...any) finding {
	return finding{Status: healthy, Text: fmt.Sprintf(format, args...)}
}

func worse(status status, next, format string, args ...any) finding {
	return finding{Status: status, Text: fmt.Sprintf(format, args...), Next: next}
}

// A doctor runs the checks.
type doctor struct {
	out     *Output
	here    *Folder
	project Project
	api     API
	environ Environ
	build   Build

	providers Providers
}

// ProvideDoctor returns the doctor.
func (*doctorCommand) ProvideDoctor(out *Output, here *Folder, project Project, api API, environ Environ,
	build Build, providers Providers) *doctor {
	return &doctor{out, here, project, api, environ, build, providers}
}

// A check examines one subject.
type check struct {
	name string
	look func(d *doctor, ctx context.Context) finding
}

// patience is the timeout of a check.
const patience = 30 * time.Second

// Run runs all checks and prints a line for each. The error holds the number of problems.
func (c *doctorCommand) Run(ctx context.Context, d *doctor) error {
	found := d.examineAll(ctx, c.checks())
	for _, text := range settings.UnusedLines(d.here.Unused()) {
		found = append(found, finding{Name: string(settings.Later), Status: warning, Text: text})
	}
	problems := len(lists.Filter(found, func(f finding) bool { return f.Status == failing }))
	l := listingOf("checks", found)
	l.doc["ok"], l.doc["build"] = problems == 0, d.build
	if err := d.out.list(l, ""); err != nil {
		return err
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return errors.New("there is a problem")
	}
	return fmt.Errorf("there are %d problems", problems)
}

// lines returns a finding as text.
func (f finding) lines() []string {
	line := fmt.Sprintf("%-7s  %s: %s", f.Status, f.Name, f.Text)
	if f.Next != "" {
		line += "; " + f.Next
	}
	return []string{line}
}

// examineAll runs the checks.
func (d *doctor) examineAll(ctx context.Context, checks []check) []finding {
	out, quiet := *d.out, *d
	out.Notify = func(string) {} // the findings contain the notices
	quiet.out = &out
	return lists.Map(checks, func(c check) finding {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		f := c.look(&quiet, ctx)
		f.Name = c.name
		return f
	})
}
