package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gemline/engine/redact"
)

const (
	maxHistory = 100     // the most ended jobs that are remembered
	maxRunning = 100     // how many may run at once
	maxEarly   = 8 << 10 // bytes of a job's output that are stored outside its log
)

// Jobs are the background commands, and processes that commands have left behind. It is safe
// for concurrent use. Closing it ends its processes.
type Jobs struct {
	// Secrets redacts the logs. Set it before the first job.
	Secrets *redact.Redactor

	dir   string
	watch watch

	mu      sync.Mutex
	jobs    []*job // in the order they began
	closed  bool
	then    sync.WaitGroup // functions called when jobs are over
	allDone chan struct{}  // closed when all jobs have ended
}

// A Job is the current state of a background command.
type Job struct {
	PID     int
	Command string
	Started time.Time
	Running bool

	// The exit status of a command that was started in the background. It is unknown for
	// processes left behind by a command.
	Known      bool
	Code       int
	Signal     int
	SignalName string

	Output string // the end of its output
	Log    string // the file that holds its output, "" if there is none
	Err    error  // why the log is not complete
}

// OK reports whether the job ended in success.
func (j Job) OK() bool { return !j.Running && j.Known && j.Code == 0 && j.Signal == 0 }

// A job is a process with a log. Its goroutines are those of the process.
type job struct {
	p       *process
	command string
	started time.Time
	pids    []int // its process ids, the main id first
	adopted bool
	watch   *watch

	mu  sync.Mutex // guards the fields that the reading goroutine writes
	out *capture
	log *log  // nil if there is none
	err error // why there is none
}

// ErrClosed means that the Jobs is closed and starts no commands.
var ErrClosed = errors.New("background commands have been ended")

// ErrUnknown means that no job has the number.
var ErrUnknown = errors.New("no such background command")

// ErrNoLog says that a job has no log.
var ErrNoLog = errors.New("the background command has no log")

// NewJobs returns Jobs with logs in dir, which is created when needed.
func NewJobs(dir string) *Jobs { return &Jobs{dir: dir, allDone: make(chan struct{})} }

// watching returns the watch that ends commands if this process is killed; without Jobs it
// watches nothing.
func (js *Jobs) watching() *watch {
	if js == nil {
		return &watch{}
	}
	js.watch.ready()
	return &js.watch
}

// Start starts c in the background and returns the number of its process. The timeouts in
// c's settings do not apply, and its Output is not called.
func (js *Jobs) Start(c Command) (pid int, err error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.closed {
		return 0, ErrClosed
	}
	running := 0
	for _, j := range js.jobs {
		if j.running() {
			running++
		}
	}
	if running >= maxRunning {
		return 0, fmt.Errorf("%d commands run in the background already", running)
	}
	watch := js.watching()
	p, err := spawn(c)
	if err != nil {
		return 0, err
	}
	js.keep(&job{p: p, command: c.name(), pids: []int{p.group.leader}, out: newCapture(maxEarly, p.terminal, c.Settings.Charsets, nil)}, nil)
	watch.add(p.group.leader, "")
	p.begin()
	return p.group.leader, nil
}

// adopt takes over the running processes of p, and returns their numbers. It returns none if
// all are about to end, or if Jobs is closed; then all have ended. out has p's output so
// far.
func (js *Jobs) adopt(p *process, command string, out *capture) []int {
	js.mu.Lock()
	defer js.mu.Unlock()
	pids := p.group.members()
	if js.closed || len(pids) == 0 {
		p.group.kill()
		return nil
	}
	all := pids
	if p.keeps != nil {
		if pids = slices.DeleteFunc(slices.Clone(all), p.keeps); len(pids) == 0 {
			return nil
		}
	}
	rest := newCapture(maxEarly, false, out.charsets, nil)
	rest.strip, rest.redraw = out.strip, out.redraw
	out.redraw = nil
	q := &process{cmd: p.cmd, group: p.group, output: p.output, exited: p.exited, drained: make(chan struct{})}
	js.keep(&job{p: q, command: command, pids: slices.Concat(pids, all, []int{p.group.leader}),
		adopted: true, out: rest},
		[]byte(out.kept.text()))
	if p.held {
		p.output.SetReadDeadline(time.Time{})
		go q.read()
	} else {
		q.done()
		close(q.drained)
	}
	return pids
}

// keep adds j, whose output so far is early. If there are too many jobs, it drops the oldest
// ended job.
func (js *Jobs) keep(j *job, early []byte) {
	j.started, j.watch = time.Now(), &js.watch
	if j.log, j.err = createLog(js.dir, j.pids[0]); j.err == nil {
		j.log.out = js.Secrets.Stream()
		j.out.log = j.log.write
		j.log.write(early)
	}
	j.p.take, j.p.done = j.write, j.end
	js.jobs = append(js.jobs, j)
	for i := 0; len(js.jobs) > maxHistory && i < len(js.jobs)-1; {
		if js.jobs[i].running() || js.jobs[i].p.group.occupied() {
			i++
		} else {
			js.jobs = slices.Delete(js.jobs, i, i+1)
		}
	}
}

