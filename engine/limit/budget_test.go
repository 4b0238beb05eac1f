package limit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/limit"
	"gemline/engine/model"
)

func TestGenerator(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		return limit.New(limit.Config{Tokens: 1 << 30, Cost: 1e6, Price: func(string) (limit.Price, bool) { return limit.Price{}, true }}).Generator(et.NewScript(replies...))
	})
}

// priced is a model's price in the tests: a dollar for a million tokens, a
// tenth of it if cached, ten for answers.
func priced(name string) (limit.Price, bool) {
	return limit.Price{Rate: limit.Rate{Input: 1, Cached: 0.1, Output: 10}}, name == "m"
}

// ask asks g once, in a conversation of n messages.
func ask(g engine.Generator, opening *genai.Part, n int, max int32, name string) (text string, notices []string, err error) {
	contents := []*genai.Content{{Role: genai.RoleUser, Parts: []*genai.Part{opening}}}
	for len(contents) < n {
		contents = append(contents, genai.NewContentFromText("x", genai.RoleModel))
	}
	req := &engine.Request{Model: name, Contents: contents, Config: &genai.GenerateContentConfig{MaxOutputTokens: max},
		Notify: func(ev engine.Event) { notices = append(notices, ev.(engine.Notice).Text) }}
	var b strings.Builder
	for chunk, cerr := range g.Generate(context.Background(), req) {
		if cerr != nil {
			return b.String(), notices, cerr
		}
		if c := chunk.Candidates[0]; c.Content != nil && len(c.Content.Parts) > 0 {
			b.WriteString(c.Content.Parts[0].Text)
		}
	}
	return b.String(), notices, nil
}

// Of each row, the first request is answered with the usage given. What is
// checked is what becomes of the second.
func TestBudget(t *testing.T) {
	const refused = -1
	tests := []struct {
		name           string
		cfg            limit.Config
		prompt, output int32
		model          string
		own            int32 // bound of the second request
		another        bool  // conversation
		shorter        bool  // conversation, as when its beginning was summed up
		want           int32 // bound of the second request as it is made; 0 is none
		message        string
	}{
		{name: "no limit", prompt: 1e6, output: 1e6},
		{name: "much is left", cfg: limit.Config{Tokens: 1e6}, prompt: 1000, output: 10},
		{name: "little is left", cfg: limit.Config{Tokens: 2000}, prompt: 900, output: 100, want: 100},
		{name: "little, for another conversation", cfg: limit.Config{Tokens: 2000}, prompt: 900, output: 100, another: true, want: 1000},
		{name: "little, and the conversation is shorter", cfg: limit.Config{Tokens: 2000}, prompt: 900, output: 100, shorter: true, want: 1000},
		{name: "the request wants less", cfg: limit.Config{Tokens: 2000}, prompt: 900, output: 100, own: 50, want: 50},
		{name: "the request wants more", cfg: limit.Config{Tokens: 2000}, prompt: 900, output: 100, own: 500, want: 100},
		{name: "used to the last one", cfg: limit.Config{Tokens: 1000}, prompt: 900, output: 100, want: refused,
			message: "stopped: 1,000 tokens are used, and the limit is --max-tokens 1000"},
		{name: "more than used up", cfg: limit.Config{Tokens: 10}, prompt: 900, output: 100, want: refused,
			message: "stopped: 1,000 tokens are used, and the limit is --max-tokens 10"},
		{name: "no room for the prompt", cfg: limit.Config{Tokens: 1900}, prompt: 900, output: 100, want: refused,
			message: "stopped: the next request takes 900 tokens or more, and --max-tokens 1900 leaves 900"},
		{name: "nobody says what it took", cfg: limit.Config{Tokens: 10}, want: 10},
		// 1000 tokens in are a tenth of a cent, and 1000 out are a cent.
		{name: "money", cfg: limit.Config{Cost: 0.0121, Price: priced}, prompt: 1000, output: 100, want: 1000},
		{name: "money, another conversation", cfg: limit.Config{Cost: 0.0121, Price: priced}, prompt: 1000, output: 100, another: true, want: 1010},
		{name: "money is spent", cfg: limit.Config{Cost: 0.002, Price: priced}, prompt: 1000, output: 100, want: refused,
			message: "stopped: $0.002000 is spent, and the limit is --max-cost 0.002"},
		{name: "no money for the prompt", cfg: limit.Config{Cost: 0.00205, Price: priced}, prompt: 1000, output: 100, want: refused,
			message: "stopped: the next request costs $0.000100 or more, and --max-cost 0.00205 leaves $0.000050"},
		{name: "no money for an answer", cfg: limit.Config{Cost: 0.002105, Price: priced}, prompt: 1000, output: 100, want: refused,
			message: "stopped: --max-cost 0.002105 leaves $0.000105, which buys no answer"},
		{name: "the tighter one, tokens", cfg: limit.Config{Cost: 0.0121, Tokens: 2200, Price: priced}, prompt: 1000, output: 100, want: 100},
		{name: "the tighter one, money", cfg: limit.Config{Cost: 0.0121, Tokens: 20000, Price: priced}, prompt: 1000, output: 100, want: 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.model == "" {
				test.model = "m"
			}
			script := et.NewScript(et.Says("one").With(test.prompt, test.output), et.Says("two"))
			if test.prompt == 0 {
				script = et.NewScript(et.Says("one"), et.Says("two"))
			}
			g := limit.New(test.cfg).Generator(script)
			opening := genai.NewPartFromText("go")
			first, second := 1, 3
			if test.shorter {
				first, second = second, first
			}
			if _, _, err := ask(g, opening, first, 0, test.model); err != nil {
				t.Fatal(err)
			}
			if test.another {
				opening = genai.NewPartFromText("go")
			}
			text, _, err := ask(g, opening, second, test.own, test.model)
			if test.want == refused {
				var e *limit.Error
				if !errors.As(err, &e) || e.Message != test.message || !e.Unsent || len(script.Requests()) != 1 {
					t.Fatalf("%v, after %d requests", err, len(script.Requests()))
				}
				return
			}
			if err != nil || text != "two" {
				t.Fatalf("%q, %v", text, err)
			}
			if got := script.Requests()[1].Config.MaxOutputTokens; got != test.want {
				t.Errorf("the answer is bounded to %d, want %d", got, test.want)
			}
		})
	}
}

