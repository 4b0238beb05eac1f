package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	et "gemline/engine/enginetest"
	"gemline/tools/agent/remote"
	"gemline/tools/agent/remote/remotelab"
	"gemline/tools/web"
)

// client returns what asks an agent that a definition of the user's names.
func client(cfg remote.Config) *remote.Client {
	cfg.UserDefined, cfg.Direct = true, &http.Transport{}
	return remote.New(cfg)
}

func quiet(string) {}

// An agent is asked over each of what it may speak, and what it says is put together the
// same way. It is asked in the conversation that was begun with it.
func TestAsk(t *testing.T) {
	const made = "Artifact (list):\none, two\nData: {\"n\":3}\nFile: f.txt"
	for _, rest := range []bool{false, true} {
		for _, streaming := range []bool{false, true} {
			for _, version := range []string{"", "1.0"} {
				if version != "" && !rest {
					continue // the library's names of methods are those of 0.3
				}
				t.Run(fmt.Sprintf("rest=%v streaming=%v version=%s", rest, streaming, version), func(t *testing.T) {
					t.Parallel()
					lab := remotelab.New(t.Cleanup, remotelab.Config{REST: rest, Streaming: streaming, Version: version, Header: "X-Token: x"})
					c := client(remote.Config{Server: remote.Server{CardURL: lab.Card(), Auth: remote.Auth{Type: "apiKey", Name: "X-Token", Key: "x"}}})
					told := ""
					for _, test := range []struct {
						words string
						want  remote.Answer
					}{
						{"hello you", remote.Answer{Text: "Hello, you."}},
						{"make it", remote.Answer{Text: "I am at it.\nDone: make it.\n\n" + made}},
						{"ask me", remote.Answer{Text: "I am at it.\nWhich one?", Open: true}},
						{"the first", remote.Answer{Text: "It is the first, then."}},
						{"login now", remote.Answer{Text: "I am at it.\nVisit the office.", Refused: true}},
						{"done", remote.Answer{Text: "It is done, then."}},
						{"fail now", remote.Answer{Text: "I am at it.\nI can't.", Failed: "failed"}},
						{"hello again", remote.Answer{Text: "Hello, again."}},
					} {
						got, err := c.Ask(t.Context(), test.words, func(s string) { told += s })
						if want := test.want; !streaming { // of a task that is over, its last message is there
							_, want.Text, _ = strings.Cut("\n"+want.Text, "I am at it.\n")
							if want.Text == "" {
								want.Text = test.want.Text
							}
							test.want = want
						}
						if err != nil || got.Failed != test.want.Failed || got.Open != test.want.Open || got.Refused != test.want.Refused || squeezed(got.Text) != squeezed(test.want.Text) {
							t.Errorf("%s: %+v, %v\nnot %+v", test.words, got, err, test.want)
						}
					}
					if streaming && !strings.Contains(told, "I am at it.\none, two\nFile: f.txt") || strings.Contains(told, "Data:") {
						t.Errorf("told was %q", told)
					}
					if n := strings.Count(strings.Join(lab.Asked(), " "), "card"); n != 1 {
						t.Errorf("the card was read %d times", n)
					}
				})
			}
		}
	}
}

// squeezed takes out of a text what depends on how the parts of what was made have come.
func squeezed(s string) string {
	return strings.NewReplacer("one, \ntwo", "one, two", "twoData", "two\nData").Replace(s)
}

// Who cancels a call has the task cancelled at the server, and waits neither for it nor for
// another call. Time that is up is told.
func TestCancelled(t *testing.T) {
	for _, rest := range []bool{false, true} {
		t.Run(fmt.Sprint("rest=", rest), func(t *testing.T) {
			t.Parallel()
			lab := remotelab.New(t.Cleanup, remotelab.Config{REST: rest, Streaming: true})
			c := client(remote.Config{Server: remote.Server{CardURL: lab.Card()}})
			ctx, cancel := context.WithCancel(t.Context())
			var another error
			a, err := c.Ask(ctx, "wait", func(string) { // it has said that it is at it
				cancel()
				_, another = c.Ask(ctx, "hello you", quiet)
			})
			if !errors.Is(err, context.Canceled) || a.Text != "I am at it." || !errors.Is(another, context.Canceled) {
				t.Errorf("%+v, %v, %v", a, err, another)
			}
			if err := lab.Await(t.Context(), "cancelled"); err != nil {
				t.Error(err)
			}
			if a, err := c.Ask(t.Context(), "hello again", quiet); err != nil || a.Text != "Hello, again." {
				t.Errorf("%+v, %v", a, err)
			}
			late := client(remote.Config{Server: remote.Server{CardURL: lab.Card()}, Limit: 3 * time.Second})
			if _, err := late.Ask(t.Context(), "wait", quiet); err == nil || !strings.Contains(err.Error(), "not answered within") {
				t.Errorf("%v", err)
			}
		})
	}
}

