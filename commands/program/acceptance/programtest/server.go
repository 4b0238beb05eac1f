package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/genai"

	et "gemline/engine/enginetest"
)

// serving is the key of the server that was started last.
type serving struct{}

// serve starts a Gemini server and points gemline at it. Its arguments are what
// the model says, in order: a line of a conversation, a file of such lines, a
// file of chunks of JSON, which are one reply, or a fault.
//
//	server 'says TEXT'|'calls TOOL NAME=VALUE ...'|FILE|:FAULT ...
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := et.NewServer(repliesOf(ts, args)...)
	ts.Defer(s.Close)
	*ts.Value(serving{}).(**et.Server) = s
	ts.Setenv("GOOGLE_GEMINI_BASE_URL", s.URL)
	ts.Setenv("GEMINI_API_KEY", "key-of-the-test")
}

// provide starts a server of another protocol, openai, anthropic or ollama, whose address is
// $PROVIDER. It takes the arguments of server.
//
//	provide PROTOCOL 'says TEXT'|... ...
func provide(ts *testscript.TestScript, neg bool, args []string) {
	dialects := map[string]*et.Dialect{"openai": et.OpenAI, "anthropic": et.Anthropic, "ollama": et.Ollama}
	s := et.NewDialectServer(dialects[args[0]], repliesOf(ts, args[1:])...)
	s.Others = map[string][]et.Reply{
		"/api/tags":        {et.Whole(`{"models":[{"name":"qwen3:4b"},{"name":"llama3:8b"}]}`)},
		"/api/show":        {et.Whole(`{"capabilities":["completion","tools"],"model_info":{"qwen3.context_length":40960}}`)},
		"/v1/models":       {et.Whole(`{"data":[{"id":"big","max_model_len":65536}]}`)},
		"/unlisted/models": {et.WebPage(404, "Not Found")},
	}
	ts.Defer(s.Close)
	*ts.Value(serving{}).(**et.Server) = s
	ts.Setenv("PROVIDER", s.URL)
}

// repliesOf returns what the arguments of server stand for.
func repliesOf(ts *testscript.TestScript, args []string) []et.Reply {
	var all []et.Reply
	for _, arg := range args {
		if fault, ok := strings.CutPrefix(arg, ":"); ok {
			reply, ok := Faults[fault]
			if !ok {
				ts.Fatalf("unknown fault %s", fault)
			}
			all = append(all, reply())
			continue
		}
		if !strings.Contains(arg, " ") {
			arg = ts.ReadFile(filepath.Join(ts.Getenv("WORK"), arg)) // wherever the script is by now
		}
		arg = strings.ReplaceAll(arg, "$WORK", ts.Getenv("WORK"))
		if strings.HasPrefix(arg, "{") {
			all = append(all, et.Reply{Chunks: chunks(ts, arg)})
			continue
		}
		replies, err := et.ParseReplies(arg)
		ts.Check(err)
		all = append(all, replies...)
	}
	return all
}

// chunks reads chunks of JSON, one a line.
func chunks(ts *testscript.TestScript, text string) []*genai.GenerateContentResponse {
	var out []*genai.GenerateContentResponse
	in := json.NewDecoder(strings.NewReader(text))
	for in.More() {
		var c genai.GenerateContentResponse
		ts.Check(in.Decode(&c))
		out = append(out, &c)
	}
	return out
}

// Faults are made when they are wanted: this is the program, too, which has no
// time for them.
var Faults = map[string]func() et.Reply{
	"429":       et.DailyQuota,
	"halfquota": func() et.Reply { return et.ErrorInStream(et.Streams("half ", "an answer"), et.DailyQuota()) },
	"badkey":    et.BadKey,
	"401":       et.Unauthenticated,
	"credit":    et.NoCredit,
	"freetier":  et.NoFreeTier,
	"abroad":    et.Abroad,
	"closed":    func() et.Reply { return et.Closed("gemini-2.5-pro") },
	"signature": et.BadSignature,
	"404":       func() et.Reply { return et.NotFound("gemini-x") },
	"400":       func() et.Reply { return et.BadRequest("contents is not specified") },
	"toolong": func() et.Reply {
		return et.BadRequest("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")
	},
	"blocked":    et.Blocked,
	"webpage":    func() et.Reply { return et.WebPage(400, "Proxy says no") },
	"keepalive":  func() et.Reply { return et.KeepAlive(et.Streams("still ", "here")) },
	"ratelimit":  func() et.Reply { return et.RateLimited(10 * time.Millisecond) },
	"large":      func() et.Reply { return et.Huge(1 << 20) },
	"huge":       func() et.Reply { return et.Huge(huge()) },
	"unfinished": func() et.Reply { return et.Unfinished("half an answer") },
	"cutlarge":   func() et.Reply { return et.Unfinished(et.Text(1 << 20)) },
	"503":        et.Unavailable,
	"stalled":    func() et.Reply { return et.Stalled(et.Streams("half ", "an answer")) },
	"silent":     et.Silent,
	"verify":     func() et.Reply { return et.Unverified("https://accounts.example.com/verify") },
}

