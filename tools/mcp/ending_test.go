package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gemline/engine"
	"gemline/engine/auth"
	"gemline/tools/mcp/rpc"
	"gemline/tools/shell"
)

func TestFirstError(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"", ""},
		{"\n}\n", ""},
		{"cannot open \x1b[31mthe database", `cannot open \u001b[31mthe database`},
		{`node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.11.0
`, "Error: Cannot find module '/srv/index.js'"},
		{`node:internal/errors:496
    ErrorCaptureStackTrace(err);
    ^

TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string. Received undefined
    at Object.join (node:path:1171:7)

Node.js v20.11.0`, `TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string. Received undefined`},
		{`Starting up
Traceback (most recent call last):
  File "/srv/server.py", line 3, in <module>
    raise KeyError("API_TOKEN")
KeyError: 'API_TOKEN'
`, "KeyError: 'API_TOKEN'"},
		{`Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import mcp
ModuleNotFoundError: No module named 'mcp'`, "ModuleNotFoundError: No module named 'mcp'"},
		{`npm error code E404
npm error 404 Not Found - GET a-server - Not found
npm error 404
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log`, "npm error 404 Not Found - GET a-server - Not found"},
		{"npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /x/package.json\nnpm ERR! Could not read package.json\n", "npm ERR! Could not read package.json"},
		{"2026-11-27T06:00:00Z INFO no errors so far\n2026-11-27T06:00:01Z ERROR: no such database\nbye", "2026-11-27T06:00:01Z ERROR: no such database"},
		{"[INFO] error handler is there\n[ERROR] config: token: missing", "[ERROR] config: token: missing"},
		{"panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:7 +0x1d\nexit status 2", "panic: runtime error: index out of range [3]"},
		{"thread 'main' panicked at src/main.rs:2:5:\nno token\nnote: run with `RUST_BACKTRACE=1`", "thread 'main' panicked at src/main.rs:2:5: no token"},
		{"Exception in thread \"main\" java.lang.NoClassDefFoundError: org/Foo\n\tat Main.main(Main.java:3)\n", `Exception in thread "main" java.lang.NoClassDefFoundError: org/Foo`},
		{"sh: 1: uvx: not found", "sh: 1: uvx: not found"},
		{"env: ‘node’: No such file or directory", "env: ‘node’: No such file or directory"},
		{"Usage: server DIRECTORY\n  DIRECTORY  where to look", "Usage: server DIRECTORY"},
		{"warming up\nI give up\n", "I give up"},
		{"Error: " + strings.Repeat("x", 1000), "Error: " + strings.Repeat("x", 193) + "..."},
	} {
		if got := firstError(strings.TrimSpace(c.said)); got != c.want {
			t.Errorf("%s\ngives %q, want %q", c.said, got, c.want)
		}
	}
}

