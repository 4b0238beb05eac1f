package tally

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gemline/engine"
)

// cents is a price list: a cent for each token, as of the day that the name of
// a model has behind its at sign.
func cents(u engine.Usage) (float64, string, bool) {
	name, date, _ := strings.Cut(u.Model, "@")
	return float64(u.Prompt) / 100, date, name == "known"
}

func TestCost(t *testing.T) {
	const a, b = "known@2026-02-01", "known@2026-01-01"
	tests := []struct {
		name   string
		models []string // asked with 1 token, 2 tokens, ...
		flat   string   // the end of the flat form
		said   string
	}{
		{"nobody asked", nil, `"models":{}}`, ""},
		{"one", []string{a}, `"input":1,"cost_usd":0.01,"prices_date":"2026-02-01"}},"cost_usd":0.01,"prices_date":"2026-02-01"}`,
			"Cost: $0.0100 by the prices of 2026-02-01."},
		{"twice", []string{a, a}, `"cost_usd":0.03,"prices_date":"2026-02-01"}},"cost_usd":0.03,"prices_date":"2026-02-01"}`,
			"Cost: $0.0300 by the prices of 2026-02-01."},
		{"the oldest price counts", []string{a, b}, `"cost_usd":0.02,"prices_date":"2026-01-01"}},"cost_usd":0.03,"prices_date":"2026-01-01"}`,
			"Cost: $0.0300 by the prices of 2026-01-01."},
		{"no date", []string{a, "known"}, `"cost_usd":0.02}},"cost_usd":0.03}`, "Cost: $0.0300."},
		{"not of all", []string{"other", a}, `"cost_usd":0.02,"prices_date":"2026-02-01"}}}`, ""},
		{"not at all", []string{"other"}, `"input":1}}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ta := Tally{Cost: cents}
			for i, m := range test.models {
				ta.Observe(engine.Usage{Model: m, Prompt: i + 1}, time.Time{})
			}
			if got := string(ta.Flat(0)); !strings.HasSuffix(got, test.flat) {
				t.Errorf("flat: %s", got)
			}
			said := strings.Join(ta.Overview(time.Time{}), "\n")
			if test.said == "" && strings.Contains(said, "Cost") || !strings.Contains(said, test.said) {
				t.Errorf("said: %s", said)
			}
			full, err := json.Marshal(&ta)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Cost *float64 `json:"cost_usd"`
				Date string   `json:"prices_date"`
			}
			if err := json.Unmarshal(full, &doc); err != nil || (doc.Cost != nil) != (test.said != "") {
				t.Errorf("%v: %s", err, full)
			}
		})
	}
}

// A request that was refused before it was made is none.
func TestUnmade(t *testing.T) {
	ta := Tally{Class: func(error) string { return "" }}
	now := time.Now()
	ta.Observe(engine.RequestStarted{Model: "m"}, now)
	ta.End(errors.New("too dear"), now)
	if got := string(ta.Flat(0)); !strings.Contains(got, `"models":{}`) {
		t.Error(got)
	}
}

// The end of a turn has the money that the turn took, where that is known of all of it.
func TestSpanCost(t *testing.T) {
	now := time.Now()
	ta := Tally{Cost: func(u engine.Usage) (float64, string, bool) { return 0.25, "", u.Model == "known" }}
	for _, tt := range []struct{ models, want string }{
		{"known", "0.0 s, 5 tokens, $0.2500"}, {"known known", "0.0 s, 10 tokens, $0.5000"},
		{"known other", "0.0 s, 10 tokens"}, {"", "0.0 s"},
	} {
		ta.Start(now)
		for _, m := range strings.Fields(tt.models) {
			ta.Observe(engine.Usage{Model: m, Prompt: 4, Output: 1, Total: 5}, now)
		}
		if got := ta.Span(now).String(); got != tt.want {
			t.Errorf("%s: %q, not %q", tt.models, got, tt.want)
		}
	}
}
