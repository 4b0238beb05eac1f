//go:build unix

package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// A platter is the file system with faults, and remembers what was done in which order.
type platter struct {
	system
	did  []deed
	fail func(what string, n int) error // of the n-th such call, nil if it goes well
	made map[string]int
}

// A deed is a write, a sync of the file or a directory, or what the test knows of the
// conversation at that time.
type deed struct {
	what string // write, sync, dir, began, told
	data []byte
	name string
}

func (p *platter) try(what string) error {
	if p.made == nil {
		p.made = map[string]int{}
	}
	p.made[what]++
	if p.fail == nil {
		return nil
	}
	return p.fail(what, p.made[what])
}

func (p *platter) open(path string, flag int) (stored, error) {
	if err := p.try("open"); err != nil {
		return nil, err
	}
	f, err := p.system.open(path, flag)
	return &faulty{f, p}, err
}

func (p *platter) syncDir(path string) error {
	p.did = append(p.did, deed{what: "dir", name: path})
	return p.system.syncDir(path)
}

type faulty struct {
	stored
	p *platter
}

func (f *faulty) Write(b []byte) (int, error) {
	if err := f.p.try("write"); err != nil {
		n, _ := f.stored.Write(b[:len(b)/2])
		return n, err
	}
	f.p.did = append(f.p.did, deed{what: "write", data: bytes.Clone(b)})
	return f.stored.Write(b)
}

func (f *faulty) Sync() error {
	if err := f.p.try("sync"); err != nil {
		return err
	}
	f.p.did = append(f.p.did, deed{what: "sync"})
	return f.stored.Sync()
}

