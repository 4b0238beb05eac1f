package attach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"gemline/repl/output"
)

// Limits of stored texts for listeners, and timeouts.
const (
	mostSince   = 256 << 10 // bytes of earlier output for a new listener
	mostWaiting = 1 << 20   // unsent bytes for one listener
	mostTyped   = 100       // unread lines that were sent during a turn
	greetWithin = 5 * time.Second
	lookWithin  = 2 * time.Second // timeout when the states of all sessions are listed
)

// SentLine is a line that a listener has sent.
type SentLine struct {
	Text string
	By   string // the terminal, in words
	to   *listener
}

// Config is the configuration of a [Hub].
type Config struct {
	Dir  string      // of the sockets
	Info func() Info // may be called on any goroutine

	// Interrupt does the same as Ctrl-C, and Warn prints a warning. Both are called on any
	// goroutine.
	Interrupt func()
	Warn      func(text string)
}

// A Hub is the session's side: it copies the session's output to all listeners, and passes their
// lines to the session. It is safe for concurrent use.
type Hub struct {
	cfg   Config
	begin sync.Once
	typed chan SentLine

	mu        sync.Mutex
	place     *socket // nil before it is made
	closed    bool
	failed    error // the error of making the socket
	listeners map[*listener]bool
	since     []byte
	cut       bool // the beginning of since is missing
	number    int  // of the last question or prompt
	open      *message
	answer    chan SentLine  // to the open question or prompt; nil if there is none
	taken     bool           // it has got an answer
	work      sync.WaitGroup // of messages that are not written yet
}

// NewHub returns a Hub. It makes the socket when the first prompt or question opens.
func NewHub(c Config) *Hub {
	return &Hub{cfg: c, typed: make(chan SentLine, mostTyped), listeners: map[*listener]bool{}}
}

// Move makes the socket for the session's id. If the id has changed, it replaces the earlier
// socket.
func (h *Hub) Move() {
	info := h.cfg.Info()
	id := info.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.place != nil && h.place.id == id {
		return
	}
	if h.place != nil {
		h.place.close()
	}
	if h.place, h.failed = listen(h.cfg.Dir, id); h.failed != nil {
		h.place = nil
		return
	}
	l := h.place.UnixListener
	go h.accept(l)
	h.tell(message{Type: hello, Info: &info})
}

// Reachable returns an error if listeners can't connect. It makes the socket if needed.
func (h *Hub) Reachable() error {
	h.begin.Do(h.Move)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// Close says goodbye to all listeners and removes the socket.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	if h.place != nil {
		h.place.close()
	}
	for l := range h.listeners {
		l.send(encode(message{Type: bye, Text: "the session has ended"}))
		l.end()
	}
	clear(h.listeners)
	h.mu.Unlock()
	h.work.Wait()
}

// Print shows listeners the output of the session's terminal. It is given to
// [output.Writer.CopyTo].
func (h *Hub) Print(b []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.print(b)
}

func (h *Hub) print(b []byte) {
	h.since = append(h.since, b...)
	if n := len(h.since) - mostSince; n > 0 {
		rest := h.since[n+mostSince/4:]
		rest = rest[bytes.IndexByte(rest, '\n')+1:]
		h.since, h.cut = append([]byte(nil), rest...), true
	}
	h.tell(message{Type: text, Text: string(b)})
}

// tell sends m to all listeners. It drops a listener with too many unsent bytes.
func (h *Hub) tell(m message) {
	if len(h.listeners) == 0 {
		return
	}
	b := encode(m)
	for l := range h.listeners {
		if !l.send(b) {
			h.drop(l)
			by := l.name
			go h.cfg.Warn(by + " reads too slowly and was dropped; gemline attach comes back")
		}
	}
}

// drop forgets a listener.
func (h *Hub) drop(l *listener) {
	delete(h.listeners, l)
	l.end()
}

// Open tells listeners that a prompt or a question is open, and returns a channel for the first
// line that a listener sends.
func (h *Hub) Open(prompt string, question bool) <-chan SentLine {
	h.begin.Do(h.Move) // before the prompt is printed, so that a user who sees it can attach
	h.mu.Lock()
	defer h.mu.Unlock()
	h.number++
	h.open = &message{Type: open, Number: h.number, Text: prompt, Question: question}
	h.answer, h.taken = make(chan SentLine, 1), false
	if !question { // a line that was sent earlier is the next prompt
		select {
		case s := <-h.typed:
			h.answer <- s
			h.taken = true
		default:
		}
	}
	h.tell(*h.open)
	return h.answer
}

// Shut closes the open question. The sender of a late line gets a message.
func (h *Hub) Shut(by string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case s := <-h.answer:
		s.to.send(encode(message{Type: late, Text: "answered already, " + by, By: by}))
	default:
	}
	h.open, h.answer = nil, nil
	h.tell(message{Type: busy})
}

// Turn marks the beginning of a turn: a new listener gets the output from here on.
func (h *Hub) Turn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since, h.cut = nil, false
}

// Typed returns the lines that are sent while no question or prompt is open.
func (h *Hub) Typed() <-chan SentLine { return h.typed }

