package loop

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"gemline/engine"
	"gemline/engine/text"
)

// The numbers are the Gemini CLI's, except for the last.
const (
	longestCycle = 5  // calls in a round
	mostRounds   = 5  // equal rounds that make a loop
	mostAlike    = 20 // calls in a row, whatever their results
)

// A digest identifies equal calls, or equal results.
type digest = [sha256.Size]byte

// A call is a finished, running or requested call.
type call struct {
	id     string
	key    digest // of the name and the arguments
	result digest // once it is over
	over   bool
	title  string // for the user
	detail string // for the model
}

// repeats reports whether c and o have the same name, arguments and result. An unfinished call
// matches any result.
func (c call) repeats(o call) bool {
	return c.key == o.key && (c.result == o.result || !c.over || !o.over)
}

// calls are the last calls of a prompt, longestCycle*mostRounds at most.
type calls []call

// begin records a requested call. If the call would continue a loop, begin does not record it,
// and returns the loop.
func (cs *calls) begin(ev engine.CallRequested) *Error {
	last, args := *cs, text.Compact(ev.Args)
	c := call{id: ev.ID, key: sha256.Sum256([]byte(ev.Name + ":" + args)), title: text.OneLine(ev.Name, longestTitle)}
	c.detail = c.title + " with arguments " + text.Shorten(args, longestDetail)
	for n := 1; n <= longestCycle; n++ {
		if last.cycle(n) && last[len(last)-n].key == c.key {
			return repeated(&ev, last[len(last)-n:], mostRounds, "with the same result")
		}
	}
	other := func(o call) bool { return o.key != c.key }
	if n := len(last) - mostAlike; n >= 0 && !slices.ContainsFunc(last[n:], other) {
		return repeated(&ev, last[len(last)-1:], mostAlike, "in a row")
	}
	*cs = append(slices.Delete(last, 0, max(0, len(last)+1-longestCycle*mostRounds)), c)
	return nil
}

// cycle reports whether the last calls are a round of n calls, repeated often enough for a loop.
func (cs calls) cycle(n int) bool {
	first := len(cs) - n*mostRounds
	return first >= 0 && slices.EqualFunc(cs[first:len(cs)-n], cs[first+n:], call.repeats)
}

// end records the result of a call.
func (cs calls) end(ev engine.CallFinished) {
	i := slices.IndexFunc(cs, func(c call) bool { return c.id == ev.ID })
	if i < 0 {
		return
	}
	c := &cs[i]
	c.result, c.over = resultOf(ev), true
	if ev.Intent.Title != "" {
		c.title = text.OneLine(ev.Intent.Title, longestTitle)
	}
}

const (
	longestTitle  = 70  // characters that name a call for the user
	longestDetail = 500 // and for the model
)

// resultOf returns the digest of a call's result.
func resultOf(ev engine.CallFinished) (d digest) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%v", ev.Result.Text, ev.Err)
	for _, m := range ev.Result.Media {
		if m.InlineData != nil {
			h.Write(m.InlineData.Data)
		}
	}
	h.Sum(d[:0])
	return d
}

// repeated returns the error of a round of calls that ev would continue.
func repeated(ev *engine.CallRequested, round []call, times int, how string) *Error {
	var titles, details []string
	for _, c := range round {
		titles, details = append(titles, c.title), append(details, c.detail)
	}
	return &Error{call: ev, What: fmt.Sprintf("%s, %d times %s", strings.Join(titles, ", then "), times, how),
		detail: "Repeated tool call: " + strings.Join(details, ", then ")}
}
