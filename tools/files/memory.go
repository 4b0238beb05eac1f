package files

import (
	"context"

	"gemline/engine"
)

// A Discover returns the new context for path, "" if there is none, and warnings.
type Discover func(path string) (text string, warnings []string)

const (
	discoveredBegin = "--- Newly Discovered Project Context ---\n"
	discoveredEnd   = "\n--- End Project Context ---"
)

// WithMemory returns the tools of ts, extended so that the first successful call in a
// directory adds the memory that find returns for the directory.
func WithMemory(ts engine.Toolset, find Discover) engine.Toolset {
	return engine.Map(ts, func(t engine.Tool) engine.Tool {
		switch t.Name() {
		case "read_file", "list_directory", "write_file", "replace":
			return withMemory(t, find)
		}
		return t
	})
}

func withMemory(t engine.Tool, find Discover) engine.Tool {
	prepare := t.Prepare
	t.Prepare = func(ctx context.Context, args map[string]any) (engine.Call, error) {
		call, err := prepare(ctx, args)
		if err != nil || len(call.Intent.Paths) == 0 {
			return call, err
		}
		run, path := call.Run, call.Intent.Paths[0]
		call.Run = func(ctx context.Context, host engine.Host) (engine.Result, error) {
			r, err := run(ctx, host)
			if err != nil || r.Text == "" && len(r.Media) > 0 { // a result of media only has no text
				return r, err
			}
			text, warnings := find(path)
			for _, w := range warnings {
				host.Emit(engine.Notice{Text: w})
			}
			if text == "" {
				return r, nil
			}
			r.Text += "\n\n" + discoveredBegin + text + discoveredEnd
			return r, nil
		}
		return call, nil
	}
	return t
}
