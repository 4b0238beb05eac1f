package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
	"gemline/engine/network"
)

// What loadCodeAssist says about an account that is set up, and about one that
// is not.
const (
	enlisted = `{"currentTier":{"id":"standard-tier"},"cloudaicompanionProject":"of-the-account"}`
	fresh    = `{"allowedTiers":[{"id":"standard-tier"},{"id":"free-tier","name":"For free","isDefault":true,"privacyNotice":{"showNotice":true,"noticeText":"We look."}}]}`
)

// says returns a list of answers to one method.
func says(texts ...string) []et.Reply {
	var rs []et.Reply
	for _, text := range texts {
		rs = append(rs, et.Whole(text))
	}
	return rs
}

// assist returns a Genai that asks a Code Assist server, which gives replies.
func assist(t testing.TB, o model.Options, methods map[string][]et.Reply, replies ...et.Reply) (*model.Genai, *et.Server) {
	t.Helper()
	s := et.NewServer(replies...)
	t.Cleanup(s.Close)
	s.Assist = methods
	if o.Google.CodeAssist, o.BaseURL = true, s.URL+o.BaseURL; o.Google.Account == nil {
		o.Google.Account = account(tokens(t).User(""))
	}
	g, err := model.NewGenai(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, s
}

// path returns what s was asked, in order.
func path(s *et.Server) string {
	var words []string
	for _, r := range s.Requests() {
		word := r.Action
		if r.Method == http.MethodGet {
			word = r.Path
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestCodeAssist(t *testing.T) {
	et.Generators(t, func(t testing.TB, replies ...et.Reply) engine.Generator {
		g, _ := assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, replies...)
		return g
	})
}

func TestAssistRequest(t *testing.T) {
	call := et.Says("", et.Call("c1", "read_file", "file_path", "a.go"))
	for _, c := range []struct {
		name, base, version, at string
	}{
		{"usual", "", "", "/v1internal"},
		{"elsewhere", "/code/", "v2", "/code/v2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := model.Options{BaseURL: c.base, Google: model.Google{APIVersion: c.version, Quota: "payer"}, Header: http.Header{"X-Gate": {"open"}}}
			if o.Google.Project = "p-1"; c.name == "elsewhere" {
				o.Google.Project = ""
			}
			g, s := assist(t, o, map[string][]et.Reply{"loadCodeAssist": says(`{"currentTier":{"id":"x"},"cloudaicompanionProject":"p-\"1"}`)}, call, et.Streams("a", "b"))
			s.Tokens = 12
			var heard *genai.FunctionCall
			req := ask("why <&>?")
			for chunk, err := range g.Generate(t.Context(), req) {
				if err != nil {
					t.Fatal(err)
				}
				heard = chunk.Candidates[0].Content.Parts[0].FunctionCall
				if chunk.ResponseID != "trace-1" {
					t.Errorf("id %q", chunk.ResponseID)
				}
			}
			if heard == nil || heard.Name != "read_file" || heard.Args["file_path"] != "a.go" {
				t.Fatalf("heard %v", heard)
			}
			req.Contents = append(req.Contents, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: heard}}},
				&genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "read_file", Response: map[string]any{"output": "package a"}}}}})
			if text, err := hear(t, g, req); text != "ab" || err != nil {
				t.Fatalf("heard %q, %v", text, err)
			}
			if n, err := g.Count(t.Context(), ask("hello")); n != 12 || err != nil {
				t.Errorf("counted %d, %v", n, err)
			}
			rs := s.Requests()
			for i, want := range []string{"loadCodeAssist?", "streamGenerateContent?alt=sse", "streamGenerateContent?alt=sse", "countTokens?"} {
				if got := fmt.Sprintf("%s %s?%s", rs[i].Method, rs[i].Path, rs[i].Query); got != "POST "+c.at+":"+want {
					t.Errorf("%s, want %s:%s", got, c.at, want)
				}
				for name, want := range map[string]string{"Authorization": "Bearer token-1", "X-Goog-Api-Key": "", "X-Gate": "open", "X-Goog-User-Project": "payer", "Content-Type": "application/json"} {
					if got := rs[i].Header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				if !strings.HasPrefix(rs[i].Header.Get("User-Agent"), "gemline/") {
					t.Errorf("agent %q", rs[i].Header.Get("User-Agent"))
				}
			}
			body := rs[1].JSON()
			if id, _ := body["user_prompt_id"].(string); body["model"] != "gemini-2.5-pro" || body["project"] != `p-"1` || len(id) < 10 || len(body) != 4 {
				t.Errorf("%s", rs[1].Body)
			}
			inner, _ := body["request"].(map[string]any)
			config, _ := inner["generationConfig"].(map[string]any)
			if inner["contents"] == nil || config["thinkingConfig"] == nil || !strings.Contains(string(rs[1].Body), "why <&>?") {
				t.Errorf("%s", rs[1].Body)
			}
			if cs := rs[2].Contents(); len(cs) != 3 || cs[2].Parts[0].FunctionResponse.Response["output"] != "package a" {
				t.Errorf("%s", rs[2].Body)
			}
			if want := `{"request":{"model":"models/gemini-2.5-pro","contents":[{"parts":[{"text":"hello"}],"role":"user"}]}}`; string(rs[3].Body) != want {
				t.Errorf("%s", rs[3].Body)
			}
		})
	}
}

