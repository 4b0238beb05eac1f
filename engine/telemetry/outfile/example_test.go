package outfile_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"gemline/engine/telemetry"
	"gemline/engine/telemetry/outfile"
)

func Example() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "activity.jsonl")
	f, err := outfile.OpenLines(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Export(context.Background(), &telemetry.Batch{Events: []telemetry.Event{
		{Attrs: []slog.Attr{slog.String("event.name", "gemini_cli.config"), slog.String("model", "gemini-2.5-pro")}}}})
	f.Close()
	written, _ := os.Open(name)
	defer written.Close()
	for said, err := range outfile.Read(written) {
		fmt.Println(said["event.name"], said["model"], err)
	}
	// Output: gemini_cli.config gemini-2.5-pro <nil>
}
