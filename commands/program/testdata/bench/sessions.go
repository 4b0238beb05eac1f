package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/journal"
)

// sessions measures how long it takes to go on with a long session, beside a program that
// looks through its file once, and to list many.
func (b *bench) sessions() {
	b.run(b.bin, "-p", "/about") // which makes the place for sessions
	b.append()
	chats := filepath.Join(b.dir, "home", ".gemini", "tmp", "project", "chats")
	check(os.RemoveAll(chats)) // of other parts, one of which would be the latest
	check(os.Mkdir(chats, 0o700))
	idle := b.times(rss, func() sample { return b.run(b.bin, "-p", "/stats") })
	for _, size := range []int{5, 50} {
		path := filepath.Join(chats, "session-2026-01-01T00-00-long.jsonl")
		check(os.WriteFile(path, conversation("long", size<<20), 0o600))
		floor := func() sample { return b.run(b.floor, "parse", path) }
		parse := b.times(wall, floor)
		us := func() sample { return b.run(b.bin, "--resume", "latest", "-p", "/stats") }
		row(fmt.Sprintf("resuming %d MB, to the first command", size), "ms", b.times(wall, us), "floor, parsing it", parse)
		row(fmt.Sprintf("resuming %d MB, CPU", size), "ms", b.times(cpu, us), "floor", b.times(cpu, floor))
		row(fmt.Sprintf("resuming %d MB, peak memory", size), "MB", b.times(rss, us), "no session", idle)
		check(os.Remove(path))
	}
	const many, each = 1000, 10 << 10
	for i := range many {
		id := fmt.Sprintf("many-%04d", i)
		check(os.WriteFile(filepath.Join(chats, "session-2026-01-01T00-00-"+id+".jsonl"), conversation(id, each), 0o600))
	}
	none := b.times(wall, func() sample { return b.run(b.bin, "--help") })
	row(fmt.Sprintf("listing %d sessions of %d kB", many, each>>10), "ms", b.times(wall, func() sample { return b.run(b.bin, "--list-sessions") }), "--help", none)
	check(os.RemoveAll(chats))
}

// conversation returns a session file of about so many bytes, of questions, calls and what
// they returned, which is code.
func conversation(id string, size int) []byte {
	var b bytes.Buffer
	const at = `"timestamp":"2026-01-01T00:00:00.000Z"`
	fmt.Fprintf(&b, `{"sessionId":%q,"projectHash":"x","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}`+"\n", id)
	code := strings.Repeat(`if x == \"y\" {\n\treturn nil // nothing is left to do\n}\n`, 100)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id":"q%d",%s,"type":"user","content":[{"text":"question %d"}]}`+"\n", i, at, i)
		said := fmt.Sprintf(`{"id":"g%d",%s,"type":"gemini","content":"I look.","thoughts":[],"model":"m"`, i, at)
		call := fmt.Sprintf(`{"text":"I look."},{"functionCall":{"id":"read_file__%d","name":"read_file"`, i)
		answer := fmt.Sprintf(`[{"functionResponse":{"id":"read_file__%d","name":"read_file","response":{"output":"%s"}}}]`, i, code)
		fmt.Fprintf(&b, "%s,\"parts\":[%s,\"args\":{\"file_path\":\"a\"}}}]}\n", said, call)
		fmt.Fprintf(&b, "%s,\"toolCalls\":[{\"id\":\"read_file__%d\",\"name\":\"read_file\",\"args\":{\"file_path\":\"a\"},\"result\":%s,\"status\":\"success\",\"resultDisplay\":\"100 lines\"}],\"parts\":[%s}}]}\n", said, i, answer, call)
		fmt.Fprintf(&b, `{"id":"a%d",%s,"type":"user","content":%s}`+"\n", i, at, answer)
		fmt.Fprintf(&b, `{"id":"e%d",%s,"type":"gemini","content":"It is code.","thoughts":[],"model":"m"}`+"\n", i, at)
	}
	return b.Bytes()
}

// append measures what it takes to record a message, which the disk need not have yet.
func (b *bench) append() {
	const messages = 1000
	said := strings.Repeat("text ", 400)
	f := journal.New(journal.Config{Dir: filepath.Join(b.dir, "appended"), ID: "appended"})
	plain, err := os.Create(filepath.Join(b.dir, "plain"))
	check(err)
	var ours, theirs []float64
	for range messages {
		start := time.Now()
		check(f.Record(engine.Entry{Content: genai.NewContentFromText(said, genai.RoleUser)}))
		ours = append(ours, ms(time.Since(start)))
		start = time.Now()
		_, err := plain.WriteString(said)
		check(err)
		theirs = append(theirs, ms(time.Since(start)))
	}
	check(f.Close())
	check(plain.Close())
	sort.Float64s(ours)
	sort.Float64s(theirs)
	row("recording a message of 2 kB", "ms", ours, "writing it", theirs)
}
