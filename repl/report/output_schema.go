package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/schema"
	"gemline/repl/markdown"
	"gemline/repl/output"
)

// An OutputSchema requires that the answer of a run contains a value that fits a schema, or else a
// block of code. [OneShot] enforces it, and the [Reporter] with the same OutputSchema prints the
// value or the code.
type OutputSchema struct {
	// Schema, if not nil, is the schema of the answer. The model may repair its answer Repairs
	// times. Insist, if not nil, is called before each repair.
	Schema  *schema.Schema
	Repairs int
	Insist  func()

	// Language is the language of the code, if there is no Schema. "" is any language.
	Language string

	mu     sync.Mutex
	answer strings.Builder // the text since the last request
	cut    bool            // the answer is incomplete
	value  json.RawMessage // of the Schema, once the answer fits
	code   *string         // nil until the answer has code
}

// An UnmetError is the error of a run whose answer does not meet the OutputSchema.
type UnmetError struct {
	Reason  string // schema_mismatch or no_code_block
	Message string // several lines, for the user
}

// Error returns the message.
func (e *UnmetError) Error() string { return e.Message }

// observe stores the text since the last request.
func (s *OutputSchema) observe(ev engine.Event) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev := ev.(type) {
	case engine.RequestStarted:
		s.begin()
	case engine.Retry:
		if ev.Restart {
			s.begin()
		}
	case engine.Text:
		s.answer.WriteString(ev.Delta)
	case engine.Notice:
		s.cut = s.cut || errors.Is(ev.Cause, engine.ErrCut)
	}
}

func (s *OutputSchema) begin() {
	s.answer.Reset()
	s.cut = false
}

// text returns the text since the last request.
func (s *OutputSchema) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer.String()
}

// met returns the value or the code of an answer that meets s.
func (s *OutputSchema) met() (value json.RawMessage, code *string) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.code
}

// take extracts the value or the block of code from the answer, or returns the problems, line by
// line.
func (s *OutputSchema) take() (problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.answer.String()
	if s.Schema == nil {
		return s.extract(answer)
	}
	value, wrong := s.Schema.Check(bareValue(answer))
	if len(wrong) == 0 {
		s.value = value
		return nil
	}
	for _, p := range wrong {
		problems = append(problems, p.Error())
	}
	return problems
}

// bareValue removes the usual text around a value: a fence, and words around a single block of
// code.
func bareValue(answer string) string {
	if json.Valid([]byte(answer)) {
		return answer
	}
	if blocks := markdown.CodeBlocks(answer); len(blocks) == 1 && !blocks[0].Open {
		return blocks[0].Text
	}
	return answer
}

// extract takes the first block of code of the language. An incomplete block at the end of an
// interrupted answer does not count.
func (s *OutputSchema) extract(answer string) (problems []string) {
	var others []string
	for _, b := range markdown.CodeBlocks(answer) {
		switch name := cmp.Or(b.Language, "none named"); {
		case b.Open && s.cut:
			return []string{"the answer is cut short inside a block of code"}
		case b.Is(s.Language):
			s.code = &b.Text
			return nil
		case !slices.Contains(others, name):
			others = append(others, name)
		}
	}
	if others == nil {
		return []string{"the answer holds no block of code"}
	}
	return []string{fmt.Sprintf("the answer holds no block of code in %s; those there are: %s",
		s.Language, strings.Join(others, ", "))}
}

// meet extracts the value or the block of code from the answer. The model may repair an answer that
// does not fit the schema; all limits of the run apply.
func (o *OneShot) meet(ctx context.Context) error {
	s := o.Schema
	for n := 1; ; n++ {
		problems := s.take()
		if len(problems) == 0 {
			return nil
		}
		if s.Schema == nil || n > s.Repairs {
			return s.unmet(problems)
		}
		o.Reporter.Event(engine.Notice{Text: fmt.Sprintf("the answer does not fit the schema (%s); asking again, %d of %d", problems[0], n, s.Repairs)})
		if s.Insist != nil {
			s.Insist()
		}
		if err := o.run(ctx, []*genai.Part{genai.NewPartFromText(mend(problems))}); err != nil {
			return err
		}
	}
}

// mend returns the message to the model about its answer.
func mend(problems []string) string {
	return "That answer does not fit the JSON Schema that was asked for:\n- " + strings.Join(problems, "\n- ") +
		"\nAnswer again with the whole value, mended, and nothing else."
}

// unmet returns the error of a run with these problems.
func (s *OutputSchema) unmet(problems []string) error {
	if s.Schema == nil {
		return &UnmetError{Reason: "no_code_block", Message: strings.Join(problems, "\n")}
	}
	return &UnmetError{Reason: "schema_mismatch",
		Message: "the answer does not fit the schema:\n" + strings.Join(problems, "\n")}
}

// structured returns the value or the code of a run with the outcome o, for records.
func (c *core) structured(o Outcome) (value json.RawMessage, code *string) {
	if o.Failed() {
		return nil, nil
	}
	value, code = c.Schema.met()
	if code != nil {
		t := output.UTF8{Raw: c.Text.Raw}
		clean := t.All(*code)
		code = &clean
	}
	return value, code
}
