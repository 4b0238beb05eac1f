package tally

import (
	"math"

	"gemline/engine"
	"gemline/engine/text"
)

// spent is the cost of requests.
type spent struct {
	USD  float64 `json:"cost_usd"`
	Date string  `json:"prices_date,omitempty"` // of the oldest price; empty if a price has no date
}

// cost returns the cost of requests, rounded to a millionth of a cent. It is nil if there are no
// requests or if a price is unknown.
func (t *Tally) cost(requests []engine.Usage) (s *spent) {
	if t.Cost == nil {
		return nil
	}
	for _, u := range requests {
		usd, date, ok := t.Cost(u)
		switch {
		case !ok:
			return nil
		case s == nil:
			s = &spent{usd, date}
		default:
			s = &spent{s.USD + usd, min(s.Date, date)} // "" is the least
		}
	}
	const exact = 1e8
	if s != nil && math.Abs(s.USD) <= math.MaxInt64/exact/2 {
		s.USD = math.Round(s.USD*exact) / exact
	}
	return s
}

// costs returns the cost of all models, or nil if a request has no price.
func (t *Tally) costs() *spent {
	var all []engine.Usage
	for _, m := range t.counts.models.values {
		all = append(all, m.used...)
	}
	return t.cost(all)
}

// String returns s in words.
func (s *spent) String() string {
	if s.Date == "" {
		return text.Money(s.USD)
	}
	return text.Money(s.USD) + " by the prices of " + s.Date
}