// refusing is a server that does not come about, for the reason that its kind says.
func refusing(kind string) {
	in := json.NewDecoder(os.Stdin)
	for {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if in.Decode(&m) != nil {
			return
		}
		answer := func(said string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, said) }
		switch version := "2024-10-07"; {
		case m.Method == "initialize" && kind == "refuses":
			answer(`"error":{"code":-32602,"message":"Unsupported client"}`)
		case m.Method == "initialize" && kind == "future":
			answer(`"result":{"protocolVersion":"2031-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
		case m.Method == "initialize" && kind == "mark":
			fmt.Print("\ufeff")
			answer(`"error":{"code":-32602,"message":"Unsupported client"}`)
		case m.Method == "initialize" && kind == "versionless":
			answer(`"result":{"protocolVersion":20241105,"capabilities":{}}`)
		case m.Method == "initialize" && kind == "speechless":
			fmt.Println("starting\nError: no key is set")
			os.Exit(1)
		case m.Method == "initialize" && kind == "closes":
			os.Stdout.Close()
			io.Copy(io.Discard, os.Stdin)
			time.Sleep(time.Hour)
		case m.Method == "initialize" && kind == "slow":
			fmt.Fprintln(os.Stderr, "Error: the database is locked\nwaiting")
			time.Sleep(time.Hour)
		case m.Method == "initialize":
			fmt.Println("{ listening: true }\n[info] ready")
			answer(`"result":{"protocolVersion":"` + version + `","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"x","version":"1"}}`)
		case m.Method == "tools/list" && kind == "listless":
			answer(`"error":{"code":-32601,"message":"Method not found"}`)
		case m.Method == "tools/list":
			const levels = 6_000
			deep := strings.Repeat(`{"properties":{"x":`, levels) + "{}" + strings.Repeat("}}", levels)
			answer(`"result":{"tools":[{"name":"deep","inputSchema":` + deep + `},{"name":"flat","inputSchema":{"type":"object"}}]}`)
		case m.Method == "prompts/list":
			answer(`"error":{"code":-32601,"message":"Method not found"}`)
		}
	}
}

// Why a server is not there is told in its words, and nobody waits for what can't come.
func TestWhyNotThere(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "the disk is full", http.StatusInternalServerError)
	}))
	t.Cleanup(broken.Close)
	answers := func(kind, body string) Server {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		}))
		t.Cleanup(srv.Close)
		return Server{Name: "s", URL: srv.URL, Kind: "http"}
	}
	program := func(kind string, limit time.Duration) Server {
		s := self(t, "s", kind)
		s.Timeout = limit
		return s
	}
	for name, c := range map[string]struct {
		server Server
		want   []string
		state  State
	}{
		"refuses":      {program("refuses", 0), []string{"initialize: Unsupported client (-32602); its tools are not there"}, Failed},
		"version":      {program("future", 0), []string{"it speaks version 2031-01-01 of the protocol"}, Failed},
		"no tools":     {program("listless", 0), []string{"tools/list: Method not found (-32601)"}, Failed},
		"slow":         {program("slow", 15*time.Second), []string{"initialize: no answer within 15s: Error: the database is locked", "all that it said is in /kept/s"}, Failed},
		"closes":       {program("closes", 0), []string{"it closed its standard output"}, Failed},
		"dead":         {program("dead", 0), []string{`it ended with exit code 3: cannot open the database; its tools are not there`}, Failed},
		"no program":   {Server{Name: "s", Command: []string{"/nowhere/to/be/found"}}, []string{"no such file"}, Failed},
		"speechless":   {program("speechless", 0), []string{"it ended with exit code 1: Error: no key is set"}, Failed},
		"no version":   {program("versionless", 0), []string{"it does not say which version of the protocol it speaks"}, Failed},
		"a mark first": {program("mark", 0), []string{"initialize: Unsupported client (-32602)"}, Failed},
		"a page":       {answers("text/html", "<title>Log in</title>"), []string{"no message of the protocol: <title>Log in</title>"}, Failed},
		"broken JSON":  {answers("application/json", "{oops"), []string{"no message of the protocol: {oops"}, Failed},
		"no object":    {answers("application/json", `{"jsonrpc":"2.0","id":1,"result":[1]}`), []string{"initialize: JSON of the type array where an object belongs"}, Failed},
		"refused port": {Server{Name: "s", URL: "http://127.0.0.1:1/mcp", Kind: "http"}, []string{"connection refused; its tools come when it answers"}, Connecting},
		"unknown host": {Server{Name: "s", URL: "http://nowhere.invalid/mcp"}, []string{"nowhere.invalid", "its tools come when it answers"}, Connecting},
		"HTTP 500":     {Server{Name: "s", URL: broken.URL, Kind: "http"}, []string{"HTTP 500 Internal Server Error: the disk is full"}, Connecting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, said := unconnected(t, c.server)
			s.Keep = func(server, _ string) string { return "/kept/" + server }
			s.Start()
			if late := s.Wait(context.Background(), 5*time.Minute); late != nil {
				t.Fatalf("late: %v, %s", late, said.text())
			}
			st := s.Status()[0]
			for _, want := range c.want {
				if !strings.Contains(said.text(), want) {
					t.Errorf("told %q, want %q", said.text(), want)
				}
			}
			if st.State != c.state || len(said.said) != 1 {
				t.Errorf("%s; told %q", st.State, said.said)
			}
			if name == "dead" && strings.Contains(said.text(), "/kept") {
				t.Errorf("a line that was told is kept: %q", said.text())
			}
		})
	}
}

// A hasty stream is that of a server that ends before it takes a message: what it has printed is
// there after that.
type hasty struct {
	refused chan struct{}
	printed []string
}

func (h *hasty) Send(context.Context, *rpc.Message) error {
	close(h.refused)
	return &fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func (h *hasty) Next() ([]byte, error) {
	<-h.refused
	time.Sleep(lastWords / 10) // of a bubble, in which others go on meanwhile
	if len(h.printed) == 0 {
		return nil, io.EOF
	}
	line := h.printed[0]
	h.printed = h.printed[1:]
	return []byte(line), nil
}

func (h *hasty) Close() error {
	h.printed = nil
	return nil
}

// What a server has printed is read to its end, though it takes no more messages, and is not told
// again when it ends another time.
func TestLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := unconnected(t)
		l := newServerConn(s, Server{Name: "s"})
		for _, said := range []string{"Error: the port is taken", "usage: s FILE"} {
			stream := &hasty{make(chan struct{}), []string{said}}
			_, err := l.open(t.Context(), transport{"stdio", func(context.Context) (rpc.Stream, func(error) error, error) {
				return stream, func(err error) error { return l.ending(err, shell.Outcome{}, false) }, nil
			}})
			if err == nil || err.Error() != "it ended with exit code 0: "+said {
				t.Error(err)
			}
		}
	})
}

// A server of the oldest version is used, with log lines among its messages, without the
// prompts that it does not have, and with a schema that is too deep to be read.
func TestOldServer(t *testing.T) {
	t.Parallel()
	s, said := set(t, self(t, "old", "old"))
	if got := names(s.Tools(Callbacks{})); fmt.Sprint(got) != "[mcp_old_deep mcp_old_flat]" {
		t.Errorf("%v; told %q", got, said.text())
	}
	if err := s.Status()[0].Err; err != nil || said.text() != "" {
		t.Errorf("%v; told %q", err, said.text())
	}
}

// A call that lacks a log-in says how to log in.
func TestCallLacksLogin(t *testing.T) {
	err := (&serverConn{Server: Server{Name: "desk"}}).failure(&auth.Error{Message: "desk wants a log-in", Advice: "gemline mcp auth desk"})
	if got := engine.DisplayError(err); got != "desk: wants a log-in; gemline mcp auth desk" {
		t.Error(got)
	}
}