// List returns the jobs in the order they began.
func (js *Jobs) List() []Job {
	js.mu.Lock()
	defer js.mu.Unlock()
	list := make([]Job, len(js.jobs))
	for i, j := range js.jobs {
		list[i] = j.snapshot()
	}
	return list
}

func (js *Jobs) find(pid int) *job {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range slices.Backward(js.jobs) { // process ids are reused: take the latest
		if slices.Contains(j.pids, pid) {
			return j
		}
	}
	return nil
}

// Wait waits for the end of a job, for at most d, and returns its state. Processes left
// behind count as ended when their output is closed.
func (js *Jobs) Wait(ctx context.Context, pid int, d time.Duration) (Job, error) {
	j := js.find(pid)
	if j == nil {
		return Job{}, ErrUnknown
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	over := j.p.exited
	if j.adopted {
		over = j.p.drained
	}
	select {
	case <-over:
		j.settle(ctx)
	case <-timer.C:
	case <-ctx.Done():
	}
	return j.snapshot(), ctx.Err()
}

// settle waits briefly after the end of a job: until its last output is read and, if it is
// not our child, until it is gone.
func (j *job) settle(ctx context.Context) {
	deadline := time.NewTimer(grace)
	defer deadline.Stop()
	look := time.NewTicker(grace / 10)
	defer look.Stop()
	drained := j.p.drained
	for drained != nil || j.running() {
		select {
		case <-drained:
			drained = nil
		case <-look.C:
		case <-deadline.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Tail returns the last lines of a job's log, their number, and the number of all written
// lines.
func (js *Jobs) Tail(pid, lines int) (text string, shown, total int, err error) {
	j := js.find(pid)
	if j == nil {
		return "", 0, 0, ErrUnknown
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		return "", 0, 0, fmt.Errorf("%w: %w", ErrNoLog, j.err)
	}
	b, shown, err := j.log.tail(lines)
	if err != nil {
		return "", 0, 0, fmt.Errorf("%w: %w", ErrNoLog, err)
	}
	return j.out.readable(string(b)), shown, j.log.total(), nil
}

// Stop ends a job and returns when it is over.
func (js *Jobs) Stop(pid int) error {
	j := js.find(pid)
	if j == nil {
		return ErrUnknown
	}
	j.stop()
	return nil
}

// OnDone calls do when a job and all its processes have ended. Close waits for do.
func (js *Jobs) OnDone(pid int, do func()) {
	j := js.find(pid)
	if j == nil {
		return
	}
	js.then.Go(func() {
		<-j.p.exited
		<-j.p.drained
		look := time.NewTicker(time.Second)
		defer look.Stop()
		for j.p.group.occupied() {
			select {
			case <-look.C:
				continue
			case <-js.allDone:
			}
			break
		}
		do()
	})
}

// Close ends all jobs and returns when they are over. The logs stay.
func (js *Jobs) Close() {
	js.mu.Lock()
	closed := js.closed
	js.closed = true
	jobs := slices.Clone(js.jobs)
	js.mu.Unlock()
	var wg sync.WaitGroup
	for _, j := range jobs {
		wg.Go(j.stop)
	}
	wg.Wait()
	if !closed {
		close(js.allDone)
	}
	js.then.Wait()
	js.watch.close()
}

func (j *job) running() bool {
	if j.adopted {
		return j.p.group.occupied()
	}
	select {
	case <-j.p.exited:
		return false
	default:
		return true
	}
}

// stop ends j and its children, and returns when its goroutines have ended.
func (j *job) stop() {
	if j.running() || j.p.group.occupied() {
		j.p.group.kill()
	}
	<-j.p.exited
	j.p.close()
	<-j.p.drained
}

func (j *job) write(p []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.out.write(p)
}

func (j *job) end() {
	if !j.p.group.occupied() {
		j.watch.drop(j.p.group.leader)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.out.end()
	if j.log != nil {
		j.log.end()
		j.log.err = cmp.Or(j.log.err, j.log.file.Close())
	}
}

func (j *job) snapshot() Job {
	s := Job{PID: j.pids[0], Command: j.command, Started: j.started, Running: j.running()}
	if !s.Running && !j.adopted {
		s.Known = true
		s.Code, s.Signal, s.SignalName = j.p.result()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Output, s.Err = j.out.text(), j.err
	if j.log != nil {
		s.Log, s.Err = j.log.path, j.log.err
	}
	return s
}
