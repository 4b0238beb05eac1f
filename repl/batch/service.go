package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/engine/parallel"
	"gemline/engine/text"
)

// A Service works on many requests in jobs that may take a day. [model.Genai] is a Service.
type Service interface {
	// Submit sends requests for one model to the service. After an error that is not the server's,
	// the service may have the requests.
	Submit(ctx context.Context, title string, requests []*engine.Request) (name string, err error)

	// FindJob returns the name of the job with a title, "" if there is none.
	FindJob(ctx context.Context, title string) (name string, err error)

	// JobStatus returns the progress of a job.
	JobStatus(ctx context.Context, name string) (model.Job, error)
}

// Limits of a job: the API accepts 20 MB.
const (
	jobBytes    = 16 << 20
	jobRequests = 1000
)

// The interval of status requests, and how many may fail in a row.
const (
	firstLook = time.Second
	lastLook  = time.Minute
	tries     = 8
)

// A job is a group of items at a [Service]. It is stored before it is submitted, under a unique
// title. So a run after a crash finds the job by its title, and does not submit it again.
type job struct {
	Title string `json:"title"`
	Name  string `json:"name,omitempty"` // the service's name; "" while unknown
	Tasks []task `json:"tasks,omitempty"`
}

// A task is an item in a job. Its request has the same index in the job.
type task struct {
	Index   int    `json:"index"`
	Hash    string `json:"hash"`
	Attempt int    `json:"attempt"`

	item *Item // nil until the item is read again, and after it was answered
}

func (t task) entry() entry { return entry{hash: t.Hash, attempt: t.Attempt} }

// A group holds the requests that are gathered for a job.
type group struct {
	tasks    []task
	requests []*engine.Request
	bytes    int
}

// A client sends the items of a batch to the service.
type client struct {
	runner *runner
	groups map[string]*group // gathered requests, by model
}