// TestEnroll finds the project that Code Assist works for.
func TestEnroll(t *testing.T) {
	const standard = `{"allowedTiers":[{"id":"standard-tier","isDefault":true,"userDefinedCloudaicompanionProject":true}]}`
	const about = `"metadata":{"ideType":"IDE_UNSPECIFIED","platform":"PLATFORM_UNSPECIFIED","pluginType":"GEMINI"}`
	const aboutMine = `"metadata":{"duetProject":"mine","ideType":"IDE_UNSPECIFIED","platform":"PLATFORM_UNSPECIFIED","pluginType":"GEMINI"}`
	fenced := et.Status(403, "PERMISSION_DENIED", "outside", map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SECURITY_POLICY_VIOLATED"})
	for _, c := range []struct {
		name    string
		project string
		methods map[string][]et.Reply
		want    string   // the project of the request
		asked   string   // before
		bodies  []string // of what was asked
		told    string
	}{
		{"member", "", map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, "of-the-account", "loadCodeAssist", []string{`{` + about + `}`}, ""},
		{"member with a project", "mine", map[string][]et.Reply{"loadCodeAssist": says(`{"currentTier":{"id":"x"},"paidTier":{"id":"y"}}`)}, "mine", "loadCodeAssist",
			[]string{`{"cloudaicompanionProject":"mine",` + aboutMine + `}`}, ""},
		{"project of the account wins", "mine", map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, "of-the-account", "loadCodeAssist", nil, ""},
		{"behind a fence", "mine", map[string][]et.Reply{"loadCodeAssist": {fenced}}, "mine", "loadCodeAssist", nil, ""},
		{"at once", "mine", map[string][]et.Reply{"loadCodeAssist": says(fresh), "onboardUser": says(`{"done":true,"response":{"cloudaicompanionProject":{"id":"given"}}}`)},
			"given", "loadCodeAssist onboardUser", []string{"", `{` + about + `,"tierId":"free-tier"}`},
			"Code Assist sets this account up, as For free|Code Assist says about privacy: We look."},
		{"by and by", "", map[string][]et.Reply{"loadCodeAssist": says(fresh), "onboardUser": says(`{"name":"operations/o-1"}`),
			"operations/o-1": says(`{"name":"operations/o-1","done":false}`, `{"done":true,"response":{"cloudaicompanionProject":{"id":"late","name":"n"}}}`)},
			"late", "loadCodeAssist onboardUser /v1internal/operations/o-1 /v1internal/operations/o-1", nil, "Code Assist sets this account up, as For free|Code Assist says about privacy: We look."},
		{"own project", "mine", map[string][]et.Reply{"loadCodeAssist": says(standard), "onboardUser": says(`{"done":true,"response":{}}`)}, "mine", "loadCodeAssist onboardUser",
			[]string{"", `{"cloudaicompanionProject":"mine",` + aboutMine + `,"tierId":"standard-tier"}`}, "Code Assist sets this account up, as standard-tier"},
		{"no tier by default", "mine", map[string][]et.Reply{"loadCodeAssist": says(`{"allowedTiers":[{"id":"z"}]}`), "onboardUser": says(`{"done":true}`)}, "mine", "loadCodeAssist onboardUser",
			[]string{"", `{"cloudaicompanionProject":"mine",` + aboutMine + `,"tierId":"legacy-tier"}`}, "Code Assist sets this account up, as legacy-tier"},
		{"nothing to wait for", "mine", map[string][]et.Reply{"loadCodeAssist": says("\ufeff" + standard), "onboardUser": says(`{}`)}, "mine", "loadCodeAssist onboardUser", nil, "Code Assist sets this account up, as standard-tier"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := assist(t, model.Options{Google: model.Google{Project: c.project}}, c.methods, et.Says("hi"), et.Says("hi"))
			var told []string
			req := ask("q")
			req.Notify = func(ev engine.Event) { told = append(told, ev.(engine.Notice).Text) }
			for range 2 { // the second time, what is known is not asked again
				if _, err := hear(t, g, req); err != nil {
					t.Fatal(err)
				}
			}
			if got := path(s); got != c.asked+" streamGenerateContent streamGenerateContent" {
				t.Errorf("asked %s, want %s", got, c.asked)
			}
			rs := s.Requests()
			if got := rs[len(rs)-1].JSON()["project"]; got != c.want {
				t.Errorf("project %v, want %s", got, c.want)
			}
			for i, want := range c.bodies {
				if got := strings.TrimSpace(string(rs[i].Body)); want != "" && got != want {
					t.Errorf("body %s\nwant %s", got, want)
				}
			}
			if got := strings.Join(told, "|"); got != c.told {
				t.Errorf("told %q, want %q", got, c.told)
			}
		})
	}
}

