package tally

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"gemline/engine/text"
)

// Overview summarizes the session until now, one sentence per line.
func (t *Tally) Overview(now time.Time) []string {
	var api millis
	for _, m := range t.counts.models.values {
		api += m.all.Latency
	}
	wall := time.Duration(0)
	if !t.began.IsZero() {
		wall = elapsed(t.began, now)
	}
	ls := []string{
		fmt.Sprintf("Time: %s since the first question; %s for the model's answers, %s for tools.",
			Duration(wall), Duration(time.Duration(api)), Duration(time.Duration(t.counts.all.Took))),
		"Tool calls: " + outcome(t.counts.all) + approvals(t.counts.asked, t.counts.all.Decisions.Reject),
		fmt.Sprintf("Files: %s changed; %s added, %d removed.", text.Count(len(t.counts.files), "file"),
			text.Count(t.counts.added, "line"), t.counts.removed),
	}
	for i, name := range t.counts.models.keys {
		m := t.counts.models.values[i]
		s := fmt.Sprintf("Model %s: %s, %s in", inSentence(name), text.Count(m.all.Requests, "request"),
			text.Count(m.all.Tokens.Prompt, "token"))
		if m.all.Tokens.Cached > 0 {
			s += fmt.Sprintf(" (%s of them cached, %s)", text.Number(m.all.Tokens.Cached),
				percent(m.all.Tokens.Cached, m.all.Tokens.Prompt))
		}
		ls = append(ls, s+fmt.Sprintf(", %s out.", text.Number(m.all.Tokens.Candidates)))
	}
	ls = append(ls, agentLines(t.counts.agents)...)
	if c := t.costs(); c != nil {
		ls = append(ls, "Cost: "+c.String()+".")
	}
	if len(t.counts.models.keys) == 0 {
		ls = append(ls, "Models: none was asked yet.")
	}
	return ls
}

// Models returns the numbers of each model, one a line.
func (t *Tally) Models() []string {
	if len(t.counts.models.keys) == 0 {
		return []string{"No model was asked yet."}
	}
	var ls []string
	for i, name := range t.counts.models.keys {
		m := t.counts.models.values[i]
		failed := ""
		for j, class := range m.ByType.keys {
			failed += fmt.Sprintf("; %s: %d", inSentence(class), *m.ByType.values[j])
		}
		average := time.Duration(0)
		if n := m.all.Requests; n > 0 {
			average = time.Duration(m.all.Latency) / time.Duration(n)
		}
		ls = append(ls,
			"Model "+inSentence(name),
			fmt.Sprintf("  Requests: %d, %d failed (%s)%s", m.all.Requests, m.all.Errors,
				percent(m.all.Errors, m.all.Requests), failed),
			"  Average time: "+Duration(average),
			"  Tokens in all: "+text.Number(m.all.Tokens.Total),
			"  Tokens in: "+text.Number(m.all.Tokens.Prompt),
			fmt.Sprintf("  Tokens in, cached: %s (%s)", text.Number(m.all.Tokens.Cached),
				percent(m.all.Tokens.Cached, m.all.Tokens.Prompt)),
			"  Tokens in, not cached: "+text.Number(m.all.Tokens.Input),
			"  Tokens in, from the server's tools: "+text.Number(m.all.Tokens.Tool),
			"  Tokens out: "+text.Number(m.all.Tokens.Candidates),
			"  Tokens out, thoughts: "+text.Number(m.all.Tokens.Thoughts),
		)
		if c := t.cost(m.used); c != nil {
			ls = append(ls, "  Cost: "+c.String())
		}
		for j, what := range m.Roles.keys {
			if r := m.Roles.values[j]; what != main || len(m.Roles.keys) > 1 {
				ls = append(ls, fmt.Sprintf("  As %s: %s, %s in, %s out", inSentence(what),
					text.Count(r.Requests, "request"),
					text.Count(r.Tokens.Prompt, "token"), text.Number(r.Tokens.Candidates)))
			}
		}
	}
	return ls
}

// Tools returns the numbers of each tool, one a line.
func (t *Tally) Tools() []string {
	if t.counts.all.Count == 0 {
		return []string{"No tool was called yet."}
	}
	var ls []string
	for i, name := range t.counts.tools.keys {
		c := t.counts.tools.values[i]
		ls = append(ls, fmt.Sprintf("Tool %s: %s Average time %s.", inSentence(name), outcome(*c),
			Duration(time.Duration(c.Took)/time.Duration(c.Count))))
	}
	return append(ls, "All tools: "+outcome(t.counts.all)+approvals(t.counts.asked, t.counts.all.Decisions.Reject))
}

// inSentence returns an untrusted name in a form for a sentence.
func inSentence(name string) string {
	for _, r := range name {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			name = strconv.QuoteToASCII(name)
			break
		}
	}
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80]) + "..."
	}
	return name
}

func outcome(c tool) string {
	if c.Count == 0 {
		return "none."
	}
	if c.Fail == 0 {
		return text.Count(c.Count, "call") + ", none failed."
	}
	return fmt.Sprintf("%s, %d succeeded, %d did not (%s succeeded).",
		text.Count(c.Count, "call"), c.Success, c.Fail, percent(c.Success, c.Count))
}

func approvals(asked, refused int) string {
	if asked == 0 {
		return ""
	}
	return fmt.Sprintf(" You were asked about %d and refused %d.", asked, refused)
}

func percent(part, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", 100*part/whole)
}

// Duration formats d for people: "0.3 s", "12 s", "2 min 5 s", "1 h 0 min".
func Duration(d time.Duration) string {
	switch d = max(0, d); {
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute-time.Second/2:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour-time.Second/2:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	default:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
}
