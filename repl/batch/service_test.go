package batch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/model"
	"gemline/repl/report"
)

// A remote is a Service far away: what the network does is scripted, what the
// service has is remembered over all runs.
type remote struct {
	submit []error // of the next calls; errLost takes the job all the same
	look   []error
	find   []error
	looks  int // that a job is not over, at first
	dead   error

	titles map[string]string // names by title
	jobs   map[string][]*engine.Request
}

var (
	errAway    = &model.Error{Kind: model.Unavailable, Message: "away"}
	errLost    = &model.Error{Kind: model.Unavailable, Message: "lost on the way back"}
	errRefused = &model.Error{Kind: model.BadRequest, HTTP: 400, Final: true, Message: "refused"}
	errGone    = &model.Error{Kind: model.NotFound, HTTP: 404, Final: true, Message: "gone"}
)

func newRemote() *remote {
	return &remote{titles: map[string]string{}, jobs: map[string][]*engine.Request{}}
}

func next(errs *[]error) (err error) {
	if len(*errs) > 0 {
		err, *errs = (*errs)[0], (*errs)[1:]
	}
	return err
}

func (r *remote) Submit(ctx context.Context, title string, requests []*engine.Request) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	err := next(&r.submit)
	if err != nil && err != errLost {
		return "", err
	}
	name := fmt.Sprintf("batches/%d", len(r.jobs)+1)
	r.titles[title], r.jobs[name] = name, requests
	return name, err
}

func (r *remote) FindJob(_ context.Context, title string) (string, error) {
	return r.titles[title], next(&r.find)
}

func (r *remote) JobStatus(_ context.Context, name string) (model.Job, error) {
	if err := next(&r.look); err != nil {
		return model.Job{}, err
	}
	if r.looks--; r.looks >= 0 {
		return model.Job{Name: name, State: "running"}, nil
	}
	j := model.Job{Name: name, Done: true, Err: r.dead, Replies: map[string]model.Reply{}}
	for i, req := range r.jobs[name] {
		text := req.Contents[0].Parts[0].Text
		switch {
		case r.dead != nil || strings.Contains(text, "unanswered"):
		case strings.Contains(text, "hard"):
			j.Replies[model.Key(i)] = model.Reply{Err: errHard}
		default:
			j.Replies[model.Key(i)] = model.Reply{Response: &genai.GenerateContentResponse{Candidates: []*genai.Candidate{{
				Content: genai.NewContentFromText("re: "+text, genai.RoleModel), FinishReason: genai.FinishReasonStop}}}}
		}
	}
	return j, nil
}

// requests returns how many requests the service has, over all jobs.
func (r *remote) requests() (n int) {
	for _, j := range r.jobs {
		n += len(j)
	}
	return n
}

// modelled carries out an item as the program does, by asking the generator; a
// slash command needs none.
func modelled(ctx context.Context, t Task) error {
	if t.Item.Prompt == "/about" {
		t.Reporter.Event(engine.Text{Delta: "about"})
		return nil
	}
	t.Reporter.Begin(report.Init{Session: "s" + t.Item.ID, Model: "m"})
	name := "m"
	if strings.HasPrefix(t.Item.Prompt, "other") {
		name = "other"
	}
	req := &engine.Request{Model: name, Contents: []*genai.Content{genai.NewContentFromText(t.Item.Prompt, genai.RoleUser)}}
	for chunk, err := range t.Generator.Generate(ctx, req) {
		if err != nil {
			return err
		}
		t.Reporter.Event(engine.Text{Delta: chunk.Text()})
	}
	return nil
}

func TestService(t *testing.T) {
	three := []string{"one", "hard two", "three"}
	const told = "re: one;too hard;re: three;"
	for _, c := range []struct {
		name   string
		remote func(*remote)
		batch  []string
		told   string
		err    error // other than ErrFailed
		jobs   int
	}{
		{"answered", func(*remote) {}, three, told, nil, 1},
		{"slowly", func(r *remote) { r.looks = 100 }, three, told, nil, 1},
		{"two models and a command", func(*remote) {}, []string{"one", "other", "/about", "unanswered"},
			"re: one;re: other;about;the server's job batches/1 has no answer to this request;", nil, 2},
		{"only a command", func(*remote) {}, []string{"/about"}, "about;", nil, 0},
		{"away when it is submitted", func(r *remote) { r.submit = []error{errAway, errAway} }, three, told, nil, 1},
		{"lost on the way back", func(r *remote) { r.submit = []error{errLost} }, three, told, nil, 1},
		{"lost, and away afterwards", func(r *remote) { r.submit, r.find = []error{errLost}, []error{errAway, errAway} }, three, told, nil, 1},
		{"refused", func(r *remote) { r.submit = []error{errRefused} }, three, "refused;refused;refused;", nil, 0},
		{"away when it is looked at", func(r *remote) { r.look = []error{errAway, errAway, nil, errAway} }, three, told, nil, 1},
		{"gone", func(r *remote) { r.look = []error{errGone} }, three, "gone;gone;gone;", nil, 1},
		{"dead", func(r *remote) { r.dead = errGone }, three, "gone;gone;gone;", nil, 1},
		{"away for good", func(r *remote) {
			for range tries {
				r.look = append(r.look, errAway)
			}
		}, three, "", errAway, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far, dir := newRemote(), t.TempDir()
				c.remote(far)
				r, out, notes := newBatch(prompts(c.batch...))
				r.Ask, r.Service, r.State.Dir = modelled, far, dir
				err := Run(t.Context(), *r)
				if c.err == nil && err != nil && !errors.Is(err, ErrFailed) || c.err != nil && !errors.Is(err, c.err) {
					t.Errorf("%v", err)
				}
				if got := responses(show(t, out)); got != c.told || len(far.jobs) != c.jobs {
					t.Errorf("told %q; %d jobs; %q", got, len(far.jobs), notes.writes)
				}
				if c.err == nil {
					return
				}
				r, out, notes = newBatch(prompts(c.batch...)) // the same command later
				r.Ask, r.Service, r.State.Dir = modelled, far, dir
				if err := Run(t.Context(), *r); !errors.Is(err, ErrFailed) {
					t.Errorf("%v", err)
				}
				if got := responses(show(t, out)); got != told || len(far.jobs) != 1 {
					t.Errorf("later told %q; %d jobs; %q", got, len(far.jobs), notes.writes)
				}
			})
		})
	}
}

