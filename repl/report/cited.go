package report

import (
	"gemline/engine"
	"gemline/repl/output"
)

// A Citation is a source of an answer, such as a page, for a record.
type Citation struct {
	Title string `json:"title,omitempty"`
	URI   string `json:"uri"`
}

// cited holds the sources of the last answer.
type cited struct{ list []Citation }

// observe stores the sources in an event.
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
