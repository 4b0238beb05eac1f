package limit_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gemline/engine"
	"gemline/engine/limit"
	"gemline/engine/model/preset"
)

var today = time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC)

func TestShipped(t *testing.T) {
	ps := limit.Shipped(today.AddDate(0, -2, 0))
	tests := []struct {
		usage engine.Usage
		want  float64 // US dollars
		known bool
	}{
		{engine.Usage{Model: "gemini-2.5-pro", Prompt: 100_000, Output: 10_000}, 0.125 + 0.1, true},
		{engine.Usage{Model: "gemini-2.5-pro", Prompt: 200_000}, 0.25, true},
		{engine.Usage{Model: "gemini-2.5-pro", Prompt: 200_001, Output: 1000}, 0.5000025 + 0.015, true},
		{engine.Usage{Model: "gemini-2.5-pro", Prompt: 100_000, Cached: 80_000}, 0.025 + 0.01, true},
		{engine.Usage{Model: "gemini-2.5-flash", Output: 1000, Thoughts: 3000}, 0.01, true},
		{engine.Usage{Model: "gemini-2.5-flash", ToolUse: 10_000}, 0.003, true},
		{engine.Usage{Model: "gemini-2.5-flash", Prompt: -5, Cached: 7, Output: -1}, 0, true},
		{engine.Usage{Model: "gemini-2.5-flash-001", Prompt: 1000}, 0, false},
		{engine.Usage{Model: "gemma-4-31b-it", Prompt: 1000}, 0, false},
	}
	for _, test := range tests {
		usd, date, ok := ps.Cost(test.usage)
		if ok != test.known || math.Abs(usd-test.want) > 1e-9 || ok != (date != "") {
			t.Errorf("%+v costs %v, %v (%s), want %v", test.usage, usd, ok, date, test.want)
		}
	}
	for _, c := range []struct {
		day, model string
		want       float64
	}{
		{"2026-11-30", "gemini-4-argon", 12}, {"2026-12-01", "gemini-4-argon", 24},
		{"2026-12-31", "gemini-3.8-flash", 4.5}, {"2027-01-01", "gemini-3.8-flash", 9},
		{"2026-11-30", "gemini-2.5-pro", 2.5 + 15}, {"2026-12-01", "gemini-2.5-pro", 4.5}, {"2027-01-01", "gemini-2.5-pro", 9},
		{"2026-11-30", "gemini-2.5-flash", 2.8}, {"2026-12-01", "gemini-2.5-flash", 2.8},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		usd, _, ok := limit.Shipped(day).Cost(engine.Usage{Model: c.model, Prompt: 1e6, Output: 1e6})
		if !ok || math.Abs(usd-c.want) > 1e-9 {
			t.Errorf("a million tokens each way of %s cost %v on %s, want %v", c.model, usd, c.day, c.want)
		}
	}
	for _, r := range []preset.Access{preset.ByKey, preset.ByAccount} {
		for _, name := range []string{"auto", "flash", "flash-lite"} {
			if _, _, ok := ps.Cost(engine.Usage{Model: r.Resolve(name)}); !ok {
				t.Errorf("%s has no price", r.Resolve(name))
			}
		}
	}
}

