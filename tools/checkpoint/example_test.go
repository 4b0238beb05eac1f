package checkpoint_test

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
	"gemline/tools/checkpoint"
	"gemline/tools/files"
	"gemline/tools/workspace"
)

// What a turn has done to files is taken back, and what the user did meanwhile stays.
func Example() {
	base, err := os.MkdirTemp("", "folder")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "project")
	os.Mkdir(dir, 0o755)
	os.WriteFile(filepath.Join(dir, "a.txt"), []byte("mine\n"), 0o644)
	ws, err := workspace.New(workspace.Config{Roots: []string{dir}})
	if err != nil {
		panic(err)
	}
	k := checkpoint.New(checkpoint.Config{Dir: filepath.Join(base, "kept"), Workspace: ws,
		Session: func() string { return "a-session" }})
	defer k.Close()

	ctx := context.Background()
	e := engine.New(engine.Config{Policy: policy.New(policy.AutoEdit),
		Generator: et.NewScript(
			et.Says("", et.Call("1", "write_file", "file_path", "a.txt", "content", "the model's\n"),
				et.Call("2", "write_file", "file_path", "b.txt", "content", "more\n")),
			et.Says("Done.")),
		Tools: k.Tools(tools.New(tools.Families{Files: files.Tools{Workspace: ws}}))})
	for _, err := range k.Run(e.Run)(ctx, genai.NewPartFromText("Write.")) {
		if err != nil {
			panic(err)
		}
	}
	os.WriteFile(filepath.Join(dir, "b.txt"), []byte("more, and my own\n"), 0o644)

	turns, err := k.Turns(ctx)
	fmt.Println(len(turns), "turn:", turns[0].Of.Asked, err)
	plan, err := k.Undo(ctx, turns)
	if err != nil {
		panic(err)
	}
	for _, line := range plan.Lines(ws.Rel) {
		fmt.Println(line)
	}
	done, err := k.Apply(ctx, plan)
	fmt.Println(done.Count(), "as before", err)
	for _, name := range []string{"a.txt", "b.txt"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		fmt.Printf("%s: %q\n", name, text)
	}
	// Output:
	// 1 turn: Write. <nil>
	//   restore a.txt
	// changed by others since, and left as they are unless you say so: b.txt
	// 1 file as before <nil>
	// a.txt: "mine\n"
	// b.txt: "more, and my own\n"
}
