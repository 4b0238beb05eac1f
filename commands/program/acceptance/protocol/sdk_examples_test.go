//go:build linux

package protocol

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// shipped builds an example that a module of ours has with it.
func shipped(t *testing.T, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), path.Base(name))
	if out, err := exec.Command(pt.Need(t, "go"), "build", "-trimpath", "-o", to, name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// The clients that ACP's Go SDK has as examples work with gemline as they are: the one for
// any agent, and the one for Gemini CLI.
func TestACPExamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typed string
		want  []string
	}{
		"client": {"3\n", []string{"Connected to agent (protocol v1)", "Permission requested: ", "3. Allow (allow_once)", "Agent completed"}},
		"gemini": {"write it\n:exit\n", []string{"Connected to Gemini (protocol v1)", "create a.txt (pending)", "Wrote 4 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := et.NewServer(et.Says("I write.", et.Call("1", "write_file", "file_path", "a.txt", "content", "new\n")), et.Says("That is all."))
			t.Cleanup(s.Close)
			dir := t.TempDir()
			pt.Write(t, filepath.Join(dir, "home"), nil)
			cmd := pt.Headless(t, s, dir, nil, nil, "--acp")
			args := cmd.Args
			if name == "gemini" {
				args = []string{"-gemini", cmd.Path, "-model", pt.Model, "-yolo"} // of standard input it reads all for prompts
			}
			client := exec.CommandContext(t.Context(), shipped(t, "github.com/coder/acp-go-sdk/example/"+name), args...)
			client.Dir, client.Env, client.Stdin = dir, append(cmd.Env, "GEMINI_CLI_TRUST_WORKSPACE=true"), strings.NewReader(c.typed)
			out, err := client.CombinedOutput()
			for _, want := range append(c.want, "I write.", "That is all.") {
				if !bytes.Contains(out, []byte(want)) {
					t.Errorf("no %q; %v: %s", want, err, out)
				}
			}
			if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "new\n" {
				t.Errorf("the file holds %q: %s", b, out)
			}
		})
	}
}

// The client that A2A's Go SDK has as an example knows no token and is refused; with somebody
// between who adds it, it is answered.
func TestA2AExample(t *testing.T) {
	t.Parallel()
	s := et.NewServer(et.Says("Hello to you."))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	_, line := servesA2A(t, s, dir, nil)
	var told struct{ URL, Token string }
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(told.URL)
	if err != nil {
		t.Fatal(err)
	}
	between := httptest.NewUnstartedServer(nil)
	defer between.Close()
	between.Config.Handler = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: at.Scheme, Host: at.Host})
			r.Out.Header.Set("Authorization", "Bearer "+told.Token)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			var b bytes.Buffer
			_, err := b.ReadFrom(r.Body)
			whole := bytes.ReplaceAll(b.Bytes(), []byte(at.Host), []byte(between.Listener.Addr().String()))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(whole)), int64(len(whole))
			r.Header.Del("Content-Length")
			return err
		},
	}
	between.Start()
	client := shipped(t, "github.com/a2aproject/a2a-go/examples/helloworld/client")
	for card, want := range map[string]string{at.Scheme + "://" + at.Host: "401", between.URL: "State:input-required"} {
		got, err := exec.CommandContext(t.Context(), client, "-card-url", card).CombinedOutput()
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("%s: no %q; %v: %s", card, want, err, got)
		}
	}
}
