// Bench measures gemline against ordinary tools in one run and prints a table
// of medians and ratios. The ratios mean something; the times are this
// machine's.
//
//	go run ./commands/program/testdata/bench ./gemline
//	go run ./commands/program/testdata/bench ./gemline hooks
//
// The second measures one part only: start, judge, steps,
// overhead, hooks, streams, providers, search or sessions.
//
// FILES sets the size of the tree that is searched (20000), RUNS how often
// each row is measured (11), and PEER_BIN names another program with the same
// flags to measure beside.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: bench PROGRAM [PART ...]")
		os.Exit(2)
	}
	b, err := newBench(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer os.RemoveAll(b.dir)
	for _, part := range []struct {
		name    string
		measure func()
	}{
		{"start", b.start}, {"judge", b.judge}, {"steps", b.steps}, {"overhead", b.overhead}, {"hooks", b.hooks},
		{"streams", b.streams}, {"providers", b.providers}, {"search", b.search}, {"sessions", b.sessions},
		{"checkpoints", b.checkpoints}, {"servers", b.servers},
	} {
		if only := os.Args[2:]; len(only) == 0 || slices.Contains(only, part.name) {
			part.measure()
		}
	}
}

type bench struct {
	dir, bin, peer, floor string
	env                   []string // beside what every program gets
	runs                  int
	server                *server
}

func newBench(bin string) (*bench, error) {
	dir, err := os.MkdirTemp("", "gemline-bench-")
	if err != nil {
		return nil, err
	}
	// A copy, as an installation makes it: of a program that was just linked, the kernel counts some
	// 4 MB more of the file as resident. It is made by another process, since a child's peak memory is
	// at least the memory that this process has.
	if err := exec.Command("cp", bin, filepath.Join(dir, "gemline")).Run(); err != nil {
		return nil, fmt.Errorf("copy %s: %w", bin, err)
	}
	b := &bench{dir: dir, bin: filepath.Join(dir, "gemline"), peer: os.Getenv("PEER_BIN"), runs: number("RUNS", 11), floor: filepath.Join(dir, "floor")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.floor, "./commands/program/testdata/bench/floor")
	build.Stderr = os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build the floor program: %w", err)
	}
	for _, d := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(b.project("small.txt"), []byte(strings.Repeat("a line of text\n", 60)), 0o600); err != nil {
		return nil, err
	}
	b.server, err = serve(b.project("small.txt"))
	return b, err
}

func (b *bench) project(name string) string { return filepath.Join(b.dir, "project", name) }

func number(env string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// A sample is one run of a program.
type sample struct {
	wall, first, cpu time.Duration // first: until the first byte on standard output
	rss              float64       // MB
	bytes            int64
}

// run runs a program in the project, with an environment of its own.
func (b *bench) run(args ...string) sample {
	return b.runIn(b.project(""), args...)
}

func (b *bench) runIn(dir string, args ...string) sample {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = b.environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	check(err)
	start := time.Now()
	check(cmd.Start())
	var s sample
	buf := make([]byte, 1<<16)
	for {
		n, err := out.Read(buf)
		if n > 0 && s.bytes == 0 {
			s.first = time.Since(start)
		}
		s.bytes += int64(n)
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		check(fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes()))
	}
	s.wall = time.Since(start)
	use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.rss = float64(use.Maxrss) / 1024
	return s
}

// environ returns what every program gets.
func (b *bench) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(b.dir, "home"), "TERM=dumb",
		"GEMINI_API_KEY=key-of-the-bench", "GOOGLE_GEMINI_BASE_URL=" + b.server.url, "GEMINI_CLI_TRUST_WORKSPACE=true"}, b.env...)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// times runs f b.runs times and returns what pick takes from each, sorted.
func (b *bench) times(pick func(sample) float64, f func() sample) []float64 {
	f() // warm
	var xs []float64
	for range b.runs {
		xs = append(xs, pick(f()))
	}
	sort.Float64s(xs)
	return xs
}

func wall(s sample) float64  { return ms(s.wall) }
func first(s sample) float64 { return ms(s.first) }
func cpu(s sample) float64   { return ms(s.cpu) }
func rss(s sample) float64   { return s.rss }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(xs []float64) float64 { return xs[len(xs)/2] }

