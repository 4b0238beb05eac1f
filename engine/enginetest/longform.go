package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"google.golang.org/genai"

	"gemline/engine"
)

// A Longform is a model whose answers take several requests, like those of models that think and
// write for long. Respond answers for a [Server]; a Longform is an [engine.Generator], too.
type Longform struct {
	// Turns are its answers, one to each question.
	Turns [][]Piece

	// Broken is the error of an answer that breaks off, for use without a Server.
	Broken error

	mu    sync.Mutex
	said  string // the question that is being answered
	turn  int    // of it, counted from 1
	had   map[[2]int]bool
	wrong []string
}

// A Piece is a chunk of an answer.
type Piece struct {
	*genai.Part

	// Token says that a continuation token comes with the piece.
	Token bool

	// Then is the fate of the request after the piece, once.
	Then Fate
}

// A Fate is a way in which a request ends before the answer is complete.
type Fate int

// The fates.
const (
	Goes      Fate = iota // on
	Continues             // in another request, as the finish reason says
	Breaks                // with a broken connection
	Stops                 // without a finish reason
)

// Wrong returns the faulty requests.
func (l *Longform) Wrong() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

// Respond returns the answer to a request.
func (l *Longform) Respond(r Received) Reply {
	var body struct {
		Contents          json.RawMessage
		ContinuationToken []byte
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return BadRequest(err.Error())
	}
	reply := l.reply(string(body.Contents), body.ContinuationToken)
	if reply.Err != nil {
		reply.Err = nil
		return Reset(reply)
	}
	return reply
}

// Generate implements [engine.Generator].
func (l *Longform) Generate(ctx context.Context, req *engine.Request) iter.Seq2[*genai.GenerateContentResponse, error] {
	said, err := json.Marshal(req.Contents)
	if err != nil {
		panic(fmt.Sprintf("enginetest: contents that are no JSON: %v", err))
	}
	var token []byte
	if req.Config != nil {
		token = req.Config.ContinuationToken
	}
	return NewScript(l.reply(string(said), token)).Generate(ctx, req)
}

// Count implements [engine.Generator].
func (l *Longform) Count(ctx context.Context, req *engine.Request) (int, error) { return 7, ctx.Err() }

func (l *Longform) reply(question string, token []byte) Reply {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := 0
	switch {
	case token != nil && (len(token) != 4 || int(token[2]) != l.turn || question != l.said):
		l.wrong = append(l.wrong, fmt.Sprintf("token %v does not belong to the question %s", token, question))
	case token != nil:
		from = int(token[3])
	case question != l.said:
		l.said, l.turn = question, l.turn+1
	}
	if l.turn > len(l.Turns) {
		return Says("done")
	}
	return l.from(from)
}

// from returns the answer from a piece on.
func (l *Longform) from(first int) (r Reply) {
	pieces := l.Turns[l.turn-1]
	for i, p := range pieces[first:] {
		i += first
		end := genai.FinishReasonUnspecified
		if i == len(pieces)-1 {
			end = genai.FinishReasonStop
		}
		fate := p.Then
		if l.had[[2]int{l.turn, i}] {
			fate = Goes
		}
		if fate == Continues {
			end = genai.FinishReasonContinuation
		}
		chunk := Chunk(end, p.Part)
		if p.Token || fate == Continues {
			chunk.Candidates[0].ContinuationToken = []byte{0xfb, 0xff, byte(l.turn), byte(i + 1)}
		}
		chunk.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(100 * l.turn), CandidatesTokenCount: int32(i + 1 - first)}
		r.Chunks = append(r.Chunks, chunk)
		if fate == Goes {
			continue
		}
		if l.had == nil {
			l.had = map[[2]int]bool{}
		}
		l.had[[2]int{l.turn, i}] = true
		if fate == Breaks {
			if r.Err = l.Broken; r.Err == nil {
				r.Err = errors.New("the connection broke")
			}
		}
		return r
	}
	return r
}
