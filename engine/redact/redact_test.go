package redact

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// What looks like a key is put together here, since scanners of repositories
// look for such things, too.
const (
	thirty = "0123456789abcdefghijABCDEFGHIJ"
	google = "AI" + "za" + thirty + "_-012"
	github = "gh" + "p_" + thirty + "012345"
	amazon = "AK" + "IA" + "ABCDEFGHIJKLMN01"
	signed = "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + thirty
)

func private(sep string) string {
	return strings.Join([]string{"-----BEGIN RSA " + "PRIVATE KEY-----", thirty + thirty, thirty + "/+==", "-----END RSA PRIVATE KEY-----"}, sep)
}

func knowing() *Redactor {
	r := &Redactor{}
	r.Add("API key", "correct-horse-battery")
	r.Add("DEPLOY_TOKEN", `a+b/c"d`+"\n")
	r.Add("PROXY", "http://me:swordfish@proxy:8080")
	r.Add("long", "correct-horse-battery-staple")
	return r
}

func TestKnown(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"none", "nothing to hide", "nothing to hide"},
		{"empty", "", ""},
		{"one", "key=correct-horse-battery.", "key=[redacted: API key]."},
		{"inside a word", "xcorrect-horse-batteryx", "x[redacted: API key]x"},
		{"two", "correct-horse-battery a+b/c\"d", "[redacted: API key] [redacted: DEPLOY_TOKEN]"},
		{"the longest", "correct-horse-battery-staple", "[redacted: long]"},
		{"twice", "correct-horse-batterycorrect-horse-battery", "[redacted: API key][redacted: API key]"},
		{"in a URL", "?k=a%2Bb%2Fc%22d", "?k=[redacted: DEPLOY_TOKEN]"},
		{"in JSON", `{"k":"a+b/c\"d"}`, `{"k":"[redacted: DEPLOY_TOKEN]"}`},
		{"password of a URL", "swordfish at proxy:8080", "[redacted: PROXY] at proxy:8080"},
		{"a shape is not known", github, github},
		{"a mark stays", "[redacted: API key]", "[redacted: API key]"},
		{"what only looks like a mark does not hide", "[redacted: correct-horse-battery]", "[redacted: [redacted: API key]]"},
		{"beginning", "correct-horse-batter", "correct-horse-batter"},
	} {
		if got := knowing().RedactKnown(tt.text); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What can't be told from other text is no secret.
func TestKnow(t *testing.T) {
	r := &Redactor{}
	for _, secret := range []string{"", "abc", " abc ", "redacted", "acte", "http://user@host"} {
		r.Add("x", secret)
	}
	if got := r.RedactKnown("http://user@host redacted"); got != "http://user@host redacted" {
		t.Errorf("got %q", got)
	}
	r.Add("bad ] label", "hunter22")
	r.Add(github, "hunter33")
	if got := r.Text("hunter22 hunter33"); got != "[redacted: secret] [redacted: secret]" {
		t.Errorf("got %q", got)
	}
	var none *Redactor
	none.Add("x", "hunter22")
	if got := none.Text("hunter22 " + github); got != "hunter22 [redacted: GitHub token]" {
		t.Errorf("got %q", got)
	}
}

func TestMarks(t *testing.T) {
	r := knowing()
	if got := r.Marks("[redacted: API key]"); len(got) > 0 {
		t.Errorf("marks of somebody else's: %v", got)
	}
	r.RedactKnown("correct-horse-battery")
	r.AddFrom("x " + markPrefix + " " + markPrefix + "of old] [redacted: " + strings.Repeat("x", 100) + "]" + markPrefix)
	got := r.Marks("x[redacted: API key][redacted: nothing][redacted: of old][redacted: of old]")
	if len(got) != 2 || got["[redacted: API key]"] != 1 || got["[redacted: of old]"] != 2 {
		t.Errorf("got %v", got)
	}
	var none *Redactor
	if none.Marks("[redacted: x]") != nil {
		t.Error("nobody knows marks")
	}
}

func TestShapes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Google", "key: " + google + "!", "key: [redacted: API key]!"},
		{"within", "x" + google, "x[redacted: API key]"},
		{"GitHub", "https://x:y@h " + github, "https://x:[redacted: password]@h [redacted: GitHub token]"},
		{"AWS", "id " + amazon + ",", "id [redacted: AWS key],"},
		{"AWS in a longer word", amazon + "x", "[redacted: AWS key]x"},
		{"AWS in another word", "X" + amazon, "X" + amazon},
		{"after a line end in JSON", `\n` + amazon, `\n[redacted: AWS key]`},
		{"signed", "Cookie: " + signed + ";", "Cookie: [redacted: token];"},
		{"JSON in base64", "ey" + "JhIjoxfQ" + thirty, "ey" + "JhIjoxfQ" + thirty},
		{"bearer", "Authorization: Bearer abc.def~0123456789", "Authorization: Bearer [redacted: token]"},
		{"bearer of words", "Bearer authentication-is-required", "Bearer authentication-is-required"},
		{"parameter", "GET /v1?alt=sse&key=0123456789abcdefgh HTTP", "GET /v1?alt=sse&key=[redacted: API key] HTTP"},
		{"OpenAI", "sk-proj-0123456789abcdef", "[redacted: API key]"},
		{"a class of a style sheet", "sk-loading-indicator-wrapper", "sk-loading-indicator-wrapper"},
		{"in a word", "task-0123456789abcdefgh", "task-0123456789abcdefgh"},
		{"private key", "a " + private("\n") + " b", "a -----BEGIN RSA PRIVATE KEY-----[redacted: private key]-----END RSA PRIVATE KEY----- b"},
		{"private key in JSON", private(`\n`), "-----BEGIN RSA PRIVATE KEY-----[redacted: private key]-----END RSA PRIVATE KEY-----"},
		{"cut private key", private("\n")[:70], "-----BEGIN RSA PRIVATE KEY-----[redacted: private key]"},
		{"talk about private keys", `has("-----BEGIN RSA ` + `PRIVATE KEY-----") or so.`, `has("-----BEGIN RSA ` + `PRIVATE KEY-----") or so.`},
		{"user of a URL", "https://me@host ssh://git@host:22/x http://[::1]:80/@x", "https://me@host ssh://git@host:22/x http://[::1]:80/@x"},
		{"variables in a URL", "https://$USER:$PASS@host", "https://$USER:$PASS@host"},
		{"short", "AI" + "za01234 gh" + "p_x", "AI" + "za01234 gh" + "p_x"},
		{"web hook", "https://hooks.slack.com/services/T0/B0/" + thirty, "https://hooks.slack.com/[redacted: web hook]"},
		{"web hook with a port", "https://x.logic.azure.com:443/" + thirty, "https://x.logic.azure.com:443/[redacted: web hook]"},
		{"host of web hooks", "x.logic.azure.com, and hooks.slack.com/ as in docs/" + thirty, "x.logic.azure.com, and hooks.slack.com/ as in docs/" + thirty},
		{"prose", "The Bearer of the key asks for ASIA and hf_ and npm_install.", "The Bearer of the key asks for ASIA and hf_ and npm_install."},
	} {
		if got := Shapes(tt.text, ""); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := Shapes("a "+github+" b", "***"); got != "a *** b" {
		t.Errorf("got %q", got)
	}
}

