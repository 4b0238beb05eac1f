package remote

import (
	"cmp"
	"slices"
	"strings"

	protocol "github.com/a2aproject/a2a-go/a2a"
)

// An Answer is an agent's reply to a message.
type Answer struct {
	Text string // the agent's words and artifacts

	// Open says that the agent waits for the next message. Refused says that the agent needs
	// the user's authorization first.
	Open, Refused bool

	// Failed says that the agent has given up, with its state.
	Failed string
}

// A transcript is the messages and artifacts of an agent so far.
type transcript struct {
	tell func(string)
	open bool // the shown text does not end with a newline

	context, task string
	state         protocol.TaskState
	said          []string // without immediate repetitions
	made          []madeArtifact
	history       string // the last message in the task's history
	size          int    // bytes
	cut           bool
}

// A madeArtifact is an artifact, put together from its parts.
type madeArtifact struct {
	id, name string
	text     []byte
}

const maxArtifacts = 1000

const cutOff = "[What follows is cut off: it is too long.]"

// add adds a message of the agent.
func (a *transcript) add(s message) {
	a.context, a.task = cmp.Or(s.ContextID, a.context), cmp.Or(s.TaskID, a.task)
	if s.Status != nil {
		id, _ := s.ID.(string)
		a.task = cmp.Or(s.TaskID, id, a.task)
		a.state = s.Status.state()
		a.say(cmp.Or(s.Status.Message, s.Status.Update))
	}
	for _, m := range s.History {
		if w := m.words(true); w != "" {
			a.history = w[:min(len(w), mostKept)]
		}
	}
	for _, x := range s.Artifacts {
		a.make(x, false)
	}
	if s.Artifact != nil {
		a.make(*s.Artifact, s.Append)
	}
	a.say(&s)
}

// busy reports whether the agent is still working.
func (a *transcript) busy() bool {
	return a.state == protocol.TaskStateSubmitted || a.state == protocol.TaskStateWorking
}

// say adds the text of a message. Data in it is for the model, and not shown.
func (a *transcript) say(m *message) {
	words := m.words(true)
	if words == "" || len(a.said) > 0 && a.said[len(a.said)-1] == words {
		return
	}
	words, shown := a.limit(words, m.words(false))
	if words != "" {
		a.said = append(a.said, words)
	}
	if shown != "" {
		if a.open {
			shown = "\n" + shown
		}
		a.tell(shown + "\n")
		a.open = false
	}
}

// make adds an artifact, or more of its contents.
func (a *transcript) make(x artifact, more bool) {
	w, shown := words(x.Parts, true), words(x.Parts, false)
	i := slices.IndexFunc(a.made, func(t madeArtifact) bool { return t.id == x.ArtifactID })
	switch {
	case i < 0 && len(a.made) == maxArtifacts:
		a.cut = true
		return
	case i < 0:
		a.made = append(a.made, madeArtifact{id: x.ArtifactID, name: x.Name})
		i = len(a.made) - 1
	case !more:
		if string(a.made[i].text) == w {
			return
		}
		a.size -= len(a.made[i].text)
		a.made[i].text = nil
	}
	t := &a.made[i]
	t.name = cmp.Or(x.Name, t.name)
	w, shown = a.limit(w, shown)
	t.text = append(t.text, w...)
	if shown != "" {
		a.tell(shown)
		a.open = !strings.HasSuffix(shown, "\n")
	}
}

// limit cuts words and their shown form to the part that still fits.
func (a *transcript) limit(words, shown string) (kept, told string) {
	if room := max(0, mostKept-a.size); len(words) > room {
		words, a.cut = strings.ToValidUTF8(words[:room], ""), true
		shown = strings.ToValidUTF8(shown[:min(len(shown), len(words))], "")
	}
	a.size += len(words)
	return words, shown
}

// answer returns the collected Answer.
func (a *transcript) answer() Answer {
	var blocks []string
	if len(a.said) > 0 {
		blocks = append(blocks, strings.Join(a.said, "\n"))
	}
	for _, t := range a.made {
		name := cmp.Or(t.name, cmp.Or(t.id, "unnamed"))
		blocks = append(blocks, "Artifact ("+name+"):\n"+string(t.text))
	}
	if len(blocks) == 0 && a.history != "" && a.state.Terminal() {
		blocks = append(blocks, a.history)
	}
	if a.cut {
		blocks = append(blocks, cutOff)
	}
	out := Answer{Text: strings.Join(blocks, "\n\n"), Open: a.state == protocol.TaskStateInputRequired,
		Refused: a.state == protocol.TaskStateAuthRequired}
	if a.state.Terminal() && a.state != protocol.TaskStateCompleted {
		out.Failed = string(a.state)
	}
	return out
}
