package enginetest

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"gemline/engine"
)

// A Recorder records the events of Runs. Its text is deterministic: it has no times and no random
// ids; calls are numbered in order. The zero Recorder is ready for use.
type Recorder struct {
	Events []engine.Event
	Errs   []error // the errors of failed Runs

	text   strings.Builder
	number map[string]int
}

// Record ranges over run to its end and returns a Recorder of it.
func Record(run iter.Seq2[engine.Event, error]) *Recorder {
	r := &Recorder{}
	r.Watch(run)
	return r
}

// Watch ranges over run to its end and returns its error.
func (r *Recorder) Watch(run iter.Seq2[engine.Event, error]) error {
	for ev, err := range run {
		if err != nil {
			r.Errs = append(r.Errs, err)
			fmt.Fprintf(&r.text, "error: %s\n", flat(err.Error()))
			return err
		}
		r.See(ev)
	}
	return nil
}

// See records an event.
func (r *Recorder) See(ev engine.Event) {
	r.Events = append(r.Events, ev)
	if _, said := engine.Unnest(ev); said == (engine.AnswerFinished{}) {
		return // not recorded
	}
	r.text.WriteString(r.line(ev))
	r.text.WriteByte('\n')
}

// String returns the events, one per line.
func (r *Recorder) String() string { return r.text.String() }

// Text returns the model's text, without text that no longer counts.
func (r *Recorder) Text() string {
	var b strings.Builder
	for _, ev := range r.Events {
		switch ev := ev.(type) {
		case engine.Text:
			b.WriteString(ev.Delta)
		case engine.RequestStarted:
			b.WriteString("\x00") // a mark to go back to
		case engine.Retry:
			if ev.Restart {
				s := b.String()
				b.Reset()
				b.WriteString(s[:strings.LastIndex(s, "\x00")+1])
			}
		}
	}
	return strings.ReplaceAll(b.String(), "\x00", "")
}

func (r *Recorder) line(ev engine.Event) string {
	switch ev := ev.(type) {
	case engine.RequestStarted:
		return fmt.Sprintf("turn %d %s", ev.Number, ev.Model)
	case engine.Text:
		return "text " + flat(ev.Delta)
	case engine.Thought:
		return "thought " + flat(ev.Delta)
	case engine.CallRequested:
		args, _ := json.Marshal(ev.Args)
		return fmt.Sprintf("called %s %s", r.call(ev.ID, ev.Name), args)
	case engine.CallStateChanged:
		return fmt.Sprintf("state %s %s", r.call(ev.ID, ev.Name), ev.State)
	case engine.CallStarted:
		return fmt.Sprintf("started %s: %s", r.call(ev.ID, ev.Name), flat(ev.Intent.Title))
	case engine.Output:
		return fmt.Sprintf("output %s: %s", r.call(ev.ID, ""), flat(ev.Delta))
	case engine.CallFinished:
		return r.finished(ev)
	case engine.Usage:
		if ev.Err != nil {
			return "usage of none"
		}
		return fmt.Sprintf("usage %d+%d", ev.Prompt, ev.Output)
	case engine.Retry:
		restart := ""
		if ev.Restart {
			restart = " restart"
		}
		return fmt.Sprintf("retry %d/%d%s: %s", ev.Attempt, ev.MaxAttempts, restart, flat(ev.Err.Error()))
	case engine.Notice:
		return "notice " + flat(ev.Text)
	case engine.Citations:
		return "cited " + flat(fmt.Sprint(ev.References))
	case engine.CheckFinished:
		how := "ok"
		if ev.Err != nil {
			how = flat(engine.DisplayError(ev.Err))
		}
		return fmt.Sprintf("checked %s, round %d: %d, %s", ev.Command, ev.Round, ev.Code, how)
	case engine.NestedEvent:
		return ev.Agent + ": " + r.line(ev.Event)
	default:
		return fmt.Sprintf("%T", ev)
	}
}

func (r *Recorder) finished(ev engine.CallFinished) string {
	s := fmt.Sprintf("finished %s %s", r.call(ev.ID, ev.Name), engine.Outcome(ev.Err))
	switch {
	case ev.Err != nil:
		s += ": " + flat(engine.DisplayError(ev.Err))
	case ev.Result.Display != "":
		s += ": " + flat(ev.Result.Display)
	case ev.Result.Text != "":
		s += ": " + flat(ev.Result.Text)
	}
	if ev.Asked {
		s += " (asked)"
	}
	if ev.UnaskedAdvice != "" {
		s += " (unasked: " + flat(ev.UnaskedAdvice) + ")"
	}
	return s
}

// call names a call by its number.
func (r *Recorder) call(id, name string) string {
	if r.number == nil {
		r.number = map[string]int{}
	}
	n, ok := r.number[id]
	if !ok {
		n = len(r.number) + 1
		r.number[id] = n
	}
	if name == "" {
		name, _, _ = strings.Cut(id, "__")
	}
	return fmt.Sprintf("%s#%d", name, n)
}

// flat puts s on one line.
func flat(s string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s) }