// TestAssistErrors sees what the user is told, and that asking again is left
// to whoever retries.
func TestAssistErrors(t *testing.T) {
	info := func(reason string) map[string]any {
		return map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "cloudcode-pa.googleapis.com"}
	}
	verify := et.Status(403, "PERMISSION_DENIED", "Verify your account to continue.", info("VALIDATION_REQUIRED"),
		map[string]any{"@type": "type.googleapis.com/google.rpc.Help", "links": []any{map[string]any{"description": "Verify", "url": "https://accounts.example.com/v"}}})
	exhausted := et.Status(429, "RESOURCE_EXHAUSTED", "You have used it up.", info("QUOTA_EXHAUSTED"))
	load := func(rs ...et.Reply) map[string][]et.Reply { return map[string][]et.Reply{"loadCodeAssist": rs} }
	joins := func(rs ...et.Reply) map[string][]et.Reply {
		return map[string][]et.Reply{"loadCodeAssist": says(fresh), "onboardUser": rs}
	}
	const begun = `{"name":"operations/1"}`
	for _, c := range []struct {
		name    string
		methods map[string][]et.Reply
		reply   et.Reply
		kind    model.Kind
		final   bool
		want    string // a part of the text
	}{
		{"verify", load(verify), et.Says("hi"), model.Auth, true, "Google wants this account to be verified: Verify your account to continue. (403 PERMISSION_DENIED)\nhint: Verify: https://accounts.example.com/v"},
		{"verify later", load(says(enlisted)...), verify, model.Auth, true, "hint: Verify: https://accounts.example.com/v"},
		{"verify first", load(says(`{"ineligibleTiers":[{"reasonCode":"VALIDATION_REQUIRED","reasonMessage":"Who are you?","validationUrl":"https://accounts.example.com/w"}]}`)...), et.Says("hi"), model.Auth, true,
			"verified: Who are you?\nhint: verify it, then ask again: https://accounts.example.com/w"},
		{"verify by no link", load(says(`{"ineligibleTiers":[{"reasonCode":"VALIDATION_REQUIRED","reasonMessage":"Who are you?","validationUrl":"javascript:x"}]}`)...), et.Says("hi"), model.Auth, true, "project of its own: Who are you?"},
		{"barred, with a link", load(says(`{"ineligibleTiers":[{"reasonCode":"UNKNOWN","reasonMessage":"because","validationUrl":"https://accounts.example.com/w"}]}`)...), et.Says("hi"), model.Auth, true, "project of its own: because"},
		{"barred", load(says(`{"ineligibleTiers":[{"reasonCode":"RESTRICTED_AGE","reasonMessage":"too young"},{"reasonCode":"UNKNOWN"}]}`)...), et.Says("hi"), model.Auth, true, "project of its own: too young; UNKNOWN\nhint: export GOOGLE_CLOUD_PROJECT"},
		{"member without a project", load(says(`{"currentTier":{"id":"x"}}`)...), et.Says("hi"), model.Auth, true, "no project for this account, and GOOGLE_CLOUD_PROJECT is not set"},
		{"nobody at all", load(says(`{}`)...), et.Says("hi"), model.Auth, true, "no project for this account"},
		{"free, but without a project", joins(says(`{"done":true}`)...), et.Says("hi"), model.Auth, true, "no project for this account"},
		{"quota", load(says(enlisted)...), exhausted, model.Quota, true, "the server refused: You have used it up (429"},
		{"quota before", load(exhausted), et.Says("hi"), model.Quota, true, "the server refused: You have used it up (429"},
		{"busy before", load(et.Unavailable()), et.Says("hi"), model.Unavailable, false, "overloaded"},
		{"another server", nil, et.Says("hi"), model.Config, true, "knows no loadCodeAssist (404)\nhint: check CODE_ASSIST_ENDPOINT"},
		{"unknown model", load(says(enlisted)...), et.NotFound("m"), model.NotFound, true, "model gemini-2.5-pro"},
		{"redirect", load(et.Reply{Wire: &et.Wire{Status: 302, Body: "x"}}), et.Says("hi"), model.Config, true, "hint: set CODE_ASSIST_ENDPOINT"},
		{"web page", load(et.WebPage(200, "Log in here")), et.Says("hi"), model.Unavailable, true, "with a web page: Log in here"},
		{"web page later", load(says(enlisted)...), et.WebPage(200, "Log in here"), model.Unavailable, true, "with a web page: Log in here"},
		{"nonsense", load(says(`{"currentTier":7}`)...), et.Says("hi"), model.Invalid, false, "makes no sense"},
		{"nonsense later", load(says(enlisted)...), et.Whole(`{"response":{"candidates":7}}`), model.Invalid, false, "makes no sense"},
		{"cut", load(et.Reset(et.Reply{Wire: &et.Wire{Header: http.Header{"Content-Length": {"100"}}, Body: `{"curr`}})), et.Says("hi"), model.Unavailable, false, "127.0.0.1"},
		{"refused", joins(says(`{"done":true,"error":{"code":7,"message":"not you"}}`)...), et.Says("hi"), model.Auth, true, "can't set the account up: access denied: not you"},
		{"refused by and by", map[string][]et.Reply{"loadCodeAssist": says(fresh), "onboardUser": says(begun), "operations/1": says(`{"done":true,"error":{"code":8,"message":"later"}}`)},
			et.Says("hi"), model.Quota, false, "can't set the account up: the server refused: later (429)"},
		{"down by and by", joins(says(`{"done":true,"error":{"code":14,"message":"down"}}`)...), et.Says("hi"), model.Unavailable, false, "down (503)"},
		{"lost by and by", joins(says(begun)...), et.Says("hi"), model.Config, true, "knows no operations/1"},
		{"a strange name", joins(says(`{"name":"../secrets"}`)...), et.Says("hi"), model.Invalid, true, "in a way that can't be asked for"},
		{"an error for an answer", load(says(enlisted)...), et.Whole(`{"error":{"code":503,"message":"not now"}}`), model.Unavailable, false, "not now"},
		{"an error in the stream", load(says(enlisted)...), et.ErrorInStream(et.Unfinished("a"), exhausted), model.Quota, true, "used it up"},
		{"cut short", load(says(enlisted)...), et.Truncated(), model.Unavailable, false, "broke off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := tokens(t)
			var logged bytes.Buffer
			g, s := assist(t, model.Options{Google: model.Google{Account: account(ts.User(""))}, Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}, c.methods, c.reply)
			_, err := hear(t, g, ask("q"))
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Final != c.final || !strings.Contains(told(e), c.want) {
				t.Fatalf("error %#v, want %q", err, c.want)
			}
			if all := logged.String() + told(e); strings.Contains(all, "token-1") || strings.Contains(all, et.RefreshToken) || strings.Contains(all, "GOOGLE_GEMINI_BASE_URL") {
				t.Errorf("said too much:\n%s", all)
			}
			if n := len(ts.Asked()); n != 1 {
				t.Errorf("%d tokens", n)
			}
			if e.Answering && !strings.Contains(path(s), "streamGenerateContent") {
				t.Error("what was never asked is said to have been answered")
			}
		})
	}
}

