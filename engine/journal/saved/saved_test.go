package saved

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine/journal"
)

var history = []*genai.Content{genai.NewContentFromText("<session_context>x", genai.RoleUser),
	genai.NewContentFromText("hi", genai.RoleUser), genai.NewContentFromText("Hello.", genai.RoleModel)}

// A tag is the name of a file as encodeURIComponent writes it.
func TestNames(t *testing.T) {
	for tag, name := range map[string]string{
		"plain": "plain", "a b/c": "a%20b%2Fc", "100%": "100%25", "ü": "%C3%BC", "-_.!~*'()": "-_.!~*'()", "a+b&c=d": "a%2Bb%26c%3Dd",
		"../../etc": "..%2F..%2Fetc", "\x00\n": "%00%0A",
	} {
		s := Store{filepath.Join(t.TempDir(), "new")}
		if err := s.Save(t.Context(), tag, history, "gemini-api-key", "one"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(s.Dir, "checkpoint-"+name+".json"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", tag, info, err)
		}
		if tags, err := s.List(); err != nil || len(tags) != 1 || tags[0].Name != tag {
			t.Errorf("%q: %v, %v", tag, tags, err)
		}
		got, err := s.Load(tag, "gemini-api-key")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(history, got.History); d != "" {
			t.Errorf("%q (-want +got):\n%s", tag, d)
		}
		if err := s.Delete(tag); err != nil || s.Has(tag) {
			t.Errorf("%q is there still, %v", tag, err)
		}
	}
}

// Files of older releases have the tag in their names as it is. A bare list is accepted,
// another way to sign in is not.
func TestFiles(t *testing.T) {
	s := Store{t.TempDir()}
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const said = `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"dir":"."}},"thoughtSignature":"c2ln"}]}]`
	put("checkpoint-a b.json", said)
	put("checkpoint-100%.json", `{"history":`+said+`}`)
	put("checkpoint-vertex.json", `{"history":`+said+`,"authType":"vertex-ai"}`)
	put("checkpoint-migrated.json", `{"history":`+said+`,"authType":"oauth-personal"}`)
	put("checkpoint-empty.json", `{"history":[]}`)
	put("checkpoint-broken.json", `{"history":[{"role":`)
	put("checkpoint-.json", said)
	put("other.json", said)
	os.Mkdir(filepath.Join(s.Dir, "checkpoint-dir.json"), 0o700)
	os.Symlink("/etc/passwd", filepath.Join(s.Dir, "checkpoint-link.json"))
	for tag, want := range map[string]string{"a b": "", "100%": "", "migrated": "", "empty": "nothing is said", "broken": "holds no conversation",
		"vertex": "was saved under vertex-ai", "dir": "no conversation is saved", "link": "no conversation is saved", "none": "no conversation is saved"} {
		got, err := s.Load(tag, "gemini-api-key")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", tag, err)
		}
		if err == nil && (len(got.History) != 2 || got.History[1].Parts[0].FunctionCall.Name != "ls") {
			t.Errorf("%s: %v", tag, got.History)
		}
	}
	if got, err := s.Load("vertex", ""); err != nil || got == nil {
		t.Errorf("nobody signs in: %v", err)
	}
	var auth *AuthError
	if _, err := s.Load("vertex", "gateway"); !errors.As(err, &auth) || !strings.Contains(auth.Hint(), "/auth use vertex-ai") {
		t.Errorf("%v", err)
	}
	tags, err := s.List()
	if err != nil || len(tags) != 6 {
		t.Errorf("%v, %v", tags, err)
	}
}

// Whatever a file holds, what is made of it can be sent: every call has one answer.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"role":"user","parts":[{"text":"hi"}]}]`))
	f.Add([]byte(`{"history":[{"role":"model","parts":[{"functionCall":{"name":"ls"}},null]},null,{"role":"user","parts":[{"functionResponse":{"name":"x"}}]}]}`))
	f.Add([]byte(`{"history":[{"role":"x","parts":[{"inlineData":{"mimeType":"a","data":"eA=="}},{"thought":true}]}],"authType":1}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if err != nil {
			return
		}
		o, err := journal.Open(journal.Config{Dir: dir}, journal.OpenOptions{Saved: &journal.SavedConversation{Title: "x", History: got.History}})
		if err != nil {
			return
		}
		open := map[string]int{}
		for i, c := range o.History {
			if len(c.Parts) == 0 || c.Role != genai.RoleUser && c.Role != genai.RoleModel {
				t.Fatalf("message %d is %+v", i, c)
			}
			for _, p := range c.Parts {
				if p.FunctionCall != nil {
					open[p.FunctionCall.ID]++
				}
				if p.FunctionResponse != nil {
					open[p.FunctionResponse.ID]--
				}
			}
		}
		for id, n := range open {
			if n != 0 {
				t.Errorf("call %q: %d", id, n)
			}
		}
	})
}

func ExampleStore() {
	dir, err := os.MkdirTemp("", "saved")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s := Store{Dir: dir}
	_, err = s.Load("before the rewrite", "")
	fmt.Println(err)
	// Output: no conversation is saved as "before the rewrite"
}
