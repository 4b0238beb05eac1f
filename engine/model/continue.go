package model

import (
	"bytes"
	"errors"

	"google.golang.org/genai"

	"gemline/engine"
)

// errContinues ends a request whose answer continues in the next request.
var errContinues = errors.New("the answer continues")

// A continued is an answer from several requests. A server that can resume an answer sends
// continuation tokens: the answer to a request with a token continues after the chunk with that
// token. The chunks are stored in case a part of the answer is lost.
type continued struct {
	token  []byte                           // continues the answer after chunks; nil if there is none
	chunks []*genai.GenerateContentResponse // nil separates the chunks of two requests
	loose  []*genai.GenerateContentResponse // chunks after the token
	fresh  bool                             // the token came with the last request
	said   bool                             // the last request brought content, too
	barren int                              // requests in a row that brought only a token
}

// maxBarren limits the requests in a row that bring a token but no text, which a long thought may
// cause. Beyond it the answer counts as endless.
const maxBarren = 20

// take appends a chunk.
func (c *continued) take(chunk *genai.GenerateContentResponse) {
	c.loose = append(c.loose, chunk)
	if len(chunk.Candidates) == 0 || chunk.Candidates[0] == nil {
		return
	}
	switch said := chunk.Candidates[0]; {
	case !resumable(said.FinishReason): // the answer is over
		c.token = nil
	case len(said.ContinuationToken) > 0 && !bytes.Equal(said.ContinuationToken, c.token):
		c.said = c.said || hasParts(c.loose)
		c.chunks, c.loose = append(c.chunks, c.loose...), c.loose[:0]
		c.token, c.fresh = said.ContinuationToken, true
	}
}

// resumable reports whether an answer with this finish reason can be continued.
func resumable(r genai.FinishReason) bool {
	return r == "" || r == genai.FinishReasonUnspecified || r == genai.FinishReasonContinuation
}

// hasParts reports whether chunks have parts.
func hasParts(chunks []*genai.GenerateContentResponse) bool {
	for _, c := range chunks {
		if c != nil && len(c.Candidates) > 0 && c.Candidates[0] != nil && c.Candidates[0].Content != nil &&
			len(c.Candidates[0].Content.Parts) > 0 {
			return true
		}
	}
	return false
}

// advanced reports whether the last request made progress. It must be called once per request.
func (c *continued) advanced() bool {
	if c.barren++; c.said {
		c.barren = 0
	}
	return c.fresh && c.barren <= maxBarren
}

// end returns the outcome of a request without an error: the answer continues, a part of it is
// lost, or it is complete.
func (c *continued) end(finish genai.FinishReason) error {
	switch {
	case finish != genai.FinishReasonContinuation || !c.advanced():
		return nil
	case hasParts(c.loose):
		return &Error{Kind: Invalid, Code: string(finish), Answering: true,
			Message: "the answer stopped behind the place where it can go on"}
	}
	return errContinues
}

// next changes req, a copy, to the request that continues the answer.
func (c *continued) next(req *engine.Request) {
	config := genai.GenerateContentConfig{}
	if req.Config != nil {
		config = *req.Config
	}
	config.ContinuationToken = c.token
	req.Config = &config
	if !hasParts(c.loose) { // otherwise the text is lost
		c.chunks = append(c.chunks, c.loose...)
	}
	c.chunks, c.loose, c.fresh, c.said = append(c.chunks, nil), c.loose[:0], false, false
}

// replay emits the stored chunks again, after a notice that the earlier chunks don't count.
func (c *continued) replay(hear func(*genai.GenerateContentResponse) error, border func()) error {
	for _, chunk := range c.chunks {
		if chunk == nil {
			border()
			continue
		}
		if err := hear(chunk); err != nil {
			return err
		}
	}
	return nil
}
