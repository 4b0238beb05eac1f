package front

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"gemline/commands/program/ending"
	"gemline/commands/program/project"
	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/schema"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/question"
	"gemline/repl/report"
	"gemline/repl/schematest"
	"gemline/settings/flags"
	"gemline/tools/edit"
)

// Whatever a model, a server and tools come up with, what is written has the
// published form, of 50 runs, and of 500 in a soak; half of them over HTTP.
func TestRandomRuns(t *testing.T) {
	c := newChaos(t)
	t.Run("in memory", func(t *testing.T) {
		for seed := range uint64(et.Rounds(25, 250)) {
			synctest.Test(t, func(t *testing.T) {
				d := newDice(rand.NewPCG(seed, 1))
				c.run(t, fmt.Sprint("seed ", seed), d, model.Retry(d, model.RetryOptions{}))
			})
		}
	})
	t.Run("over HTTP", func(t *testing.T) {
		s := et.NewServer()
		defer s.Close()
		s.Forget = true
		var d *dice
		s.Respond = func(et.Received) et.Reply { return d.reply() }
		g, err := model.NewGenai(model.Options{APIKey: "k", BaseURL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for seed := range uint64(et.Rounds(25, 250)) {
			d = newDice(rand.NewPCG(seed, 2))
			c.run(t, fmt.Sprint("seed ", seed), newDice(rand.NewPCG(seed, 3)), model.Retry(g, model.RetryOptions{Attempts: 1}))
		}
	})
}

// FuzzRuns lets the fuzzer throw the dice.
func FuzzRuns(f *testing.F) {
	f.Add([]byte("some bytes to begin with"))
	f.Add(bytes.Repeat([]byte{0, 255, 3}, 300))
	c := newChaos(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) {
			d := newDice(&bytesSource{b, rand.NewPCG(0, 4)})
			c.run(t, "input", d, model.Retry(d, model.RetryOptions{}))
		})
	})
}

// A bytesSource is a source of numbers that begins with given bytes.
type bytesSource struct {
	b    []byte
	then rand.Source
}

func (s *bytesSource) Uint64() uint64 {
	if len(s.b) == 0 {
		return s.then.Uint64()
	}
	var n [8]byte
	s.b = s.b[copy(n[:], s.b):]
	return binary.BigEndian.Uint64(n[:])
}

// chaos is runs with everything that can go wrong.
type chaos struct {
	reader   *schematest.Reader
	anything *schema.Schema // which every value fits
}

