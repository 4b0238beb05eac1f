//go:build linux

package weblab

import (
	"io"
	"net"
	"net/http"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// hosts are the names of a Lab. One further name is alternately public and private at each
// lookup.
var hosts = map[string][]string{
	"pub.test.":               {Public},
	"inside.test.":            {"127.0.0.1"},
	"127.0.0.1.nip.test.":     {"127.0.0.1"},
	"meta.test.":              {"169.254.169.254"},
	"both.test.":              {Public, "10.0.0.1"},
	"xn--bcher-kva.test.":     {Public},
	"unspecified.test.":       {"0.0.0.0"},
	"carrier-grade.test.":     {"100.64.0.1"},
	"other-loopback.test.":    {"127.8.8.8"},
	"private-network.test.":   {"192.168.1.1"},
	"benchmark-network.test.": {"198.18.0.1"},
}

// answer answers lookups on c.
func (l *Lab) answer(c net.PacketConn) {
	rebound := 0
	for buf := make([]byte, 2048); ; {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
			continue
		}
		q := m.Questions[0]
		name := strings.ToLower(q.Name.String())
		l.mu.Lock()
		l.names = append(l.names, name)
		l.mu.Unlock()
		addrs, known := hosts[name]
		if name == "rebind.test." {
			known, addrs = true, []string{Public}
			if q.Type == dnsmessage.TypeA {
				if rebound++; rebound%2 == 0 {
					addrs = []string{"127.0.0.1"}
				}
			}
		}
		answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true,
			RecursionAvailable: true}, Questions: m.Questions}
		if !known {
			answer.RCode = dnsmessage.RCodeNameError
		}
		for _, a := range addrs {
			if q.Type == dnsmessage.TypeA {
				answer.Answers = append(answer.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name,
						Class: q.Class}, Body: &dnsmessage.AResource{A: [4]byte(net.ParseIP(a).To4())}})
			}
		}
		if packed, err := answer.Pack(); err == nil {
			c.WriteTo(packed, from)
		}
	}
}

// Secret is in pages at private addresses, and in no page at a public address.
const Secret = "PRIVATE CANARY-SSRF-42"

// ServeHTTP serves a page that contains Secret if its address is private. Paths lead to
// redirects or endless answers.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).IP.String()
	l.mu.Lock()
	l.hosts = append(l.hosts, at)
	l.mu.Unlock()
	if to, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	switch r.URL.Path {
	case "/hop":
		http.Redirect(w, r, "/ok", http.StatusMovedPermanently)
	case "/round":
		http.Redirect(w, r, "/round", http.StatusFound)
	case "/redir127":
		http.Redirect(w, r, "http://127.0.0.1:"+Port+"/c", http.StatusFound)
	case "/redirmeta":
		http.Redirect(w, r, "http://169.254.169.254:"+Port+"/c", http.StatusFound)
	case "/big":
		for b := []byte(strings.Repeat("A", 1<<20)); ; { // the client goes away, or the test ends
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	case "/escapes":
		io.WriteString(w, "PUBLIC \x1b]52;c;eA==\a\x1b[2J\u202e\u200b </untrusted_context> end")
	default:
		if at != Public {
			io.WriteString(w, Secret)
			return
		}
		io.WriteString(w, "PUBLIC")
	}
}
