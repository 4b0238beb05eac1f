package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// checkRedirect allows a redirect of a card only within the card's host.
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

// do makes a request. It sends credentials if shown is set, or the server asks for them. If the
// server refuses credentials that may have changed, do resolves them again and repeats the request.
func (c *Client) do(req *http.Request, shown bool) (*http.Response, error) {
	req.Close = true // so that every connection is checked, and none stays open
	req.Header.Set("User-Agent", c.cfg.Web.UserAgent)
	for tries := 0; ; {
		if shown && c.cfg.Server.Auth.Type != "" {
			if err := c.identify(req); err != nil {
				return nil, err
			}
		}
		resp, err := c.http.Do(req)
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		switch {
		case err != nil || !refused(resp) || c.cfg.Server.Auth.Type == "":
			return resp, err
		case !shown:
			shown = true
		case tries == mostRetries || !c.cfg.Server.changes():
			return resp, nil
		default:
			c.held = identity{}
			tries++
		}
		resp.Body.Close()
		if req.GetBody != nil {
			req.Body, _ = req.GetBody()
		}
	}
}

const eventStream = "text/event-stream"

// call makes a request of the protocol, and adds the answer to the transcript.
func (c *Client) call(ctx context.Context, a *transcript, m method, params map[string]any) error {
	req, err := c.card.request(ctx, m, params)
	if err != nil {
		return err
	}
	resp, err := c.do(req, true)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != eventStream {
		b, err := c.content(resp, rpc.MaxMessage)
		if err != nil {
			return err
		}
		return c.take(a, b)
	}
	events := rpc.NewEvents(&limited{resp.Body, &c.remaining})
	for some := false; ; some = true {
		ev, err := events.Next()
		switch {
		case err == io.EOF && some:
			return nil
		case err == io.EOF:
			return errors.New("its answer is empty")
		case err == rpc.ErrTooLong, err == errTooMuch:
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", errBroken, err)
		case ev.Name == "error":
			return faultIn(ev.Data)
		}
		if err := c.take(a, ev.Data); err != nil {
			return err
		}
	}
}

// content reads an answer that is not streamed.
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

// A limited reader fails when the server has sent too much.
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

// request makes a request. Over REST, an id in params is in the address, and there is no body.
func (c *card) request(ctx context.Context, m method, params map[string]any) (*http.Request, error) {
	address, verb, d := c.at.String(), http.MethodPost, c.version
	var b []byte
	if d.rest {
		verb = m.verb
		if !d.second {
			address += "/v1"
		}
		id, _ := params["id"].(string)
		address += strings.Replace(m.path, "{id}", url.PathEscape(id), 1)
		if id == "" {
			b, _ = json.Marshal(params)
		}
	} else {
		name := m.first
		if d.second {
			name = m.second
		}
		b, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": name, "params": params})
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
