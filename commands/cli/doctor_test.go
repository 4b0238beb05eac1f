package cli

import (
	"strings"
	"testing"

	"gemline/settings/flags"
	"gemline/settings/project"
)

func TestChecks(t *testing.T) {
	env := map[string]string{}
	w := &doctor{out: &Output{Notify: func(string) {}}, project: noProject{}, here: &Folder{Paths: project.New(t.TempDir(), "", t.TempDir()), Flags: &flags.Set{},
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}}
	for _, c := range []struct {
		name string
		env  string // NAME=VALUE|...
		look func() finding
		want status
		text string
	}{
		{"a program", "", func() finding { return program("no-such-program", "nothing works")(w, t.Context()) }, warning, "nothing works"},
		{"key", "GEMINI_API_KEY=very-secret", func() finding { return w.checkCredentials(t.Context()) }, healthy, "gemini-api-key, from GEMINI_API_KEY"},
		{"no key, no keyring", "GEMINI_FORCE_FILE_STORAGE=true", func() finding { return w.checkCredentials(t.Context()) }, failing, "no API key"},
		{"another provider's model", "GEMLINE_MODEL=openai/gpt-5|OPENAI_API_KEY=very-secret", func() finding { return w.checkCredentials(t.Context()) }, healthy, "openai: OPENAI_API_KEY"},
		{"another provider's model, and no key", "GEMLINE_MODEL=openai/gpt-5|GEMINI_API_KEY=x|GEMINI_FORCE_FILE_STORAGE=true", func() finding { return w.checkCredentials(t.Context()) }, failing, "no API key of openai"},
		{"a model that wants no key", "GEMLINE_MODEL=ollama/qwen3", func() finding { return w.checkCredentials(t.Context()) }, healthy, "ollama: none is wanted"},
		{"someone else's log-in", "GOOGLE_GENAI_USE_GCA=true", func() finding { return w.checkCredentials(t.Context()) }, failing, ""},
		{"proxy", "HTTPS_PROXY=http://me:very-secret@proxy.example:8080", w.checkNetwork, healthy, "http://xxxxx@proxy.example"},
		{"a proxy of no scheme", "HTTPS_PROXY=me:very-secret@proxy.example:8080", w.checkNetwork, healthy, "http://xxxxx@proxy.example"},
		{"no proxy at all", "HTTPS_PROXY=http://[", w.checkNetwork, failing, ""},
		{"certificates", "SSL_CERT_FILE=/no/such/file", w.checkNetwork, failing, "/no/such/file"},
		{"a file without certificates", "NODE_EXTRA_CA_CERTS=/dev/null", w.checkNetwork, failing, "/dev/null: no certificate"},
		{"address", "GOOGLE_GEMINI_BASE_URL=http://far.example/", w.checkNetwork, failing, ""},
		{"plain", "TERM=dumb", w.checkTerminal, healthy, "plain mode"},
		{"screen reader", "ACCESSIBLE=1", w.checkTerminal, healthy, "screen reader mode (ACCESSIBLE)"},
		{"home", "", w.checkHome, healthy, "can be written to"},
		{"settings", "", w.checkSettings, healthy, "0 files"},
		{"trust", "", w.checkTrust, healthy, "brings nothing"},
		{"sessions", "", w.checkSessions, healthy, "nothing is wrong"},
	} {
		clear(env)
		for pair := range strings.SplitSeq(c.env, "|") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				env[name] = value
			}
		}
		f := c.look()
		if f.Status != c.want || !strings.Contains(f.Text, c.text) || strings.Contains(f.Text+f.Next, "very-secret") {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
