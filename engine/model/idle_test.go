package model_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gemline/engine/model"
)

// thinking is a server that says nothing for a while, before the header of its answer and
// again before the answer. It does not close the connection.
type thinking time.Duration

// RoundTrip implements [http.RoundTripper].
func (d thinking) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := wait(r.Context(), time.Duration(d)); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: &thought{ctx: r.Context(), d: time.Duration(d)}, Request: r}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type thought struct {
	ctx  context.Context
	d    time.Duration
	said bool
}

func (b *thought) Read(p []byte) (int, error) {
	if b.said {
		return 0, wait(b.ctx, 1000*time.Hour)
	}
	if err := wait(b.ctx, b.d); err != nil {
		return 0, err
	}
	b.said = true
	return copy(p, `data: {"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`+"\n\n"), nil
}

func (b *thought) Close() error { return nil }

// TestLongThought has models think for as long as they may, and a little longer.
func TestLongThought(t *testing.T) {
	for _, c := range []struct {
		name  string
		model string
		idle  time.Duration
		may   time.Duration // 0 is for ever
	}{
		{"a model that thinks long", "gemini-4-argon", 0, 15 * time.Minute},
		{"by its whole name", "models/gemini-4-argon", 0, 15 * time.Minute},
		{"another", "gemini-3.8-flash", 0, 5 * time.Minute},
		{"one that nobody knows", "llama", 0, 5 * time.Minute},
		{"as the user says", "gemini-4-argon", time.Minute, time.Minute},
		{"longer, as the user says", "gemini-3.8-flash", time.Hour, time.Hour},
		{"for ever", "gemini-3.8-flash", -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, longer := range []bool{false, true} {
					d := c.may - time.Second
					switch {
					case c.may == 0:
						d = 100 * time.Hour
					case longer:
						d = c.may + time.Second
					}
					g, err := model.NewGenai(model.Options{APIKey: "key", BaseURL: "https://api.invalid", Idle: c.idle, Transport: thinking(d)})
					if err != nil {
						t.Fatal(err)
					}
					req := ask("q")
					req.Model = c.model
					start := time.Now()
					said, err := hear(t, g, req)
					if fails := longer && c.may > 0; errors.Is(err, model.ErrIdle) != fails || !fails && (said != "hi" || err != nil) {
						t.Errorf("after %s: %q, %v", time.Since(start), said, err)
					}
					if took := time.Since(start); !longer && took > 2*d+time.Minute {
						t.Errorf("%s passed behind the answer", took-2*d)
					}
				}
			})
		})
	}
}
