// Package catalog is the dated table of models, with their properties by name.
//
// All code that depends on the model reads the table: the meanings of names, the settings of
// requests, the prices of tokens, the replacements of models. Begin with [Lookup], which returns
// properties for every name, or with [Shipped].
//
// # Every name has a row
//
// A name that the table lacks has the properties of its family. A name without a family has
// minimal properties: it accepts every setting and guarantees none.
//
// # Prices and models have dates
//
// Prices change and models end on a day. The table has no clock: the caller gives the day. The
// zero time is before all days.
package catalog

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/BurntSushi/toml"
)

//go:embed models.toml
var text string

// A Catalog is the table. It must not be changed.
type Catalog struct {
	Date     string            `toml:"date"` // when its prices were read
	Source   string            `toml:"source"`
	Families map[string]Family `toml:"families"`
	Models   []Model           `toml:"models"` // the most capable of each class first
	Names    []Name            `toml:"names"`
	Aliases  []Alias           `toml:"aliases"`
}

// A Family is a group of models with common properties.
type Family struct {
	Prefix  string         `toml:"prefix"`
	Since   float64        `toml:"since"`
	Chat    string         `toml:"chat"`    // the alias for conversations
	Budgets map[string]int `toml:"budgets"` // of low, medium and high
	Schemas bool           `toml:"schemas"` // requests may have a JSON schema and tools
	Media   bool           `toml:"media"`   // the answer to a call may contain media
	Todos   bool           `toml:"todos"`   // a list of tasks helps the model
	Asks    string         `toml:"asks"`    // the family for classes that are missing here

	// Compression has the aliases for compressing conversations, by class.
	Compression map[string]string `toml:"compression"`
	Traits
}

// Traits are properties in which a model may differ from its family.
type Traits struct {
	Thinks  string   `toml:"thinks"` // "level", "budget" or, if nothing is known, ""
	Levels  []string `toml:"levels"` // from the lowest
	Ignores []string `toml:"ignores"`
	Refuses []string `toml:"refuses"`
	Context int      `toml:"context"`
}

// The features that a model may refuse.
const (
	refusesBudget = "thinkingBudget"
	refusesNone   = "thinkingBudget=0" // disabling thoughts
)

// A Model is a row.
type Model struct {
	Name      string            `toml:"name"`
	Note      string            `toml:"note"`
	Class     string            `toml:"class"`
	Family    string            `toml:"family"`
	Access    []string          `toml:"access"`
	Unlisted  []string          `toml:"unlisted"`
	Replaced  []string          `toml:"replaced"`
	Output    int               `toml:"output"`
	Whole     int               `toml:"whole"`
	Shared    bool              `toml:"shared"`
	Wait      Duration          `toml:"wait"` // 0 is the usual time
	Resumes   bool              `toml:"resumes"`
	Fallback  []string          `toml:"fallback"`
	Quiet     bool              `toml:"quiet"`
	Successor string            `toml:"successor"`
	Ends      map[string]string `toml:"ends"`
	Price     []Price           `toml:"price"`
	Traits

	Kin Family `toml:"-"` // its family
}

// A Price is the price of tokens in a period.
type Price struct {
	Rate
	From  string `toml:"from"`
	Until string `toml:"until"`
	Long  struct {
		Rate
		Above int `toml:"above"`
	} `toml:"long"`
}

// A Rate is US dollars for a million tokens.
type Rate struct {
	Input  float64 `toml:"input"`
	Cached float64 `toml:"cached"`
	Output float64 `toml:"output"`
}

// A Name stands for a model or a class.
type Name struct {
	Name   string `toml:"name"`
	Is     string `toml:"is"`
	Assist string `toml:"assist"` // for Code Assist, if different from Is
	Small  string `toml:"small"`  // the smaller model for automatic choice
	Listed bool   `toml:"listed"`
}

// An Alias is a name for a model and settings.
type Alias struct {
	Name    string         `toml:"name"`
	Extends string         `toml:"extends"`
	Model   string         `toml:"model"`
	Config  map[string]any `toml:"config"`
}

// A Duration is a duration in Go's format.
type Duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Shipped returns the table that comes with the program.
var Shipped = sync.OnceValue(func() *Catalog {
	c := &Catalog{}
	if _, err := toml.Decode(text, c); err != nil {
		panic(fmt.Sprintf("models.toml: %v", err))
	}
	for i := range c.Models {
		m := &c.Models[i]
		m.inherit(c.Families[m.Family])
	}
	return c
})

// The limits of an unknown model.
const (
	defaultContext = 1 << 20
	defaultOutput  = 1 << 16

	// UnknownContext is the context of a model of another provider than Google, in tokens, if
	// it is not known.
	UnknownContext = 32_000
)

