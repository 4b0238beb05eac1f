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
		"provide":    provide,
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
