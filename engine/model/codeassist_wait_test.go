package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// TestAssistShared asks once for many requests at once, and again if nothing
// came of it.
func TestAssistShared(t *testing.T) {
	const n = 8
	var replies []et.Reply
	for range n {
		replies = append(replies, et.Says("hi"))
	}
	g, s := assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": {et.Unavailable(), et.Whole(enlisted)}}, replies...)
	if _, err := hear(t, g, ask("q")); err == nil {
		t.Fatal("no error")
	}
	done := make(chan error, n)
	for range n {
		go func() {
			_, err := hear(t, g, ask("q"))
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := strings.Count(path(s), "loadCodeAssist"); got != 2 {
		t.Errorf("asked %d times", got)
	}
}

// TestAssistCancelled calls requests off while Code Assist is asked about the
// account: the one that asks and the one that waits for it.
func TestAssistCancelled(t *testing.T) {
	for name, methods := range map[string]map[string][]et.Reply{
		"asking":     {"loadCodeAssist": {et.Silent()}},
		"setting up": {"loadCodeAssist": says(fresh), "onboardUser": {et.Silent()}},
		"waiting":    {"loadCodeAssist": says(fresh), "onboardUser": says(`{"name":"operations/1"}`), "operations/1": {et.Silent()}},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, ended := make(chan struct{}), make(chan struct{})
			last := ""
			for method, rs := range methods {
				if rs[0].Stall {
					last = method
				}
			}
			methods[last][0].Inspect = func(context.Context, *engine.Request) { close(arrived) }
			methods[last][0].Ended = func() { close(ended) }
			g, _ := assist(t, model.Options{}, methods)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 2)
			for range 2 {
				go func() {
					for _, err := range g.Generate(ctx, ask("q")) {
						done <- err
					}
				}()
			}
			<-arrived
			cancel()
			for range 2 {
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			}
			<-ended
		})
	}
}

// TestAssistIdle gives up a server that falls silent, whatever it was asked.
func TestAssistIdle(t *testing.T) {
	for name, c := range map[string]struct {
		load  et.Reply
		reply et.Reply
	}{
		"asking":    {et.Silent(), et.Says("hi")},
		"answering": {et.Whole(enlisted), et.Stalled(et.Unfinished("a"))},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := assist(t, model.Options{Idle: 200 * time.Millisecond}, map[string][]et.Reply{"loadCodeAssist": {c.load}}, c.reply)
			var e *model.Error
			if _, err := hear(t, g, ask("q")); !errors.As(err, &e) || !errors.Is(err, model.ErrIdle) || e.Kind != model.Unavailable || e.Final {
				t.Errorf("error %#v", err)
			}
		})
	}
}

// TestAssistPoll sees how often Code Assist is asked whether an account is set
// up, and that this comes to an end.
func TestAssistPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []string
		answer := func(text string) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, nil
		}
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/token"):
				return answer(`{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}`)
			case strings.HasSuffix(r.URL.Path, ":loadCodeAssist"):
				return answer(fresh)
			case r.Method == http.MethodGet:
				at = append(at, time.Since(start).String())
			}
			return answer(`{"name":"operations/1","done":false}`)
		})
		user := []byte(`{"type":"authorized_user","client_id":"c","client_secret":"secret","refresh_token":"refresh","token_uri":"https://tokens.invalid/token"}`)
		g, err := model.NewGenai(model.Options{Google: model.Google{CodeAssist: true, Account: account(user)}, Transport: transport, Idle: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		_, err = hear(t, g, ask("q"))
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.Unavailable || !e.Final || !strings.Contains(e.Message, "within 1m") {
			t.Errorf("error %#v", err)
		}
		want := "250ms 750ms 1.75s 3.75s 7.75s 12.75s 17.75s 22.75s 27.75s 32.75s 37.75s 42.75s 47.75s 52.75s 57.75s 1m2.75s"
		if got := strings.Join(at, " "); got != want {
			t.Errorf("asked after %s\nwant %s", got, want)
		}
	})
}

// TestAssistWaiting calls off a request that waits for what another one asks
// about the account, which goes on.
func TestAssistWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			text := `{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}`
			if strings.HasSuffix(r.URL.Path, ":loadCodeAssist") {
				loads++
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, nil
		})
		user := []byte(`{"type":"authorized_user","client_id":"c","client_secret":"secret","refresh_token":"refresh","token_uri":"https://tokens.invalid/token"}`)
		g, err := model.NewGenai(model.Options{Google: model.Google{CodeAssist: true, Account: account(user)}, Transport: transport})
		if err != nil {
			t.Fatal(err)
		}
		begin := func() (context.CancelFunc, chan error) {
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() {
				_, err := g.Count(ctx, ask("q"))
				over <- err
			}()
			synctest.Wait()
			return cancel, over
		}
		cancelAsker, asker := begin()
		cancelWaiter, waiter := begin()
		cancelWaiter()
		synctest.Wait()
		select {
		case err := <-waiter:
			if !errors.Is(err, context.Canceled) || len(asker) > 0 || loads != 1 {
				t.Errorf("error %v, %d others, asked %d times", err, len(asker), loads)
			}
		default:
			t.Error("the one that waits still does")
		}
		cancelAsker()
		if err := <-asker; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
