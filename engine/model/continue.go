package model

import (
	"bytes"
	"errors"

	"google.golang.org/genai"

	"gemline/engine"
)

// errContinues is the end of a request whose answer goes on in the next one.
var errContinues = errors.New("the answer continues")

// A continued is an answer that several requests make. A server that can take an answer up again
// sends tokens with it: the answer to a request with a token follows the chunk that the
// token came with. The chunks are held in case a part of the answer is lost.
type continued struct {
	token  []byte                           // takes the answer up behind kept; nil if nothing does
	chunks []*genai.GenerateContentResponse // nil stands between the chunks of two requests
	loose  []*genai.GenerateContentResponse // behind the token
	fresh  bool                             // the token came with the last request
	said   bool                             // so did something else
	barren int                              // requests in a row that brought a token alone
}

// maxBarren limits the requests in a row that bring a token and no text, since a model may think
// long. After them the answer counts as endless.
const maxBarren = 20

// take takes in a chunk.
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

// resumable reports whether an answer can be taken up again that has ended so far.
func resumable(r genai.FinishReason) bool {
	return r == "" || r == genai.FinishReasonUnspecified || r == genai.FinishReasonContinuation
}

// hasParts reports whether chunks say something.
func hasParts(chunks []*genai.GenerateContentResponse) bool {
	for _, c := range chunks {
		if c != nil && len(c.Candidates) > 0 && c.Candidates[0] != nil && c.Candidates[0].Content != nil &&
			len(c.Candidates[0].Content.Parts) > 0 {
			return true
		}
	}
	return false
}

// advanced reports whether the last request has brought the answer further, and is asked
// once for each.
func (c *continued) advanced() bool {
	if c.barren++; c.said {
		c.barren = 0
	}
	return c.fresh && c.barren <= maxBarren
}

// end returns how a request ended without an error: the answer goes on, something of it is
// lost, or it is over.
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

// next makes req, which is a copy, the request that goes on with the answer.
func (c *continued) next(req *engine.Request) {
	config := genai.GenerateContentConfig{}
	if req.Config != nil {
		config = *req.Config
	}
	config.ContinuationToken = c.token
	req.Config = &config
	if !hasParts(c.loose) { // else it is lost
		c.chunks = append(c.chunks, c.loose...)
	}
	c.chunks, c.loose, c.fresh, c.said = append(c.chunks, nil), c.loose[:0], false, false
}

// replay emits the kept chunks again, after a notice that nothing counts.
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