// random is a text of what matters here.
func random(rnd *rand.Rand) string {
	words := []string{"correct-horse-battery", "-staple", "correct-horse", "swordfish", `a+b/c"d`, `a+b/c\"d`, markPrefix, "API key]", "]", google, github, amazon,
		signed, private("\n"), private("\n")[:40], "ey" + "J", "AI" + "za", "AK" + "IA", "Bearer ", "://", "u:", "@", "?key=", thirty, " ", "\n", `\n`, "x", "-", "sk-", "é", "\xff"}
	var b strings.Builder
	for range rnd.IntN(30) {
		w := words[rnd.IntN(len(words))]
		if rnd.IntN(4) == 0 {
			w = w[rnd.IntN(len(w)):]
		}
		b.WriteString(w)
	}
	return b.String()
}

func properties(t *testing.T, text string, cut int) {
	t.Helper()
	r := knowing()
	known, all := r.RedactKnown(text), r.Text(text)
	for _, k := range r.known {
		if strings.Contains(known, k.value) {
			t.Fatalf("%q is left in %q", k.value, known)
		}
	}
	if again := r.RedactKnown(known); again != known {
		t.Fatalf("%q becomes %q, and then %q", text, known, again)
	}
	if again := r.Text(all); again != all {
		t.Fatalf("%q becomes %q, and then %q", text, all, again)
	}
	if len(all) > 10*len(text) {
		t.Fatalf("%d bytes become %d", len(text), len(all))
	}
	s := r.Stream()
	cut = min(cut, len(text))
	var streamed string
	for i := 0; i < len(text); i += max(cut, 1) {
		streamed += s.Next(text[i:min(i+max(cut, 1), len(text))])
	}
	streamed += s.End()
	for _, k := range r.known {
		if strings.Contains(streamed, k.value) {
			t.Fatalf("in pieces of %d, %q is left in %q", cut, k.value, streamed)
		}
	}
}

func TestProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		properties(t, random(rnd), 1+rnd.IntN(40))
	}
}

func FuzzText(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(random(rnd), 5)
	}
	f.Fuzz(properties)
}

// A text that was made to be slow is not: a pass that is more than linear would
// take minutes here.
func TestHostile(t *testing.T) {
	const size = 1 << 20
	r := knowing()
	for _, piece := range []string{"ey" + "J", "ey" + "J-", "ey" + "JAAAAAAAA.", "://", "://a:", "-----BEGIN ", "-----BEGIN PRIVATE " + "KEY-----\n", "Bearer ", "AI" + "za-", "AK" + "IA ",
		"AK" + "IA", "sk-", "sk-a ", "?key=", "correct-horse-batter", "correct-horse-battery", markPrefix, markPrefix + "API key]", "a+b/c", "\\n"} {
		text := strings.Repeat(piece, size/len(piece))
		r.Text(text)
	}
}

// What comes in pieces is what came as a whole, where no secret begins at a
// place that another one reaches over.
func TestStream(t *testing.T) {
	text := "The key is correct-horse-battery, and swordfish.\nNothing else, correct?"
	for size := 1; size < len(text); size++ {
		r := &Redactor{}
		r.Add("API key", "correct-horse-battery")
		r.Add("PASSWORD", "swordfish")
		s := r.Stream()
		got := ""
		for i := 0; i < len(text); i += size {
			got += s.Next(text[i:min(i+size, len(text))])
		}
		if got += s.End(); got != "The key is [redacted: API key], and [redacted: PASSWORD].\nNothing else, correct?" {
			t.Fatalf("in pieces of %d: %q", size, got)
		}
	}
	s := (&Redactor{}).Stream()
	if got := s.Next("at once"); got != "at once" || s.End() != "" {
		t.Errorf("got %q", got)
	}
}

// It is learned from while it is used.
func TestConcurrent(t *testing.T) {
	r := &Redactor{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				r.Add("x", strings.Repeat(string(rune('a'+i)), 8))
				r.Text("aaaaaaaabbbbbbbb")
			}
		})
	}
	wg.Wait()
	if got := r.RedactKnown("aaaaaaaa"); got != "[redacted: x]" {
		t.Errorf("got %q", got)
	}
}
