// Package fronttest is a front end without a terminal, for tests.
//
// # Everything on one goroutine
//
// [Front.Say] ranges over the conversation's Run, collects its output and answers its questions. It
// prints nothing and waits for nothing.
package fronttest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/question"
)

// A Front holds a conversation in memory. It is the conversation's [engine.Approver], and the
// output of its slash commands.
type Front struct {
	Run    engine.Run      // of the current conversation
	Expand input.Processor // processes a line before the model reads it
	Tally  *tally.Tally    // counts the events

	// Answers are answers to questions, in order: y, n with a reason behind it, or a for always in
	// this session. After the last, no user is there.
	Answers []string

	Asked   []string // the titles of the calls that were asked about
	Notices []string // printed beside the answers

	answer strings.Builder
}

// Say processes a typed line, and returns the output of the model and the slash commands.
func (f *Front) Say(ctx context.Context, line string) (string, error) {
	f.answer.Reset()
	f.Tally.Start(time.Now())
	parts, err := f.Expand(ctx, []*genai.Part{genai.NewPartFromText(line)})
	if err != nil || len(parts) == 0 {
		return f.answer.String(), err
	}
	var failed error
	for ev, err := range f.Run(ctx, parts...) {
		if err != nil {
			failed = err
			continue // the last event
		}
		f.Tally.Observe(ev, time.Now())
		switch ev := ev.(type) {
		case engine.Text:
			f.answer.WriteString(ev.Delta)
		case engine.Notice:
			f.Notices = append(f.Notices, ev.Text)
		}
	}
	f.Tally.End(failed, time.Now())
	return f.answer.String(), failed
}

// Write collects output of a slash command.
func (f *Front) Write(b []byte) (int, error) { return f.answer.Write(b) }

// Approve implements [engine.Approver].
func (f *Front) Approve(_ context.Context, p engine.Proposal) (engine.Answer, error) {
	f.Asked = append(f.Asked, question.Title(p))
	if len(f.Answers) == 0 {
		return engine.Unasked{Advice: "Nobody is there."}, nil
	}
	word, reason, _ := strings.Cut(f.Answers[0], " ")
	f.Answers = f.Answers[1:]
	switch word {
	case "y":
		return engine.Allowed{}, nil
	case "n":
		return engine.Refused{Note: reason}, nil
	case "a":
		grants := question.Grants(p)
		if len(grants) == 0 {
			return nil, fmt.Errorf("nothing may be allowed for longer: %s", question.Title(p))
		}
		answer, problem := question.Always(grants[0], engine.Session)
		if problem != "" {
			return nil, fmt.Errorf("%s: %s", question.Title(p), problem)
		}
		return answer, nil
	}
	return nil, fmt.Errorf("%q is none of the answers", word)
}
