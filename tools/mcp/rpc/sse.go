package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
)

// SSE returns the Stream of a server that speaks the older HTTP: it sends events, and says
// where it takes messages. ctx is about the beginning.
func SSE(ctx context.Context, r Remote) (Stream, error) {
	s := &legacy{remote: newRemote(r)}
	stop := context.AfterFunc(ctx, func() { s.cancel(context.Cause(ctx)) })
	defer stop()
	res, err := s.do(s.ctx, http.MethodGet, s.URL, nil, http.Header{"Accept": {eventStream}})
	if err != nil {
		s.cancel(err)
		return nil, err
	}
	es := NewEvents(res.Body)
	if err = failed(res); err == nil {
		err = s.begin(es, res)
	}
	if err != nil {
		res.Body.Close()
		s.cancel(err)
		return nil, err
	}
	go func() {
		defer res.Body.Close()
		for {
			ev, err := es.Next()
			if err != nil && err != ErrTooLong {
				s.cancel(fmt.Errorf("the server has ended its stream: %w", err))
				return
			}
			s.push(ev.Data, err)
		}
	}()
	return s, nil
}

// A legacy is a [Stream] of events, and a place to send messages to.
type legacy struct {
	remote
	to string
}

// begin reads where messages go, which is where the server is.
func (s *legacy) begin(es *Events, res *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != eventStream {
		return fmt.Errorf("the server sends no events, but %q", kind)
	}
	ev, err := es.Next()
	if err != nil {
		return err
	}
	from, err := url.Parse(s.URL)
	if err != nil {
		return err
	}
	to, err := from.Parse(string(ev.Data))
	if err != nil || ev.Name != "endpoint" {
		return errors.New("the server does not say where it takes messages")
	}
	if to.Scheme != from.Scheme || to.Host != from.Host {
		return fmt.Errorf("the server wants messages sent to another one, %.100q", to.Host)
	}
	s.to = to.String()
	return nil
}

// Send implements [Stream].
func (s *legacy) Send(ctx context.Context, m *Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	res, err := s.do(ctx, http.MethodPost, s.to, body, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return failed(res)
}

// Close implements [Stream].
func (s *legacy) Close() error {
	s.cancel(ErrClosed)
	return nil
}
