package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// The last session is found by how the files begin, and is the last one of the list.
func TestResumeLast(t *testing.T) {
	quick := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		for i := range 1 + r.IntN(6) {
			lines := session(fmt.Sprintf("id-%d", i), r.IntN(30), ask("question"), reply)
			name := fmt.Sprintf("session-%d.jsonl", r.IntN(1000))
			switch r.IntN(10) {
			case 0:
				lines = lines[:1]
			case 1:
				lines = append(lines, `{"$rewindTo":"nowhere"}`)
			case 2:
				lines = append(lines, `{"$set":{"kind":"subagent"}}`)
			case 3:
				if r.IntN(5) == 0 {
					lines = session("id-0", r.IntN(30), ask("again"), reply)
				}
			case 4:
				if r.IntN(5) == 0 {
					lines = []string{"{"}
				}
			}
			write(t, dir, name, lines...)
		}
		list, err := List(dir)
		if err != nil {
			t.Fatal(err)
		}
		want, werr := Find(list, "latest")
		o, err := Open(Config{Dir: dir}, OpenOptions{Resume: true})
		if errors.Is(werr, ErrNoSessions) {
			if err != nil || !o.Fresh {
				t.Errorf("seed %d: %+v, %v", seed, o, err)
			}
			continue
		}
		if err != nil || o.From == nil || o.From.ID != want.ID || o.From.Path != want.Path || len(o.History) == 0 {
			t.Fatalf("seed %d: %+v, %v; want %+v", seed, o.From, err, want)
		}
		o.File.Close()
		if o, ok := resumeLast(Config{Dir: dir}, OpenOptions{Resume: true}); ok {
			quick++
			o.File.Close()
		}
	}
	if quick < 100 {
		t.Errorf("only %d were found by how they begin", quick)
	}
}

// A session is found by its id without a look at the files of others.
func TestResumeByID(t *testing.T) {
	dir := t.TempDir()
	const id = "0b3b6f6e-52a5-4c39-8d8e-3b3f5a0f6a11"
	write(t, dir, "session-1-"+id[:8]+".jsonl", session(id, 1, ask("mine"), reply)...)
	large := fmt.Sprintf(`{"$set":{"messages":[%s,{"id":"l","type":"gemini","content":%q}]}}`, ask("large"), strings.Repeat("x", 4<<20))
	write(t, dir, "session-2-51c623e0.jsonl", session("51c623e0-1", 2, ask("other"), large)...)
	for _, selector := range []string{id, id[:8]} {
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		o, err := Open(Config{Dir: dir}, OpenOptions{Resume: true, Selector: selector})
		runtime.ReadMemStats(&is)
		if err != nil || o.From == nil || o.From.ID != id {
			t.Fatalf("%s: %+v, %v", selector, o.From, err)
		}
		o.File.Close()
		if took := is.TotalAlloc - was.TotalAlloc; took > 2<<20 {
			t.Errorf("%s: it took %d bytes of memory", selector, took)
		}
	}
}
