package web

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const malformed, blocked = "malformed", "blocked"
	for s, want := range map[string]string{
		"https://example.com":                 "https://example.com",
		"HTTPS://EXAMPLE.com:443/":            "https://example.com",
		"http://example.com.:80/a/?q=1#frag":  "http://example.com/a/?q=1",
		"http://example.com:8077/c":           "http://example.com:8077/c",
		"http://example.com:080/c":            "http://example.com/c",
		"https://bücher.example/ä":            "https://xn--bcher-kva.example/%C3%A4",
		"https://1.1.1.1/":                    "https://1.1.1.1",
		"http://[2606:4700:4700::1111]:8080/": "http://[2606:4700:4700::1111]:8080",
		"http://[2606:4700:4700::1111]/a":     "http://[2606:4700:4700::1111]/a",
		"http://a_b.example.com/":             "http://a_b.example.com",

		"http://127.0.0.1:8077/c":                 blocked,
		"http://[::1]:8077/c":                     blocked,
		"http://[::ffff:127.0.0.1]:8077/c":        blocked,
		"http://[64:ff9b::7f00:1]:8077/c":         blocked,
		"http://169.254.169.254/latest/meta-data": blocked,
		"http://localhost":                        blocked,
		"http://LOCALHOST.:8080":                  blocked,
		"http://a.localhost/":                     blocked,
		"http://printer.local/":                   blocked,
		"http://metadata.google.internal/":        blocked,
		"http://127。0。0。1/":                       blocked,
		"http://\uff11\uff12\uff17.0.0.1/":        blocked, // in wide digits
		"http://①②⑦.0.0.1/":                       blocked,
		"http://example.com:22/":                  blocked,
		"http://example.com:25":                   blocked,
		"https://example.com:80":                  blocked,

		"http://127.1:8077/c":            malformed,
		"http://2130706433/":             malformed,
		"http://0x7f000001:8077/c":       malformed,
		"http://0x7f.1/":                 malformed,
		"http://0177.0.0.1/":             malformed,
		"http://127.0.0.1.5/":            malformed,
		"http://user@example.com/":       malformed,
		"http://good.com@127.0.0.1/":     malformed,
		"http://:pw@example.com/":        malformed,
		"http://good.com\\@evil.com/":    malformed,
		"http://good.com/\n":             malformed,
		"http://exa mple.com/":           malformed,
		"http://example.com:0/":          malformed,
		"http://example.com:99999/":      malformed,
		"http://example.com:/":           "http://example.com",
		"http://":                        malformed,
		"http:///path":                   malformed,
		"http:example.com":               malformed,
		"//example.com":                  malformed,
		"http://[fe80::1%25eth0]/":       malformed,
		"http://a..b/":                   malformed,
		"http://exa%6dple.com/":          malformed,
		"http://exam$ple.com/":           malformed,
		"http://xn--a/":                  malformed,
		"ftp://example.com/":             malformed,
		"file:///etc/passwd":             malformed,
		"gopher://example.com/":          malformed,
		"data://text/html,x":             malformed,
		"":                               malformed,
		"http://" + long("a.", 300):      malformed,
		"http://a.com/" + long("a", 9e3): malformed,
	} {
		u, err := Parse(s)
		b := (*BlockedError)(nil)
		switch {
		case errors.As(err, &b):
			if want != blocked || b.Why == "" {
				t.Errorf("%q is blocked (%v); want %s", s, err, want)
			}
		case err != nil:
			if want != malformed {
				t.Errorf("%q: %v; want %s", s, err, want)
			}
		case u.String() != want:
			t.Errorf("%q is %s; want %s", s, u, want)
		}
	}
}

func long(s string, n int) string { return strings.Repeat(s, n) }

