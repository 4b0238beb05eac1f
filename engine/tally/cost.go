package tally

import (
	"math"

	"gemline/engine/text"
)

// spent is the cost of requests.
type spent struct {
	USD  float64 `json:"cost_usd"`
	Date string  `json:"prices_date,omitempty"` // of the oldest price; empty if a price has no date
}

// cost returns the cost of m, or nil if the price of a request is not known.
func (t *Tally) cost(m *model) *spent {
	if t.Cost == nil || len(m.used) == 0 {
		return nil
	}
	var s *spent
	for _, u := range m.used {
		usd, date, ok := t.Cost(u)
		if !ok {
			return nil
		}
		s = s.plus(spent{usd, date})
	}
	return s.rounded()
}

// costs returns the cost of all models, or nil if one has no price.
func (t *Tally) costs() *spent {
	var s *spent
	for _, m := range t.counts.models.values {
		if len(m.used) == 0 {
			continue
		}
		c := t.cost(m)
		if c == nil {
			return nil
		}
		s = s.plus(*c)
	}
	return s.rounded()
}

func (s *spent) plus(o spent) *spent {
	if s == nil {
		return &o
	}
	return &spent{s.USD + o.USD, min(s.Date, o.Date)} // "" is the least
}

// rounded returns s to a millionth of a cent, as sums of fractions have tails.
func (s *spent) rounded() *spent {
	const exact = 1e8
	if s == nil || math.Abs(s.USD) > math.MaxInt64/exact/2 {
		return s
	}
	return &spent{math.Round(s.USD*exact) / exact, s.Date}
}

// String returns s in words.
func (s *spent) String() string {
	if s.Date == "" {
		return text.Money(s.USD)
	}
	return text.Money(s.USD) + " by the prices of " + s.Date
}
