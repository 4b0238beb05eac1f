package limit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/limit"
)

// crowd has conversations ask at once, each until it is refused, of a server
// that takes a second for each answer. It returns how many answers there were,
// and how many were under way at once at most.
func crowd(t *testing.T, cfg limit.Config, conversations int, reply et.Reply) (answers, most int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		open := 0
		reply.Inspect = func(context.Context, *engine.Request) {
			mu.Lock()
			answers++
			open++
			most = max(most, open)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			open--
			mu.Unlock()
		}
		replies := make([]et.Reply, 400)
		for i := range replies {
			replies[i] = reply
		}
		g := limit.New(cfg).Generator(et.NewScript(replies...))
		var all sync.WaitGroup
		for range conversations {
			all.Go(func() {
				opening := genai.NewPartFromText("go")
				for n := 1; ; n += 2 {
					_, _, err := ask(g, opening, n, 0, "m")
					var e *limit.Error
					if errors.As(err, &e) && e.Unsent {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
	return answers, most
}

// However many ask at once, the sum ends where it would if they asked one
// after the other.
func TestShared(t *testing.T) {
	for _, test := range []struct {
		name           string
		cfg            limit.Config
		conversations  int
		prompt, output int32
		answers, most  int
	}{
		{"one by one", limit.Config{Tokens: 10_000}, 1, 900, 100, 10, 1},
		{"too little for two", limit.Config{Tokens: 2000}, 8, 900, 100, 2, 1},
		{"side by side at first", limit.Config{Tokens: 10_000}, 8, 900, 100, 10, 4},
		{"much, and all at once after the first answer", limit.Config{Tokens: 50_000}, 8, 900, 100, 50, 8},
		{"more than eight answers can take, so at once", limit.Config{Tokens: 600_000}, 8, 2900, 100, 200, 8},
		{"money", limit.Config{Cost: 0.019, Price: priced}, 8, 900, 100, 10, 1},
		{"more money", limit.Config{Cost: 0.095, Price: priced}, 8, 900, 100, 50, 8},
		{"prompts that are longer than they look", limit.Config{Tokens: 400_000}, 8, 40_000, 100, 10, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			answers, most := crowd(t, test.cfg, test.conversations, et.Says("one").With(test.prompt, test.output))
			if answers != test.answers || most != test.most {
				t.Errorf("%d answers, want %d; %d at once, want %d", answers, test.answers, most, test.most)
			}
		})
	}
}

// Who waits for others leaves when it is told to. One whose consumer has left,
// or which failed, makes room.
func TestMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := et.Streams("a", "b")
		stalls.Stall = true
		script := et.NewScript(stalls, et.Fails(errors.New("broken")), et.Says("last"))
		g := limit.New(limit.Config{Tokens: 5000}).Generator(script)
		var all sync.WaitGroup
		generate := func(ctx context.Context, want string) {
			all.Go(func() {
				got := ""
				for chunk, err := range g.Generate(ctx, &engine.Request{Model: "m", Contents: genai.Text("go")}) {
					if err != nil {
						got += err.Error()
						break
					}
					got += chunk.Candidates[0].Content.Parts[0].Text
				}
				if got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
			synctest.Wait()
		}
		first, leave := context.WithCancel(t.Context())
		generate(first, "abcontext canceled")
		for range 2 { // the next one to be made, and one behind it
			late, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			generate(late, "context deadline exceeded")
		}
		time.Sleep(2 * time.Minute)
		generate(t.Context(), "broken")
		generate(t.Context(), "last")
		if n := len(script.Requests()); n != 1 {
			t.Errorf("%d requests are made while the first has all there is", n)
		}
		leave()
		all.Wait()
		if n := script.Left(); n != 0 {
			t.Errorf("%d replies are left", n)
		}
	})
}
