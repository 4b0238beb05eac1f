package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	pt "gemline/commands/program/acceptance/programtest"
	"gemline/commands/program/acceptance/teletype"
	et "gemline/engine/enginetest"
)

// A patient model reads one file after the other, and counts what it is sent. It is asked
// for snapshots, which hold the facts that it finds.
type patient struct {
	mu      sync.Mutex
	steps   int // left
	talks   int // how many things it says of each file
	largest int // tokens of a request
	bodies  [][]byte
	asked   []string // the facts in each question for a snapshot, a check aside
	read    string   // the last answer to a call, and what follows
	last    []string // those in the last request of the conversation
}

var keptAt = regexp.MustCompile(`Full output available at: ([^\\"]+)`)

var fact = regexp.MustCompile(`FACT-[a-z]+-\d+`)

func facts(text []byte) []string {
	var all []string
	for _, f := range fact.FindAll(text, -1) {
		all = append(all, string(f))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (p *patient) respond(r et.Received) et.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := facts(r.Body)
	if r.Action == "generateContent" {
		checked := bytes.Contains(r.Body, []byte("Compare your snapshot"))
		if !checked && !bytes.Contains(r.Body, []byte("Sum up the conversation above")) {
			return et.Says("{}") // another question beside the conversation
		}
		if !checked {
			p.asked = append(p.asked, strings.Join(found, " "))
		}
		return et.Says("<scratchpad>let me see</scratchpad><state_snapshot><key_knowledge>" + strings.Join(found, " ") +
			"</key_knowledge></state_snapshot>")
	}
	p.last = found
	n := len(r.Body) / 4
	p.largest = max(p.largest, n)
	p.bodies = append(p.bodies, r.Body)
	if p.steps == 0 {
		p.read = string(r.Body[max(0, bytes.LastIndex(r.Body, []byte(`{"functionResponse"`))):])
		return et.Says("Done.").With(int32(n), 1)
	}
	p.steps--
	text := p.thoughts()
	if len(p.bodies) == 1 {
		text += " I found FACT-said-2."
	}
	path := fmt.Sprintf("part-%d.txt", p.steps%10)
	if m := keptAt.FindSubmatch(r.Body); p.steps == 0 && m != nil { // what is in a file can be read there
		path = string(m[1])
	}
	return et.Says(text, et.Call("", "read_file", "file_path", path)).With(int32(n), int32(len(text)/4))
}

// thoughts returns what it says of a file.
func (p *patient) thoughts() string {
	var b strings.Builder
	for i := range p.talks {
		fmt.Fprintf(&b, "Line %d of part %d is about %x. ", i, p.steps, i*i+p.steps)
	}
	return b.String()
}

// run answers a prompt without a terminal, and returns the final record and what was told.
func (p *patient) run(t *testing.T, c teletype.Command, args ...string) (doc map[string]any, told string) {
	t.Helper()
	args = append(args, "--approval-mode", "yolo", "--max-turns", "1000", "--no-loop-check", "-o", "json")
	cmd := exec.Command(c.Path, append(slices.Clone(c.Args), args...)...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, c.Env, &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %.2000s\n%.2000s", err, out, errs.String())
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc, errs.String()
}

// A session of 300 steps and two and a half million tokens ends in a context of a fraction of
// that. What was said at its start comes to the model that sums it up, and is still known
// after further compressions and in a resumed session.
func TestLongSession(t *testing.T) {
	t.Parallel()
	const steps, percent = 300, 15
	p := &patient{steps: steps, talks: 250}
	server := et.NewServer()
	server.Respond, server.Forget = p.respond, true
	c := pt.Configured(t, pt.Terminal(t, server), fmt.Sprintf(`{"model": {"compressionThreshold": 0.%d}}`, percent))
	parts := map[string]string{}
	for i := range 10 {
		lines := strings.Repeat("a line of a file that has a good many lines like it\n", 250)
		parts[fmt.Sprintf("part-%d.txt", i)] = fmt.Sprintf("FACT-read-%d\n%sIN THE MIDDLE\n%s", i, lines, lines)
	}
	pt.Write(t, c.Dir, parts)
	doc, told := p.run(t, c, "-p", "Read all parts. Remember FACT-asked-1.")
	if doc["response"] != "Done." || p.steps != 0 {
		t.Fatalf("%v, %d steps are left", doc["response"], p.steps)
	}
	said := steps * (len(p.thoughts()) + len(parts["part-0.txt"])) / 4
	most := 1_048_576*percent/100 + 20_000
	masked := strings.Count(told, "old outputs were put into files")
	compressed := strings.Count(told, "the conversation was compressed")
	t.Logf("%d tokens in %d requests, the largest of %d; masked %d times, compressed %d times",
		said, len(p.bodies), p.largest, masked, compressed)
	if said < 2_400_000 || p.largest > most || masked < 10 || compressed < 3 || compressed != len(p.asked) {
		t.Errorf("the largest request has %d tokens; %d questions\n%s", p.largest, len(p.asked), told)
	}
	if !strings.Contains(p.read, "IN THE MIDDLE") {
		t.Errorf("the file of an output was read as %.300s", p.read)
	}
	if len(p.asked) > 0 && !strings.Contains(p.asked[0], "FACT-asked-1") {
		t.Errorf("asked about %q", p.asked)
	}
	for i, asked := range p.asked {
		if !strings.Contains(asked, "FACT-said-2") || !strings.Contains(asked, "FACT-read-9") {
			t.Errorf("question %d holds %s", i, asked)
		}
	}
	files, err := filepath.Glob(filepath.Join(pt.HomeOf(c), ".gemini", "tmp", "*", "chats", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() > 40<<20 {
		t.Errorf("the session's file has %d bytes, %v", info.Size(), err)
	}
	p.last = nil
	p.run(t, c, "--resume", "latest", "-p", "What do you know?")
	for _, want := range []string{"FACT-said-2", "FACT-asked-1", "FACT-read-9"} {
		if !slices.Contains(p.last, want) {
			t.Errorf("the resumed session knows %s", p.last)
		}
	}
}

// What was sent once is sent again in the same bytes, request after request, so that a
// server that keeps what it has read finds it.
func TestPrefixStaysTheSame(t *testing.T) {
	t.Parallel()
	const steps = 100
	p := &patient{steps: steps, talks: 1}
	server := et.NewServer()
	server.Respond, server.Forget = p.respond, true
	c := pt.Terminal(t, server)
	parts := map[string]string{}
	for i := range 10 {
		parts[fmt.Sprintf("part-%d.txt", i)] = "<a> & \"b\" \u2028 of " + fmt.Sprint(i)
	}
	pt.Write(t, c.Dir, parts)
	p.run(t, c, "-p", "Read all parts.")
	if len(p.bodies) != steps+1 {
		t.Fatalf("%d requests", len(p.bodies))
	}
	cut := func(body []byte) (said, rest []byte) {
		at := bytes.Index(body, []byte(`],"systemInstruction":`))
		if at < 0 {
			t.Fatalf("%.300s", body)
		}
		return body[:at], body[at:]
	}
	for i, body := range p.bodies[1:] {
		before, rest := cut(p.bodies[i])
		said, now := cut(body)
		if !bytes.HasPrefix(said, append(bytes.Clone(before), ',')) || !bytes.Equal(rest, now) {
			t.Fatalf("request %d does not begin with what request %d was", i+2, i+1)
		}
	}
}