func TestLoadPrices(t *testing.T) {
	tests := []struct {
		name, text string
		usage      engine.Usage
		want       float64
		known      bool
		err        string // behind the path
	}{
		{name: "an empty file", usage: engine.Usage{Model: "gemini-2.5-flash", Prompt: 1e6}, want: 0.3, known: true},
		{name: "another price", text: "[models.'gemini-2.5-flash']\ninput = 1\noutput = 2", usage: engine.Usage{Model: "gemini-2.5-flash", Prompt: 1e6, Cached: 5e5}, want: 1, known: true},
		{name: "another model", text: "[models.mine]\ninput = 1\noutput = 2", usage: engine.Usage{Model: "mine", Output: 1e6}, want: 2, known: true},
		{name: "nothing to pay", text: "[models.mine]\ninput = 0\noutput = 0", usage: engine.Usage{Model: "mine", Output: 1e6}, known: true},
		{name: "a price taken back", text: "[models.'gemini-2.5-flash']", usage: engine.Usage{Model: "gemini-2.5-flash", Prompt: 1e6}},
		{name: "dotted keys", text: "models.mine.input = 1\nmodels.mine.output = 2", usage: engine.Usage{Model: "mine", Prompt: 1e6}, want: 1, known: true},
		{name: "long", text: "[models.mine]\ninput = 1\noutput = 2\nlong.above = 9\nlong.input = 3\nlong.output = 4", usage: engine.Usage{Model: "mine", Prompt: 1e6}, want: 3, known: true},
		{name: "no TOML", text: "\n\nmodels = [", err: ":3: "},
		{name: "a text for a number", text: "[models.mine]\n\ninput = '1'", err: ":3: a value of the wrong kind; prices are numbers, names and dates are texts"},
		{name: "no model", text: "[models]\nmine = 3", err: ":2: a value of the wrong kind; prices are numbers, names and dates are texts"},
		{name: "an unknown key", text: "[models.mine]\ninput = 1\ninptu = 1\noutput = 1", err: ":3: models.mine.inptu is no key of a table of prices"},
		{name: "half a price", text: "# mine\n[models.mine]\ninput = 1", err: ":2: mine: input and output are both needed"},
		{name: "half a long price", text: "[models.mine]\ninput = 1\noutput = 1\nlong = { above = 1 }", err: ":1: mine: long: input and output are both needed"},
		{name: "long from nowhere", text: "[models.mine]\ninput = 1\noutput = 1\nlong = { input = 1, output = 1 }", err: ":1: mine: long needs above, a number of tokens"},
		{name: "less than nothing", text: "[models.mine]\ninput = -1\noutput = 1", err: ":1: mine: a price must be a number of US dollars for a million tokens, between 0 and 1000000"},
		{name: "no number", text: "[models.mine]\ninput = nan\noutput = inf", err: ":1: mine: a price must be a number of US dollars for a million tokens, between 0 and 1000000"},
		{name: "no day", text: "date = 'yesterday'", err: ":1: date must be a day such as 2026-01-31"},
		{name: "no last day", text: "[models.mine]\ninput = 1\noutput = 1\nuntil = 'soon'", err: ":1: mine: until must be a day such as 2026-12-31"},
		{name: "too large", text: strings.Repeat("#", 1<<20+1), err: ": is larger than 1 MiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "prices.toml")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			ps, err := limit.LoadPrices(path, today.AddDate(0, -2, 0))
			if test.err != "" {
				var pe *limit.PricesError
				if !errors.As(err, &pe) || !strings.HasPrefix(err.Error(), path+test.err) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if usd, _, ok := ps.Cost(test.usage); ok != test.known || math.Abs(usd-test.want) > 1e-9 {
				t.Errorf("%v, %v", usd, ok)
			}
		})
	}
	dir := t.TempDir()
	if _, err := limit.LoadPrices(filepath.Join(dir, "none"), today); err != nil {
		t.Error(err)
	}
	if _, err := limit.LoadPrices(dir, today); err == nil || err.Error() != dir+": is a directory" {
		t.Error(err)
	}
}

// Whatever a file says, what comes of it is an amount of money, or an error
// with one line.
func FuzzPrices(f *testing.F) {
	f.Add("date = '2026-01-01'\n[models.m]\ninput = 1\noutput = 2\nlong = { above = 3, input = 1, output = 1 }", 5, 3, 1)
	f.Add("[models.m]\ninput = 1e5\noutput = 0x10", -1, 1<<60, 1<<60)
	path := filepath.Join(f.TempDir(), "prices.toml")
	f.Fuzz(func(t *testing.T, text string, prompt, cached, output int) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ps, err := limit.LoadPrices(path, today)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		for name := range ps {
			usd, _, ok := ps.Cost(engine.Usage{Model: name, Prompt: prompt, Cached: cached, Output: output})
			if !ok || !(usd >= 0) || math.IsInf(usd, 0) {
				t.Errorf("%s costs %v", name, usd)
			}
		}
	})
}