// What a server wants to be shown is shown to it, made anew if it may have changed, and
// nobody else gets it.
func TestAuth(t *testing.T) {
	for _, test := range []struct {
		name, wants string
		auth        remote.Auth
		value       string // what $X and !x are
		err         string
	}{
		{"a key", "X-Api-Key: k", remote.Auth{Type: "apiKey", Key: "k"}, "", ""},
		{"a key of the environment", "X-Mine: k", remote.Auth{Type: "apiKey", Name: "X-Mine", Key: "$X"}, "k", ""},
		{"a dollar", "X-Api-Key: $X", remote.Auth{Type: "apiKey", Key: "$$X"}, "", ""},
		{"a token", "Authorization: Bearer t", remote.Auth{Type: "http", Scheme: "Bearer", Token: "!x"}, "t", ""},
		{"a password", "Authorization: Basic dTpw", remote.Auth{Type: "http", Scheme: "Basic", User: "u", Password: "p"}, "", ""},
		{"as it is", "Authorization: HOBA r", remote.Auth{Type: "http", Scheme: "HOBA", Content: "r"}, "", ""},
		{"Google's token", "Authorization: Bearer g", remote.Auth{Type: "google-credentials"}, "", ""},
		{"nothing", "Authorization: Bearer t", remote.Auth{}, "", "the server refuses the credentials (HTTP 401): who are you?"},
		{"another key", "X-Api-Key: k", remote.Auth{Type: "apiKey", Key: "j"}, "", "refuses the credentials"},
		{"no variable", "X-Api-Key: k", remote.Auth{Type: "apiKey", Key: "$X"}, "", "X is not set"},
		{"two lines", "X-Api-Key: k", remote.Auth{Type: "apiKey", Key: "$X"}, "k\r\nX-Evil: 1", "invalid header field value"},
	} {
		for _, locked := range []bool{false, true} {
			lab := remotelab.New(t.Cleanup, remotelab.Config{Streaming: true, Header: test.wants, Locked: locked})
			c := client(remote.Config{Server: remote.Server{CardURL: lab.Card(), Auth: test.auth},
				Google: func(context.Context, *url.URL, []string) (string, error) { return "g", nil },
				Value: func(_ context.Context, said string) (string, error) {
					if test.value == "" {
						return "", errors.New(said[1:] + " is not set")
					}
					return test.value, nil
				}})
			a, err := c.Ask(t.Context(), "hello you", quiet)
			if test.err == "" && (err != nil || a.Text != "Hello, you.") || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("%s, %v: %+v, %v", test.name, locked, a, err)
			}
		}
	}
	lab := remotelab.New(t.Cleanup, remotelab.Config{Header: "Authorization: Bearer 3"})
	made := 0
	c := client(remote.Config{Server: remote.Server{CardURL: lab.Card(), Auth: remote.Auth{Type: "http", Scheme: "Bearer", Token: "!make"}},
		Value: func(context.Context, string) (string, error) { made++; return fmt.Sprint(made), nil }})
	if _, err := c.Ask(t.Context(), "hello you", quiet); err != nil || made != 3 {
		t.Errorf("made %d: %v", made, err)
	}
}

