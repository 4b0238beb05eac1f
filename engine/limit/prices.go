package limit

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"gemline/engine"
	"gemline/engine/disk"
	"gemline/engine/model/catalog"
	"gemline/engine/text"
)

// A Rate is the price of tokens, in US dollars per million. Thoughts cost as much as answers.
type Rate struct{ Input, Cached, Output float64 }

// A Price is the price of a model's tokens.
type Price struct {
	Rate
	Above int    // tokens of a prompt beyond which Long applies; 0 is never
	Long  Rate   // for all tokens of such a request
	Date  string // the day of the price, as YYYY-MM-DD; may be empty
}

// rate returns the rate of a request whose prompt has the number of tokens.
func (p Price) rate(prompt int) Rate {
	if p.Above > 0 && prompt > p.Above {
		return p.Long
	}
	return p.Rate
}

// of returns the cost of a request, in US dollars.
func (p Price) of(u engine.Usage) float64 {
	r := p.rate(u.Prompt)
	cached := min(max(0, u.Cached), max(0, u.Prompt))
	fresh := max(0, u.Prompt) - cached + max(0, u.ToolUse)
	return (float64(fresh)*r.Input + float64(cached)*r.Cached +
		float64(max(0, u.Output)+max(0, u.Thoughts))*r.Output) / 1e6
}

// affords returns how many tokens of an answer the money buys.
func (p Price) affords(usd float64, prompt int) int {
	r := p.rate(prompt)
	if r.Output <= 0 {
		return math.MaxInt32
	}
	return int(min(usd/r.Output*1e6, math.MaxInt32))
}

// Prices are the prices of models, by exact name.
type Prices map[string]Price

// Cost returns the cost of a request in US dollars and the date of the price, by the price of
// the model that answered, or else of the model asked.
func (ps Prices) Cost(u engine.Usage) (usd float64, date string, ok bool) {
	p, ok := ps[u.Model]
	if !ok {
		p, ok = ps[u.RequestedModel]
	}
	return p.of(u), p.Date, ok
}

// A PricesError is a fault in a file of prices.
type PricesError struct {
	Path    string
	Line    int // counted from 1; 0 if it is about the file as a whole
	Message string
}

// Error names the place as compilers do.
func (e *PricesError) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Message)
}

// maxPrices is the maximum size of a file of prices, in bytes; the largest real files have a
// hundredth of it.
const maxPrices = 1 << 20

// LoadPrices returns the prices of a day: the built-in prices, overridden by the user's file at
// path. A missing file, or an empty path, is no error; any other error is a [*PricesError].
func LoadPrices(path string, today time.Time) (Prices, error) {
	if path == "" {
		return Shipped(today), nil
	}
	content, err := disk.Read(path, maxPrices)
	if errors.Is(err, fs.ErrNotExist) {
		return Shipped(today), nil
	}
	if err != nil {
		return nil, &PricesError{Path: path, Message: disk.Cause(err).Error()}
	}
	return readPrices(path, content, Shipped(today), today)
}

// Shipped returns the built-in prices on a day. A discontinued model has the price of its
// successor.
func Shipped(today time.Time) Prices {
	c := catalog.Shipped()
	ps := Prices{}
	for _, m := range c.Models {
		if p := c.AnsweringModel(m.Name, "key", today).At(today); p != nil {
			ps[m.Name] = Price{Rate: Rate(p.Rate), Above: p.Long.Above, Long: Rate(p.Long.Rate), Date: c.Date}
		}
	}
	return ps
}

// A table is a file of prices.
type table struct {
	Date   string           `toml:"date"`
	Source string           `toml:"source"`
	Models map[string]entry `toml:"models"`
}

// An entry is a model's row in a file. An empty entry says that no price is known.
type entry struct {
	Input  *float64 `toml:"input"`
	Cached *float64 `toml:"cached"` // defaults to Input
	Output *float64 `toml:"output"`
	Until  string   `toml:"until"` // the last day of the price
	Long   *struct {
		Above  *int     `toml:"above"`
		Input  *float64 `toml:"input"`
		Cached *float64 `toml:"cached"`
		Output *float64 `toml:"output"`
	} `toml:"long"`
}

// readPrices returns base, overridden by b, the file at path.
func readPrices(path string, b []byte, base Prices, today time.Time) (Prices, error) {
	wrong := func(line int, format string, args ...any) error {
		return &PricesError{Path: path, Line: line, Message: fmt.Sprintf(format, args...)}
	}
	var t table
	meta, err := toml.Decode(string(b), &t)
	if err != nil {
		if pe := (toml.ParseError{}); errors.As(err, &pe) {
			return nil, wrong(pe.Position.Line, "%s", text.Words(pe.Message))
		}
		line := 0 // of a value of the wrong type; the library's message names Go types
		fmt.Sscanf(err.Error(), "toml: line %d", &line)
		return nil, wrong(line, "a value of the wrong kind; prices are numbers, names and dates are texts")
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, wrong(lineOf(b, unknown[0]), "%s is no key of a table of prices", unknown[0])
	}
	if t.Date != "" && !isDate(t.Date) {
		return nil, wrong(lineOf(b, toml.Key{"date"}), "date must be a day such as 2026-01-31")
	}
	ps := Prices{}
	maps.Copy(ps, base)
	for _, name := range slices.Sorted(maps.Keys(t.Models)) {
		p, known, err := t.Models[name].price(today)
		if err != nil {
			return nil, wrong(lineOf(b, toml.Key{name}), "%s: %s", name, err)
		}
		if p.Date = t.Date; known {
			ps[name] = p
		} else {
			delete(ps, name)
		}
	}
	return ps, nil
}

// price returns the price of e, if e is valid today.
func (e entry) price(today time.Time) (p Price, known bool, err error) {
	if e.Until != "" && !isDate(e.Until) {
		return p, false, errors.New("until must be a day such as 2026-12-31")
	}
	if e.Input == nil && e.Cached == nil && e.Output == nil && e.Long == nil {
		return p, false, nil
	}
	if p.Rate, err = rate(e.Input, e.Cached, e.Output); err != nil {
		return p, false, err
	}
	if l := e.Long; l != nil {
		if l.Above == nil || *l.Above <= 0 {
			return p, false, errors.New("long needs above, a number of tokens")
		}
		p.Above = *l.Above
		if p.Long, err = rate(l.Input, l.Cached, l.Output); err != nil {
			return p, false, fmt.Errorf("long: %w", err)
		}
	}
	return p, e.Until == "" || today.Format(time.DateOnly) <= e.Until, nil
}

func rate(input, cached, output *float64) (Rate, error) {
	if input == nil || output == nil {
		return Rate{}, errors.New("input and output are both needed")
	}
	r := Rate{Input: *input, Cached: *input, Output: *output}
	if cached != nil {
		r.Cached = *cached
	}
	for _, v := range []float64{r.Input, r.Cached, r.Output} {
		if !(v >= 0) || v > 1e6 {
			return Rate{}, errors.New("a price must be a number of US dollars for a million tokens, between 0 and 1000000")
		}
	}
	return r, nil
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// lineOf returns the first line that names a key, or 0.
func lineOf(text []byte, key toml.Key) int {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line, _, _ = strings.Cut(line, "#"); strings.Contains(line, key[len(key)-1]) {
			return n
		}
	}
	return 0
}