// huge is more than anything holds in between, in bytes. The race detector makes
// it slow, and has nothing to find in the rest.
func huge() int {
	if et.Raced {
		return 2 << 20
	}
	return 20 << 20
}

// recording writes what the model says to a file for --fake-responses.
//
//	recording FILE 'says TEXT'|... ...
func recording(ts *testscript.TestScript, neg bool, args []string) {
	var b bytes.Buffer
	for _, reply := range repliesOf(ts, args[1:]) {
		ts.Check(json.NewEncoder(&b).Encode(map[string]any{"method": "generateContentStream", "response": reply.Chunks}))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// received checks that the server's last request holds texts, or with ! and no
// text that there was no request.
//
//	received TEXT ...
//	! received
func received(ts *testscript.TestScript, neg bool, args []string) {
	requests := (*ts.Value(serving{}).(**et.Server)).Requests()
	if neg && len(args) == 0 {
		if len(requests) > 0 {
			ts.Fatalf("the server got %d requests", len(requests))
		}
		return
	}
	if len(requests) == 0 {
		ts.Fatalf("the server got no request")
	}
	r := requests[len(requests)-1]
	last := fmt.Sprintf("%s %v\n%s", r.Path, r.Header, r.Body)
	for _, text := range args {
		if strings.Contains(last, text) == neg {
			ts.Fatalf("about %q, the last request was %s", text, last)
		}
	}
}

// codeAssist starts a Code Assist server, and one of tokens, and points gemline
// at both with the credentials of a user. A line of the file METHODS names a
// method, or an operation, and what it answers, in JSON or as a fault; several
// lines about one answer it in turn. The replies are those of server.
//
//	codeassist METHODS FILE|:FAULT ...
func codeAssist(ts *testscript.TestScript, neg bool, args []string) {
	s := et.NewServer(repliesOf(ts, args[1:])...)
	ts.Defer(s.Close)
	*ts.Value(serving{}).(**et.Server) = s
	s.Assist = map[string][]et.Reply{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		reply := et.Whole(answer)
		if strings.HasPrefix(answer, ":") {
			reply = repliesOf(ts, []string{answer})[0]
		}
		s.Assist[name] = append(s.Assist[name], reply)
	}
	tokens := et.NewTokens()
	ts.Defer(tokens.Close)
	file := ts.MkAbs("adc.json")
	ts.Check(os.WriteFile(file, tokens.User(""), 0o600))
	for name, value := range map[string]string{"CODE_ASSIST_ENDPOINT": s.URL, "GEMINI_CLI_USE_COMPUTE_ADC": "true",
		"GOOGLE_APPLICATION_CREDENTIALS": file, "GEMINI_API_KEY": "", "GOOGLE_GEMINI_BASE_URL": ""} {
		ts.Setenv(name, value)
	}
}

// asked checks what the server was asked, in order: methods, or paths where
// they name none.
//
//	asked METHOD|PATH ...
func asked(ts *testscript.TestScript, neg bool, args []string) {
	var got []string
	for _, r := range (*ts.Value(serving{}).(**et.Server)).Requests() {
		if r.Action != "" {
			got = append(got, r.Action)
		} else {
			got = append(got, r.Path)
		}
	}
	if slices.Equal(got, args) == neg {
		ts.Fatalf("the server was asked %v", got)
	}
}

// arrives waits until the server is asked for something, so often if there is a number.
//
//	arrives METHOD [N]
func arrives(ts *testscript.TestScript, neg bool, args []string) {
	s, most := *ts.Value(serving{}).(**et.Server), 1
	if len(args) > 1 {
		fmt.Sscan(args[1], &most)
	}
	for {
		n := 0
		for _, r := range s.Requests() {
			if r.Action == args[0] {
				n++
			}
		}
		if n >= most {
			return
		}
		<-s.Arrived()
	}
}
