//go:build linux

package servers

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
	"gemline/tools/web/weblab"
)

// The program fetches pages in a network of its own, where a name server and a
// web server do what hostile ones would: nothing comes back from a private
// address, and no such address is so much as asked.
func TestWebLab(t *testing.T) {
	t.Parallel()
	if _, inside := weblab.Enter(t); !inside {
		return
	}
	lab := weblab.Open(t)
	for _, test := range []struct{ url, want string }{
		{"http://pub.test:8077/ok", "PUBLIC"},
		{"http://" + weblab.Public + ":8077/ok", "PUBLIC"},
		{"http://pub.test:8077/hop", "PUBLIC"},
		{"http://127.0.0.1:8077/", "Blocked Host"},
		{"http://[::1]:8077/", "Blocked Host"},
		{"http://[::ffff:127.0.0.1]:8077/", "Blocked Host"},
		{"http://[64:ff9b::7f00:1]:8077/", "Blocked Host"},
		{"http://0.0.0.0:8077/", "Blocked Host"},
		{"http://localhost:8077/", "Blocked Host"},
		{"http://127.1:8077/", "not in its usual form"},
		{"http://0x7f000001:8077/", "not in its usual form"},
		{"http://2130706433:8077/", "not in its usual form"},
		{"http://pub.test@127.0.0.1:8077/", "user name"},
		{"http://inside.test:8077/", "Blocked Host"},
		{"http://meta.test:8077/", "Blocked Host"},
		{"http://both.test:8077/", "Blocked Host"},
		{"http://rebind.test:8077/", "not fetched: an address of this machine"},
		{"http://pub.test:8077/to/http://127.0.0.1:8077/", "redirect is not followed"},
		{"http://pub.test:8077/to/http://169.254.169.254/", "redirect is not followed"},
		{"http://pub.test:8077/to/http://inside.test:8077/", "it redirects to"},
		{"http://pub.test:8077/to/file:///etc/passwd", "redirect is not followed"},
		{"http://nowhere.test:8077/", "no such host"},
	} {
		if got := fetched(t, test.url); !strings.Contains(got, test.want) || strings.Contains(got, "PRIVATE") {
			t.Errorf("%s: %s; want %s", test.url, got, test.want)
		}
	}
	if asked := lab.Asked(); slices.ContainsFunc(asked, func(at string) bool { return at != weblab.Public }) || len(asked) < 8 {
		t.Errorf("asked were %v", asked)
	}
}

// fetched has the program fetch a page, by a model that asks for it and a server
// that reads no pages, and returns what the model is told.
func fetched(t *testing.T, url string) string {
	t.Helper()
	told := make(chan string, 1)
	s := et.NewServer()
	defer s.Close()
	s.Respond = func(r et.Received) et.Reply {
		if r.Action == "generateContent" {
			return et.Status(http.StatusBadRequest, "INVALID_ARGUMENT", "no pages are read here")
		}
		contents := r.Contents()
		last := contents[len(contents)-1].Parts
		if i := slices.IndexFunc(last, func(p *genai.Part) bool { return p.FunctionResponse != nil }); i >= 0 {
			told <- fmt.Sprint(last[i].FunctionResponse.Response)
			return et.Says("done")
		}
		return et.Says("", et.Call("1", "web_fetch", "prompt", "read "+url))
	}
	s.Add() // the detector sees that the server comes to know, other than by way of a process
	cmd := exec.Command(os.Args[0], "-p", "go", "--approval-mode", "auto_edit", "-m", "gemini-2.5-flash")
	cmd.Dir = t.TempDir()
	cmd.Env = pt.Environment(t.TempDir(), s, "GEMINI_CLI_TRUST_WORKSPACE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", url, err, out)
	}
	select {
	case text := <-told:
		return text
	default:
		return "nothing was told"
	}
}