// TestAssistRefusals fetches another token when one is refused, once, whatever
// it was refused for.
func TestAssistRefusals(t *testing.T) {
	no := et.Unauthenticated()
	for _, c := range []struct {
		name    string
		load    []et.Reply
		replies []et.Reply
		want    string // the tokens of the requests
		err     string
	}{
		{"not set up yet", []et.Reply{no, et.Whole(enlisted)}, []et.Reply{et.Says("a"), et.Says("b")}, "load:token-1 load:token-2 token-2 token-2", ""},
		{"while talking", says(enlisted), []et.Reply{et.Says("a"), no, et.Says("b")}, "load:token-1 token-1 token-1 token-2", ""},
		{"not set up, for good", []et.Reply{no}, nil, "load:token-1 load:token-2", "the credentials were refused"},
		{"for good", says(enlisted), []et.Reply{no, no, no}, "load:token-1 token-1 token-2", "the credentials were refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": c.load}, c.replies...)
			for range 2 {
				_, err := hear(t, g, ask("q"))
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if err != nil {
					break
				}
			}
			var got []string
			for _, r := range s.Requests() {
				token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
				if r.Action == "loadCodeAssist" {
					token = "load:" + token
				}
				got = append(got, token)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("tokens %v, want %s", got, c.want)
			}
		})
	}
}