// row prints a measurement beside what it is compared with.
func row(what, unit string, xs []float64, against string, ys []float64) {
	m := median(xs)
	line := fmt.Sprintf("%-46s %9.2f %-3s (%.2f to %.2f)", what, m, unit, xs[0], xs[len(xs)-1])
	if ys != nil {
		line += fmt.Sprintf("  %6.2f x %s (%.2f)", m/median(ys), against, median(ys))
	}
	fmt.Println(line)
}

func (b *bench) start() {
	once := func(bin string) func() sample {
		return func() sample { return b.run(bin, "-p", "hi", "-m", "gemini-3.8-flash") }
	}
	fake := filepath.Join(b.dir, "fake.jsonl")
	check(os.WriteFile(fake, []byte(`{"method":"generateContentStream","response":[{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}]}]}`+"\n"), 0o600))
	b.server.script("hello")
	floor := func() sample { return b.run(b.floor, b.server.url) }
	floorWall := b.times(wall, floor)
	row("--version", "ms", b.times(wall, func() sample { return b.run(b.bin, "--version") }), "floor", floorWall)
	row("--help", "ms", b.times(wall, func() sample { return b.run(b.bin, "--help") }), "floor", floorWall)
	row("one recorded turn, to the first byte", "ms", b.times(first, func() sample {
		return b.run(b.bin, "-p", "hi", "-m", "gemini-3.8-flash", "--fake-responses", fake)
	}), "floor", floorWall)
	row("one turn with a server, to the exit", "ms", b.times(wall, once(b.bin)), "floor", floorWall)
	row("one turn, CPU", "ms", b.times(cpu, once(b.bin)), "floor", b.times(cpu, floor))
	row("one turn, peak memory", "MB", b.times(rss, once(b.bin)), "floor", b.times(rss, floor))
	if b.peer != "" {
		row("one turn with a server, the peer", "ms", b.times(wall, once(b.peer)), "floor", floorWall)
	}
	if info, err := os.Stat(b.bin); err == nil {
		fmt.Printf("%-46s %9.2f MB\n", "the program", float64(info.Size())/(1<<20))
	}
}

// thought is how long a model takes to answer, at the least, in what is measured
// as it is for people. Real ones take several times that.
const thought = 100 * time.Millisecond

// step measures what one more tool call costs: the difference between a run of n+1 calls
// and one of a single call.
func (b *bench) step(n int, call string, f func() sample) []float64 {
	var xs []float64
	for range min(b.runs, 5) {
		xs = append(xs, b.once(n, call, f))
	}
	sort.Float64s(xs)
	return xs
}

// once is step, measured once.
func (b *bench) once(n int, call string, f func() sample) float64 {
	b.server.calls(call, 1, 1)
	short := f()
	b.server.calls(call, n+1, 1)
	return ms(f().wall-short.wall) / float64(n)
}

// settings makes text the user's settings, or removes them.
func (b *bench) settings(text string) {
	path := filepath.Join(b.dir, "home", ".gemini", "settings.json")
	if text == "" {
		check(os.Remove(path))
		return
	}
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	check(os.WriteFile(path, []byte(text), 0o600))
}

// reads returns a call that reads the small file, up to a line behind its end that is
// another one each time, as that of a model that does not go in circles.
func (b *bench) reads() string {
	return `{"name":"read_file","args":{"file_path":` + strconv.Quote(b.project("small.txt")) + `,"end_line":1%d}}`
}

