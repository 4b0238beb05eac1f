package tools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/policy"
	"gemline/tools"
	"gemline/tools/files"
	"gemline/tools/toolkit"
	"gemline/tools/workspace"
)

// A model reads and edits a project. In a rehearsal nothing is written, nobody has to be
// asked, and what would have been done is a patch.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.WriteFile(filepath.Join(dir, "motd"), []byte("Good morning!\n"), 0o644)

	over := &workspace.Overlay{}
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}, Overlay: over})
	if err != nil {
		panic(err)
	}
	r := tools.Rehearse(ws, over, false, nil)
	e := engine.New(engine.Config{
		Generator: et.NewScript(
			et.Says("", et.Call("1", "read_file", "file_path", "motd")),
			et.Says("", et.Call("2", "replace", "file_path", "motd", "instruction", "It is evening.",
				"old_string", "morning", "new_string", "evening")),
			et.Says("Done.")),
		Tools:  r.Tools(tools.New(tools.Families{Files: files.Tools{Workspace: ws}})),
		Policy: r.Policy(policy.New(policy.Default)),
	})
	for ev, err := range e.Run(context.Background(), genai.NewPartFromText("It is evening now.")) {
		if call, ok := ev.(engine.CallFinished); ok || err != nil {
			fmt.Println(call.Name, "changed", len(call.Result.Changes), "files", err)
		}
	}
	fmt.Print(r.Patch())
	// Output:
	// read_file changed 0 files <nil>
	// replace changed 1 files <nil>
	// diff --git a/motd b/motd
	// index 247a209206ebd9a084f248e7d8db561399e3d04b..84b57734f223279301e20d090ae8c34581131bbf 100644
	// --- a/motd
	// +++ b/motd
	// @@ -1 +1 @@
	// -Good morning!
	// +Good evening!
}

// A tool's arguments are made to fit its schema before prepare is given them.
func ExampleDefine() {
	type arguments struct{ Place string }
	weather := toolkit.Define("weather", "Weather", engine.Read, "Says what the weather is at a place.",
		`{"type":"object","required":["place"],"properties":{"place":{"type":"string"}}}`,
		func(_ context.Context, a arguments) (engine.Call, error) {
			return engine.Call{Intent: engine.Intent{Title: "weather: " + a.Place}}, nil
		})
	for _, args := range []map[string]any{{"place": "Bergen"}, {"place": 5}, {"place": []any{}}, {}} {
		call, err := weather.Prepare(context.Background(), args)
		fmt.Printf("%q %v\n", call.Intent.Title, err)
	}
	// Output:
	// "weather: Bergen" <nil>
	// "weather: 5" <nil>
	// "" params/place must be of type string, not array
	// "" params lacks "place"
}