// work sends the items to the service and waits for the answers. An item that needs no model is
// answered at once.
func (c *client) work(ctx context.Context, first read) error {
	waiting := c.runner.state.waiting()
	for got := first; c.runner.open; {
		c.runner.sums.items++
		if err := c.gather(ctx, got.Item, waiting); err != nil {
			return err
		}
		select {
		case got = <-c.runner.reading:
			if errors.Is(got.err, io.EOF) {
				c.runner.open = false
			} else if got.err != nil {
				c.runner.open, c.runner.failure = false, got.err
				return got.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.groups)) {
		if err := c.submit(ctx, c.groups[name]); err != nil {
			return err
		}
	}
	for i := 0; i < len(c.runner.state.jobs); i++ { // the list may grow
		if err := c.await(ctx, c.runner.state.jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// gather prints the stored record of a finished item. It waits for an item that is in a job, and
// adds any other item to the group of its model.
func (c *client) gather(ctx context.Context, it Item, waiting map[int]*task) error {
	e, known := c.runner.storedResult(it)
	if known {
		c.runner.sums.before++
		c.runner.ended(it.Index, e)
		return nil
	}
	if t := waiting[it.Index]; t != nil && t.Hash == e.hash {
		t.item = &it
		return nil
	}
	var made capture
	end := c.runner.answer(ctx, it, entry{hash: e.hash, attempt: e.attempt + 1}, &made)
	req := made.request
	if req == nil {
		c.runner.store(end)
		return cmp.Or(ctx.Err(), end.end)
	}
	g := c.groups[req.Model]
	size := weight(req)
	if g != nil && (len(g.tasks) >= jobRequests || g.bytes+size > jobBytes) {
		if err := c.submit(ctx, g); err != nil {
			return err
		}
		g = nil
	}
	if g == nil {
		g = &group{}
		c.groups[req.Model] = g
	}
	g.tasks = append(g.tasks, task{Index: it.Index, Hash: e.hash, Attempt: e.attempt + 1, item: &it})
	g.requests = append(g.requests, req)
	g.bytes += size
	return nil
}

// weight returns the approximate size of a request in JSON.
func weight(req *engine.Request) int {
	a, _ := json.Marshal(req.Contents) // a request that can't be encoded is refused later
	b, _ := json.Marshal(req.Config)
	return len(a) + len(b)
}

// submit sends the gathered requests to the service.
func (c *client) submit(ctx context.Context, g *group) error {
	j := &job{Title: "gemline " + uuid.NewString(), Tasks: g.tasks}
	c.note(j)
	c.runner.state.jobs = append(c.runner.state.jobs, j)
	for attempt := 1; ; attempt++ {
		name, err := c.runner.Config.Service.Submit(ctx, j.Title, g.requests)
		if err == nil {
			c.recordJob(j, name)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.runner.Errors.Refused != nil && c.runner.Errors.Refused(err) {
			return err
		}
		if refused(err) {
			return c.settle(ctx, j, model.Job{Err: err})
		}
		if attempt == tries {
			return err
		}
		if err := c.again(ctx, attempt, err); err != nil {
			return err
		}
		if name, err = c.seek(ctx, j.Title); err != nil {
			return err
		}
		if name != "" {
			c.recordJob(j, name)
			return nil
		}
	}
}

// recordJob stores the name of a job.
func (c *client) recordJob(j *job, name string) {
	j.Name = name
	c.note(&job{Title: j.Title, Name: name})
	c.runner.tell("%s sent to the server as %s", text.Count(len(j.Tasks), "item"), name)
}

// note stores the state of a job.
func (c *client) note(j *job) {
	if err := c.runner.state.addJob(j); err != nil {
		c.runner.tell("the server's jobs can't be noted, so a run that stops begins anew: %v", err)
	}
}

// refused reports whether err is the server's final refusal of a request.
func refused(err error) bool {
	var e *model.Error
	if !errors.As(err, &e) {
		return true // a request that is wrong stays wrong
	}
	return e.Final && e.HTTP >= 400 || e.HTTP >= 400 && e.HTTP < 500 &&
		e.HTTP != http.StatusRequestTimeout && e.HTTP != http.StatusTooManyRequests
}

// seek finds a job by its title. If the server is unreachable, it retries up to the limit (tries).
func (c *client) seek(ctx context.Context, title string) (name string, err error) {
	for attempt := 1; ; attempt++ {
		name, err = c.runner.Config.Service.FindJob(ctx, title)
		if err == nil || ctx.Err() != nil || refused(err) || attempt == tries {
			return name, err
		}
		if err := c.again(ctx, attempt, err); err != nil {
			return "", err
		}
	}
}

// again waits before a retry.
func (c *client) again(ctx context.Context, attempt int, err error) error {
	d := min(firstLook<<attempt, lastLook)
	c.runner.tell("%v; asking again in %v", err, d)
	return parallel.Sleep(ctx, d)
}

// await waits for a job, and has its items answered.
func (c *client) await(ctx context.Context, j *job) error {
	if !slices.ContainsFunc(j.Tasks, func(t task) bool { return t.item != nil }) {
		return nil
	}
	if j.Name == "" {
		name, err := c.seek(ctx, j.Title)
		switch {
		case err != nil:
			return err
		case name == "":
			return c.resubmit(ctx, j)
		}
		c.recordJob(j, name)
	}
	state, delay, failures := "", firstLook, 0
	for {
		now, err := c.runner.Config.Service.JobStatus(ctx, j.Name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && gone(err):
			return c.settle(ctx, j, model.Job{Err: err})
		case err != nil:
			if failures++; failures == tries || refused(err) {
				return err
			}
			if err := c.again(ctx, failures, err); err != nil {
				return err
			}
			continue
		case now.Done:
			return c.settle(ctx, j, now)
		}
		if failures = 0; now.State != state {
			state = now.State
			c.runner.tell("%s is %s", j.Name, state)
		}
		if err := parallel.Sleep(ctx, delay); err != nil {
			return err
		}
		delay = min(delay*3/2, lastLook)
	}
}

// gone reports whether err means that the service does not know the job.
func gone(err error) bool {
	var e *model.Error
	return errors.As(err, &e) && e.HTTP == http.StatusNotFound
}

// resubmit submits the items of a job that never reached the service.
func (c *client) resubmit(ctx context.Context, j *job) error {
	c.groups = map[string]*group{}
	for i := range j.Tasks {
		if t := &j.Tasks[i]; t.item != nil {
			it := *t.item
			t.item = nil
			if err := c.gather(ctx, it, nil); err != nil {
				return err
			}
		}
	}
	for _, g := range c.groups {
		if err := c.submit(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// settle answers the items of a finished job.
func (c *client) settle(ctx context.Context, j *job, over model.Job) error {
	for i := range j.Tasks {
		t := &j.Tasks[i]
		if t.item == nil {
			continue
		}
		reply, ok := over.Replies[model.Key(i)]
		if !ok {
			reply.Err = cmp.Or(over.Err, error(&model.Error{Kind: model.Invalid, Code: "NO_RESPONSE",
				Message: fmt.Sprintf("the server's job %s has no answer to this request", j.Name)}))
		}
		e := c.runner.answer(ctx, *t.item, t.entry(), &replay{Generator: reply.Generator(), job: j.Name})
		if t.item = nil; e.cut {
			return cmp.Or(ctx.Err(), e.end)
		}
		c.runner.store(e)
	}
	return nil
}

// A replay is a Generator that returns the answer of a job.
type replay struct {
	engine.Generator
	job string
}

// errCaptured ends a run that only captures its request.
var errCaptured = errors.New("the request is left to the server")

// A capture is a Generator that stores the first request and answers none.
type capture struct{ request *engine.Request }

// Generate implements [engine.Generator].
func (c *capture) Generate(_ context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) {
		if c.request == nil {
			kept := *req
			kept.Contents, kept.Notify = slices.Clone(req.Contents), nil
			c.request = &kept
		}
		yield(nil, errCaptured)
	}
}

// Count implements [engine.Generator].
func (c *capture) Count(context.Context, *engine.Request) (int, error) { return 0, nil }

// waiting returns the tasks of all jobs without an outcome, by the index of their items.
func (s *state) waiting() map[int]*task {
	open := map[int]*task{}
	for _, j := range s.jobs {
		for i := range j.Tasks {
			t := &j.Tasks[i]
			if e, ok := s.items[t.Index]; !ok || e.hash != t.Hash || e.attempt < t.Attempt {
				open[t.Index] = t
			}
		}
	}
	return open
}

// addJob stores the state of a job.
func (s *state) addJob(j *job) error {
	b, err := json.Marshal(line{Job: j})
	if err != nil {
		panic(err) // plain texts and numbers
	}
	_, _, err = s.append(b)
	return err
}

// loadJob adds a job from the file, or the name of a job, which comes later.
func (s *state) loadJob(j *job) {
	for _, known := range s.jobs {
		if known.Title == j.Title {
			known.Name = j.Name
			return
		}
	}
	s.jobs = append(s.jobs, j)
}
