package journal

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/genai"

	"gemline/engine"
)

// A full disk takes so many bytes of each write, until there is room.
type fullDisk struct{ room *int }

func (d fullDisk) open(path string, flag int) (stored, error) {
	out, err := system{}.open(path, flag)
	return fullFile{out, d.room}, err
}

func (fullDisk) syncDir(string) error { return nil }

type fullFile struct {
	stored
	room *int
}

func (f fullFile) Write(b []byte) (int, error) {
	if *f.room < 0 {
		return f.stored.Write(b)
	}
	n, err := f.stored.Write(b[:min(len(b), *f.room)])
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}

// Wherever a disk is full, a session that can be saved again lacks nothing and has nothing twice,
// be it on the disk as it was from its beginning.
func TestSavedAgain(t *testing.T) {
	for before := range 2 {
		for room := 0; room < 2000; room += 97 {
			space := -1
			f := newFile(t, testID)
			f.disk.files = fullDisk{&space}
			var told []string
			s := NewSaver(f, func(n engine.Notice) { told = append(told, n.Text) })
			e := calls()
			want := []*genai.Content{user("first"), model("One."), user("what is a?"), e[0].Content, e[1].Content, model("It is text.")}
			say := func(list ...engine.Entry) {
				for _, e := range list {
					if err := s.Record(e); err != nil {
						t.Fatal(err)
					}
				}
			}
			if before == 0 {
				space = room
			}
			say(engine.Entry{Content: user("<session_context>\nhere"), Opening: true},
				engine.Entry{Content: user("first")}, engine.Entry{Content: model("One.")})
			if before == 1 {
				space = room
			}
			say(engine.Entry{Content: user("what is a?")}, e[0])
			if err := s.Result(e[1].Calls[0]); err != nil {
				t.Fatal(err)
			}
			say(e[1], engine.Entry{Content: model("It is text.")}, engine.Entry{Content: user("never answered")})
			if err := s.Rewrite(want); err != nil {
				t.Fatal(err)
			}
			missing := s.WriteMissing()
			space = -1
			if again := s.WriteMissing(); again != "" {
				t.Errorf("%d: %s", room, again)
			}
			if room == 0 {
				from := []string{`"first"`, `"what is a?"`}[before]
				if missing != "nothing is saved from "+from+" on: the disk is full" || len(told) != 2 ||
					told[0] != "this session is no longer saved: the disk is full" || !strings.Contains(told[1], "saved again") {
					t.Errorf("told %q, missing %q", told, missing)
				}
			}
			same(t, want, load(t, f.Path()).History)
		}
	}
}

