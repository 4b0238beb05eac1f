package model_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genai"

	"gemline/engine"
	et "gemline/engine/enginetest"
	"gemline/engine/model"
)

// longform returns a model that gives one answer of pieces, which are spelled as text and
// what happens behind it: "*" a token, ">" the answer continues in another request, "!" the
// connection breaks, "|" the stream just ends. A piece in brackets is a call.
func longform(pieces ...string) *et.Longform {
	var turn []et.Piece
	for _, p := range pieces {
		said := strings.TrimRight(p, "*>!|")
		piece := et.Piece{Part: &genai.Part{Text: said}, Token: strings.Contains(p, "*")}
		if name, ok := strings.CutPrefix(said, "["); ok {
			piece.Part = &genai.Part{FunctionCall: et.Call(name, strings.TrimSuffix(name, "]"))}
		}
		switch p[len(said):] {
		case ">", "*>":
			piece.Then = et.Continues
		case "!", "*!":
			piece.Then = et.Breaks
		case "|", "*|":
			piece.Then = et.Stops
		}
		turn = append(turn, piece)
	}
	return &et.Longform{Turns: [][]et.Piece{turn},
		Broken: &model.Error{Kind: model.Unavailable, Message: "broke off", Answering: true}}
}

// listen asks g by way of a Retry and returns what counts of the answer in the end, what
// was told, and the tokens.
func listen(t *testing.T, g engine.Generator) (said, told string, err error) {
	t.Helper()
	var b, notes strings.Builder
	req := ask("q")
	req.Notify = func(ev engine.Event) {
		switch ev := ev.(type) {
		case engine.Retry:
			if notes.WriteString("retry"); ev.Restart {
				notes.WriteString(" restart")
				b.Reset()
			}
			if ev.Resumed {
				notes.WriteString(" resumed")
			}
			fmt.Fprintf(&notes, " %d/%d;", ev.Attempt, ev.MaxAttempts)
		case engine.AnswerContinued:
			notes.WriteString("continued;")
		}
	}
	for chunk, cerr := range model.Retry(g, model.RetryOptions{}).Generate(t.Context(), req) {
		if err = cerr; err != nil {
			break
		}
		for _, p := range chunk.Candidates[0].Content.Parts {
			if b.WriteString(p.Text); p.FunctionCall != nil {
				b.WriteString("[" + p.FunctionCall.Name + "]")
			}
		}
	}
	return b.String(), notes.String(), err
}

// problem returns what err says, "" if nothing is wrong.
func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestContinued(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces []string
		told   string
	}{
		{"in one request", []string{"a", "b"}, ""},
		{"tokens that nobody needs", []string{"a*", "b*", "c"}, ""},
		{"in the middle of a text", []string{"a ", "b>", " c", "d"}, "continued;"},
		{"twice", []string{"a>", "b>", "c"}, "continued;continued;"},
		{"between two calls", []string{"a", "[one]>", "[two]", "[three]"}, "continued;"},
		{"cut behind a token", []string{"a*", "b*!", "c"}, "retry resumed 1/4;continued;"},
		{"cut between two calls", []string{"[one]*!", "[two]"}, "retry resumed 1/4;continued;"},
		{"ended behind a token", []string{"a*|", "b"}, "retry resumed 1/4;continued;"},
		{"cut behind more than the token", []string{"a*", "b", "c!", "d"}, "retry restart resumed 1/4;continued;"},
		{"ended behind more than the token", []string{"a*", "b", "c|", "d"}, "retry restart resumed 1/4;continued;"},
		{"cut without a token", []string{"a", "b!", "c"}, "retry restart 1/4;"},
		{"cut in the rest", []string{"a>", "b!", "c"}, "continued;retry restart resumed 1/4;continued;continued;"},
		{"cut again and again", []string{"a*!", "b*!", "c*!", "d*!", "e*!", "f*!", "g"},
			strings.Repeat("retry resumed 1/4;continued;", 6)},
		{"cut and continued", []string{"a*!", "b>", "c!", "d"},
			"retry resumed 1/4;continued;continued;retry restart resumed 1/4;continued;continued;continued;"},
		{"cut before the first piece of the rest", []string{"a>", "b*!", "c", "d"}, "continued;retry resumed 1/4;continued;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := longform(c.pieces...)
				said, told, err := listen(t, l)
				want := strings.NewReplacer("*", "", ">", "", "!", "", "|", "").Replace(strings.Join(c.pieces, ""))
				if said != want || err != nil || len(l.Wrong()) > 0 {
					t.Errorf("said %q, %v, want %q; wrong %q", said, err, want, l.Wrong())
				}
				if told != c.told {
					t.Errorf("told %q, want %q", told, c.told)
				}
			})
		})
	}
}

