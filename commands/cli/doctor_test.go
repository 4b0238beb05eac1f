package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gemline/settings/flags"
	"gemline/settings/project"
)

// A check that comes to no end, or is a mistake, does not keep the others from
// being told.
func TestDoctorIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		found := (&doctor{out: &Output{}}).examineAll(t.Context(), []check{
			{"one", func(*doctor, context.Context) finding { return fine("good") }},
			{"stuck", func(*doctor, context.Context) finding { time.Sleep(time.Hour); return fine("late") }},
			{"broken", func(d *doctor, _ context.Context) finding { return fine("%s", d.out.Out) }},
			{"bug", func(*doctor, context.Context) finding { panic("oh") }},
		})
		if took := time.Since(start); took != lookFor {
			t.Errorf("it took %s", took)
		}
		if found[0].Name != "one" || found[0].Status != healthy || found[1].Name != "stuck" || found[1].Status != warning ||
			!strings.Contains(found[1].Text, "no answer") || found[3].Status != failing {
			t.Errorf("%+v", found)
		}
		time.Sleep(time.Hour) // the late one ends here, nowhere else
	})
}

func TestChecks(t *testing.T) {
	env := map[string]string{}
	w := &doctor{out: &Output{Notify: func(string) {}}, project: noProject{}, here: &Folder{Paths: project.New(t.TempDir(), "", t.TempDir()), Flags: &flags.Set{},
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}}
	now := time.Date(2026, 5, 6, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		env  string // NAME=VALUE|...
		look func() finding
		want status
		text string
	}{
		{"clock", "", func() finding { return checkClock(Build{Date: "2026-05-05T00:00:00Z"}, now) }, healthy, "2026-05-06"},
		{"a clock that was reset", "", func() finding { return checkClock(Build{Date: "2026-05-05T00:00:00Z"}, time.Unix(0, 0)) }, failing, "1970"},
		{"a build of no date", "", func() finding { return checkClock(Build{}, time.Unix(0, 0)) }, failing, "1970"},
		{"a program", "", func() finding { return program("no-such-program", "nothing works")(w, t.Context()) }, warning, "nothing works"},
		{"key", "GEMINI_API_KEY=very-secret", func() finding { return w.checkCredentials(t.Context()) }, healthy, "gemini-api-key, from GEMINI_API_KEY"},
		{"no key, no keyring", "GEMINI_FORCE_FILE_STORAGE=true", func() finding { return w.checkCredentials(t.Context()) }, failing, "no API key"},
		{"no key, and a keyring", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", func() finding { return w.checkCredentials(t.Context()) }, warning, "in a file"},
		{"another provider's model", "GEMLINE_MODEL=openai/gpt-5|OPENAI_API_KEY=very-secret", func() finding { return w.checkCredentials(t.Context()) }, healthy, "openai: OPENAI_API_KEY"},
		{"another provider's model, and no key", "GEMLINE_MODEL=openai/gpt-5|GEMINI_API_KEY=x|GEMINI_FORCE_FILE_STORAGE=true", func() finding { return w.checkCredentials(t.Context()) }, failing, "no API key of openai"},
		{"a model that wants no key", "GEMLINE_MODEL=ollama/qwen3", func() finding { return w.checkCredentials(t.Context()) }, healthy, "ollama: none is wanted"},
		{"someone else's log-in", "GOOGLE_GENAI_USE_GCA=true", func() finding { return w.checkCredentials(t.Context()) }, failing, ""},
		{"proxy", "HTTPS_PROXY=http://me:very-secret@proxy.example:8080", w.checkNetwork, healthy, "http://xxxxx@proxy.example"},
		{"a proxy of no scheme", "HTTPS_PROXY=me:very-secret@proxy.example:8080", w.checkNetwork, healthy, "http://xxxxx@proxy.example"},
		{"no proxy at all", "HTTPS_PROXY=http://[", w.checkNetwork, failing, ""},
		{"certificates", "SSL_CERT_FILE=/no/such/file", w.checkNetwork, failing, "/no/such/file"},
		{"address", "GOOGLE_GEMINI_BASE_URL=http://far.example/", w.checkNetwork, failing, ""},
		{"UTF-8", "LANG=C|LC_ALL=de_DE.utf8", w.checkText, healthy, "LC_ALL"},
		{"no locale", "", w.checkText, healthy, "UTF-8"},
		{"plain", "TERM=dumb", w.checkTerminal, healthy, "plain mode"},
		{"screen reader", "ACCESSIBLE=1", w.checkTerminal, healthy, "screen reader mode (ACCESSIBLE)"},
		{"home", "", w.checkHome, healthy, "can be written to"},
		{"settings", "", w.checkSettings, healthy, "0 files"},
		{"trust", "", w.checkTrust, healthy, "brings nothing"},
		{"disk", "", w.checkDisk, healthy, ""},
		{"sessions", "", func() finding { return w.checkSize(t.Context()) }, healthy, "0 files"},
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
