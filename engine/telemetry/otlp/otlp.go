// Package otlp sends telemetry to a collector by the OpenTelemetry protocol, over gRPC
// or over HTTP.
//
// # Our own encoder
//
// OpenTelemetry's SDK with its six exporters was measured in gemline: it adds 3.2 MB to
// the program and 2 ms to each start, also to one that sends nothing, since 36 more
// packages set themselves up. The SDK alone adds 1.4 MB of that. The protocol is a
// fixed set of messages, which this package appends field by field; the tests read
// them with the protocol's own packages.
//
// The package implements gRPC by net/http: a POST over HTTP/2, perhaps unencrypted, with five
// bytes before the message and the status in the trailers.
//
// # No retries
//
// A batch that a collector rejects is lost. No batch is sent twice, so that no record is counted
// twice.
package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gemline/engine/network"
	"gemline/engine/telemetry"
	"gemline/engine/text"
)

// Config has the address, the protocol and the headers of a collector.
type Config struct {
	Endpoint string // the address; over gRPC its path does not count
	GRPC     bool
	Headers  map[string]string // of each request
	Network  network.Network
}

// A Client is an [telemetry.Exporter] that sends to a collector.
type Client struct {
	cfg  Config
	base *url.URL
	http *http.Client
}

// New returns a Client. Nothing is sent yet.
func New(cfg Config) (*Client, error) {
	if !strings.Contains(cfg.Endpoint, "://") {
		cfg.Endpoint = "http://" + cfg.Endpoint
	}
	base, err := url.Parse(cfg.Endpoint)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("the address is no http:// or https:// one")
	}
	if err := cfg.Network.Allow(base.Hostname()); err != nil {
		return nil, err
	}
	network := cfg.Network
	if base.Scheme == "http" {
		network.CAs = nil // they take a while to read
	}
	t := network.Proxied(30 * time.Second)
	t.DisableCompression, t.Protocols, t.MaxIdleConns = true, new(http.Protocols), 3
	switch {
	case cfg.GRPC && base.Scheme == "http":
		t.Protocols.SetUnencryptedHTTP2(true)
		t.Proxy = nil
	case cfg.GRPC:
		t.Protocols.SetHTTP2(true)
	default:
		t.Protocols.SetHTTP1(true)
		t.Protocols.SetHTTP2(true)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{cfg, base, &http.Client{Transport: t, CheckRedirect: stay}}, nil
}

// String returns the address as messages show it, without a password.
func (c *Client) String() string { return c.base.Redacted() }

// Close implements [telemetry.Exporter].
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Export implements [telemetry.Exporter].
func (c *Client) Export(ctx context.Context, b *telemetry.Batch) error {
	for _, kind := range []struct {
		n             int
		path, service string
		encode        func(*telemetry.Batch) []byte
	}{
		{len(b.Events), "logs", "logs.v1.LogsService", logs},
		{len(b.Spans), "traces", "trace.v1.TraceService", traces},
		{len(b.Metrics), "metrics", "metrics.v1.MetricsService", metrics},
	} {
		if kind.n == 0 {
			continue
		}
		send := c.post
		to := "v1/" + kind.path
		if c.cfg.GRPC {
			send, to = c.call, "/opentelemetry.proto.collector."+kind.service+"/Export"
		}
		if err := send(ctx, to, kind.encode(b)); err != nil {
			if dial := (*url.Error)(nil); errors.As(err, &dial) {
				err = dial.Err
			}
			if dial := (*net.OpError)(nil); errors.As(err, &dial) {
				err = dial.Err // the address is known
			}
			return err
		}
	}
	return nil
}

// post sends a message over HTTP.
func (c *Client) post(ctx context.Context, to string, message []byte) error {
	resp, err := c.send(ctx, c.base.JoinPath(to), "application/x-protobuf", message)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP status %s %s", resp.Status, text.OneLine(printable(said), 200))
	}
	return err
}

// call sends a message over gRPC.
func (c *Client) call(ctx context.Context, to string, message []byte) error {
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	u := *c.base
	u.Path, u.RawPath, u.RawQuery = to, "", ""
	resp, err := c.send(ctx, &u, "application/grpc", append(framed, message...))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)); err != nil { // the trailers are behind it
		return err
	}
	status, said := resp.Header.Get("Grpc-Status"), resp.Header.Get("Grpc-Message")
	if status == "" {
		status, said = resp.Trailer.Get("Grpc-Status"), resp.Trailer.Get("Grpc-Message")
	}
	switch {
	case status == "0":
		return nil
	case status == "":
		return fmt.Errorf("it does not speak gRPC (HTTP status %s)", resp.Status)
	}
	if plain, err := url.PathUnescape(said); err == nil {
		said = plain
	}
	return fmt.Errorf("gRPC status %s %s", status, text.OneLine(said, 200))
}

func (c *Client) send(ctx context.Context, u *url.URL, kind string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	if c.cfg.GRPC {
		req.Header.Set("Te", "trailers")
	}
	for name, value := range c.cfg.Headers {
		req.Header.Set(name, value)
	}
	return c.http.Do(req)
}

// printable returns the printable text of a protocol message.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\uFFFD' {
			return ' '
		}
		return r
	}, string(b))
}
