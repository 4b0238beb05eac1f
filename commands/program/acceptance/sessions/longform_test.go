package sessions

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	pt "gemline/commands/program/acceptance/programtest"
	et "gemline/engine/enginetest"
)

// steps returns the answers of a model that works for long: turns, each of which says a
// sentence in three pieces and makes one call or two, is continued in the middle of a text
// or between two calls, and breaks off behind a token or behind more than that.
func steps(calls int) (turns [][]et.Piece) {
	for n := 0; n < calls; {
		i := len(turns)
		said := func(s string) et.Piece { return et.Piece{Part: &genai.Part{Text: s}} }
		read := func() et.Piece {
			p := &genai.Part{FunctionCall: et.Call("", "read_file", "file_path", fmt.Sprintf("%d.txt", n)),
				ThoughtSignature: fmt.Appendf(nil, "signature %d", n)}
			n++
			return et.Piece{Part: p}
		}
		turn := []et.Piece{{Part: et.Thought("hm")}, said(fmt.Sprintf("Turn %d ", i)), said("reads "), said("on."), read()}
		switch i % 5 {
		case 1: // in the middle of a text
			turn[2].Then = et.Continues
		case 2: // between two calls
			turn[4].Then = et.Continues
			turn = append(turn, read())
		case 3: // twice
			turn[0].Then, turn[3].Then = et.Continues, et.Continues
		}
		switch i {
		case 4: // a stream is cut behind a token
			turn[2].Token, turn[2].Then = true, et.Breaks
		case 9: // and behind more than that
			turn[1].Token, turn[3].Then = true, et.Breaks
		case 14: // between two calls
			turn[4].Token, turn[4].Then = true, et.Breaks
			turn = append(turn, read())
		}
		turns = append(turns, turn)
	}
	return append(turns, []et.Piece{{Part: &genai.Part{Text: "All is "}, Then: et.Continues}, {Part: &genai.Part{Text: "read."}}})
}

// TestLongform holds a conversation of 40 calls with a model that gives its answers in
// several requests, goes on with it under another key, and looks for what is missing or
// there twice.
func TestLongform(t *testing.T) {
	l := &et.Longform{Turns: steps(40)}
	s := et.NewServer()
	s.Respond = l.Respond
	t.Cleanup(s.Close)
	dir := t.TempDir()
	files := map[string]string{"home/.gemini/settings.json": `{"model": {"thinking": "high", "disableLoopDetection": true}}`}
	for n := range 42 {
		files[fmt.Sprintf("%d.txt", n)] = fmt.Sprintf("file %d\n", n)
	}
	pt.Write(t, dir, files)
	var out, errs bytes.Buffer
	run := pt.Headless(t, s, dir, &out, &errs, "-m", "gemini-4-argon", "--json", "-p", "read them all")
	run.Env = append(run.Env, "GEMINI_CLI_TRUST_WORKSPACE=true", "HOME="+filepath.Join(dir, "home"))
	if err := run.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var record struct {
		Response string
		Stats    struct {
			Tools struct {
				Calls   int `json:"totalCalls"`
				Success int `json:"totalSuccess"`
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	if record.Stats.Tools.Calls < 40 || record.Stats.Tools.Success != record.Stats.Tools.Calls || !strings.HasSuffix(record.Response, "All is read.") {
		t.Errorf("%+v", record)
	}
	if wrong := l.Wrong(); wrong != nil {
		t.Errorf("asked what nobody asks: %q", wrong)
	}
	requests := pt.Streamed(s)
	checkSteps(t, l.Turns, requests[len(requests)-1].Contents())
	config, _ := requests[0].JSON()["generationConfig"].(map[string]any)
	if thinks, _ := config["thinkingConfig"].(map[string]any); fmt.Sprint(thinks["thinkingLevel"]) != "HIGH" || thinks["thinkingBudget"] != nil ||
		config["temperature"] != nil || config["continuationToken"] != nil {
		t.Errorf("asked with %v", config)
	}
	if n := strings.Count(errs.String(), "asking for the rest"); n != 3 {
		t.Errorf("told %d times that the rest is asked for: %s", n, errs.String())
	}

	healed := et.NewServer(et.BadSignature(), et.Says("Healed."), et.Says("Still."))
	t.Cleanup(healed.Close)
	out.Reset()
	again := pt.Headless(t, healed, dir, &out, &errs, "-m", "gemini-4-argon", "--resume", "latest", "-p", "go on")
	again.Env = append(again.Env, "GEMINI_API_KEY=another-key", "GEMINI_CLI_TRUST_WORKSPACE=true")
	if err := again.Run(); err != nil || out.String() != "Healed.\n" {
		t.Fatalf("%q, %v: %s", out.String(), err, errs.String())
	}
	if !strings.Contains(errs.String(), "refused the conversation's thought signatures") {
		t.Errorf("told %s", errs.String())
	}
	asked := pt.Streamed(healed)
	if before, after := signed(asked[0].Contents()), signed(asked[1].Contents()); before < 20 || after != 0 {
		t.Errorf("%d signatures were sent, then %d", before, after)
	}
	checkSteps(t, l.Turns, asked[1].Contents())
}

// checkSteps compares what a conversation holds with what the model has said, piece by
// piece.
func checkSteps(t *testing.T, turns [][]et.Piece, contents []*genai.Content) {
	t.Helper()
	et.CheckHistory(t, contents)
	var want, got strings.Builder
	for _, turn := range turns {
		for _, p := range turn {
			write(&want, p.Part)
		}
	}
	answered := 0
	for _, c := range contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				answered++
			}
			if c.Role == genai.RoleModel {
				write(&got, p)
			}
		}
	}
	if said := got.String(); !strings.HasPrefix(want.String(), said) || len(want.String())-len(said) > len("All is read.") {
		t.Errorf("the conversation holds\n%s\nwant\n%s", said, want.String())
	}
	if calls := strings.Count(want.String(), "["); answered != calls {
		t.Errorf("%d answers to %d calls", answered, calls)
	}
}

// write writes what a part says, or calls.
func write(b *strings.Builder, p *genai.Part) {
	switch {
	case p.FunctionCall != nil:
		fmt.Fprintf(b, "[%v]", p.FunctionCall.Args["file_path"])
	case !p.Thought:
		b.WriteString(p.Text)
	}
}

// signed returns how many parts are signed by the model.
func signed(contents []*genai.Content) (n int) {
	for _, c := range contents {
		for _, p := range c.Parts {
			if s := base64.StdEncoding.EncodeToString(p.ThoughtSignature); s != "" && s != "skip/thought/signature/validator" {
				n++
			}
		}
	}
	return n
}