func newChaos(t testing.TB) *chaos {
	anything, err := schema.Parse([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return &chaos{schematest.NewReader(t), anything}
}

// run carries out one prompt as the program does, with dice for the model, the
// tools, the policy and the signals, and checks all that is written.
func (c *chaos) run(t *testing.T, which string, d *dice, g engine.Generator) {
	t.Helper()
	format := []string{"text", "json", "stream-json"}[d.n(3)]
	var out, errs, data bytes.Buffer
	count := &tally.Tally{Class: ending.Class}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	r := report.Config{Out: &out, Err: &errs, Tally: count, Now: time.Now, Quiet: d.n(3) == 0, RunInfo: report.RunInfo{Version: d.text(), Dir: d.text,
		Mode: func() string { return "default" }}}
	also := d.n(4) == 0
	if also {
		r.JSON = &data
	}
	if d.n(4) == 0 {
		r.DryRun = d.collected()
	}
	if r.DryRun == nil && d.n(3) == 0 {
		r.Schema = pick(d, &report.OutputSchema{}, &report.OutputSchema{Schema: c.anything, Repairs: d.n(3)})
		if d.n(2) == 0 { // and nothing goes wrong but the answers
			g = et.NewScript(et.Says(d.answer()), et.Says(d.answer()), et.Says(d.answer()))
		}
	}
	reporter := report.New(format, r)
	s := &Run{Options: project.New(project.Process{}, &flags.Set{}, nil), Status: project.NewStatus()}
	code := func() (code int) {
		defer func() {
			if v := recover(); v != nil {
				code = s.Finish(ctx, reporter, &ending.Crash{Value: v})
			}
		}()
		for range d.n(3) {
			reporter.Event(engine.Notice{Text: d.text()})
		}
		if d.n(20) == 0 {
			return s.Finish(ctx, reporter, errors.New(d.text()))
		}
		e := engine.New(engine.Config{Model: pick(d, "m", "m", "m", "m", d.text()), Generator: g, Tools: d.tools(), Policy: d, Approver: question.Headless{FailOnAsk: d.n(9) == 0}, MaxTurns: pick(d, 0, 1, 9)})
		left := d.n(200) // events until the signal
		watched := &signalling{reporter, func() {
			if left--; left == 0 {
				stop(ending.Signal(syscall.SIGTERM))
			}
		}}
		once := &report.OneShot{Model: e.Model(), Ask: e.Run, Expand: input.Chain(), Reporter: watched, Tally: count, Session: d.text(), Now: time.Now, Schema: r.Schema}
		return s.Finish(ctx, reporter, once.Run(ctx, report.Prompt{Text: "go " + d.text(), Piped: d.text()}))
	}()
	for what, text := range map[string]string{"standard output": out.String(), "the other descriptor": data.String()} {
		shape := format
		switch {
		case also && what == "standard output":
			shape = "text"
		case also && format == "text":
			shape = "json"
		case !also && what != "standard output":
			continue
		}
		if r.DryRun != nil && shape == "text" {
			shape = "patch"
		}
		if r.Schema != nil && shape == "text" {
			shape = "code"
			if r.Schema.Schema != nil {
				shape = "value"
			}
		}
		if err := c.check(shape, text, code); err != nil {
			t.Fatalf("%s, %s on %s: %v\n%q", which, shape, what, err, text)
		}
	}
	if err := rough(errs.String()); err != nil {
		t.Fatalf("%s, standard error: %v\n%q", which, err, errs.String())
	}
}

// check holds what was written in a format to what is promised of it.
func (c *chaos) check(format, text string, code int) error {
	if err := rough(text); err != nil {
		return err
	}
	switch {
	case format == "patch":
		if code != 0 && text != "" {
			return errors.New("a patch of a run that failed")
		}
		return nil
	case (format == "code" || format == "value") && code != 0 && text != "":
		return errors.New("an answer of a run that failed")
	case format == "value" && code == 0 && (!json.Valid([]byte(text)) || strings.Count(text, "\n") != 1):
		return errors.New("it is no line of JSON")
	case format == "text", format == "code", format == "value":
		if text != "" && text != "\n" && (!strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n")) {
			return errors.New("it does not end with one newline")
		}
		return nil
	}
	end, err := c.reader.Read(format, text)
	if err == nil && (end.ExitCode != code || (end.Status == "success") != (code == 0) || end.Reason == "") {
		err = fmt.Errorf("the run ended with %d, its record with %+v", code, end)
	}
	return err
}

// rough reports what is in a text that no program and no terminal should be
// given.
func rough(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("no UTF-8")
	}
	for i, r := range text {
		if r < 0x20 && r != '\n' && r != '\t' && (r != '\r' || !strings.HasPrefix(text[i:], "\r\n")) || r >= 0x7f && r < 0xa0 {
			return fmt.Errorf("a raw %U", r)
		}
	}
	return nil
}

// signalling tells of each event that a Reporter sees.
type signalling struct {
	report.Reporter
	next func()
}

func (s *signalling) Event(ev engine.Event) {
	s.Reporter.Event(ev)
	s.next()
}

// collected returns what a run is said to have collected: any edits, of files
// of any name.
func (d *dice) collected() func() report.DryRun {
	name := strings.NewReplacer("\x00", "", "/", "").Replace(d.text())
	c := report.DryRun{Patch: edit.Patch([]edit.File{{Name: name + "x", OldMode: "100644", NewMode: "100644", Old: d.text(), New: d.text()}}, nil)}
	if d.n(2) == 0 {
		c.Planned = []report.PlannedCall{}
		for range d.n(3) {
			c.Planned = append(c.Planned, report.PlannedCall{Tool: d.text(), Title: d.text(), Args: map[string]any{d.text(): d.value(2)}})
		}
	}
	return func() report.DryRun { return c }
}

// dice are a model, a policy and tools that do anything.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(s rand.Source) *dice { return &dice{r: rand.New(s)} }

// n returns a number below most.
func (d *dice) n(most int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(most)
}

func pick[T any](d *dice, from ...T) T { return from[d.n(len(from))] }

// text returns bytes, few of which are harmless.
func (d *dice) text() string {
	var b strings.Builder
	for range pick(d, 0, 1, 1, 2, 5, 20) {
		b.WriteString(pick(d, "word ", "a", "\n", "\r", "\r\n", "\x00", "\x07", "\b", "\x7f", "\x1b", "[", "31m", "\x1b[1m", "\x1b]0;t\a", "\x1b]8;;",
			"\x1bP", "\x9b", "\u009b", "\u0085", "\xc2", "\xe2\x82", "\xac", "\xed\xa0\x80", "\xff\xfe", "\xf4\x90\x80\x80", "\u202e", "\u2066", "\u2028",
			"\ufeff", "\u200b", "\U000e0041", "\U0001f600", "é", "\"", "\\", "{", "}", "\t", "</script>", "NaN", "\ufffd", "\ufffe"))
	}
	if d.n(40) == 0 {
		return strings.Repeat(b.String()+"x", 9000)
	}
	return b.String()
}

// answer returns text, or something that a program may want of it.
func (d *dice) answer() string {
	text := d.text()
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return pick(d, text, text, "```\n"+text+"\n```\n", string(quoted), "```json\n"+string(quoted)+"\n```")
}

func (d *dice) fails() error {
	kind := model.Kind(d.n(11))
	return pick[error](d, errors.New(d.text()), context.Canceled, engine.ErrRefused,
		&engine.CallError{Type: pick(d, d.text(), engine.PolicyViolation, engine.NoSpaceLeft, "shell_execute_error"), Message: d.text(), Display: d.text()},
		&model.Error{Kind: kind, Message: d.text(), Advice: d.text(), HTTP: pick(d, 0, 200, 429, 503, 999), Answering: d.n(2) == 0,
			RetryAfter: time.Duration(d.n(3)) * time.Minute, Final: d.n(4) == 0, Err: errors.New(d.text())})
}

// value returns something to call a tool with, also what JSON can't say.
func (d *dice) value(deep int) any {
	switch d.n(10) {
	case 0:
		return pick(d, math.NaN(), math.Inf(1), math.Inf(-1), 1e308, 5e-324, math.Copysign(0, -1), 1<<53+1)
	case 1:
		return pick[any](d, nil, true, 12, int64(math.MinInt64), json.Number("1e999"), json.Number("12345678901234567890"), json.Number("no"), uint8(7), []string{d.text()}, map[string]int{d.text(): 1})
	case 2, 3:
		if deep > 0 {
			m := map[string]any{}
			for range d.n(4) {
				m[d.text()] = d.value(deep - 1)
			}
			return m
		}
	case 4:
		if deep > 0 {
			return []any{d.value(deep - 1), d.value(deep - 1)}
		}
	}
	return d.text()
}

// names are those of the tools, and some that are none.
var names = []string{"read", "write", "run", "panic", "", " ", "wirte", "a\x1b[1mb", "\xff", "read "}

func (d *dice) part() *genai.Part {
	switch d.n(12) {
	case 0:
		return nil
	case 1:
		return &genai.Part{Text: d.text(), Thought: true}
	case 2, 3, 4, 5:
		args := map[string]any{}
		for range d.n(3) {
			args[d.text()] = d.value(3)
		}
		if d.n(5) == 0 {
			args = nil
		}
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: pick(d, "", "1", "2", d.text()), Name: pick(d, names...), Args: args}}
	case 6:
		return &genai.Part{InlineData: &genai.Blob{MIMEType: d.text(), Data: []byte(d.text())}}
	case 7:
		return &genai.Part{ExecutableCode: &genai.ExecutableCode{Code: d.text()}}
	}
	return &genai.Part{Text: d.answer(), ThoughtSignature: pick(d, nil, []byte{1, 255})}
}

