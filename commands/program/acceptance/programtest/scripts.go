package programtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/genai"

	et "gemline/engine/enginetest"
	"gemline/repl/schematest"
	"gemline/tools/agent/remote/remotelab"
)

// Scripts runs the scripts of a directory of commands/program/acceptance. They use the
// program as people and other programs do, against a server that says what the
// script tells it to. Each begins with the sentence that it shows. UPDATE=1 writes
// what cmp compares.
func Scripts(t *testing.T, dir string) {
	t.Helper()
	t.Parallel()
	p := Scripting(t, func(env *testscript.Env) string { return "file://" + filepath.Join(env.WorkDir, "origin") })
	all, err := filepath.Glob(filepath.Join("commands/program/acceptance", dir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, file := range all {
		p.Files = append(p.Files, forTerminals(t, file)...)
	}
	testscript.Run(t, p)
}

// atLine names the terminals of a dialogue.
var atLine = regexp.MustCompile(`(?m)^at (.* .*)$`)

// forTerminals returns a script for each of the terminals that the line "at" of a script
// names, or the script itself.
func forTerminals(t *testing.T, file string) (scripts []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands, _, _ := bytes.Cut(b, []byte("\n-- "))
	line := atLine.FindSubmatchIndex(commands)
	if line == nil {
		return []string{file}
	}
	dir := t.TempDir()
	for term := range strings.FieldsSeq(string(b[line[2]:line[3]])) {
		name := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".txtar")+"_at_"+term+".txtar")
		script := slices.Concat(b[:line[2]], []byte(term), b[line[3]:])
		if err := os.WriteFile(name, script, 0o600); err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, name)
	}
	return scripts
}

// Scripting returns how scripts are run. Where they find repositories in origin is what
// origin returns.
func Scripting(t *testing.T, origin func(env *testscript.Env) string) testscript.Params {
	bin := t.TempDir()
	if err := os.Symlink(Self(t), filepath.Join(bin, "gemline")); err != nil {
		t.Fatal(err)
	}
	cmds := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"server":     serve,
		"recording":  recording,
		"codeassist": codeAssist,
		"received":   received,
		"asked":      asked,
		"arrives":    arrives,
		"transcript": transcript,
		"lines":      lines,
		"write":      writeFile,
		"jsonget":    jsonGet,
		"valid":      valid(t),
		"records":    records,
		"proxy":      proxy,
		"proxied":    proxied,
		"remote":     remoteAgent,
		"heard":      heard,
		"releases":   releases,
		"downloads":  downloads,
	}
	maps.Copy(cmds, dialogueCmds)
	return testscript.Params{
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv(AsProgram, "1")
			env.Setenv("GEMLINE_HOME_DIR", home)
			for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "CI", "GITHUB_ACTIONS"} {
				env.Setenv(name, "")
			}
			env.Setenv("GEMINI_FORCE_FILE_STORAGE", "true") // keep off the keyring of whoever tests
			env.Setenv("GEMINI_MODEL", "gemini-2.5-flash")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the detector would wait a second at every exit
			env.Setenv("HUGE", fmt.Sprint(huge()+1))  // with the end of the line
			env.Setenv("EDITOR", "")
			env.Setenv("VISUAL", "")
			env.Setenv("GEMINI_CLI_TRUST_WORKSPACE", "true") // a script about trust takes it back
			env.Values[serving{}] = new(*et.Server)
			env.Values[proxying{}] = new(*relay)
			env.Values[elsewhere{}] = new(*remotelab.Lab)
			env.Values[publishing{}] = new(*Publisher)
			env.Values[talking{}] = new(dialogue)
			env.Setenv("ORIGIN", origin(env))
			return os.MkdirAll(home, 0o700) // some scripts bring files in it
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "confined":
				return Confined(), nil
			case "race":
				return et.Raced, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: cmds,
	}
}

