package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"
)

// serves serves h, and returns a function that connects to it.
func serves(t *testing.T, h http.Handler, idle time.Duration, most int) (dial func() net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(h, idle, most)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-ended })
	return func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		conn.SetDeadline(time.Now().Add(time.Minute))
		return conn
	}
}

// get makes a request, and returns the status of the answer.
func get(conn net.Conn) (status string, err error) {
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.Status, err
}

// A connection on which no request comes ends.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	dial := serves(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), time.Millisecond, 8)
	conn := dial()
	if status, err := get(conn); status != "200 OK" {
		t.Fatal(status, err)
	}
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// Of too many connections those end that were quiet for longest, and none that is answered.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	const most = 4
	gate, begun := make(chan struct{}), make(chan struct{})
	dial := serves(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-gate
	}), time.Hour, most)
	busy := dial()
	answered := make(chan string, 1)
	go func() { status, err := get(busy); answered <- fmt.Sprint(status, err) }()
	<-begun
	var quiet []net.Conn
	for range 3 * most {
		quiet = append(quiet, dial())
	}
	for i, conn := range quiet[:2*most+1] { // most of them, but for the busy one
		if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("connection %d: %d bytes, %v", i, n, err)
		}
	}
	close(gate)
	if said := <-answered; said != "200 OK<nil>" {
		t.Error(said)
	}
	last := quiet[len(quiet)-1]
	go func() { <-begun }()
	if status, err := get(last); status != "200 OK" {
		t.Error(status, err)
	}
}

// The counts are right over all that may become of connections.
func TestConnectionCounts(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	c, d := net.Pipe()
	all := []net.Conn{a, b, c, d}
	cs := connections{most: 2}
	for i, step := range []struct {
		conn  int
		state http.ConnState
		ends  int // -1 is none
	}{
		{0, http.StateNew, -1}, {0, http.StateActive, -1}, {1, http.StateNew, -1}, {2, http.StateNew, 1}, {1, http.StateClosed, -1},
		{2, http.StateActive, -1}, {3, http.StateNew, 3}, {3, http.StateClosed, -1}, {0, http.StateIdle, -1}, {2, http.StateIdle, -1},
		{1, http.StateNew, 0}, {0, http.StateClosed, -1}, {2, http.StateHijacked, -1}, {1, http.StateClosed, -1},
	} {
		ends := cs.note(all[step.conn], step.state)
		if got := slices.Index(all, ends); ends != nil && got != step.ends || ends == nil && step.ends != -1 {
			t.Errorf("step %d: %d ends, want %d", i, got, step.ends)
		}
	}
	if cs.open != 0 || len(cs.quiet) != 0 {
		t.Errorf("%d open, %d quiet", cs.open, len(cs.quiet))
	}
}
