package report

import (
	"gemline/engine"
	"gemline/repl/output"
)

// cited holds the sources of the last answer.
type cited struct{ list []engine.Reference }

// observe stores the sources in an event.
func (c *cited) observe(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.RequestStarted:
		c.list = nil
	case engine.Citations:
		c.list = nil
		for _, r := range ev.References {
			c.list = append(c.list, engine.Reference{Title: output.Valid(r.Title), URI: output.Valid(r.URI)})
		}
	}
}