// TestAssistStreams takes the streams of Code Assist in every form that
// streams come in.
func TestAssistStreams(t *testing.T) {
	s := et.Streams("a", "b", "c")
	for name, reply := range map[string]et.Reply{
		"plain": s, "keep-alive": et.KeepAlive(s), "named": et.Named(s), "many lines": et.ManyLines(s), "mark": et.WithBOM(s),
		"done": et.WithDone(s), "mixed ends": et.MixedEnds(s), "bare": et.Bare(s), "no envelope": et.Bytewise(s),
		"nothing in it":   {Chunks: s.Chunks, Wire: &et.Wire{Before: et.Event(`{"traceId":"t"}`) + et.Event(`{"response":null,"traceId":"t","remainingCredits":[]}`)}},
		"spread out":      {Chunks: s.Chunks, Wire: &et.Wire{Frame: func(json string) string { return et.Event(strings.Replace(json, ":", " : ", 1)) }}},
		"a document":      et.Whole(`{"response":{"candidates":[{"content":{"parts":[{"text":"abc"}]},"finishReason":"STOP"}]},"traceId":"t"}`),
		"a list":          et.Whole(`[{"response":{"candidates":[{"content":{"parts":[{"text":"ab"}]}}]}},{"response":{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}]}}]`),
		"a bare document": et.Whole(`{"candidates":[{"content":{"parts":[{"text":"abc"}]},"finishReason":"STOP"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := assist(t, model.Options{}, map[string][]et.Reply{"loadCodeAssist": says(enlisted)}, reply)
			if text, err := hear(t, g, ask("q")); text != "abc" || err != nil {
				t.Errorf("heard %q, %v", text, err)
			}
		})
	}
}

// TestAssistProxy sees that Code Assist is asked by way of the proxy.
func TestAssistProxy(t *testing.T) {
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	ts := tokens(t) // on this machine, where no proxy stands between
	g, err := model.NewGenai(model.Options{Google: model.Google{CodeAssist: true, Account: account(ts.User(""))}, Network: network.From(func(name string) string {
		if name == "HTTPS_PROXY" {
			return proxy.URL
		}
		return ""
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := hear(t, g, ask("q")); err == nil || asked.Load() != "CONNECT cloudcode-pa.googleapis.com:443" {
		t.Errorf("asked %v; %v", asked.Load(), err)
	}
}

func TestAssistOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		opts model.Options
		want string
	}{
		{"nobody", model.Options{}, "needs a Google account"},
		{"a key", model.Options{APIKey: key}, "needs a Google account"},
		{"in clear", model.Options{Google: model.Google{Account: account(nil)}, BaseURL: "http://example.com"}, "http is for this machine only"},
		{"another path", model.Options{Google: model.Google{Account: account(nil), Project: "../q"}}, "not a valid name"},
		{"good", model.Options{Google: model.Google{Account: account(nil)}}, ""},
		{"a token", model.Options{APIKey: "token", Google: model.Google{Bearer: true}}, ""},
		{"paid for elsewhere", model.Options{Keyless: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Google.CodeAssist = true
			_, err := model.NewGenai(c.opts)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			var e *model.Error
			if errors.As(err, &e) && c.name == "in clear" && !strings.Contains(e.Advice, "CODE_ASSIST_ENDPOINT") {
				t.Errorf("hint %q", e.Advice)
			}
		})
	}
}