// records writes the objects of a telemetry file to another file, one on a line. It
// splits them as readers of such files do.
//
//	records FILE TO
func records(ts *testscript.TestScript, neg bool, args []string) {
	var out bytes.Buffer
	objects := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "}\n{")
	for i, o := range objects {
		if i > 0 {
			o = "{" + o
		}
		if i < len(objects)-1 {
			o += "}"
		}
		ts.Check(json.Compact(&out, []byte(o)))
		out.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// elsewhere is the key of the agent on another server that was started last.
type elsewhere struct{}

// remoteAgent starts an agent on a server, whose address is $REMOTE: one that speaks REST,
// that does not stream, or that wants to be shown a header.
//
//	remote [rest] [whole] [locked] [NAME: VALUE]
func remoteAgent(ts *testscript.TestScript, neg bool, args []string) {
	cfg := remotelab.Config{Streaming: true}
	for _, arg := range args {
		switch arg {
		case "rest":
			cfg.REST = true
		case "whole":
			cfg.Streaming = false
		case "locked":
			cfg.Locked = true
		default:
			cfg.Header = arg
		}
	}
	lab := remotelab.New(ts.Defer, cfg)
	*ts.Value(elsewhere{}).(**remotelab.Lab) = lab
	ts.Setenv("REMOTE", lab.URL)
	ts.Setenv("REMOTE_HOST", strings.TrimPrefix(lab.URL, "http://"))
}

// heard compares what the agent on a server was asked with its arguments.
//
//	heard WHAT...
func heard(ts *testscript.TestScript, neg bool, args []string) {
	if asked := (*ts.Value(elsewhere{}).(**remotelab.Lab)).Asked(); slices.Equal(asked, args) == neg {
		ts.Fatalf("the agent was asked %q", asked)
	}
}

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
		replies, err := et.Conversation(arg)
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

// writeFile makes a file of lines, and the directory that it is in.
//
//	write FILE LINE ...
func writeFile(ts *testscript.TestScript, neg bool, args []string) {
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o700))
	ts.Check(os.WriteFile(name, []byte(strings.Join(args[1:], "\n")+"\n"), 0o600))
}

// lines checks how many lines a file or stdout or stderr has.
//
//	lines N FILE
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if got := fmt.Sprint(strings.Count(ts.ReadFile(args[1]), "\n")); got != args[0] != neg {
		ts.Fatalf("%s has %s lines", args[1], got)
	}
}

// jsonGet checks a value in the last line of JSON, or the document, of a file.
//
//	jsonget FILE path/to/value WANT
func jsonGet(ts *testscript.TestScript, neg bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile(args[0]))
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		text = text[strings.LastIndex(text, "\n")+1:]
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			ts.Fatalf("%v in %q", err, text)
		}
	}
	for _, key := range strings.Split(args[1], "/") {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			var i int
			fmt.Sscan(key, &i)
			if i >= len(x) {
				ts.Fatalf("no %s in %v", key, x)
			}
			v = x[i]
		default:
			v = nil
		}
	}
	if got := fmt.Sprint(v); (got == args[2]) == neg {
		ts.Fatalf("%s is %q", args[1], got)
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

// transcript writes what the model reads in the server's last request to a
// file.
//
//	transcript FILE
func transcript(ts *testscript.TestScript, neg bool, args []string) {
	requests := (*ts.Value(serving{}).(**et.Server)).Requests()
	if len(requests) == 0 {
		ts.Fatalf("the server got no request")
	}
	last := requests[len(requests)-1]
	var b strings.Builder
	if system, ok := last.JSON()["systemInstruction"].(map[string]any); ok {
		for _, part := range system["parts"].([]any) {
			fmt.Fprintf(&b, "[system]\n%v\n", part.(map[string]any)["text"])
		}
	}
	for _, c := range last.Contents() {
		for _, p := range c.Parts {
			fmt.Fprintf(&b, "[%s]\n%s\n", c.Role, words(p))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// words returns what the model reads of a part.
func words(p *genai.Part) string {
	switch {
	case p.FunctionCall != nil:
		return "calls " + p.FunctionCall.Name
	case p.FunctionResponse != nil:
		return fmt.Sprintf("answer of %s:\n%v", p.FunctionResponse.Name, p.FunctionResponse.Response["output"])
	}
	return p.Text
}

// proxying is the key of the proxy that was started last.
type proxying struct{}

// A relay is a proxy that has one page for all addresses.
type relay struct {
	mu   sync.Mutex
	page string
	urls []string
}

func (p *relay) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urls = append(p.urls, r.URL.String())
	w.Write([]byte(p.page))
}

// proxy starts a proxy that answers with a file, and has gemline use it.
//
//	proxy FILE
func proxy(ts *testscript.TestScript, neg bool, args []string) {
	p := &relay{page: ts.ReadFile(args[0])}
	s := httptest.NewServer(p)
	ts.Defer(s.Close)
	*ts.Value(proxying{}).(**relay) = p
	ts.Setenv("HTTP_PROXY", s.URL)
}

// proxied checks what the proxy was asked for.
//
//	proxied URL ...
func proxied(ts *testscript.TestScript, neg bool, args []string) {
	p := *ts.Value(proxying{}).(**relay)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.urls, args) {
		ts.Fatalf("the proxy was asked for %q", p.urls)
	}
}

// valid holds a document to a published schema, with nothing in it that the schema
// says nothing about.
//
//	valid SCHEMA FILE
func valid(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		ts.Check(schematest.Open(t, args[0]).Check(ts.ReadFile(args[1])))
	}
}