func (d *dice) chunk() *genai.GenerateContentResponse {
	c := &genai.GenerateContentResponse{}
	if d.n(4) == 0 {
		n := func() int32 { return pick[int32](d, 0, 1, 17, -1, -50, math.MaxInt32, math.MinInt32) }
		c.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: n(), CandidatesTokenCount: n(), TotalTokenCount: n(),
			CachedContentTokenCount: n(), ThoughtsTokenCount: n(), ToolUsePromptTokenCount: n()}
	}
	if d.n(15) == 0 {
		c.PromptFeedback = &genai.GenerateContentResponsePromptFeedback{BlockReason: genai.BlockedReason(pick(d, "SAFETY", d.text())), BlockReasonMessage: d.text()}
	}
	for range pick(d, 0, 1, 1, 1, 2) {
		if d.n(20) == 0 {
			c.Candidates = append(c.Candidates, nil)
			continue
		}
		a := &genai.Candidate{FinishReason: genai.FinishReason(pick(d, "", "", "", "STOP", "STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", d.text()))}
		if d.n(8) > 0 {
			a.Content = &genai.Content{Role: genai.RoleModel}
			for range d.n(4) {
				a.Content.Parts = append(a.Content.Parts, d.part())
			}
		}
		c.Candidates = append(c.Candidates, a)
	}
	return c
}

