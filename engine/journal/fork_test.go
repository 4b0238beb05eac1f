package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"gemline/engine"
)

// talk records turns of which the second has a call.
func talk(t *testing.T, f *File) {
	t.Helper()
	opening := engine.Entry{Content: user("<session_context>here"), Opening: true}
	call := genai.NewContentFromParts([]*genai.Part{callPart("ls", "c1", map[string]any{"dir": "."}, "sig")}, genai.RoleModel)
	answer := genai.NewContentFromParts([]*genai.Part{answerPart("ls", "c1", "a.go")}, genai.RoleUser)
	put(t, f, opening, engine.Entry{Content: user("one")}, engine.Entry{Content: model("First.")},
		engine.Entry{Content: user("two")}, engine.Entry{Content: call}, engine.Entry{Content: answer}, engine.Entry{Content: model("Second.")},
		engine.Entry{Content: user("three")}, engine.Entry{Content: model("Third.")})
}

// A fork has what was said until then, and its own file; the session that it comes from
// stays as it is, also while it is held.
func TestFork(t *testing.T) {
	f := newFile(t, testID)
	talk(t, f)
	if err := f.SetDirectories([]string{"/also"}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Load(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(f.Path())
	for n, said := range []int{0: 8, 1: 2, 2: 6, 3: 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			o, err := Open(Config{Dir: dir, Now: clock()}, OpenOptions{Resume: true, Selector: testID, Fork: true, Turns: n})
			if err != nil {
				t.Fatal(err)
			}
			defer o.File.Close()
			if d := cmp.Diff(whole.History[:said], o.History); d != "" {
				t.Errorf("history (-want +got):\n%s", d)
			}
			if o.File.ID() == testID || o.File.Path() == f.Path() {
				t.Errorf("it is %s in %s", o.File.ID(), o.File.Path())
			}
			if _, err := os.Stat(o.File.Path()); err == nil {
				t.Error("it has a file before anything is said")
			}
			put(t, o.File, engine.Entry{Content: user("<session_context>now"), Opening: true}, engine.Entry{Content: user("more")})
			again, err := Load(o.File.Path())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(append(whole.History[:said:said], user("more")), again.History); d != "" {
				t.Errorf("history of the file (-want +got):\n%s", d)
			}
			if again.ForkOf != testID || len(again.Directories) != 1 {
				t.Errorf("%+v", again.Session)
			}
		})
	}
	if after, _ := os.ReadFile(f.Path()); string(after) != string(before) {
		t.Error("the session that it comes from has changed")
	}
	if _, err := Open(Config{Dir: dir}, OpenOptions{Resume: true, Selector: testID, Fork: true, Turns: 4}); err == nil {
		t.Error("there is no fourth turn")
	}
}

// A copy is there once it is asked for, in which nothing was said yet, and its name says
// what it is a copy of.
func TestForkIsKept(t *testing.T) {
	f := newFile(t, testID)
	talk(t, f)
	if err := f.SetName("Fruit"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(f.Path())
	for n, name := range []string{"Fruit (fork)", "Fruit (fork 2)", "Fruit (fork 3)"} {
		from := []string{testID, testID, "Fruit (fork)"}[n]
		o, err := Open(Config{Dir: dir, Now: clock()}, OpenOptions{Resume: true, Selector: from, Fork: true})
		if err != nil {
			t.Fatal(err)
		}
		if o.File.Stored() {
			t.Error("it has a file that nobody asked for")
		}
		if err := o.File.StoreCopy(); err != nil || !o.Copy || o.CopyOf == "" {
			t.Errorf("%+v, %v", o, err)
		}
		o.File.Close()
		list, err := List(dir)
		if err != nil || len(list) != n+2 {
			t.Fatalf("%+v, %v", list, err)
		}
		if s, err := Find(list, name); err != nil || s.ID != o.File.ID() || s.Messages == 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// What was kept beside the sessions may be anybody's: every call gets one answer.
func TestSaved(t *testing.T) {
	history := []*genai.Content{user("<session_context>old"), user("one"), nil,
		genai.NewContentFromParts([]*genai.Part{nil, callPart("ls", "c1", nil, "")}, genai.RoleModel),
		user("two"), genai.NewContentFromParts([]*genai.Part{answerPart("ls", "other", "x")}, genai.RoleUser), model("Done.")}
	o, err := Open(Config{Dir: t.TempDir(), Now: clock()}, OpenOptions{Saved: &SavedConversation{Title: "tag", At: time.Now(), History: history}})
	if err != nil {
		t.Fatal(err)
	}
	calls, answers := 0, 0
	for _, c := range o.History {
		for _, p := range c.Parts {
			if p.FunctionCall != nil {
				calls++
			}
			if p.FunctionResponse != nil {
				answers++
			}
		}
	}
	if calls != 1 || answers != 1 || len(Turns(o.History)) != 2 || o.From.Title != "tag" {
		t.Errorf("%d calls, %d answers, %+v", calls, answers, Turns(o.History))
	}
	put(t, o.File, engine.Entry{Content: user("<session_context>now"), Opening: true}, engine.Entry{Content: user("three")})
	again, err := Load(o.File.Path())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(append(o.History, user("three")), again.History); d != "" {
		t.Errorf("history of the file (-want +got):\n%s", d)
	}
	o.File.Close()
}