// Late tells the sender of s that s does not count. If the sender is gone, it tells all listeners.
func (h *Hub) Late(s SentLine, why string) {
	if s.to == nil {
		h.Print(output.Copied(output.Warning, why))
		return
	}
	s.to.send(encode(message{Type: late, Text: why}))
}

// state describes the activity of the session.
func (h *Hub) state() string {
	switch {
	case h.open == nil:
		return "working"
	case h.open.Question:
		return "waiting for an answer"
	}
	return "waiting for a prompt"
}

func (h *Hub) accept(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		go h.serve(conn)
	}
}

// serve serves one listener, or a client that only requests the state.
func (h *Hub) serve(conn *net.UnixConn) {
	defer conn.Close()
	if err := sameUser(conn); err != nil {
		conn.SetWriteDeadline(time.Now().Add(greetWithin))
		conn.Write(encode(message{Type: bye, Text: err.Error()}))
		return
	}
	info := h.cfg.Info()
	h.mu.Lock()
	info.State = h.state()
	h.mu.Unlock()
	conn.SetDeadline(time.Now().Add(greetWithin))
	if _, err := conn.Write(encode(message{Type: hello, Info: &info})); err != nil {
		return
	}
	var l *listener
	for m, err := range read(conn) {
		switch {
		case err != nil:
		case l == nil && m.Type == hello:
			conn.SetDeadline(time.Time{})
			l = newListener(conn, output.EscapeLine(m.By))
			if h.admit(l) {
				defer h.part(l)
				continue
			}
		case l != nil:
			h.receive(l, m)
			continue
		}
		return
	}
}

// admit shows a new listener the output since the last prompt, and the open question.
func (h *Hub) admit(l *listener) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.work.Go(l.write)
	if h.cut {
		l.send(encode(message{Type: text, Text: string(output.Copied(output.Info, "what came before is left out"))}))
	}
	l.send(encode(message{Type: text, Text: string(h.since)}))
	if h.open != nil {
		l.send(encode(*h.open))
	}
	h.listeners[l] = true
	return true
}

func (h *Hub) part(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(l)
}

// receive handles a message of a listener.
func (h *Hub) receive(l *listener, m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := SentLine{Text: m.Text, By: l.name, to: l}
	fits := h.open != nil && (m.Number == h.number || m.Number == 0 && !h.open.Question)
	switch {
	case m.Type == interrupt:
		if h.open == nil || h.open.Question {
			h.cfg.Interrupt()
		}
	case m.Type != said:
	case fits && !h.taken:
		h.answer <- s
		h.taken = true
	case m.Number == 0 && (h.open == nil || !h.open.Question):
		select {
		case h.typed <- s:
		default:
			h.Late(s, "too many lines wait already; not sent: "+m.Text)
		}
	case m.Number == 0:
		h.Late(s, "a question has come up, which needs an answer first; not sent: "+m.Text)
	default:
		h.Late(s, "answered already, by somebody else; not sent: "+m.Text)
	}
}

// A listener is an attached terminal.
type listener struct {
	conn *net.UnixConn
	name string

	mu      sync.Mutex
	change  sync.Cond
	waiting []byte
	ended   bool
}

func newListener(conn *net.UnixConn, name string) *listener {
	l := &listener{conn: conn, name: fmt.Sprintf("an attached terminal (%s)", name)}
	l.change.L = &l.mu
	return l
}

// send queues b, and reports whether the queue has room for it.
func (l *listener) send(b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || len(l.waiting)+len(b) > mostWaiting {
		return l.ended
	}
	l.waiting = append(l.waiting, b...)
	l.change.Signal()
	return true
}

// end closes the queue. The rest of the queue has a second to be written.
func (l *listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended = true
		l.conn.SetWriteDeadline(time.Now().Add(time.Second))
		l.change.Signal()
	}
}

// write writes the queue to the connection.
func (l *listener) write() {
	for {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.ended {
			l.change.Wait()
		}
		b := l.waiting
		l.waiting = nil
		l.mu.Unlock()
		if len(b) == 0 {
			break
		}
		if _, err := l.conn.Write(b); err != nil {
			break
		}
	}
	l.conn.Close() // ends the reading, too
}

// Live returns the sessions with sockets in directories, also sessions that do not answer, such as
// stopped processes. It removes sockets of killed sessions.
func Live(ctx context.Context, dirs ...string) []Session {
	var all []*Session
	var looks sync.WaitGroup
	for _, dir := range dirs {
		for _, id := range sockets(dir) {
			s := &Session{Dir: dir}
			all = append(all, s)
			looks.Go(func() {
				c, err := dial(ctx, dir, id, lookWithin)
				switch {
				case err == nil:
					s.Info = c.Info
					c.Close()
				case errors.Is(err, errSilent):
					s.Info = Info{ID: id, State: "not answering"}
				}
			})
		}
	}
	looks.Wait()
	var live []Session
	for _, s := range all {
		if s.ID != "" {
			live = append(live, *s)
		}
	}
	return live
}

// A Session is a live session.
type Session struct {
	Info
	Dir string // of its socket
}
