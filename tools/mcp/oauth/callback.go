package oauth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gemline/engine/auth"
	"gemline/engine/text"
)

// callbackPath is the path of the redirect with the code.
const callbackPath = "/oauth/callback"

// answers reports whether q, the query of the address to which a browser was sent, answers the log-in
// with the state.
func answers(q url.Values, state string) bool {
	return subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) == 1 && (q.Get("code") != "" || q.Get("error") != "")
}

// parsePasted parses the user's input: the final address of the browser, or only its code. A
// code alone has no state, but PKCE binds it to this log-in.
func parsePasted(s, state string) (got url.Values, problem string) {
	s = strings.Trim(strings.TrimSpace(s), `"'<>`)
	switch {
	case s == "":
		return got, "nothing was pasted"
	case !strings.Contains(s, "=") && !strings.ContainsAny(s, " \t:"):
		return url.Values{"code": {s}}, ""
	}
	_, query, ok := strings.Cut(s, "?")
	if !ok {
		query = s
	}
	query, _, _ = strings.Cut(query, "#")
	switch got, err := url.ParseQuery(query); {
	case err != nil:
		return nil, "that is neither an address nor a code"
	case got.Get("code") == "" && got.Get("error") == "":
		return nil, "there is no code in that"
	case !answers(got, state):
		return nil, "that is the answer to another log-in"
	default:
		return got, ""
	}
}

// A callback waits for the browser that comes back with the code.
type callback struct {
	uri     string
	problem string       // why no redirect can arrive here; then the user must paste the address
	server  *http.Server // nil if no redirect can arrive
	came    chan url.Values
}

// listen opens the port for the redirect, on this machine only. It calls arrived after the
// answer to the log-in with the state.
func (e *exchange) listen(state string, arrived func()) (*callback, error) {
	c := e.c
	to := &callback{uri: c.server.RedirectURI, came: make(chan url.Values, 1)}
	port, host, path := c.cfg.Getenv("OAUTH_CALLBACK_PORT"), "127.0.0.1", callbackPath
	if to.uri != "" {
		u, err := url.Parse(to.uri)
		if err != nil || u.Host == "" {
			return nil, &auth.Error{Config: true,
				Message: fmt.Sprintf("mcpServers.%s.oauth.redirectUri is %q, which is no address",
					c.server.Name, to.uri)}
		}
		if path = cmp.Or(u.Path, "/"); net.ParseIP(u.Hostname()).IsLoopback() {
			host = u.Hostname()
		}
		if port == "" && text.Loopback(u.Hostname()) {
			port = u.Port()
		}
		if port == "" {
			to.problem = "the browser ends at " + serverText(u.Host) + ", from where the address has to be pasted"
			return to, nil
		}
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	switch {
	case err != nil && (port == "" || port == "0"):
		return nil, fmt.Errorf("no port for the log-in: %w", err)
	case err != nil:
		to.problem = fmt.Sprintf("port %s is taken, so the browser will show an error; the address has to be pasted", serverText(port))
	default:
		_, port, _ = net.SplitHostPort(l.Addr().String())
		to.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
			ErrorLog: log.New(io.Discard, "", 0), Handler: to.handler(path, state, arrived)}
		go to.server.Serve(l)
	}
	if c.server.ClientID != "" {
		host = "localhost" // as it was registered for the Gemini CLI
	}
	if web := c.cfg.Getenv("WEB_HOST"); to.uri == "" && web != "" && c.cfg.Getenv("GOOGLE_CLOUD_WORKSTATIONS") != "" {
		to.uri = fmt.Sprintf("https://%s-%s%s", port, web, callbackPath)
	} else if to.uri == "" {
		to.uri = "http://" + net.JoinHostPort(host, port) + callbackPath
	}
	return to, nil
}

// handler takes the first answer that belongs to the log-in.
func (to *callback) handler(path, state string, arrived func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		got := r.URL.Query()
		if r.Method != http.MethodGet || r.URL.Path != path || !answers(got, state) {
			http.Error(w, "This is not the answer that gemline waits for.", http.StatusBadRequest)
			return
		}
		select {
		case to.came <- got:
			defer arrived()
		default: // a repeated answer is ignored
		}
		fmt.Fprintln(w, "gemline has the answer of the log-in. This window can be closed; the terminal says how it went.")
	}
}

// close closes the port, after the browser has got its page.
func (to *callback) close() {
	if to.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if errors.Is(to.server.Shutdown(ctx), context.DeadlineExceeded) {
		to.server.Close()
	}
}