// Generate implements [engine.Generator].
func (d *dice) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if d.n(100) == 0 {
			panic(d.text())
		}
		for range d.n(8) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(d.chunk(), nil) {
				return
			}
		}
		switch d.n(8) {
		case 0:
			yield(nil, d.fails())
		case 1:
		default:
			yield(et.Says(d.text() + "the end").Chunks[0], nil)
		}
	}
}

// Count implements [engine.Generator].
func (d *dice) Count(context.Context, *engine.Request) (int, error) { return d.n(9), nil }

// reply returns what a server says, byte by byte.
func (d *dice) reply() et.Reply {
	if d.n(6) == 0 {
		return pick(d, et.Empty(), et.Truncated(), et.InvalidJSON(), et.Blocked(), et.MalformedCall(), et.Unavailable(), et.BadKey(), et.DailyQuota(), et.WebPage(502, d.text()),
			et.Status(pick(d, 400, 404, 418, 500, 599), d.text(), d.text()), et.Whole(d.text()), et.ThoughtOnly(d.text()), et.Reset(et.Says(d.text())))
	}
	var body strings.Builder
	for range d.n(5) {
		body.WriteString("data: " + d.wire() + pick(d, "\n\n", "\n\n", "\r\n\r\n", "\n"))
	}
	if d.n(3) > 0 {
		body.WriteString(`data: {"candidates":[{"content":{"parts":[{"text":"the end"}]},"finishReason":"STOP"}]}` + "\n\n")
	}
	text := body.String()
	w := &et.Wire{Reset: d.n(8) == 0}
	for text != "" && len(w.Pieces) < 20 {
		n := 1 + d.n(len(text))
		w.Pieces, text = append(w.Pieces, text[:n]), text[n:]
	}
	w.Pieces = append(w.Pieces, text)
	return et.Reply{Wire: w}
}

// wire returns the JSON of a chunk with things in it that it should not have.
func (d *dice) wire() string {
	var b []byte
	for b == nil {
		b, _ = json.Marshal(d.chunk()) // not every chunk has a form
	}
	s := string(b)
	if d.n(2) == 0 {
		s = strings.ReplaceAll(s, "word", pick(d, "\xff", "\xc3(", "\x00", "\\ud800", "\\u0000", "\x1b[1m", "\u009b"))
	}
	if d.n(5) == 0 {
		s = strings.ReplaceAll(s, "17", pick(d, "1e999", "12345678901234567890", "1.5", "-0", `"17"`, "null"))
	}
	return s
}

// tools return tools that do anything.
func (d *dice) tools() engine.Tools {
	var ts engine.Tools
	for i, name := range names[:4] {
		ts = append(ts, engine.Tool{Declaration: &genai.FunctionDeclaration{Name: name}, Kind: engine.Kind(i + 1), Prepare: d.prepare})
	}
	return ts
}

func (d *dice) prepare(context.Context, map[string]any) (engine.Call, error) {
	if d.n(8) == 0 {
		return engine.Call{}, d.fails()
	}
	in := engine.Intent{Title: d.text(), Detail: d.text()}
	for range d.n(3) {
		in.Paths = append(in.Paths, "/"+d.text())
	}
	return engine.Call{Intent: in, Run: func(ctx context.Context, host engine.Host) (engine.Result, error) {
		if d.n(60) == 0 {
			panic(d.text())
		}
		for range d.n(3) {
			host.Emit(engine.Output{Delta: d.text()})
		}
		r := engine.Result{Text: d.text(), Display: d.text(), Changes: []engine.Change{{Path: d.text(), Added: d.n(9), Removed: d.n(9)}}}
		if d.n(4) == 0 {
			return r, d.fails()
		}
		return r, nil
	}}, nil
}

// Offers implements [engine.Policy].
func (d *dice) Offers(engine.Tool) bool { return true }

// Judge implements [engine.Policy].
func (d *dice) Judge(context.Context, engine.Proposal) (engine.Verdict, engine.Reason) {
	return pick(d, engine.Allow, engine.Allow, engine.Allow, engine.Deny, engine.Ask), engine.Reason{Text: d.text(), Rule: pick(d, nil, &engine.Rule{File: d.text(), Line: 3, Tier: "user", About: d.text()})}
}

// Learn implements [engine.Policy].
func (d *dice) Learn(engine.Grant, engine.Scope) error { return nil }
