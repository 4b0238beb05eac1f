package front

import (
	"context"
	"slices"
	"sync"

	"gemline/commands/program/project"
	"gemline/engine/text"
)

// gathered are warnings of a beginning, which are printed together when it is over. They are
// safe for concurrent use.
type gathered struct {
	mu    sync.Mutex
	texts []string
	over  bool
}

// add adds a warning, or prints it by tell if the others are printed.
func (g *gathered) add(text string, tell func(...string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		tell(text)
		return
	}
	g.texts = append(g.texts, text)
}

// all prints by tell the warnings so far, sorted.
func (g *gathered) all(tell func(...string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over = true; len(g.texts) > 0 {
		slices.Sort(g.texts)
		tell(g.texts...)
	}
}

// startServers begins to connect to servers while the user types.
func (i *interactive) startServers() {
	c := i.frontend.session.Project.MCP
	if c.Servers == nil {
		return
	}
	var early gathered
	tell := func(texts ...string) { // together, when that disturbs nobody
		i.screen.Show(func() {
			text.Each(texts, i.frontend.notify)
		})
	}
	c.PrintNotice = func(text string) { early.add(text, tell) }
	c.Servers.Start()
	go func() {
		c.Servers.Wait(context.Background(), project.SilentWait)
		early.all(tell)
	}()
}
