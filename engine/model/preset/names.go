package preset

import (
	"strings"

	"gemline/engine"
)

// Default is the name that stands for the model when none is chosen.
const Default = "auto"

// Names of models that others stand for.
const (
	pro25     = "gemini-2.5-pro"
	proLatest = "gemini-3.1-pro-preview-customtools"
	flash     = "gemini-3.8-flash"
	flashLite = "gemini-3.5-flash-lite"
)

// An Access is which models a credential can use. The zero Access is an API key's.
type Access int

// The kinds of access.
const (
	ByKey     Access = iota // all of them
	ByAccount               // Vertex AI and gateways: not the variant for tools
	ByAssist                // Code Assist: those that were there before
)

func (r Access) pro() string {
	return [...]string{proLatest, "gemini-3.1-pro-preview", "gemini-3-pro-preview"}[r]
}

func (r Access) flash() string {
	return [...]string{flash, flash, "gemini-3-flash-preview"}[r]
}

func (r Access) flashLite() string {
	return [...]string{flashLite, flashLite, "gemini-3.1-flash-lite"}[r]
}

// Resolve returns the model that name stands for: an alias, an older model
// that another has replaced, or the name itself.
func (r Access) Resolve(name string) string {
	switch name = strings.TrimSpace(name); name {
	case "", "auto", "pro", "auto-gemini-3", "gemini-3-pro-preview":
		return r.pro()
	case "auto-gemini-2.5":
		return pro25
	case "flash":
		return r.flash()
	case "gemini-3.5-flash", "gemini-3-flash":
		if r == ByAssist {
			return "gemini-3-flash"
		}
		return flash
	case "flash-lite", "none", "gemini-3.1-flash-lite":
		return r.flashLite()
	}
	return name
}

// after returns what can answer in the place of a model, each where those before it can't.
// Quiet says that nobody is asked about that: the first one was the cheapest.
func (r Access) after(name string) (models []string, quiet bool) {
	id := strings.TrimPrefix(name, "models/")
	switch {
	case strings.HasPrefix(id, "gemini-") && strings.Contains(id, "flash-lite"):
		return []string{r.Resolve("gemini-3.5-flash"), pro25}, true
	case engine.Gemini3(id) && strings.Contains(id, "pro"):
		return []string{r.flash()}, false
	case id == pro25:
		return []string{r.Resolve("gemini-3.5-flash")}, false
	}
	return nil, false
}

// auto reports whether name leaves open which model is meant: a larger one, or the
// smaller one that it returns.
func (r Access) auto(name string) (small string, auto bool) {
	switch name {
	case "", Default, "auto-gemini-3":
		return r.flash(), true
	case "auto-gemini-2.5":
		return r.Resolve("gemini-3.5-flash"), true
	}
	return "", false
}

// A Choice is a model that the user may choose.
type Choice struct {
	Name string
	Note string // what it is for, or stands for
}

// choices returns the names to offer, those that stand for others first.
func (r Access) choices() []Choice {
	choices := []Choice{
		{"auto", ""}, {"pro", ""}, {"flash", ""}, {"flash-lite", ""}, {"auto-gemini-2.5", ""},
	}
	switch r {
	case ByKey:
		choices = append(choices, Choice{proLatest, "most able; for tools such as ours"})
		fallthrough
	case ByAccount:
		choices = append(choices, Choice{"gemini-3.1-pro-preview", "most able"}, Choice{flash, "fast and able"},
			Choice{"gemini-3-flash-preview", "fast, a preview"})
	case ByAssist:
		choices = append(choices, Choice{r.pro(), "most able"}, Choice{r.flash(), "fast, a preview"})
	}
	return append(choices, Choice{r.flashLite(), "fastest and cheapest"}, Choice{pro25, "able and proven"},
		Choice{"gemini-2.5-flash", "fast and proven"}, Choice{"gemini-2.5-flash-lite", "cheap and proven"},
		Choice{"gemma-4-31b-it", "open weights"}, Choice{"gemma-4-26b-a4b-it", "open weights, faster"})
}

// tokenLimit returns how many tokens the context of a model holds.
func tokenLimit(name string) int {
	switch strings.TrimSpace(name) {
	case "gemma-4-31b-it", "gemma-4-26b-a4b-it":
		return 256_000
	}
	return 1_048_576
}
