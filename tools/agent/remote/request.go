package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

func refused(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// checkRedirect follows redirects of a card on its own host.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case via[0].Method != http.MethodGet:
		return http.ErrUseLastResponse
	case !strings.EqualFold(next.URL.Hostname(), via[0].URL.Hostname()):
		return fmt.Errorf("it redirects to %s, which is asked only if agent_card_url names it",
			text.OneLine(next.URL.Host, longestSaid))
	case len(via) > mostRedirects:
		return fmt.Errorf("more than %d redirects", mostRedirects)
	}
	return nil
}

// do makes a request. A refused request is repeated with newly resolved credentials, if
// they may have changed.
func (c *Client) do(req *http.Request, shown bool) (*http.Response, error) {
	auth := c.cfg.Server.Auth
	shown = shown && auth.Type != ""
	req.Close = true // so that every connection is looked at, and none is left
	req.Header.Set("User-Agent", c.cfg.Web.UserAgent)
	for tries := 0; ; tries++ {
		if shown && c.held.header == "" {
			var err error
			if c.held, err = c.cfg.identity(req.Context(), req.URL); err != nil {
				return nil, err
			}
		}
		if shown {
			req.Header.Set(c.held.header, c.held.value)
		}
		resp, err := c.http.Do(req)
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		if err != nil || !shown || !refused(resp) || tries == mostRetries || !auth.changes() {
			return resp, err
		}
		resp.Body.Close()
		c.held = identity{}
		if req.GetBody != nil {
			req.Body, _ = req.GetBody()
		}
	}
}

const eventStream = "text/event-stream"

// call makes a request of the protocol, and yields what is said to it.
func (c *Client) call(ctx context.Context, m method, params any, id string) iter.Seq2[message, error] {
	return func(yield func(message, error) bool) {
		req, err := c.card.request(ctx, m, params, id)
		if err != nil {
			yield(message{}, err)
			return
		}
		resp, err := c.do(req, true)
		if err != nil {
			yield(message{}, err)
			return
		}
		defer resp.Body.Close()
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != eventStream {
			b, err := c.content(resp, rpc.MaxMessage)
			if err != nil {
				yield(message{}, err)
				return
			}
			yield(decode(b))
			return
		}
		events := rpc.NewEvents(&limited{resp.Body, &c.remaining})
		for {
			ev, err := events.Next()
			if err == io.EOF {
				return
			}
			var s message
			switch err {
			case nil:
				if ev.Name == "error" {
					err = faultIn(ev.Data)
				} else {
					s, err = decode(ev.Data)
				}
			case rpc.ErrTooLong, errTooMuch:
			default:
				err = fmt.Errorf("%w: %w", errBroken, err)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// content reads an answer that is all in one.
func (c *Client) content(resp *http.Response, most int64) ([]byte, error) {
	if resp.StatusCode >= 300 {
		return nil, failure(resp)
	}
	b, err := io.ReadAll(io.LimitReader(&limited{resp.Body, &c.remaining}, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	case int64(len(b)) > most:
		return nil, fmt.Errorf("its answer has more than %d MB", most>>20)
	}
	return b, nil
}

var errBroken = errors.New("its answer breaks off")

var errTooMuch = errors.New("it has sent too much for one call")

// A limited reader reads until too much was sent.
type limited struct {
	r    io.Reader
	left *int64
}

// Read implements [io.Reader].
func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if *l.left -= int64(n); *l.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// request makes a request, which is about a task if id is set.
func (c *card) request(ctx context.Context, m method, params any, id string) (*http.Request, error) {
	address, verb, body, d := c.at.String(), http.MethodPost, params, c.version
	if d.rest {
		verb = m.verb
		if !d.second {
			address += "/v1"
		}
		address += strings.Replace(m.path, "{id}", url.PathEscape(id), 1)
	} else {
		name := m.first
		if d.second {
			name = m.second
		}
		body = map[string]any{"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
	}
	b, _ := json.Marshal(body)
	if d.rest && id != "" {
		b = nil
	}
	req, err := http.NewRequestWithContext(ctx, verb, address, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if m == stream {
		req.Header.Set("Accept", eventStream+", application/json")
	}
	if len(b) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.second {
		req.Header.Set("A2A-Version", "1.0")
	}
	return req, nil
}