// Of a model without a price nothing is asked where money is limited.
func TestUnpriced(t *testing.T) {
	script := et.NewScript(et.Says("1"), et.Says("2"))
	g := limit.New(limit.Config{Cost: 1, Price: priced}).Generator(script)
	for _, name := range []string{"other", "m", "other"} {
		_, _, err := ask(g, genai.NewPartFromText("go"), 1, 0, name)
		if unpriced := (*limit.UnpricedError)(nil); errors.As(err, &unpriced) != (name == "other") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// ends returns an answer that ends for a reason, with tokens.
func ends(text string, reason genai.FinishReason, output int32) et.Reply {
	r := et.Says(text).With(10, output)
	r.Chunks[0].Candidates[0].FinishReason = reason
	return r
}

// Whether a limit or the server has cut an answer makes a difference: the
// former is not asked again, and is an error at the end.
func TestCut(t *testing.T) {
	const cut = "the answer was cut short: --max-tokens is used up"
	tests := []struct {
		name   string
		tokens int
		reply  et.Reply
		text   string
		notice string
		err    string
	}{
		{"by the bound", 100, ends("half", genai.FinishReasonMaxTokens, 90), "half", cut, ""},
		{"by the bound, nobody says how long", 100, ends("half", genai.FinishReasonMaxTokens, 0), "half", cut, ""},
		{"not at all", 100, ends("whole", genai.FinishReasonStop, 90), "whole", "", ""},
		{"by the server", 1e6, ends("half", genai.FinishReasonMaxTokens, 90), "half", "", ""},
		{"by a bound of the model's", 1000, ends("half", genai.FinishReasonMaxTokens, 90), "half", "", ""},
		{"before it began", 100, ends(" ", genai.FinishReasonMaxTokens, 90), " ", "", cut + ", and it had not begun; --max-tokens sets the limit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := limit.New(limit.Config{Tokens: test.tokens}).Generator(et.NewScript(test.reply))
			text, notices, err := ask(model.Retry(g, model.RetryOptions{}), genai.NewPartFromText("go"), 1, 0, "m")
			if text != test.text || strings.Join(notices, "|") != test.notice {
				t.Errorf("%q, %q", text, notices)
			}
			if err == nil && test.err != "" || err != nil && err.Error() != test.err {
				t.Errorf("%v", err)
			}
		})
	}
}

// Attempts that failed have cost something, too.
func TestAttempts(t *testing.T) {
	failing := et.Says("half").With(500, 400)
	failing.Err = errors.New("broken")
	script := et.NewScript(failing, et.Says("never"))
	g := limit.New(limit.Config{Tokens: 1000}).Generator(script)
	opening := genai.NewPartFromText("go")
	if _, _, err := ask(g, opening, 1, 0, "m"); err == nil {
		t.Fatal("no error")
	}
	if _, _, err := ask(g, opening, 1, 0, "m"); err == nil || len(script.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(script.Requests()))
	}
}