// Provider returns the provider in a name, and the provider's own name of the model. The provider
// is "" for Google's models, whose names may be paths, too.
func Provider(name string) (provider, model string) {
	provider, model, ok := strings.Cut(name, "/")
	switch provider {
	case "models", "tunedModels", "publishers", "projects", "google", "gemini", "vertex", "":
		return "", name
	}
	if !ok || model == "" {
		return "", name
	}
	return provider, model
}

// TrimGoogle returns a model's name without the prefixes that mark it as Google's.
func TrimGoogle(name string) string {
	for _, prefix := range []string{"gemini/", "google/", "vertex/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name
}

// plain returns the name of a Google model as the table has it.
func plain(name string) string { return strings.TrimPrefix(TrimGoogle(name), "models/") }

// inherit fills in the family's values where the row has none.
func (m *Model) inherit(f Family) {
	m.Kin = f
	m.Thinks = cmp.Or(m.Thinks, f.Thinks)
	m.Context = cmp.Or(m.Context, max(f.Context, 0), defaultContext)
	m.Output = cmp.Or(m.Output, defaultOutput)
	if m.Levels == nil {
		m.Levels = f.Levels
	}
	if m.Ignores == nil {
		m.Ignores = f.Ignores
	}
	if m.Refuses == nil {
		m.Refuses = f.Refuses
	}
}

// Lookup returns the properties of the model called name, with or without "models/".
func Lookup(name string) Model { return Shipped().Lookup(name) }

// Lookup returns the properties of the model called name, its family's if the table lacks it.
func (c *Catalog) Lookup(name string) Model {
	name = plain(name)
	if i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name }); i >= 0 {
		return c.Models[i]
	}
	if provider, _ := Provider(name); provider != "" {
		return other(name)
	}
	m := Model{Name: name, Family: c.family(name)}
	m.inherit(c.Families[m.Family])
	for _, k := range c.Models {
		if k.Family == m.Family && k.Class != "" && len(k.Class) > len(m.Class) && strings.Contains(name, k.Class) {
			m.Class, m.Fallback, m.Quiet = k.Class, k.Fallback, k.Quiet
		}
	}
	return m
}

// other describes a model of another provider, which gets no settings for Google's models unless
// the user set them.
func other(name string) Model {
	m := Model{Name: name, Traits: Traits{Thinks: "level", Levels: []string{"low", "medium", "high"},
		Ignores: []string{"temperature", "topP", "topK"}, Context: UnknownContext}}
	m.inherit(Family{})
	return m
}

// Has reports whether the table has a row for a name.
func (c *Catalog) Has(name string) bool {
	name = plain(name)
	return slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == name })
}

// family returns the name of the family of a model without a row. The name of a family is its own
// family.
func (c *Catalog) family(name string) (best string) {
	for key, f := range c.Families {
		rest, ok := strings.CutPrefix(name, f.Prefix)
		if !ok {
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end < 0 {
			end = len(rest)
		} else if rest[end] != '-' {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(rest[:end], "."), 64)
		if err == nil && v >= f.Since && (best == "" || f.Since > c.Families[best].Since) {
			best = key
		}
	}
	return best
}

// Usable reports whether a class may resolve to m for a credential with an access.
func (m Model) Usable(access string) bool {
	return m.Access == nil || slices.Contains(m.Access, access)
}

// Ended returns the first day on which the successor of m answers, "" if m does not end, and
// whether this day has come.
func (m Model) Ended(access string, day time.Time) (on string, ended bool) {
	on = m.Ends[access]
	return on, on != "" && day.Format(time.DateOnly) >= on
}

// AnsweringModel returns the model that answers requests for the named model on a day.
func (c *Catalog) AnsweringModel(name, access string, day time.Time) Model {
	m := c.Lookup(name)
	for range c.Models {
		if _, ended := m.Ended(access, day); !ended {
			break
		}
		m = c.Lookup(m.Successor)
	}
	return m
}

// At returns the price of m on a day, nil if unknown.
func (m Model) At(day time.Time) *Price {
	today := day.Format(time.DateOnly)
	for i, p := range m.Price {
		if (p.Until == "" || today <= p.Until) && today >= p.From {
			return &m.Price[i]
		}
	}
	return nil
}

// RefusesBudget reports whether the model refuses a thinking budget of that many tokens.
func (m Model) RefusesBudget(tokens int) bool {
	return slices.Contains(m.Refuses, refusesBudget) || tokens == 0 && slices.Contains(m.Refuses, refusesNone)
}

// Level returns the level of thinking of m nearest to a budget of tokens.
func (m Model) Level(budget int) string {
	n := len(m.Levels)
	switch {
	case n == 0 || budget < 0: // the model chooses
		return ""
	case budget <= 512:
		return m.Levels[0]
	case budget <= 2048:
		return m.nearest("low")
	case budget <= 8192:
		return m.nearest("medium")
	}
	return m.Levels[n-1]
}

// nearest returns level, or the highest level if m lacks it.
func (m Model) nearest(level string) string {
	if slices.Contains(m.Levels, level) {
		return level
	}
	return m.Levels[len(m.Levels)-1]
}
