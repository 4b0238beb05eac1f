package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/tally"
	"gemline/repl/input"
	"gemline/repl/report"
)

// One prompt is carried out for a Reporter. As text, the answer is all that is printed; as
// json, it is a field of one document.
func Example() {
	ask := func(format string, out io.Writer) {
		count := &tally.Tally{}
		r := report.New(format, report.Config{Out: out, Err: io.Discard, Tally: count, Now: time.Now})
		e := engine.New(engine.Config{Model: "m", Generator: et.NewScript(et.Says("It is 4."))})
		once := report.OneShot{Ask: e.Run, Model: "m", Expand: input.Chain(), Reporter: r,
			Tally: count, Session: "a-session", Now: time.Now}
		err := once.Run(context.Background(), report.Prompt{Text: "What is 2 + 2?"})
		if err := r.Finish(report.Outcome{Err: err}); err != nil {
			fmt.Println("not written:", err)
		}
	}
	ask("text", os.Stdout)

	var out bytes.Buffer
	ask("json", &out)
	var doc struct {
		Response, Status string
		Code             int `json:"exit_code"`
	}
	err := json.Unmarshal(out.Bytes(), &doc)
	fmt.Printf("%+v %v\n", doc, err)
	// Output:
	// It is 4.
	// {Response:It is 4. Status:success Code:0} <nil>
}
