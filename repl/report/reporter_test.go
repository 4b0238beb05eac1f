package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gemline/engine"
)

var errPipe = errors.New("broken pipe")

type broken struct{ n int }

func (b *broken) Write([]byte) (int, error) { b.n++; return 0, errPipe }

// Once writing has failed, the run is told and nothing more is written.
func TestBroken(t *testing.T) {
	for _, format := range []string{"text", "stream-json"} {
		var told []error
		w := &broken{}
		b := newBench(format, func(r *Config) { r.Out = w; r.Broken = func(err error) { told = append(told, err) } })
		b.Begin(Init{Prompt: "hi"})
		b.see(run...)
		if err := b.Finish(Outcome{}); !errors.Is(err, errPipe) {
			t.Errorf("%s: finish: %v", format, err)
		}
		if w.n != 1 || len(told) != 1 {
			t.Errorf("%s: %d writes, told %v", format, w.n, told)
		}
	}
}

// A run that nobody reads can be finished by someone else: the user is told,
// and the record that goes elsewhere is written.
func TestHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, stuck := io.Pipe()
		var told, data bytes.Buffer
		r := New("text", Config{Out: stuck, Err: &told, JSON: &data, Now: time.Now})
		r.Begin(Init{Session: "s", Model: "m"})
		go func() {
			r.Event(engine.Text{Delta: "an answer"})
			r.Finish(Outcome{})
		}()
		synctest.Wait()
		err := r.Finish(Outcome{Err: errors.New("late"), ExitCode: 63, Reason: "timeout", Hurry: true})
		if err == nil || told.String() != "error: late\n" {
			t.Errorf("got %v; told %q", err, told.String())
		}
		if !strings.Contains(data.String(), `"exit_code": 63`) {
			t.Errorf("the record is %q", data.String())
		}
		stuck.CloseWithError(errors.New("gone"))
	})
}

// A run whose sandbox is still being tried can be finished, with its record.
func TestFinishedBeforeItBegan(t *testing.T) {
	for _, format := range []string{"json", "stream-json"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			tried := make(chan struct{})
			r := New(format, Config{Out: &out, Err: io.Discard, Now: time.Now, RunInfo: RunInfo{Sandbox: func() *Sandbox { <-tried; return nil }}})
			go r.Begin(Init{Session: "s", Model: "m"})
			synctest.Wait()
			if err := r.Finish(Outcome{Err: errors.New("late"), ExitCode: 63, Reason: "timeout", Hurry: true}); err != nil {
				t.Error(err)
			}
			close(tried)
			synctest.Wait()
			if n := strings.Count(out.String(), `"exit_code"`); n != 1 || strings.Contains(out.String(), `"init"`) {
				t.Errorf("%s: %s", format, out.String())
			}
		})
	}
}
