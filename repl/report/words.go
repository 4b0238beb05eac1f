package report

import (
	"fmt"

	"gemline/engine"
	"gemline/engine/tally"
	"gemline/repl/output"
)

// CallTitle describes a requested call, which may never begin: the tool, and a path or similar
// argument.
func CallTitle(ev engine.CallRequested) string {
	for _, name := range []string{"file_path", "dir_path", "path", "pattern", "command", "url"} {
		if s, ok := ev.Args[name].(string); ok && s != "" {
			verb := ev.Name
			if verb == "read_file" {
				verb = "read"
			}
			return verb + " " + s
		}
	}
	return ev.Name
}

// RetryText describes a retry in one line.
func RetryText(ev engine.Retry) string {
	if ev.Model != "" {
		again := ev.Model + " answers instead" + ev.Price
		if ev.Restart {
			again += "; the answer begins again"
		}
		return output.FirstLine(errorText(ev.Err)) + "; " + again
	}
	again := "asking again"
	if ev.Resumed {
		again = "asking for the rest"
	}
	if ev.Delay > 0 {
		again += " in " + tally.Duration(ev.Delay)
	}
	if ev.MaxAttempts > 0 {
		again += fmt.Sprintf(", attempt %d of %d", ev.Attempt+1, ev.MaxAttempts)
	}
	if ev.Restart {
		again += "; the answer begins again"
	}
	return output.FirstLine(errorText(ev.Err)) + "; " + again
}

func errorText(err error) string {
	if err == nil {
		return "the request failed"
	}
	return err.Error()
}
