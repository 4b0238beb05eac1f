package remote

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gemline/engine/text"
)

// find reads the agent's card, and checks the agent's address.
func (c *Client) find(ctx context.Context) (err error) {
	if c.card == nil {
		b := []byte(c.cfg.Server.Card)
		if len(b) == 0 {
			if b, err = c.fetch(ctx); err != nil {
				return fmt.Errorf("the agent's card: %w", err)
			}
		}
		found, err := parseCard(b)
		if err != nil {
			return err
		}
		c.card = found
	}
	to := c.card.at
	if err = c.transport.check(to); err == nil && c.cfg.Server.Auth.Type != "" && !c.trusted(to) {
		err = fmt.Errorf("its card names another server, %s, which does not get the credentials for %s; "+
			"if it is meant, have agent_card_url name that server, or write the card into agent_card_json", text.OneLine(to.Host, longestSaid), c.cfg.Server.Host())
	}
	return err
}

// trusted reports whether a server may be shown the credentials: one that the definition
// names.
func (c *Client) trusted(to *url.URL) bool {
	return slices.ContainsFunc(c.cfg.Server.addresses(), func(u *url.URL) bool {
		return origin(u) == origin(to) || strings.EqualFold(u.Hostname(), to.Hostname()) && to.Scheme == "https"
	})
}

// Host returns the server that a definition names, for people.
func (s Server) Host() string {
	for _, u := range s.addresses() {
		return text.OneLine(u.Host, longestSaid)
	}
	return "a server"
}

// fetch reads the agent's card: first without credentials, then with them.
func (c *Client) fetch(ctx context.Context) ([]byte, error) {
	ctx, stop := context.WithTimeoutCause(ctx, cardTime, fmt.Errorf("no answer within %s", cardTime))
	defer stop()
	at, err := address("agent_card_url", c.cfg.Server.CardURL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(req, false)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	return c.content(resp, mostCard)
}
