//go:build unix

package sessions

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// Killed as soon as it has written a record, or at any time, a run loses no
// result that it has reported: when the session goes on, the model is told of
// each once, and as it was, and of calls without an end that their outcome is
// unknown.
func TestKilledLosesNoResult(t *testing.T) {
	t.Parallel()
	results, perWay := 12, 5
	if et.Soak() {
		results, perWay = 1000, 120
	}
	var mu sync.Mutex
	var sum toll
	t.Run("kills", func(t *testing.T) {
		for _, way := range []string{"record", "time"} {
			t.Run(way, func(t *testing.T) {
				t.Parallel()
				var n toll
				for seed := uint64(0); n.kills < perWay || n.reported < results/2; seed++ {
					k := newKilled(t, rand.New(rand.NewPCG(seed, uint64(len(way)))))
					for range min(8, perWay) {
						k.kill(way, n.kills)
						n.kills++
					}
					k.work(nil) // to the end
					n.add(k.toll)
				}
				mu.Lock()
				defer mu.Unlock()
				sum.add(n)
				t.Logf("%d kills, %d results reported, %d calls interrupted", n.kills, n.reported, n.interrupted)
			})
		}
	})
	if sum.reported < results {
		t.Errorf("%d results were reported, too few", sum.reported)
	}
	t.Logf("in all: %d results reported, %d lost, %d doubled, %d told as cancelled; %d calls interrupted", sum.reported, sum.lost, sum.doubled, sum.cancelled, sum.interrupted)
}

// A toll counts what became of results.
type toll struct{ kills, reported, lost, doubled, cancelled, interrupted int }

func (n *toll) add(m toll) {
	n.reported += m.reported
	n.lost += m.lost
	n.doubled += m.doubled
	n.cancelled += m.cancelled
	n.interrupted += m.interrupted
}

// A killed is a session whose runs are killed, one after the other.
type killed struct {
	t        *testing.T
	r        *rand.Rand
	server   *et.Server
	dir      string
	session  string
	reported map[string]string // the status of calls, by id
	runs     int
	took     time.Duration // the longest from the first record to the end
	toll     toll

	mu    sync.Mutex
	first []*genai.Content // of the run's first request
	calls int
}

func newKilled(t *testing.T, r *rand.Rand) *killed {
	k := &killed{t: t, r: r, server: et.NewServer(), dir: t.TempDir(), session: "killed", reported: map[string]string{}, took: 200 * time.Millisecond}
	k.server.Respond, k.server.Forget = k.answer, true
	t.Cleanup(k.server.Close)
	return k
}

// answer is the model: three messages with calls for each prompt, alone and
// side by side, small and large.
func (k *killed) answer(r et.Received) et.Reply {
	k.mu.Lock()
	defer k.mu.Unlock()
	contents := r.Contents()
	if k.first == nil {
		k.first = contents
	}
	said := 0
	for i := len(contents) - 1; i >= 0; i-- {
		p := contents[i].Parts
		if contents[i].Role == genai.RoleUser && p[len(p)-1].FunctionResponse == nil {
			break
		}
		if contents[i].Role == genai.RoleModel {
			said++
		}
	}
	k.calls++
	file := fmt.Sprintf("f%d.txt", k.calls)
	switch said {
	case 0:
		return et.Says("I write.", et.Call("", "write_file", "file_path", file, "content", strings.Repeat("x", 100)),
			et.Call("", "write_file", "file_path", "large.txt", "content", strings.Repeat(fmt.Sprintf("%d line\n", k.calls), 25000)))
	case 1:
		return et.Says("", et.Call("", "list_directory", "dir_path", "."), et.Call("", "read_file", "file_path", "large.txt", "end_line", 40),
			et.Call("", "glob", "pattern", "*.txt"), et.Call("", "list_directory", "dir_path", "nowhere"))
	case 2:
		return et.Says("Once more.", et.Call("", "replace", "file_path", "large.txt", "instruction", "x", "old_string", "1 line\n1 line\n", "new_string", "one\n", "allow_multiple", true))
	}
	return et.Says("Done.")
}

// kill runs the program and kills it: when it has written so many records, each
// time another number, or at a time by chance.
func (k *killed) kill(way string, n int) {
	if way == "record" {
		k.work(func(records int, kill func()) {
			if records > n*7%26 {
				kill()
			}
		})
		return
	}
	after := time.Duration(k.r.Int64N(int64(k.took)))
	k.work(func(records int, kill func()) {
		if records == 1 {
			time.AfterFunc(after, kill) // wherever that is
		}
	})
}

// work goes on with the session, and holds what the model is sent to what the
// runs before have reported. Each record is seen with how many there were.
func (k *killed) work(seen func(records int, kill func())) {
	k.t.Helper()
	k.runs++
	k.mu.Lock()
	k.first = nil
	k.mu.Unlock()
	run := pt.Headless(k.t, k.server, k.dir, nil, io.Discard, "--session", k.session, "-y", "-o", "stream-json", "-p", fmt.Sprintf("work %d", k.runs))
	out, err := run.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		k.t.Fatal(err)
	}
	told := map[string]string{}
	var began time.Time
	last := ""
	in := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil { // half a record is none
			break
		}
		if n == 1 {
			began = time.Now()
		}
		if seen != nil {
			seen(n, func() { run.Process.Kill() })
		}
		var r struct {
			Type, Status string
			ID           string `json:"tool_id"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			k.t.Fatalf("%v: %s", err, line)
		}
		if last = r.Type; last == "tool_result" {
			told[r.ID] = r.Status
		}
	}
	run.Wait()
	if last == "result" {
		k.took = max(k.took, time.Since(began))
	}
	if seen == nil && !run.ProcessState.Success() {
		k.t.Errorf("the session can't be gone on with: %v", run.ProcessState)
	}
	k.check()
	for id, status := range told {
		k.reported[id] = status
		k.toll.reported++
	}
}

// check looks at what the first request of a run says of the runs before.
func (k *killed) check() {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.first == nil {
		return // killed before it asked; the next run tells
	}
	et.CheckHistory(k.t, k.first)
	answers := map[string]int{}
	k.toll.interrupted = 0
	for _, c := range k.first {
		for _, p := range c.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			id := p.FunctionResponse.Name + "__" + p.FunctionResponse.ID
			why, failed := p.FunctionResponse.Response["error"].(string)
			unknown := strings.Contains(why, "[Interrupted]")
			answers[id]++
			switch status := k.reported[id]; {
			case strings.Contains(why, "ancelled"):
				k.toll.cancelled++
				k.t.Errorf("%s is told as cancelled: %s", id, why)
			case status == "" && unknown:
				k.toll.interrupted++
			case status != "" && (unknown || failed != (status == "error")):
				k.toll.lost++
				k.t.Errorf("%s was reported as %s, and is told as %v", id, status, p.FunctionResponse.Response)
			}
		}
	}
	for id := range k.reported {
		switch answers[id] {
		case 0:
			k.toll.lost++
			k.t.Errorf("%s was reported, and is not told", id)
		case 1:
		default:
			k.toll.doubled++
			k.t.Errorf("%s is told %d times", id, answers[id])
		}
	}
}