// Where a definition, a card or a redirect leads to is asked only if it is public, or the
// user has named it. What a server is shown, no other one is.
func TestReach(t *testing.T) {
	var hits atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hits.Add(1) }))
	t.Cleanup(secret.Close)
	at := func(path, answer string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if to, ok := strings.CutPrefix(answer, "to "); ok {
				http.Redirect(w, r, to, http.StatusFound)
				return
			}
			io.WriteString(w, answer)
		}))
		t.Cleanup(s.Close)
		return s
	}
	card := func(url string) string {
		return fmt.Sprintf(`{"name": "x", "protocolVersion": "0.3.0", "url": %q}`, url)
	}
	port := secret.URL[strings.LastIndex(secret.URL, ":"):]
	public := web.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	const unnamed = "agents.allowPrivateAddresses"
	key := remote.Auth{Type: "apiKey", Key: "k"}
	for _, test := range []struct {
		name string
		cfg  remote.Config
		own  bool
		want string
	}{
		{"a project's at this machine", remote.Config{Server: remote.Server{CardURL: secret.URL}}, false, unnamed},
		{"a project's card at this machine", remote.Config{Server: remote.Server{Card: card(secret.URL)}}, false, unnamed},
		{"a private address", remote.Config{Server: remote.Server{CardURL: "https://10.0.0.1/card"}}, true, unnamed},
		{"a name that leads in", remote.Config{Server: remote.Server{CardURL: "https://public.test" + port}, Web: public}, true, unnamed},
		{"in the clear", remote.Config{Server: remote.Server{CardURL: "http://example.com/card"}}, true, "is not https://"},
		{"another scheme", remote.Config{Server: remote.Server{CardURL: "file:///etc/passwd"}}, true, "no http or https address"},
		{"a password in it", remote.Config{Server: remote.Server{CardURL: "https://a:b@example.com/"}}, true, "no http or https address"},
		{"a card that names another port", remote.Config{Server: remote.Server{CardURL: at("/", card(secret.URL)).URL}}, true, unnamed},
		{"a card that names a private host", remote.Config{Server: remote.Server{CardURL: at("/", card("https://192.168.0.1/a2a")).URL}}, true, unnamed},
		{"a card that names another host", remote.Config{Server: remote.Server{CardURL: at("/", card("https://example.com/a2a")).URL, Auth: key}}, true, "names another server, example.com"},
		{"a redirect to another port", remote.Config{Server: remote.Server{CardURL: at("/", "to "+secret.URL).URL}}, true, unnamed},
		{"a redirect to another host", remote.Config{Server: remote.Server{CardURL: at("/", "to https://example.com/").URL}}, true, "redirects to example.com"},
		{"a redirect to itself", remote.Config{Server: remote.Server{CardURL: at("/", "to /").URL}}, true, "more than 3 redirects"},
		{"what is said is redirected", remote.Config{Server: remote.Server{Card: card(at("/", "to "+secret.URL).URL)}}, true, "messages do not follow"},
		{"nothing it speaks", remote.Config{Server: remote.Server{Card: `{"url": "https://example.com", "preferredTransport": "GRPC"}`}}, true, "speaks GRPC only"},
	} {
		test.cfg.UserDefined, test.cfg.Direct = test.own, &http.Transport{}
		_, err := remote.New(test.cfg).Ask(t.Context(), "hello", quiet)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("an address that nobody named was asked %d times", hits.Load())
	}
	lab := remotelab.New(t.Cleanup, remotelab.Config{})
	c := remote.New(remote.Config{Server: remote.Server{CardURL: lab.Card()}, Private: []string{strings.TrimPrefix(lab.URL, "http://")}, Direct: &http.Transport{}})
	if a, err := c.Ask(t.Context(), "hello you", quiet); err != nil || a.Text != "Hello, you." {
		t.Errorf("%+v, %v", a, err)
	}
}

// A server that does as it pleases costs a call, and little else.
func TestHostile(t *testing.T) {
	rpc := func(result string) string { return `{"jsonrpc": "2.0", "id": 1, "result": ` + result + `}` }
	message := `{"kind": "message", "role": "agent", "messageId": "1", "parts": [{"kind": "text", "text": "%s"}]}`
	artifact := `{"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": true, "artifact": {"artifactId": "%d", "parts": [{"kind": "text", "text": "xyxyxyxyxy"}]}}`
	for _, test := range []struct {
		name  string
		serve func(w http.ResponseWriter)
		want  string // of the error, or of the text
	}{
		{"no JSON", func(w http.ResponseWriter) { io.WriteString(w, "<html>\x1b[2J") }, "no JSON"},
		{"no JSON in a stream", func(w http.ResponseWriter) { stream(w, "data: {\n\n") }, "no JSON"},
		{"nothing", func(w http.ResponseWriter) {}, "no JSON"},
		{"an empty stream", func(w http.ResponseWriter) { stream(w, "") }, "its answer is empty"},
		{"something else", func(w http.ResponseWriter) { io.WriteString(w, rpc(`{"kind": "poem"}`)) }, "none of the protocol"},
		{"another type", func(w http.ResponseWriter) { io.WriteString(w, rpc(`{"kind": "message", "parts": "x"}`)) }, "no JSON of the protocol"},
		{"an error", func(w http.ResponseWriter) {
			io.WriteString(w, `{"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "out of\u001b[2J order"}}`)
		}, "out of"},
		{"a status", func(w http.ResponseWriter) { http.Error(w, strings.Repeat("gone ", 1<<20), http.StatusGone) }, "HTTP 410 Gone: gone gone"},
		{"a long line", func(w http.ResponseWriter) {
			stream(w, "data: ")
			for range 17 {
				io.WriteString(w, strings.Repeat("x", 1<<20))
			}
			io.WriteString(w, "\n\n")
		}, "a message of more than 16 MB"},
		{"a flood", func(w http.ResponseWriter) {
			for i := 0; ; i++ {
				if _, err := stream(w, "data: "+rpc(fmt.Sprintf(message, strings.Repeat(fmt.Sprint(i), 10_000)))+"\n\n"); err != nil {
					return
				}
			}
		}, "sent too much for one call"},
		{"a flood of pieces", func(w http.ResponseWriter) {
			for i := 0; ; i++ {
				if _, err := stream(w, strings.Repeat("data: "+rpc(fmt.Sprintf(artifact, i%5000))+"\n\n", 10)); err != nil {
					return
				}
			}
		}, "sent too much for one call"},
		{"a flood of nothing", func(w http.ResponseWriter) {
			for {
				if _, err := stream(w, strings.Repeat(": \n\n", 10_000)); err != nil {
					return
				}
			}
		}, "sent too much for one call"},
		{"a bomb", func(w http.ResponseWriter) {
			stream(w, "data: "+rpc(strings.Repeat("[", 1<<20))+"\n\n")
		}, "no JSON"},
		{"escape sequences", func(w http.ResponseWriter) {
			stream(w, "data: "+rpc(fmt.Sprintf(message, `a\u001b[2Jb`))+"\n\n")
		}, "a\x1b[2Jb"}, // which are the printer's to show
		{"the user's own words", func(w http.ResponseWriter) {
			stream(w, "data: "+rpc(strings.Replace(fmt.Sprintf(message, "hello"), "agent", "user", 1))+"\n\ndata: "+rpc(fmt.Sprintf(message, "a"))+"\n\ndata: "+rpc(fmt.Sprintf(message, "a"))+"\n\n")
		}, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { test.serve(w) }))
			t.Cleanup(s.Close)
			c := client(remote.Config{MaxBytes: 18 << 20, Server: remote.Server{Card: fmt.Sprintf(`{"protocolVersion": "0.3.0", "url": %q, "capabilities": {"streaming": true}}`, s.URL)}})
			if strings.HasPrefix(test.name, "a flood") {
				c = client(remote.Config{MaxBytes: 3 << 20, Server: remote.Server{Card: fmt.Sprintf(`{"url": %q, "capabilities": {"streaming": true}}`, s.URL)}})
			}
			a, err := c.Ask(t.Context(), "hello", quiet)
			if got := a.Text; err != nil && !strings.Contains(err.Error(), test.want) || err == nil && got != test.want {
				t.Errorf("%.200q, %v; not %q", got, err, test.want)
			}
			if len(a.Text) > 2<<20 || err != nil && len(err.Error()) > 1000 {
				t.Errorf("%d bytes are kept", len(a.Text))
			}
		})
	}
}