// What agents said while a disk was full is saved when there is room, be the agent at an end.
func TestAgentSavedAgain(t *testing.T) {
	space := 0
	full := func(id string) *File {
		f := newFile(t, id)
		f.disk.files = fullDisk{&space}
		return f
	}
	var told []string
	s := NewSaver(full(testID), func(n engine.Notice) { told = append(told, n.Text) })
	agent := full("22222222-0000-4000-8000-000000000000")
	a := s.Agent(agent)
	want := []*genai.Content{user("task"), model("Done.")}
	for _, c := range want {
		if err := a.Record(engine.Entry{Content: c}); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	for range 2 {
		if missing := s.WriteMissing(); missing != "what agents said is not saved: the disk is full" {
			t.Errorf("%q", missing)
		}
	}
	space = -1
	if missing := s.WriteMissing(); missing != "" || len(told) != 1 || len(s.unwritten) != 0 {
		t.Errorf("%q, told %q", missing, told)
	}
	same(t, want, load(t, agent.Path()).History)
}

// Where the folder can't be made, it is made later.
func TestSavedAgainInNewFolder(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	os.WriteFile(home, nil, 0o600)
	f := New(Config{Dir: filepath.Join(home, "chats"), ID: testID, Now: clock()})
	defer f.Close()
	s := NewSaver(f, func(engine.Notice) {})
	for _, c := range []*genai.Content{user("q"), model("a")} {
		if err := s.Record(engine.Entry{Content: c}); err != nil {
			t.Fatal(err)
		}
	}
	if s.WriteMissing() == "" || f.Stored() {
		t.Error("it is said to be saved")
	}
	os.Remove(home)
	if missing := s.WriteMissing(); missing != "" || !f.Stored() {
		t.Error(missing)
	}
	same(t, []*genai.Content{user("q"), model("a")}, load(t, f.Path()).History)
}

// Of a session that was killed it is known which calls have run: neither one that was only
// asked about has, nor those behind it.
func TestUnbegun(t *testing.T) {
	said := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{callPart("look", "1", nil, "s"), callPart("look", "2", nil, ""), callPart("look", "3", nil, "")}}
	for name, tt := range map[string]struct {
		marks, ended int
		old          bool
		want         string
	}{
		"none":            {0, 0, false, "not run, not run, not run"},
		"the first":       {1, 0, false, "unknown, not run, not run"},
		"the first ended": {1, 1, false, "ok, not run, not run"},
		"two":             {2, 1, false, "ok, unknown, not run"},
		"not recorded":    {0, 1, true, "ok, unknown, unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t, testID)
			f.begins = !tt.old
			put(t, f, engine.Entry{Content: user("q")}, engine.Entry{Content: said})
			begins := func(_ context.Context, _ ...*genai.Part) iter.Seq2[engine.Event, error] {
				return func(yield func(engine.Event, error) bool) {
					for i := range tt.marks {
						yield(engine.CallStateChanged{ID: "look__" + string(rune('1'+i)), State: engine.Executing}, nil)
					}
				}
			}
			was := f.begins
			for range f.RecordCalls(begins)(t.Context()) {
			}
			f.begins = was
			for i := range tt.ended {
				id := string(rune('1' + i))
				if err := f.Result(engine.CallRecord{ID: "look__" + id, Name: "look", Answer: []*genai.Part{answerPart("look", id, "ok")}}); err != nil {
					t.Fatal(err)
				}
			}
			c := load(t, f.Path())
			var got []string
			for _, p := range c.History[2].Parts {
				switch r := p.FunctionResponse.Response; {
				case r["error"] == unanswered:
					got = append(got, "unknown")
				case r["error"] == unbegun:
					got = append(got, "not run")
				default:
					got = append(got, r["output"].(string))
				}
			}
			if all := strings.Join(got, ", "); all != tt.want || strings.Count(all, "unknown") != len(c.Interrupted) || strings.Count(all, "not run") != len(c.NotStarted) {
				t.Errorf("%s, not %s; %d interrupted, %d not begun", all, tt.want, len(c.Interrupted), len(c.NotStarted))
			}
		})
	}
}

// A session whose file was deleted while it is open is written anew, with all that was said.
func TestSavedAfterDeletion(t *testing.T) {
	for _, last := range []bool{false, true} { // nothing is said after the deletion
		f := newFile(t, testID)
		var told []string
		s := NewSaver(f, func(n engine.Notice) { told = append(told, n.Text) })
		want := []*genai.Content{user("q"), model("a"), user("r"), model("b")}
		for i, c := range want {
			if i == 2 && !last || i == 3 && last {
				f.disk.torn = i == 3
				os.RemoveAll(filepath.Dir(f.Path()))
			}
			if err := s.Record(engine.Entry{Content: c}); err != nil {
				t.Fatal(err)
			}
		}
		if last {
			os.Remove(f.Path())
		}
		if missing := s.WriteMissing(); missing != "" {
			t.Error(missing)
		}
		again := "the file of this session was deleted: this session is saved again, and nothing of it is missing"
		if n := map[bool]int{false: 1, true: 2}[last]; len(told) != n || told[n-1] != again {
			t.Errorf("told %q", told)
		}
		same(t, want, load(t, f.Path()).History)
		if err := Lock(New(Config{Dir: filepath.Dir(f.Path()), ID: testID})); err == nil {
			t.Error("the session has no lock")
		}
	}
}

// Where nothing was asked before the disk was full, no question is named.
func TestUnsavedWithoutQuestion(t *testing.T) {
	space := 0
	f := newFile(t, testID)
	f.disk.files = fullDisk{&space}
	s := NewSaver(f, func(engine.Notice) {})
	if err := s.Record(engine.Entry{Content: model("One.")}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.WriteMissing(), "nothing more is saved: the disk is full"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