// work has a conversation with calls that change something, and returns what was told that is
// odd, and how many questions were answered.
func (p *platter) work(t *testing.T, f *File) (notices []string, answered int) {
	t.Helper()
	p.made, f.disk.files = nil, p
	n := 0
	changes := func(many int) (parts []*genai.Part) {
		for range many {
			n++
			name := []string{"look", "fail"}[n%3/2]
			parts = append(parts, callPart(name, fmt.Sprint(n), map[string]any{"id": fmt.Sprintf("%s__%d", name, n)}, ""))
		}
		return parts
	}
	says := talker{changes(1), changes(3), {{Text: "Done."}}, {{Text: "Done."}}, changes(2), {{Text: "Done."}}}
	watched := engine.Map(allow{}, func(tool engine.Tool) engine.Tool {
		prepare := tool.Prepare
		tool.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
			call, err := prepare(ctx, args)
			run := call.Run
			call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
				p.did = append(p.did, deed{what: "began", name: args["id"].(string)})
				return run(ctx, host)
			}
			return call, err
		}
		return tool
	})
	e := engine.New(engine.Config{Model: "m", Generator: &says, Tools: SyncTools(watched, f.Sync), Policy: allow{}, Journal: f,
		Opening: func(context.Context) *genai.Content { return user("<session_context>now</session_context>") }})
	run := SyncRun(e.Run, f.Sync)
	for range 3 {
		for ev, err := range run(t.Context(), genai.NewPartFromText("go")) {
			switch ev := ev.(type) {
			case engine.Notice:
				notices = append(notices, ev.Text)
			case engine.CallFinished:
				if len(notices) == 0 || !strings.Contains(strings.Join(notices, ""), "no longer saved") {
					p.did = append(p.did, deed{what: "told", name: ev.ID, data: []byte(engine.Outcome(ev.Err))})
				}
			case engine.Text:
				answered++
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return notices, answered
}

// outcomes returns what a conversation says became of each call.
func outcomes(t *testing.T, c *LoadedSession) map[string]string {
	t.Helper()
	wellFormed(t, c.History)
	ends := map[string]string{}
	for _, m := range c.History {
		for _, part := range m.Parts {
			fr := part.FunctionResponse
			if fr == nil {
				continue
			}
			id := fr.Name + "__" + fr.ID
			if ends[id] != "" {
				t.Errorf("%s is told twice", id)
			}
			ends[id] = string(engine.Success)
			if why, ok := fr.Response["error"].(string); ok {
				if ends[id] = string(engine.Failed); why == unanswered {
					ends[id] = "unknown"
				}
			}
		}
	}
	return ends
}

// However much of what was not synced is lost when the power fails, the session knows every
// call that was carried out, and every result that was told when the turn ended.
func TestPowerLoss(t *testing.T) {
	p := &platter{}
	chats := filepath.Join(t.TempDir(), "slug", "chats")
	f := New(Config{Dir: chats, ID: testID, Now: clock()})
	if notices, answered := p.work(t, f); len(notices) > 0 || answered != 3 {
		t.Fatal(notices, answered)
	}
	f.Close()
	first := slices.IndexFunc(p.did, func(d deed) bool { return d.what == "began" })
	for _, dir := range []string{chats, filepath.Dir(chats), filepath.Dir(filepath.Dir(chats))} {
		if !slices.ContainsFunc(p.did[:first], func(d deed) bool { return d.what == "dir" && d.name == dir }) {
			t.Errorf("%s was not synced before the first call", dir)
		}
	}
	for _, dir := range []string{filepath.Dir(chats), filepath.Dir(filepath.Dir(chats))} {
		hourAgo := time.Now().Add(-time.Hour)
		if err := os.Chtimes(dir, hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	later := &platter{} // whose directory has long been there
	g := New(Config{Dir: chats, ID: "later", Now: clock()})
	if notices, answered := later.work(t, g); len(notices) > 0 || answered != 3 {
		t.Fatal(notices, answered)
	}
	g.Close()
	later.did = slices.DeleteFunc(later.did, func(d deed) bool { return d.what != "dir" })
	if len(later.did) != 1 || later.did[0].name != chats {
		t.Errorf("of a later session %v was synced", later.did)
	}
	points := 0
	for k := range len(p.did) + 1 {
		var all []byte
		safe, known, told := 0, map[string]bool{}, map[string]string{}
		promised := map[string]string{}
		for _, d := range p.did[:k] {
			switch d.what {
			case "write":
				all = append(all, d.data...)
			case "sync":
				safe = len(all)
				for id, status := range told {
					promised[id] = status
				}
			case "began":
				known[d.name] = true
			case "told":
				told[d.name] = string(d.data)
			}
		}
		lost := all[safe:]
		hole := append(make([]byte, len(lost)/2), lost[len(lost)/2:]...)
		for _, kept := range [][]byte{nil, lost[:len(lost)/2], lost[:max(0, len(lost)-1)], lost, make([]byte, len(lost)), hole} {
			points++
			path := write(t, t.TempDir(), "session-x.jsonl")
			os.WriteFile(path, append(slices.Clip(all[:safe]), kept...), 0o600)
			c, err := Load(path)
			if err != nil {
				if len(known)+len(promised) > 0 {
					t.Fatalf("after %d: %v", k, err)
				}
				continue
			}
			ends := outcomes(t, c)
			for id := range known {
				if ends[id] == "" {
					t.Errorf("after %d: %s was carried out, and nothing is known of it", k, id)
				}
			}
			for id, status := range promised {
				if ends[id] != status {
					t.Errorf("after %d: %s was told as %s, and is %s", k, id, status, ends[id])
				}
			}
			for id, status := range ends {
				if told[id] != "" && status != "unknown" && status != told[id] {
					t.Errorf("after %d: %s was told as %s, and is %s", k, id, told[id], status)
				}
			}
			g, err := c.resume(clock())
			if err != nil {
				t.Fatal(err)
			}
			put(t, g, engine.Entry{Content: user("on")}, engine.Entry{Content: model("after")})
			g.Close()
			if c := load(t, path); len(c.History) < 2 || c.History[len(c.History)-1].Parts[0].Text != "after" {
				t.Errorf("after %d: it can't be gone on with: %v", k, c.History)
			}
		}
	}
	t.Logf("%d losses of power", points)
}

// Whatever call of the file system fails, once or from then on, the conversation goes on,
// that is said once, and what was told before is kept.
func TestFaultyDisk(t *testing.T) {
	points := 0
	for _, what := range []string{"open", "write", "sync"} {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
			for _, always := range []bool{false, true} {
				for n := 1; ; n++ {
					failed := false
					p := &platter{}
					f := New(Config{Dir: filepath.Join(t.TempDir(), "chats"), ID: testID, Now: clock()})
					p.fail = func(w string, at int) error {
						if w != what || at != n && !(always && at > n) {
							return nil
						}
						failed = true
						return &os.PathError{Op: w, Path: "session", Err: errno}
					}
					notices, answered := p.work(t, f)
					f.Close()
					if !failed {
						break
					}
					points++
					at := fmt.Sprintf("%s %d: %v, always %v", what, n, errno, always)
					want := "this session is no longer saved"
					if what == "sync" {
						want = "this session may be lost if the power fails"
					}
					if answered != 3 || len(notices) != 1 || !strings.HasPrefix(notices[0], want) {
						t.Errorf("%s: %d answers, %q", at, answered, notices)
					}
					told := map[string]string{}
					for _, d := range p.did {
						if d.what == "told" {
							told[d.name] = string(d.data)
						}
					}
					c, err := Load(f.Path())
					if err != nil {
						if len(told) > 0 {
							t.Errorf("%s: %v", at, err)
						}
						continue
					}
					ends := outcomes(t, c)
					for id, status := range told {
						if ends[id] != status {
							t.Errorf("%s: %s was told as %s, and is %s", at, id, status, ends[id])
						}
					}
				}
			}
		}
	}
	t.Logf("%d faults", points)
}

// What lies in the place of a session is not opened: nobody would ever write to the pipe.
func TestPipeIsNoSession(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "session-pipe.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Load(path); err == nil {
		t.Error("a pipe was loaded")
	}
	if _, err := glance(path); err == nil {
		t.Error("a pipe was read")
	}
	if ss, err := List(dir); err != nil || len(ss) > 0 {
		t.Errorf("listed are %v: %v", ss, err)
	}
}

func BenchmarkRecord(b *testing.B) {
	f := New(Config{Dir: b.TempDir(), ID: testID})
	defer f.Close()
	e := engine.Entry{Content: user(strings.Repeat("text ", 400))}
	for b.Loop() {
		if err := f.Record(e); err != nil {
			b.Fatal(err)
		}
	}
}

// A copy of an open session has what could not be written.
func TestCopyUnwritten(t *testing.T) {
	f := newFile(t, testID)
	f.disk.files = &platter{fail: func(what string, n int) error {
		if what == "write" && n > 2 {
			return syscall.ENOSPC
		}
		return nil
	}}
	for n := range 3 {
		f.Record(engine.Entry{Content: user(fmt.Sprint("question ", n))}) // which may not be written
		f.Record(engine.Entry{Content: model(fmt.Sprint("answer ", n))})
	}
	c, messages, err := LoadOpen(f)
	if err != nil || len(c.History) != 6 || len(messages) != 6 {
		t.Fatalf("%d messages, %d lines, %v", len(c.History), len(messages), err)
	}
	o, err := Open(Config{Dir: filepath.Dir(f.Path()), Now: clock()}, OpenOptions{Copy: f})
	if err != nil || !equal(o.History, c.History) || o.CopyOf != testID || o.File.ID() == testID {
		t.Fatalf("%+v, %v", o, err)
	}

	f.Close()                   // which lets go of the lock
	read, err := Load(f.Path()) // resumed where nothing can be written
	if err != nil {
		t.Fatal(err)
	}
	only, err := resume(read.Session, clock())
	if err != nil {
		t.Fatal(err)
	}
	only.File.disk.files = &platter{fail: func(string, int) error { return syscall.EROFS }}
	only.File.Record(engine.Entry{Content: user("one more")})
	if c, _, err := LoadOpen(only.File); err != nil || len(c.History) != len(read.History)+1 {
		t.Errorf("%+v, %v", c, err)
	}
}