// stream writes a part of a stream of events.
func stream(w http.ResponseWriter, s string) (int, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	n, err := io.WriteString(w, s)
	w.(http.Flusher).Flush()
	return n, err
}

// A stream that breaks, and an answer that says only that work has begun, are no end of it.
func TestGoesOn(t *testing.T) {
	for _, breaks := range []bool{false, true} {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct{ Method string }
			json.NewDecoder(r.Body).Decode(&m)
			state := "working"
			if asked = append(asked, m.Method); len(asked) > 2 {
				state = "completed"
			}
			answer := `{"jsonrpc": "2.0", "id": 1, "result": {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "` + state + `"},
				"history": [{"role": "user", "parts": [{"kind": "text", "text": "go"}]}, {"role": "agent", "parts": [{"kind": "text", "text": "It is done."}]}]}}`
			if m.Method != "message/stream" {
				io.WriteString(w, answer)
				return
			}
			stream(w, "data: "+strings.ReplaceAll(answer, "\n", "")+"\n\n")
			if breaks {
				panic(http.ErrAbortHandler)
			}
		}))
		t.Cleanup(s.Close)
		c := client(remote.Config{Server: remote.Server{Card: fmt.Sprintf(`{"url": %q, "capabilities": {"streaming": true}}`, s.URL)}})
		a, err := c.Ask(t.Context(), "go", quiet)
		if err != nil || a.Text != "It is done." || !slices.Equal(asked, []string{"message/stream", "tasks/get", "tasks/get"}) {
			t.Errorf("breaks=%v: %+v, %v, %q", breaks, a, err, asked)
		}
	}
}

// However hostile, what is read costs no more than it should.
func TestBounds(t *testing.T) {
	et.Bounds(t, func(s string) { remote.Read([]byte(s)) },
		`{"kind":"message","parts":[{"kind":"text","text":"x"}]}`, `{"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[`, `{"url":"https://x","additionalInterfaces":[`, `"`, `{"data":{"data":{`)
}

// FuzzRead looks for something that is said, or a card, that can't be read without harm.
func FuzzRead(f *testing.F) {
	f.Add(`{"kind":"task","id":"1","status":{"state":"working","message":{"role":"agent","parts":[{"kind":"data","data":{}},{"kind":"file","file":{"uri":"u"}}]}}}`)
	f.Add(`{"artifactUpdate":{"artifact":{"artifactId":"1","parts":[{"data":{"data":{"a":1}}},{"file":{"fileWithUri":"u"}},{"url":"u"}]}}}`)
	f.Add(`{"supportedInterfaces":[{"url":"https://x","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`)
	f.Fuzz(func(t *testing.T, s string) { remote.Read([]byte(s)) })
}