// hooks measures what a hook adds to a tool call, beside the start of its process.
func (b *bench) hooks() {
	const n = 100
	us := func() sample { return b.run(b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q") }
	bash := b.times(wall, func() sample { return b.run("bash", "-c", "true") })
	without := b.step(n, b.reads(), us)
	b.settings(`{"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"true"}]}]}}`)
	with := b.step(n, b.reads(), us)
	b.settings("")
	row("one read_file step, no hook", "ms", without, "", nil)
	row("one read_file step, one BeforeTool hook", "ms", with, "", nil)
	row("what the hook adds", "ms", []float64{median(with) - median(without)}, "bash -c true", bash)
}

// overhead measures what passes between the end of an answer, which is a call, and the
// next request, which carries the result, as a conversation grows.
func (b *bench) overhead() {
	steps, around := []int{10, 100, 300}, 5 // each with its neighbours, of which one may be unlucky
	last := steps[len(steps)-1] + around
	us := func() sample {
		return b.run(b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q", "--max-turns", "1000")
	}
	floor := func(how ...string) func() sample {
		return func() sample { return b.run(append([]string{b.floor, b.server.url, "1000"}, how...)...) }
	}
	b.server.calls(b.reads(), last, 1)
	for _, who := range []struct {
		name string
		run  func() sample
	}{{"", us}, {", floor", floor()}, {", floor that encodes once", floor("once")}} {
		waits := make([][]float64, len(steps))
		for range min(b.runs, 5) {
			b.server.waited()
			who.run()
			run := b.server.waited()
			for i, n := range steps {
				waits[i] = append(waits[i], run[n-around:n+around]...)
			}
		}
		for i, n := range steps {
			sort.Float64s(waits[i])
			row(fmt.Sprintf("overhead of a step at step %d%s", n, who.name), "ms", waits[i],
				fmt.Sprintf("step %d", steps[0]), waits[0])
		}
	}
	fmt.Printf("%-46s %9d bytes\n", fmt.Sprintf("request at step %d", last), b.server.last.Load())
}

// steps measures what one more tool call costs.
func (b *bench) steps() {
	n := 100
	step := func(call string, f func() sample) []float64 { return b.step(n, call, f) }
	read, shell := b.reads(), `{"name":"run_shell_command","args":{"command":"true %d"}}`
	us := func() sample { return b.run(b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q") }
	floor := step(read, func() sample { return b.run(b.floor, b.server.url, "1000") })
	row("one read_file step", "ms", step(read, us), "floor", floor)
	fmt.Printf("%-46s %9d bytes\n", fmt.Sprintf("request at step %d", n), b.server.last.Load())
	bash := b.times(wall, func() sample { return b.run("bash", "-c", "true") })
	confine := func(how string) {
		confined := step(shell, us)
		b.env = []string{"GEMINI_SANDBOX=false"}
		free := step(shell, us)
		b.env = nil
		row("one run_shell_command step, confined"+how, "ms", confined, "bash -c true", bash)
		row("one run_shell_command step, not confined"+how, "ms", free, "bash -c true", bash)
		fmt.Printf("%-46s %9.2f ms\n", "what confining adds"+how, median(confined)-median(free))
	}
	confine("")
	n = 20
	b.server.thinks.Store(int64(thought))
	confine(", *")
	b.server.thinks.Store(0)
	fmt.Printf("* with a model that takes %v, which is in the times\n", thought)
	var side []float64
	for range min(b.runs, 5) {
		b.server.calls(read, 1, 1)
		one := us()
		b.server.calls(read, 1, 15)
		side = append(side, max(0, ms(us().wall-one.wall)))
	}
	sort.Float64s(side)
	row("14 more reads beside one", "ms", side, "", nil)
}

// formats are those of an answer, and what makes the floor program write it alike.
var formats = []struct {
	name  string
	floor []string
}{{"text", nil}, {"stream-json", []string{"json"}}}

func (b *bench) streams() {
	const n = 20000
	b.server.stream(n)
	for _, f := range formats {
		floor := b.times(wall, func() sample {
			return b.run(append([]string{b.floor, "stream", "gemini", b.server.url}, f.floor...)...)
		})
		us := func() sample { return b.run(b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-q", "-o", f.name) }
		row("20,000 chunks as "+f.name, "ms", b.times(wall, us), "floor", floor)
		row("20,000 chunks as "+f.name+", CPU a chunk", "us", b.times(func(s sample) float64 { return cpu(s) * 1000 / n }, us), "", nil)
		row("20,000 chunks as "+f.name+", peak memory", "MB", b.times(rss, us), "", nil)
	}
}

// search measures grep_search and glob as the model calls them, less a run
// that calls something cheap.
func (b *bench) search() {
	tree := filepath.Join(b.dir, "tree")
	files := number("FILES", 20000)
	check(plant(tree, files))
	us := func() sample { return b.runIn(tree, b.bin, "-p", "go", "-m", "gemini-3.8-flash", "-y", "-q") }
	net := func(call string) []float64 {
		var xs []float64
		for range min(b.runs, 5) {
			b.server.calls(`{"name":"list_directory","args":{"dir_path":"."}}`, 1, 1)
			base := us()
			b.server.calls(call, 1, 1)
			xs = append(xs, ms(us().wall-base.wall))
		}
		sort.Float64s(xs)
		return xs
	}
	grep := func(pattern string) string {
		return `{"name":"grep_search","args":{"pattern":` + strconv.Quote(pattern) + `}}`
	}
	if _, err := exec.LookPath("rg"); err == nil {
		for _, p := range []string{"needle_in_file_777", `func \w+Needle\(`, `[a-z]+_[0-9]{7}`} {
			rg := b.times(wall, func() sample { return b.runIn(tree, "sh", "-c", `rg -i -- "$0" . || true`, p) })
			row(fmt.Sprintf("grep_search %s, %d files", p, files), "ms", net(grep(p)), "rg", rg)
		}
	} else {
		fmt.Println("grep_search: not compared, rg is not installed")
	}
	find := b.times(wall, func() sample { return b.runIn(tree, "find", ".", "-name", "*_9.go") })
	row(fmt.Sprintf("glob **/*_9.go, %d files", files), "ms", net(`{"name":"glob","args":{"pattern":"**/*_9.go"}}`), "find", find)
}

// plant makes a tree of files like source code.
func plant(dir string, files int) error {
	for i := range files {
		d := filepath.Join(dir, fmt.Sprintf("pkg%d", i/1000), fmt.Sprintf("sub%d", i/50%20))
		if i%50 == 0 {
			if err := os.MkdirAll(d, 0o700); err != nil {
				return err
			}
		}
		body := fmt.Sprintf("package sub\n\n// needle_in_file_%d\nfunc f%dNeedle(a, b int) int {\n%s\treturn a\n}\n", i, i, strings.Repeat("\tif a > b { a, b = b, a+b } // swap them\n", 60))
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("f%d_%d.go", i, i%10)), []byte(body), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// A server answers like the Gemini API, at once.
type server struct {
	url    string
	small  string
	reply  atomic.Value // func(turn int, w io.Writer)
	last   atomic.Int64 // size of the last request
	thinks atomic.Int64 // how long it takes before it answers, in nanoseconds

	mu    sync.Mutex
	ended time.Time // the last answer, if there was one
	waits []float64 // from the end of an answer to the next whole request, in milliseconds
}

// waited returns how long it took from each answer to the next request, and forgets it.
func (s *server) waited() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := s.waits
	s.ended, s.waits = time.Time{}, nil
	return waits
}

func serve(small string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + l.Addr().String(), small: small}
	go http.Serve(l, http.HandlerFunc(s.handle))
	return s, nil
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, max(0, r.ContentLength)) // a body that grows would be measured, too
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return // whose client will not succeed
	}
	s.mu.Lock()
	if !s.ended.IsZero() {
		s.waits = append(s.waits, ms(time.Since(s.ended)))
	}
	s.mu.Unlock()
	if what, ok := abouts[r.URL.Path]; ok {
		io.WriteString(w, what)
		return
	}
	s.last.Store(int64(len(body)))
	time.Sleep(time.Duration(s.thinks.Load()))
	turn := bytes.Count(body, []byte(`"role":"model"`))
	w.Header().Set("Content-Type", "text/event-stream")
	s.reply.Load().(func(int, http.ResponseWriter))(turn, w)
	http.NewResponseController(w).Flush()
	s.mu.Lock()
	s.ended = time.Now()
	s.mu.Unlock()
}

func event(w io.Writer, parts string, end bool) {
	finish := ""
	if end {
		finish = `,"finishReason":"STOP"`
	}
	fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[%s]}%s}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":2,\"totalTokenCount\":12}}\r\n\r\n", parts, finish)
}

// script answers every request with text.
func (s *server) script(text string) {
	b, _ := json.Marshal(text)
	s.reply.Store(func(_ int, w http.ResponseWriter) { event(w, `{"text":`+string(b)+`}`, true) })
}

// calls asks for steps calls, wide at a time, and then ends. In each call %d is another
// number.
func (s *server) calls(call string, steps, wide int) {
	s.reply.Store(func(turn int, w http.ResponseWriter) {
		if turn >= steps {
			event(w, `{"text":"done"}`, true)
			return
		}
		parts := make([]string, wide)
		for i := range parts {
			number := fmt.Sprintf("%03d%02d", turn, i)
			parts[i] = `{"functionCall":` + strings.ReplaceAll(call, "%d", number) + `}`
		}
		event(w, strings.Join(parts, ","), true)
	})
}

// stream answers with n chunks of a word, each another one, since an answer that says one
// again and again is stopped.
func (s *server) stream(n int) {
	s.reply.Store(func(_ int, w http.ResponseWriter) {
		flush := http.NewResponseController(w).Flush
		for i := range n {
			event(w, fmt.Sprintf(`{"text":"word%05d "}`, i), i == n-1)
			if i%50 == 0 {
				flush()
			}
		}
	})
}
