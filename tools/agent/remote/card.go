package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"gemline/engine/text"
)

// A card is an agent's description of itself.
type card struct {
	Description          string
	URL                  string
	PreferredTransport   string
	ProtocolVersion      string
	AdditionalInterfaces []agentInterface
	SupportedInterfaces  []agentInterface // of version 1
	Capabilities         struct{ Streaming bool }

	at      *url.URL // where the agent is asked
	version version
}

// An agentInterface is an address of an agent, with its transport and version.
type agentInterface struct {
	URL, Transport, ProtocolBinding, ProtocolVersion string
}

// parseCard reads a card.
func parseCard(b []byte) (*card, error) {
	var c card
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("the agent's card is no JSON of the protocol: %w", err)
	}
	return &c, c.choose()
}

// Check returns the fault of a definition, without a request.
func (s Server) Check() error {
	if s.Card != "" {
		_, err := parseCard([]byte(s.Card))
		return err
	}
	_, err := address("agent_card_url", s.CardURL)
	return err
}

// address reads the address of a card or an agent.
func address(name, s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil { // the text may contain a password
		return nil, fmt.Errorf("%s can't be read as an address", name)
	}
	if u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is %q, which is no http or https address without a user name", name, text.OneLine(u.Redacted(), longestSaid))
	}
	return u, nil
}

// Description returns the agent's description on the card, if the definition contains the
// card.
func (s Server) Description() string {
	c, err := parseCard([]byte(s.Card))
	if err != nil {
		return ""
	}
	return c.Description
}

// choose selects the first interface that this package supports.
func (c *card) choose() (err error) {
	list := append([]agentInterface{{URL: c.URL, Transport: cmp.Or(c.PreferredTransport, "JSONRPC"),
		ProtocolVersion: c.ProtocolVersion}}, c.SupportedInterfaces...)
	list = append(list, c.AdditionalInterfaces...)
	var others []string
	for _, f := range list {
		if f.URL == "" {
			continue
		}
		c.version = version{second: strings.HasPrefix(cmp.Or(f.ProtocolVersion, c.ProtocolVersion), "1")}
		switch name := cmp.Or(f.Transport, f.ProtocolBinding); strings.ToUpper(name) {
		case "HTTP+JSON":
			c.version.rest = true
			f.URL = strings.TrimRight(f.URL, "/")
		case "JSONRPC":
		default:
			others = append(others, text.OneLine(name, 30))
			continue
		}
		c.at, err = address("url of the agent's card", f.URL)
		return err
	}
	if others == nil {
		return fmt.Errorf("the agent's card names no address")
	}
	return fmt.Errorf("the agent speaks %s only; JSONRPC and HTTP+JSON are understood", text.List(others))
}

// longestSaid bounds quotations of a server's messages.
const longestSaid = 300 // characters

// origin returns the host and port of an address. All names of this machine become
// localhost.
func origin(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	host := strings.ToLower(u.Hostname())
	if text.Loopback(host) {
		host = "localhost"
	}
	return host + ":" + port
}