// However often a run is broken off, and wherever, no request is submitted
// twice and every answer is told in the end.
func TestServiceBrokenOff(t *testing.T) {
	for at := range 12 {
		synctest.Test(t, func(t *testing.T) {
			far, dir := newRemote(), t.TempDir()
			far.looks = 3
			far.submit = []error{errAway, errLost}
			for run := 0; ; run++ {
				ctx, cancel := context.WithCancel(t.Context())
				r, out, notes := newBatch(prompts("one", "two", "/about", "three"))
				r.Ask, r.Service, r.State.Dir = modelled, &stopping{far, at, cancel, new(int)}, dir
				if run > 0 {
					r.Service = far
				}
				err := Run(ctx, *r)
				cancel()
				if errors.Is(err, context.Canceled) && run == 0 {
					continue
				}
				if got := responses(show(t, out)); err != nil || got != "re: one;re: two;about;re: three;" || far.requests() != 3 {
					t.Errorf("stopped at call %d: %v, told %q, %d requests, %q", at, err, got, far.requests(), notes.writes)
				}
				return
			}
		})
	}
}

// A stopping remote is the last thing that a run sees: it is stopped within
// the call of a number.
type stopping struct {
	*remote
	at    int
	stop  func()
	calls *int
}

func (s *stopping) count() {
	if *s.calls == s.at {
		s.stop()
	}
	*s.calls++
}

func (s *stopping) Submit(ctx context.Context, title string, requests []*engine.Request) (string, error) {
	name, err := s.remote.Submit(ctx, title, requests)
	if s.count(); ctx.Err() != nil {
		return "", ctx.Err()
	}
	return name, err
}

func (s *stopping) FindJob(ctx context.Context, title string) (string, error) {
	defer s.count()
	return s.remote.FindJob(ctx, title)
}

func (s *stopping) JobStatus(ctx context.Context, name string) (model.Job, error) {
	defer s.count()
	return s.remote.JobStatus(ctx, name)
}

// An item that changed while a job had it is submitted as it is now.
func TestServiceChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, dir := newRemote(), t.TempDir()
		far.looks = 1
		ctx, cancel := context.WithCancel(t.Context())
		r, _, _ := newBatch(prompts("one", "two"))
		r.Ask, r.Service, r.State.Dir = modelled, &stopping{far, 1, cancel, new(int)}, dir
		if err := Run(ctx, *r); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		r, out, _ := newBatch(prompts("one", "2", "three"))
		r.Ask, r.Service, r.State.Dir = modelled, far, dir
		if err := Run(t.Context(), *r); err != nil || responses(show(t, out)) != "re: one;re: 2;re: three;" || far.requests() != 4 {
			t.Errorf("%v, %q, %d", err, out.writes, far.requests())
		}
	})
}

// A state that is kept for good submits again what failed, and only that, also
// when the second job is waited for in a third run.
func TestServiceKeptForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, file := newRemote(), filepath.Join(t.TempDir(), "state")
		for run, want := range []struct {
			told     string
			requests int
		}{{"re: one;too hard;", 2}, {"re: one;", 3}, {"re: one;too hard;", 3}} {
			ctx, cancel := context.WithCancel(t.Context())
			r, out, notes := newBatch(prompts("one", "hard two"))
			r.Ask, r.Service, r.State.File = modelled, far, file
			if run == 1 { // it is stopped when it looks
				far.looks = 1
				r.Service = &stopping{far, 1, cancel, new(int)}
			}
			err := Run(ctx, *r)
			cancel()
			all := show(t, out)
			if err == nil || responses(all) != want.told || far.requests() != want.requests {
				t.Errorf("run %d: %v, told %q, %d requests, %q", run, err, responses(all), far.requests(), notes.writes)
			}
			if run == 2 && all[1].Attempt != 2 {
				t.Errorf("%+v", all[1])
			}
		}
	})
}
