package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/genai"

	"gemline/engine"
)

// Sync flushes the records to the disk, so that they survive a power failure. It returns only the
// first failure; a file system without the operation is no failure. It may be called at the
// beginning of a call that runs alone.
func (f *File) Sync() error {
	if f.disk.out == nil || !f.flush.due {
		return nil
	}
	f.flush.due = false
	err := f.disk.out.Sync()
	for dir := filepath.Dir(f.path); err == nil && f.flush.unlisted > 0; f.flush.unlisted-- {
		info, serr := os.Stat(dir) // its entry for the file, or the directory below, must be flushed, too
		if f.flush.unlisted == 3 || serr != nil || time.Since(info.ModTime()) < flushedAfter {
			f.disk.files.syncDir(dir) // not supported on every system
		}
		dir = filepath.Dir(dir)
	}
	if err == nil || f.flush.failed || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	f.flush.failed = true
	return fmt.Errorf("this session may be lost if the power fails: %w", err)
}

// flushedAfter is the age of a directory entry from which on the system has flushed it: twice
// Linux' default delay.
const flushedAfter = time.Minute

// SyncTools wraps the tools of ts so that sync is called before each call that may change
// something. After a power failure the journal therefore has the call.
func SyncTools(ts engine.Toolset, sync func() error) engine.Toolset {
	return engine.Map(ts, func(t engine.Tool) engine.Tool {
		prepare := t.Prepare
		if t.Kind.ReadOnly() {
			return t
		}
		t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
			call, err := prepare(ctx, args)
			run := call.Run
			call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
				if err := sync(); err != nil {
					host.Emit(engine.Notice{Text: err.Error()})
				}
				return run(ctx, host)
			}
			return call, err
		}
		return t
	})
}

// SyncRun returns a Run around run that calls sync before it ends.
func SyncRun(run engine.Run, sync func() error) engine.Run {
	return engine.NewRun(func(ctx context.Context, parts []*genai.Part, yield engine.Yield) {
		for ev, err := range run(ctx, parts...) {
			if !yield(ev, err) || err != nil {
				sync() // the error of the Run takes precedence
				return
			}
		}
		if err := sync(); err != nil {
			yield(engine.Notice{Text: err.Error()}, nil)
		}
	})
}
