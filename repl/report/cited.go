package report

import (
	"gemline/engine"
	"gemline/repl/output"
)

// A Citation is a page or the like that an answer rests on, as a record has it.
type Citation struct {
	Title string `json:"title,omitempty"`
	URI   string `json:"uri"`
}

// cited is what the last answer rests on.
type cited struct{ list []Citation }

// observe takes in an event.
func (c *cited) observe(ev engine.Event) {
	switch ev := ev.(type) {
	case engine.RequestStarted:
		c.list = nil
	case engine.Citations:
		c.list = nil
		for _, r := range ev.References {
			c.list = append(c.list, Citation{output.Valid(r.Title), output.Valid(r.URI)})
		}
	}
}
