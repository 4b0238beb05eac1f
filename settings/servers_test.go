package settings

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every file that sets up servers is read in the same way: settings, a project's .mcp.json, and
// extensions' manifests.
func TestServersOfEveryFile(t *testing.T) {
	for _, c := range []struct{ text, want, said string }{
		{`"command": "c", "args": ["--port", 8080, true], "timeout": "30000"`, `c [--port 8080 true] 30s [] false`, ""},
		{`"command": "c", "disabled": "true"`, `c [] 0s [] true`, ""},
		{`"command": "c", "type": "streamable-http"`, `c [] 0s [] false http`, ""},
		{`"command": "c", "env": null, "disabled": null, "alwaysAllow": ["x"]`, `c [] 0s [] false`, ""},
		{`"command": "c", "disabled": "yes"`, `mcpServers.s.disabled must be true or false, not "yes"`, ""},
		{`"command": "c", "enabled": "no"`, `mcpServers.s.enabled must be true or false, not "no"`, ""},
		{`"command": ["c", "x"]`, `mcpServers.s.command must be a string, not a list`, ""},
		{`"command": "c", "timeout": "30s"`, `c [] 0s [] false`, `timeout must be a number from 1 to 2147483647, not "30s"`},
		{`"command": "c", "excludeTools": "write"`, `c [] 0s [write] false`, `excludeTools must be a list of strings, not "write"; it counts as a list of 1`},
		{`"command": "c", "excludeTools": {}`, `mcpServers.s.excludeTools must be a list of strings, not an object`, ""},
		{`"command": "c", "args": "-y server"`, `mcpServers.s.args must be a list of strings, not "-y server"`, ""},
		{`"command": "c", "cwd": "~"`, `c [] 0s [] false`, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f.json")
		text := `{"mcpServers": {"s": {` + c.text + `}}}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		shared, err := ProjectServers(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]Server{"user": layered(t, path, User), "workspace": layered(t, path, Workspace),
			".mcp.json": shared[0], "filled in": shared[0].Filled(func(string) (string, bool) { return "", false })} {
			got := strings.TrimSpace(fmt.Sprint(s.Command, " ", s.Args, " ", s.Timeout, " ", s.Exclude, " ", s.Off, " ", s.Type))
			if s.Err != nil {
				got = s.Err.Error()
			}
			if got != c.want {
				t.Errorf("%s: %s: %s", name, c.text, got)
			}
		}
		if said := strings.Join(shared[0].Unset, "\n"); c.said == "" != (said == "") || !strings.Contains(said, c.said) {
			t.Errorf("%s: %s", c.text, said)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := ProjectServers(empty); err != nil || len(list) > 0 {
		t.Error(list, err)
	}
	for text, want := range map[string]string{"{oops}": "f.json:1:2: ", `{"servers": {"s": {}}}`: `f.json: it must hold {"mcpServers"`} {
		path := filepath.Join(t.TempDir(), "f.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ProjectServers(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// layered returns the server of a file of settings.
func layered(t *testing.T, path string, scope Scope) Server {
	s, _, err := Load([]Source{{Path: path, Scope: scope}}, env())
	if err != nil {
		t.Fatal(err)
	}
	return s.Servers()[0]
}

// All that a server's settings send or start is shown, and each variable in it.
func TestDescribeServer(t *testing.T) {
	for written, want := range map[string]string{
		`{"command": "sh", "args": ["-c", "true; rm -rf x", "", "$A"], "cwd": "d", "env": {"B": "$C", "A": 1}}`: `sh -c "true; rm -rf x" "" $A, in d, with A=1, with B=$C`,
		`{"command": "sh -c", "args": ["x", 5]}`: `"sh -c" x 5`,
		`{"command": "x", "url": "http://one/$GITHUB_TOKEN", "httpUrl": "https://u:p@two/?token=$GITHUB_TOKEN", "trust": true}`:                                         `https://********@two/?token=$GITHUB_TOKEN, with command "x", with url "http://one/$GITHUB_TOKEN"`,
		`{"url": "http://one/", "headers": {"X-A": "a ${GITHUB_TOKEN}", "Authorization": "Bearer abc ${T}", "X-Key": "abc", "X-B": "abc"}}`:                             `http://one/, with the header Authorization: ********${T}, with the header X-A: a ${GITHUB_TOKEN}, with the header X-B: abc, with the header X-Key: ********`,
		`{"url": "http://one/", "authProviderType": "google_credentials", "oauth": {"clientId": "$A", "clientSecret": "abc", "tokenUrl": "http://evil/$GITHUB_TOKEN"}}`: `http://one/, with authProviderType "google_credentials", with oauth {"clientId":"$A","clientSecret":"********","tokenUrl":"http://evil/$GITHUB_TOKEN"}`,
		`{"args": ["a"]}`: `, with args ["a"]`,
	} {
		var tree map[string]any
		if err := json.Unmarshal([]byte(written), &tree); err != nil {
			t.Fatal(err)
		}
		if start, with := DescribeServer(tree); start+with != want {
			t.Errorf("%s:\n%s, want\n%s", written, start+with, want)
		}
	}
}
