package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemline/engine/auth"
)

// env returns a lookup of "NAME=value" words.
func env(vars string) func(string) string {
	m := map[string]string{}
	for _, kv := range strings.Fields(vars) {
		k, v, _ := strings.Cut(kv, "=")
		m[k] = v
	}
	return func(name string) string { return m[name] }
}

// sum says in a line what c is.
func sum(c auth.Credentials) string {
	words := []string{string(c.Method)}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+value)
		}
	}
	add("from", c.From)
	add("key", c.Key.Value)
	add("in", c.Key.From)
	add("url", c.BaseURL.Value)
	add("project", c.Project.Value)
	add("location", c.Location.Value)
	add("quota", c.Quota)
	add("version", c.APIVersion.Value)
	add("header", strings.Join(c.HeaderNames(), "+"))
	for name, on := range map[string]bool{"stored": c.Stored} {
		if on {
			words = append(words, name)
		}
	}
	if c.Bearer {
		words = append(words, "bearer")
	}
	if c.Account != nil {
		words = append(words, "account")
	}
	return strings.Join(words, " ")
}

func TestChoose(t *testing.T) {
	const vertex = "GOOGLE_GENAI_USE_VERTEXAI=true "
	const place = "GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=l "
	for _, c := range []struct {
		name     string
		selected string
		vars     string
		want     string
		err      string // a part of the text
	}{
		// What the environment says, in its order.
		{"nothing", "", "", "gemini-api-key stored", ""},
		{"key", "", "GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"other key", "", "GOOGLE_API_KEY=k", "gemini-api-key from=GOOGLE_API_KEY key=k in=GOOGLE_API_KEY", ""},
		{"both keys", "", "GEMINI_API_KEY=k GOOGLE_API_KEY=g", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"bearer", "", "GEMINI_API_KEY=k GEMINI_API_KEY_AUTH_MECHANISM=bearer", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY bearer", ""},
		{"key and address", "", "GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL=https://a", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY url=https://a", ""},
		{"address only", "", "GOOGLE_GEMINI_BASE_URL=https://a", "gemini-api-key url=https://a stored", ""},
		{"address and header", "", "GOOGLE_GEMINI_BASE_URL=https://a GEMINI_CLI_CUSTOM_HEADERS=X-Gate:v", "gateway from=GOOGLE_GEMINI_BASE_URL url=https://a header=X-Gate", ""},
		{"address, header and key", "", "GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL=https://a GEMINI_CLI_CUSTOM_HEADERS=X-Gate:v",
			"gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY url=https://a header=X-Gate", ""},
		{"vertex before key", "", vertex + place + "GEMINI_API_KEY=k", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI project=p location=l account", ""},
		{"vertex express", "", vertex + "GOOGLE_API_KEY=g", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI key=g in=GOOGLE_API_KEY", ""},
		{"vertex express beats a project", "", vertex + place + "GOOGLE_API_KEY=g", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI key=g in=GOOGLE_API_KEY", ""},
		{"vertex with the other name", "", vertex + "GOOGLE_CLOUD_PROJECT_ID=q GOOGLE_CLOUD_LOCATION=l GOOGLE_CLOUD_QUOTA_PROJECT=b GOOGLE_VERTEX_BASE_URL=https://v GOOGLE_GEMINI_BASE_URL=https://a",
			"vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI url=https://v project=q location=l quota=b account", ""},
		{"vertex without a project", "", vertex + "GOOGLE_CLOUD_LOCATION=l", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI location=l account", "GOOGLE_CLOUD_PROJECT is not set"},
		{"vertex without a location", "", vertex + "GOOGLE_CLOUD_PROJECT=p", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI project=p account", "GOOGLE_CLOUD_LOCATION is not set"},
		{"vertex with nothing", "", vertex, "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI account", "neither a project and a location nor a key"},
		{"vertex elsewhere", "", vertex + "GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=evil.example/", "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI project=p location=evil.example/ account", "not such a name"},
		{"log-in", "", "GOOGLE_GENAI_USE_GCA=true GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"log-in and nothing else", "", "GOOGLE_GENAI_USE_GCA=true", "oauth-personal from=GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_GCA asks for the log-in with Google"},
		{"token", "", "GOOGLE_GENAI_USE_GCA=true GOOGLE_CLOUD_ACCESS_TOKEN=t GOOGLE_CLOUD_PROJECT=p GEMINI_API_KEY=k",
			"compute-default-credentials from=GOOGLE_CLOUD_ACCESS_TOKEN key=t in=GOOGLE_CLOUD_ACCESS_TOKEN project=p bearer", ""},
		{"token that nobody asks for", "", "GOOGLE_CLOUD_ACCESS_TOKEN=t GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"selected log-in with a token", "oauth-personal", "GOOGLE_GENAI_USE_GCA=1 GOOGLE_CLOUD_ACCESS_TOKEN=t",
			"compute-default-credentials from=GOOGLE_CLOUD_ACCESS_TOKEN key=t in=GOOGLE_CLOUD_ACCESS_TOKEN bearer", ""},
		{"enterprise", "", "GOOGLE_GENAI_USE_ENTERPRISE=true GEMINI_API_KEY=k " + place, "vertex-ai from=GOOGLE_GENAI_USE_ENTERPRISE project=p location=l account", ""},
		{"enterprise and the older name", "", "GOOGLE_GENAI_USE_ENTERPRISE=1 GOOGLE_GENAI_USE_VERTEXAI=false GOOGLE_API_KEY=g",
			"vertex-ai from=GOOGLE_GENAI_USE_ENTERPRISE key=g in=GOOGLE_API_KEY", ""},
		{"no enterprise, whatever the older name says", "", "GOOGLE_GENAI_USE_ENTERPRISE=false " + vertex + "GOOGLE_API_KEY=g",
			"gemini-api-key from=GOOGLE_API_KEY key=g in=GOOGLE_API_KEY", ""},
		{"not true", "", "GOOGLE_GENAI_USE_GCA=false GOOGLE_GENAI_USE_VERTEXAI=0 CLOUD_SHELL=no GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"version", "", "GEMINI_API_KEY=k GOOGLE_GENAI_API_VERSION=v1alpha CODE_ASSIST_API_VERSION=v2", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY version=v1alpha", ""},
		{"cloud shell", "", "CLOUD_SHELL=true", "compute-default-credentials from=CLOUD_SHELL project=cloudshell-gca account", ""},
		{"cloud shell, where gcloud has a project", "", "CLOUD_SHELL=true GOOGLE_CLOUD_PROJECT=of-gcloud", "compute-default-credentials from=CLOUD_SHELL project=cloudshell-gca account", ""},
		{"cloud shell, where the user has a project", "", "CLOUD_SHELL=true GOOGLE_CLOUD_PROJECT=of-gcloud GOOGLE_CLOUD_PROJECT_ID=p", "compute-default-credentials from=CLOUD_SHELL project=p account", ""},
		{"cloud shell and Vertex AI", "", "CLOUD_SHELL=true " + vertex + place, "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI project=p location=l account", ""},
		{"machine", "", "GEMINI_CLI_USE_COMPUTE_ADC=true GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_QUOTA_PROJECT=b CODE_ASSIST_ENDPOINT=https://c CODE_ASSIST_API_VERSION=v2 GOOGLE_GENAI_API_VERSION=v1 GOOGLE_GEMINI_BASE_URL=https://a",
			"compute-default-credentials from=GEMINI_CLI_USE_COMPUTE_ADC url=https://c project=p quota=b version=v2 account", ""},
		{"machine and a number", "", "GEMINI_CLI_USE_COMPUTE_ADC=true GOOGLE_CLOUD_PROJECT_ID=12345", "compute-default-credentials from=GEMINI_CLI_USE_COMPUTE_ADC project=12345 account", "GOOGLE_CLOUD_PROJECT_ID is 12345, a number"},
		{"machine and nonsense", "", "GEMINI_CLI_USE_COMPUTE_ADC=true CODE_ASSIST_API_VERSION=v1?key", "compute-default-credentials from=GEMINI_CLI_USE_COMPUTE_ADC version=v1?key account", "not such a name"},
		{"key in cloud shell", "", "CLOUD_SHELL=true GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},

		// What is selected beats the environment.
		{"selected key", "gemini-api-key", vertex + place + "GEMINI_API_KEY=k", "gemini-api-key from=security.auth.selectedType key=k in=GEMINI_API_KEY", ""},
		{"selected key, none there", "gemini-api-key", "", "gemini-api-key from=security.auth.selectedType stored", ""},
		{"selected key, only the other", "gemini-api-key", "GOOGLE_API_KEY=g", "gemini-api-key from=security.auth.selectedType key=g in=GOOGLE_API_KEY", ""},
		{"selected key, the other is Vertex's", "gemini-api-key", vertex + "GOOGLE_API_KEY=g", "gemini-api-key from=security.auth.selectedType stored", ""},
		{"selected vertex", "vertex-ai", place + "GEMINI_API_KEY=k", "vertex-ai from=security.auth.selectedType project=p location=l account", ""},
		{"selected vertex, express", "vertex-ai", "GOOGLE_API_KEY=g", "vertex-ai from=security.auth.selectedType key=g in=GOOGLE_API_KEY", ""},
		{"selected gateway", "gateway", "GOOGLE_GEMINI_BASE_URL=http://localhost:1", "gateway from=security.auth.selectedType url=http://localhost:1", ""},
		{"selected gateway with a key", "gateway", "GOOGLE_GEMINI_BASE_URL=https://a GEMINI_API_KEY=k", "gateway from=security.auth.selectedType key=k in=GEMINI_API_KEY url=https://a", ""},
		{"selected gateway without an address", "gateway", "GEMINI_API_KEY=k", "gateway from=security.auth.selectedType", "GOOGLE_GEMINI_BASE_URL is not set"},
		{"selected log-in", "oauth-personal", "GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"selected log-in and nothing else", "oauth-personal", "", "oauth-personal from=security.auth.selectedType", "another program"},
		{"selected log-in, twice", "oauth-personal", "GOOGLE_GENAI_USE_GCA=1 GOOGLE_API_KEY=g", "gemini-api-key from=GOOGLE_API_KEY key=g in=GOOGLE_API_KEY", ""},
		{"selected log-in, Vertex AI in the environment", "oauth-personal", vertex + place, "vertex-ai from=GOOGLE_GENAI_USE_VERTEXAI project=p location=l account", ""},
		{"selected machine", "compute-default-credentials", "", "compute-default-credentials from=security.auth.selectedType account", ""},
		{"selected by its old name", "cloud-shell", "GEMINI_API_KEY=k GCE_METADATA_HOST=here", "compute-default-credentials from=security.auth.selectedType account", ""},
		{"selected nonsense", "api-key", "GEMINI_API_KEY=k", "gemini-api-key from=GEMINI_API_KEY key=k in=GEMINI_API_KEY", ""},
		{"selected nonsense and nothing else", "api-key", "", "api-key", `says "api-key"`},

		// What makes no sense.
		{"key with a quote", "", "GEMINI_API_KEY=ä", "gemini-api-key from=GEMINI_API_KEY key=ä in=GEMINI_API_KEY", "the key in GEMINI_API_KEY holds characters"},
		{"header without a name", "", "GEMINI_API_KEY=k GEMINI_CLI_CUSTOM_HEADERS=blue", "", "without a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := auth.Choose(auth.Config{Selected: c.selected, Getenv: env(c.vars)})
			if sum(got) != c.want {
				t.Errorf("%s\nwant %s", sum(got), c.want)
			}
			checkError(t, err, c.err)
		})
	}
}

// TestCloudShellProject sees that a project in .env is the user's own, also in
// Cloud Shell.
func TestCloudShellProject(t *testing.T) {
	c, err := auth.Choose(auth.Config{Getenv: env("CLOUD_SHELL=true GOOGLE_CLOUD_PROJECT=mine"), DotEnv: map[string]string{"GOOGLE_CLOUD_PROJECT": "mine"}})
	if c.Project.Value != "mine" || c.Project.From != "GOOGLE_CLOUD_PROJECT" || err != nil {
		t.Errorf("%s, %v", sum(c), err)
	}
}

func checkError(t *testing.T, err error, part string) {
	t.Helper()
	if part == "" {
		if err != nil {
			t.Errorf("error %v", err)
		}
		return
	}
	var e *auth.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, part) || strings.ContainsRune(e.Message+e.Advice, '\n') {
		t.Errorf("error %v, want %q", err, part)
	}
}

// Nobody is sent to a log-in that can't be had.
func TestEnforcedLogIn(t *testing.T) {
	_, err := auth.Choose(auth.Config{Enforced: "oauth-personal", Getenv: env("GEMINI_API_KEY=k")})
	var said *auth.Error
	if !errors.As(err, &said) || !strings.Contains(said.Advice, "take security.auth.enforcedType out") {
		t.Errorf("%#v", err)
	}
}

func TestEnforced(t *testing.T) {
	const key, place = "GEMINI_API_KEY=k", " GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=l"
	for _, c := range []struct {
		name               string
		selected, enforced string
		external           bool
		vars               string
		method             auth.Method
		err                string
	}{
		{"the same", "vertex-ai", "vertex-ai", false, place, auth.Vertex, ""},
		{"selected another", "gemini-api-key", "vertex-ai", false, key + place, auth.APIKey, "allows only vertex-ai, and security.auth.selectedType says gemini-api-key"},
		{"environment another", "", "vertex-ai", false, key + place, auth.APIKey, "allows only vertex-ai, and GEMINI_API_KEY says gemini-api-key"},
		{"nothing said", "", "vertex-ai", false, place, auth.Vertex, ""},
		{"log-in", "oauth-personal", "oauth-personal", false, key, auth.Google, "another program"},
		{"selected log-in", "oauth-personal", "vertex-ai", false, key + place, auth.Google, "allows only vertex-ai"},
		{"nonsense", "", "vertex", false, key, "", `security.auth.enforcedType says "vertex"`},
		{"old name", "compute-default-credentials", "cloud-shell", false, key, auth.Compute, ""},
		{"external machine", "cloud-shell", "", true, "", auth.Compute, ""},
		{"external", "gemini-api-key", "vertex-ai", true, "", auth.APIKey, ""},
		{"external vertex", "vertex-ai", "", true, "", auth.Vertex, ""},
		{"external gateway", "gateway", "", true, "", auth.Gateway, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := auth.Choose(auth.Config{Selected: c.selected, Enforced: c.enforced, External: c.external, Getenv: env(c.vars)})
			if got.Method != c.method || got.External != c.external || c.external && (got.Stored || got.Account != nil) {
				t.Errorf("%s", sum(got))
			}
			checkError(t, err, c.err)
		})
	}
}

// TestInstead sees that a key at hand is used in place of a log-in that can't be had here,
// and said, and that no other choice is replaced.
func TestInstead(t *testing.T) {
	stored := func() bool { return true }
	for _, c := range []struct {
		cfg  auth.Config
		vars string
		want string
	}{
		{auth.Config{Selected: "oauth-personal", SelectedAt: "security.auth.selectedType in a.json:3"}, "GEMINI_API_KEY=k",
			"gemini-api-key: security.auth.selectedType in a.json:3 asks for the log-in with Google, which belongs to another program, " +
				"whose terms do not let gemline use it; GEMINI_API_KEY is used"},
		{auth.Config{Selected: "oauth-personal", KeyStored: stored}, "",
			"gemini-api-key: security.auth.selectedType asks for the log-in with Google, which belongs to another program, " +
				"whose terms do not let gemline use it; the stored key is used"},
		{auth.Config{Selected: "login_with_google", KeyStored: stored}, "",
			`gemini-api-key: security.auth.selectedType says "login_with_google", which is not a way to sign in; the stored key is used`},
		{auth.Config{Selected: "cloud-shell", KeyStored: stored}, "",
			"gemini-api-key: security.auth.selectedType asks for Code Assist with a Google account, and there are no Google credentials here; the stored key is used"},
		{auth.Config{Selected: "compute-default-credentials"}, "GEMINI_API_KEY=k GCE_METADATA_HOST=here", "compute-default-credentials: "},
		{auth.Config{Selected: "vertex-ai"}, "GEMINI_API_KEY=k",
			"gemini-api-key: security.auth.selectedType asks for Vertex AI, for which neither a project nor GOOGLE_API_KEY is set; GEMINI_API_KEY is used"},
		{auth.Config{Key: auth.Setting{Value: "k", From: "--key-file"}}, "GOOGLE_GENAI_USE_GCA=true",
			"gemini-api-key: GOOGLE_GENAI_USE_GCA asks for the log-in with Google, which belongs to another program, " +
				"whose terms do not let gemline use it; --key-file is used"},
		{auth.Config{KeyStored: stored}, "GEMINI_API_KEY=k", "gemini-api-key: "},
		{auth.Config{Selected: "vertex-ai", KeyStored: stored}, "GEMINI_API_KEY=k GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=l", "vertex-ai: "},
	} {
		c.cfg.Getenv = env(c.vars)
		got, err := auth.Choose(c.cfg)
		if said := string(got.Method) + ": " + got.Instead; said != c.want || err != nil {
			t.Errorf("%s, %v\nwant %s", said, err, c.want)
		}
	}
}

// TestBilling sees that Vertex AI, and nobody else, is told how to bill.
func TestBilling(t *testing.T) {
	cfg := auth.Config{Getenv: env("GOOGLE_GENAI_USE_VERTEXAI=1 GOOGLE_API_KEY=k GEMINI_CLI_CUSTOM_HEADERS=X-Vertex-AI-LLM-Request-Type:mine"),
		Request: "dedicated", Shared: "flex"}
	c, err := auth.Choose(cfg)
	if d := cmp.Diff(http.Header{"X-Vertex-Ai-Llm-Request-Type": {"mine"}, "X-Vertex-Ai-Llm-Shared-Request-Type": {"flex"}}, c.Header); d != "" || err != nil {
		t.Error(d, err)
	}
	cfg.Getenv = env("GEMINI_API_KEY=k")
	if c, err := auth.Choose(cfg); len(c.Header) != 0 || err != nil {
		t.Error(c.Header, err)
	}
}

func TestErrNoKey(t *testing.T) {
	for vars, want := range map[string]string{
		"":                                 "neither GEMINI_API_KEY nor GOOGLE_API_KEY is set",
		"GOOGLE_GEMINI_BASE_URL=https://a": "gemline auth use gateway",
	} {
		c, err := auth.Choose(auth.Config{Getenv: env(vars)})
		if err != nil {
			t.Fatal(err)
		}
		var e *auth.Error
		if !errors.As(c.ErrNoKey(), &e) || !strings.Contains(e.Message+e.Advice, want) || !strings.Contains(e.Advice, "gemline auth set-key") {
			t.Errorf("%q: %v", vars, c.ErrNoKey())
		}
	}
	c, _ := auth.Choose(auth.Config{Selected: "gemini-api-key", Getenv: env("")})
	if !strings.Contains(c.ErrNoKey().Error(), "security.auth.selectedType says gemini-api-key") {
		t.Error(c.ErrNoKey())
	}
}

func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"":                                 "",
		"https://a/b":                      "https://a/b",
		"https://u:secret@a/b?key=secret#": "https://xxxxx@a/b",
		"https://u:secret@[a":              "(no URL)",
		"u:secret@a/b":                     "xxxxx@a/b",
	} {
		if got := (auth.Credentials{BaseURL: auth.Setting{Value: url}}).Address(); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestAccount(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	const usual = "gcloud/application_default_credentials.json"
	named, home := path("named.json", "named"), path("home/.config/"+usual, "usual")
	path("data/"+usual, "windows")
	path("cloudsdk/application_default_credentials.json", "cloudsdk")
	for _, c := range []struct {
		name, goos, vars string
		data, from       string
		err              string
	}{
		{"named", "linux", "GOOGLE_APPLICATION_CREDENTIALS=" + named + " HOME=" + dir + "/home", "named", named, ""},
		{"usual", "linux", "HOME=" + dir + "/home", "usual", home, ""},
		{"of gcloud", "linux", "HOME=" + dir + "/home CLOUDSDK_CONFIG=" + dir + "/cloudsdk", "cloudsdk", dir + "/cloudsdk/application_default_credentials.json", ""},
		{"on Windows", "windows", "HOME=" + dir + "/home APPDATA=" + dir + "/data", "windows", dir + "/data/" + usual, ""},
		{"machine", "linux", "HOME=" + dir, "", "", ""},
		{"nowhere", "linux", "", "", "", ""},
		{"missing", "linux", "GOOGLE_APPLICATION_CREDENTIALS=" + dir + "/none HOME=" + dir + "/home", "", dir + "/none", "can't be read: no such file"},
		{"a directory", "linux", "GOOGLE_APPLICATION_CREDENTIALS=" + dir, "", dir, "can't be read: is a directory"},
		{"a device", "linux", "GOOGLE_APPLICATION_CREDENTIALS=/dev/zero", "", "/dev/zero", "not a regular file"},
		{"huge", "linux", "GOOGLE_APPLICATION_CREDENTIALS=" + path("huge", strings.Repeat("x", 2<<20)), "", dir + "/huge", "is larger than 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("paths of another kind")
			}
			choice, err := auth.Choose(auth.Config{Getenv: env(c.vars + " GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=l GCE_METADATA_HOST=h"), GOOS: c.goos})
			if err != nil {
				t.Fatal(err)
			}
			data, from, err := choice.Account.Read()
			checkError(t, err, c.err)
			if string(data) != c.data || filepath.ToSlash(from) != filepath.ToSlash(c.from) || choice.Account.Host != "h" {
				t.Errorf("%.20q from %s", data, from)
			}
		})
	}
}

func TestParseHeader(t *testing.T) {
	for _, c := range []struct {
		in   string
		want http.Header
		err  string
	}{
		{"", http.Header{}, ""},
		{"A: b", http.Header{"A": {"b"}}, ""},
		{"A: b, C:d", http.Header{"A": {"b"}, "C": {"d"}}, ""},
		{"a: 1, x-b:2 ,", http.Header{"A": {"1"}, "X-B": {"2 ,"}}, ""},
		{"Accept: a, b, c;q=1, X: d", http.Header{"Accept": {"a, b, c;q=1"}, "X": {"d"}}, ""},
		{"X: http://h:1/,a b: c", http.Header{"X": {"http://h:1/,a b: c"}}, ""},
		{"Authorization: Bearer x.y", http.Header{"Authorization": {"Bearer x.y"}}, ""},
		{"A: b, c, D: e:f", http.Header{"A": {"b, c"}, "D": {"e:f"}}, ""},
		{" , A:b,", http.Header{"A": {"b,"}}, ""},
		{"b", nil, "without a name"},
		{": b", nil, "without a name"},
		{"A B: c", nil, "without a name"},
		{"A: b\nC: d", nil, "control character"},
	} {
		got, err := auth.ParseHeader(c.in)
		checkError(t, err, c.err)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.in, d)
		}
	}
}

// FuzzHeader sees that what is read can be sent.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "A: b, C: d", "A: b, c", ":", "A:\r\nB: c", "ä: b", ",,,A:,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := auth.ParseHeader(s)
		if err != nil {
			return
		}
		for name, values := range h {
			if name == "" || len(values) != 1 || strings.ContainsAny(name+values[0], "\r\n\x00") || strings.ContainsAny(name, ": ") {
				t.Errorf("%q: %q", name, values)
			}
		}
		var again []string
		for name, values := range h {
			again = append(again, fmt.Sprintf("%s: %s", name, values[0]))
		}
		if len(h) == 1 { // in several, one may end in what begins another
			if h2, err := auth.ParseHeader(again[0]); err != nil || cmp.Diff(h, h2) != "" {
				t.Errorf("%q: %v, then %v, %v", s, h, h2, err)
			}
		}
	})
}
