package talk_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/report"
	"gemline/repl/talk"
)

// Every message that a program says has one turn_result, and a mistake ends nothing.
func ExampleServer() {
	said := `{"type": "user"
{"type": "user", "content": "What is 2 + 2?", "id": "first"}
{"type": "user", "content": "And 3 + 3?", "id": "second"}
`
	var out bytes.Buffer
	count := &tally.Tally{}
	stream := report.NewStream(report.Config{Out: &out, Err: io.Discard, Tally: count, Now: time.Now})
	e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Says("It is 4."), et.Says("It is 6."))})
	c := talk.Server{Config: talk.Config{
		In: strings.NewReader(said), Stream: stream, Tally: count, Now: time.Now,
		Session: func() string { return "a-session" }, Expand: input.Chain(), Run: e.Run,
		Outcome: func(err error) report.Outcome { return report.Outcome{Err: err} },
	}}
	err := c.Serve(context.Background(), report.Init{Session: "a-session", Model: "m", Protocol: talk.Version})
	stream.Finish(report.Outcome{Err: err})
	for line := range bytes.Lines(out.Bytes()) {
		var r struct{ Type, ID, Status, Content, Message string }
		if json.Unmarshal(line, &r) == nil {
			fmt.Printf("%s %q %s\n", r.Type, r.ID, cmp.Or(r.Status, r.Content, r.Message, "."))
		}
	}
	// Output:
	// init "" .
	// error "" line 1: it is not JSON
	// message "first" What is 2 + 2?
	// message "" It is 4.
	// turn_result "first" success
	// message "second" And 3 + 3?
	// message "" It is 6.
	// turn_result "second" success
	// result "" error
}