// TestContinuedAnyhow has answers continued and cut at random, and nothing may be missing
// or doubled.
func TestContinuedAnyhow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			var pieces []string
			for i := range 1 + r.IntN(12) {
				ends := []string{"", "", "", "*", "*", ">", "*!", "*|", "!", "|"}
				pieces = append(pieces, fmt.Sprintf("%d,%s", i, ends[r.IntN(len(ends))]))
			}
			pieces[len(pieces)-1] = "end"
			if n := strings.Count(strings.Join(pieces, ""), "!") + strings.Count(strings.Join(pieces, ""), "|"); n > 3 {
				continue // more than are borne without a token between them
			}
			l := longform(pieces...)
			said, told, err := listen(t, l)
			want := strings.NewReplacer("*", "", ">", "", "!", "", "|", "").Replace(strings.Join(pieces, ""))
			if said != want || err != nil || len(l.Wrong()) > 0 {
				t.Fatalf("%q: said %q, %v, told %q, wrong %q", pieces, said, err, told, l.Wrong())
			}
		}
	})
}

// TestNoContinuation has servers that do not keep to the rules: no circle without an end,
// and no answer that nobody can tell from a whole one.
func TestNoContinuation(t *testing.T) {
	token := func(r et.Reply, token string) et.Reply {
		r.Chunks[len(r.Chunks)-1].Candidates[0].ContinuationToken = []byte(token)
		return r
	}
	refused := et.Fails(&model.Error{Kind: model.BadRequest, Message: "the token is too old", HTTP: 400, Final: true})
	for _, c := range []struct {
		name    string
		replies []et.Reply
		said    string
		told    string
		err     string
		asked   int
	}{
		{"no token", []et.Reply{et.Ends("a", genai.FinishReasonContinuation)}, "a", "", "", 1},
		{"a call and no token", []et.Reply{et.Ends("", genai.FinishReasonContinuation), et.Says("b")}, "b",
			"retry restart 1/4;", "", 2},
		{"the same token", []et.Reply{token(et.Ends("a", genai.FinishReasonContinuation), "t"),
			token(et.Ends("b", genai.FinishReasonContinuation), "t")}, "ab", "continued;", "", 2},
		{"a token at the end", []et.Reply{token(et.Says("a"), "t")}, "a", "", "", 1},
		{"a token of an answer without a word", []et.Reply{token(et.Ends("", genai.FinishReasonSafety), "t"), et.Says("b")}, "b",
			"retry restart 1/4;", "", 2},
		{"a token that is refused", []et.Reply{token(et.Ends("a", genai.FinishReasonContinuation), "t"), refused, et.Says("b")},
			"b", "continued;retry restart 1/10;", "", 3},
		{"a token that is refused, and the question", []et.Reply{token(et.Ends("a", genai.FinishReasonContinuation), "t"),
			refused, refused}, "", "continued;retry restart 1/10;", "the token is too old (after 2 attempts)", 3},
		{"busy between", []et.Reply{token(et.Ends("a", genai.FinishReasonContinuation), "t"), busy(), busy(), et.Says("b")},
			"ab", "continued;retry resumed 1/10;continued;retry resumed 2/10;continued;", "", 4},
		{"refused between", []et.Reply{token(et.Ends("a", genai.FinishReasonContinuation), "t"), et.Blocked()},
			"a", "continued;", "the model's server refuses to answer: PROHIBITED_CONTENT", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := et.NewScript(c.replies...)
				said, told, err := listen(t, script)
				if said != c.said || told != c.told || problem(err) != c.err {
					t.Errorf("said %q, told %q, %v", said, told, err)
				}
				if n := len(script.Requests()); n != c.asked {
					t.Errorf("%d requests, want %d", n, c.asked)
				}
			})
		})
	}
	t.Run("nothing but tokens", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var replies []et.Reply
			for i := range 100 {
				replies = append(replies, token(et.Ends("", genai.FinishReasonContinuation), fmt.Sprint(i)))
			}
			script := et.NewScript(replies...)
			if _, _, err := listen(t, script); err == nil || len(script.Requests()) == 100 {
				t.Errorf("%d requests, %v", len(script.Requests()), err)
			}
		})
	})
}

// TestContinuedWire has what belongs to a continuation go over the wire: the token beside
// the question, which stays as it was.
func TestContinuedWire(t *testing.T) {
	l := longform("a ", "b>", " c>", "d")
	server := et.NewServer()
	server.Respond = l.Respond
	t.Cleanup(server.Close)
	g, err := model.NewGenai(model.Options{APIKey: "key", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	said, told, err := listen(t, g)
	if said != "a b cd" || err != nil || len(l.Wrong()) > 0 || told != "continued;continued;" {
		t.Errorf("said %q, told %q, %v; wrong %q", said, told, err, l.Wrong())
	}
	var tokens []any
	for _, r := range server.Requests() {
		tokens = append(tokens, r.JSON()["continuationToken"])
	}
	if want := []any{nil, "+/8BAg==", "+/8BAw=="}; !slices.Equal(tokens, want) {
		t.Errorf("tokens %q, want %q", tokens, want)
	}
}
