package servers

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// TestAccounts runs the program with credentials of Google accounts, and looks
// for them where they don't belong: on its output, in its debug log, and in
// the environment of the commands it runs.
func TestAccounts(t *testing.T) {
	t.Parallel()
	const place = "GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_CLOUD_PROJECT=p-1 GOOGLE_CLOUD_LOCATION=us-central1 "
	const path = "/v1beta1/projects/p-1/locations/us-central1/publishers/google/models/gemini-2.5-flash:streamGenerateContent"
	revoked := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`{"error":"invalid_grant","error_description":"Token has been revoked: ` + et.RefreshToken + `"}`))
		return true
	}
	busy := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	for _, c := range []struct {
		name     string
		vars     string // HOME, TOKENS stand for what they are
		settings string
		answer   func(http.ResponseWriter, *http.Request) bool
		code     int
		stderr   string
		path     string
		header   map[string]string
	}{
		{name: "service account", vars: place + "GOOGLE_APPLICATION_CREDENTIALS=HOME/service.json", path: path,
			header: map[string]string{"Authorization": "Bearer token-1", "X-Goog-User-Project": ""}},
		{name: "user", vars: place + "GOOGLE_APPLICATION_CREDENTIALS=HOME/user.json", path: path,
			header: map[string]string{"Authorization": "Bearer token-1", "X-Goog-User-Project": "payer"}},
		{name: "of gcloud", vars: place + "CLOUDSDK_CONFIG=HOME/gcloud GOOGLE_CLOUD_QUOTA_PROJECT=other", path: path,
			header: map[string]string{"Authorization": "Bearer token-1", "X-Goog-User-Project": "other"}},
		{name: "metadata server", vars: place + "GCE_METADATA_HOST=TOKENS", path: path,
			header: map[string]string{"Authorization": "Bearer token-1"}},
		{name: "express", vars: "GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_API_KEY=AIza-express", path: "/v1beta1/publishers/google/models/gemini-2.5-flash:streamGenerateContent",
			header: map[string]string{"Authorization": "", "X-Goog-Api-Key": "AIza-express"}},
		{name: "selected", vars: strings.Replace(place, "true", "false", 1) + "GCE_METADATA_HOST=TOKENS GEMINI_API_KEY=AIza-other", path: path,
			settings: `{"security": {"auth": {"selectedType": "vertex-ai"}}, "billing": {"vertexAi": {"requestType": "shared", "sharedRequestType": "flex"}}}`,
			header: map[string]string{"Authorization": "Bearer token-1", "X-Goog-Api-Key": "",
				"X-Vertex-AI-LLM-Request-Type": "shared", "X-Vertex-AI-LLM-Shared-Request-Type": "flex"}},
		{name: "no location", vars: "GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_CLOUD_PROJECT=p", code: 41, stderr: "GOOGLE_CLOUD_LOCATION is not set"},
		{name: "no file", vars: place + "GOOGLE_APPLICATION_CREDENTIALS=HOME/none.json", code: 41, stderr: "none.json can't be read: no such file"},
		{name: "revoked", vars: place + "GOOGLE_APPLICATION_CREDENTIALS=HOME/user.json", answer: revoked, code: 41, stderr: "user.json were refused: invalid_grant: Token has been revoked: [redacted: credentials]"},
		{name: "busy", vars: place + "GCE_METADATA_HOST=TOKENS", answer: busy, code: 68, stderr: "no access token"},
		{name: "nobody there", vars: place + "GCE_METADATA_HOST=127.0.0.1:1", code: 68, stderr: "no access token: no answer from 127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens := et.NewTokens()
			defer tokens.Close()
			tokens.Answer = c.answer
			s := et.NewServer(et.Says("", et.Call("c1", "run_shell_command", "command", "env; cat /proc/self/environ")), et.Says("Done."))
			defer s.Close()
			home := t.TempDir()
			for name, data := range map[string][]byte{"service.json": tokens.ServiceAccount(), "user.json": tokens.User("payer"),
				"gcloud/application_default_credentials.json": tokens.User("payer"), ".gemini/settings.json": []byte(c.settings)} {
				name = filepath.Join(home, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-y", "-d", "--max-attempts", "1", "-m", "gemini-2.5-flash", "-p", "hi")
			cmd.Dir = t.TempDir()
			vars := strings.NewReplacer("HOME", home, "TOKENS", tokens.Host()).Replace(c.vars)
			cmd.Env = pt.Environment(home, nil, append(strings.Fields(vars), "GOOGLE_VERTEX_BASE_URL="+s.URL, "GEMINI_CLI_CUSTOM_HEADERS=X-Gate: secret-of-the-gate")...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(stderr.String(), c.stderr) {
				t.Fatalf("exit code %d, want %d, and %q in\n%s", code, c.code, c.stderr, &stderr)
			}
			all := stdout.String() + stderr.String()
			for _, r := range s.Requests() {
				if r.Action != "streamGenerateContent" {
					continue
				}
				if r.Path != c.path {
					t.Errorf("path %s, want %s", r.Path, c.path)
				}
				for name, want := range c.header {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				all += string(r.Body)
			}
			if n := len(s.Requests()); c.code == 0 && n != 2 || c.code != 0 && n != 0 {
				t.Errorf("%d requests\n%s", n, &stderr)
			}
			secrets := []string{"AIza-", "token-1", et.RefreshToken, et.ClientSecret, "PRIVATE KEY", "secret-of-the-gate"}
			if c.code == 0 { // else the file is named
				secrets = append(secrets, home+"/user.json", home+"/service.json")
			}
			for _, secret := range secrets {
				if strings.Contains(all, secret) {
					t.Errorf("%s is in\n%s", secret, all)
				}
			}
		})
	}
}

// TestNoTokenWithoutRequest sees that nothing is asked for a token before there is a
// request.
func TestNoTokenWithoutRequest(t *testing.T) {
	t.Parallel()
	tokens := et.NewTokens()
	defer tokens.Close()
	cmd := exec.Command(os.Args[0], "-p", "/help")
	cmd.Dir = t.TempDir()
	cmd.Env = pt.Environment(t.TempDir(), nil, "GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=global", "GCE_METADATA_HOST="+tokens.Host())
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("/help")) {
		t.Errorf("%v\n%s", err, out)
	}
	if n := len(tokens.Asked()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