func TestFind(t *testing.T) {
	for _, test := range []struct{ text, urls, blocked, err string }{
		{"Sum up https://a.com/x, then (https://b.com/y).", "https://a.com/x https://b.com/y", "", ""},
		{"https://a.com https://a.com/ HTTPS://A.com:443", "https://a.com", "", ""},
		{"[a page](https://en.example.org/wiki/Go_(game)), and <https://c.com/?q=a&b=c>!", "https://en.example.org/wiki/Go_(game) https://c.com/?q=a&b=c", "", ""},
		{`"https://a.com/a" 'https://a.com/b' **https://a.com/c** {"u":"https://a.com/d"}`, "https://a.com/a https://a.com/b https://a.com/c https://a.com/d", "", ""},
		{"https://web.example.org/2020/http://old.com/", "https://web.example.org/2020/http://old.com/", "", ""},
		{"https://a.com/x、https://", "https://a.com/x%E3%80%81https://", "", ""},
		{"http://127.0.0.1/ and https://a.com and http://localhost/", "https://a.com", "http://127.0.0.1 http://localhost", ""},
		{"no page at all: mail me at a@b.c, see a.com", "", "", ""},
		{"ftp://a.com/ https://b.com", "https://b.com", "", "unsupported protocol"},
		{"https://u:p@b.com", "", "", "user name"},
		{"foo:// ://", "", "", "malformed"},
	} {
		urls, blocked, err := Find(test.text)
		var us, bs []string
		for _, u := range urls {
			us = append(us, u.String())
		}
		for _, b := range blocked {
			bs = append(bs, b.URL)
		}
		if got := strings.Join(us, " "); got != test.urls {
			t.Errorf("%q: found %s; want %s", test.text, got, test.urls)
		}
		if got := strings.Join(bs, " "); got != test.blocked {
			t.Errorf("%q: blocked %s; want %s", test.text, got, test.blocked)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: %v; want %q", test.text, err, test.err)
		}
	}
}

func TestWritten(t *testing.T) {
	for s, want := range map[string]string{
		"https://example.com":             "",
		"https://bücher.example":          "bücher.example",
		"https://xn--bcher-kva.example/x": "bücher.example",
		"https://аpple.com":               "аpple.com",
	} {
		u, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := UnicodeHost(u); got != want {
			t.Errorf("%s: %q; want %q", s, got, want)
		}
	}
}

func TestRaw(t *testing.T) {
	for s, want := range map[string]string{
		"https://github.com/o/r/blob/main/dir/a%20b.go":  "https://raw.githubusercontent.com/o/r/main/dir/a%20b.go",
		"https://github.com/o/r/tree/main/dir":           "",
		"https://github.com/o/r/blob/main":               "",
		"https://github.com/o/r":                         "",
		"https://gist.github.com/o/r/blob/main/x":        "",
		"https://github.com.evil.com/o/r/blob/main/x.go": "",
	} {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = s
		}
		if got := RawFileURL(u).String(); got != want {
			t.Errorf("%s: %s; want %s", s, got, want)
		}
	}
}

// What is taken for a public page is one for the whole world: it is on http, has
// no user name, its host is a name or a public address, and reading it again
// changes nothing.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b#c", "http://[::ffff:127.0.0.1]:8077/", "http://0x7f.1", "http://good.com@evil.com", "http://①②⑦.0.0.1/", "http://xn--bcher-kva.example:8080", "https://a.Internal.", "http://example.com:22", "http://example.com:080"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Find(s)
		u, err := Parse(s)
		if err != nil {
			return
		}
		host := u.Hostname()
		if u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" || host == "" {
			t.Fatalf("%q is taken as %s", s, u)
		}
		if a, err := netip.ParseAddr(host); err == nil && private(a) != "" {
			t.Fatalf("%q is taken as %s", s, u)
		}
		for _, zone := range []string{".localhost", ".localdomain", ".local", ".internal", ".home.arpa"} {
			if strings.HasSuffix("."+host, zone) {
				t.Fatalf("%q is taken as %s", s, u)
			}
		}
		if n, _ := strconv.Atoi(u.Port()); u.Port() != "" && n < 1024 {
			t.Fatalf("%q has the port %d", s, n)
		}
		for _, r := range host {
			if r <= ' ' || r > '~' || strings.ContainsRune(`@\/?#%`, r) {
				t.Fatalf("%q has the host %q", s, host)
			}
		}
		again, err := Parse(u.String())
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is taken as %s, and that as %v, %v", s, u, again, err)
		}
	})
}

// What a text names without a scheme may be taken for an address all the same.
func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"read https://a.example/x and www.evil.example/?q=1":     "www.evil.example",
		"see evil.example/a?b=c.":                                "evil.example",
		"(WWW.Evil.Example)":                                     "www.evil.example",
		"//evil.example/x, then u:p@evil.example:8080/y":         "evil.example",
		"evil\u3002example/x":                                    "evil.example",
		"192.0.2.1/latest":                                       "",
		"a main.go, README.md. and e.g. this":                    "",
		"and/or, src/main.go, ./x.y":                             "",
		"http://a.example/www.x.example":                         "",
		"www.":                                                   "",
		"one.example/1 two.example/2 one.example/3 ONE.example#": "one.example two.example",
	} {
		if got := strings.Join(NamedHosts(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
