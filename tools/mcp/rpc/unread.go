package rpc

import (
	"encoding/json"
	"errors"
	"strconv"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"gemline/engine/text"
)

// idWithin matches the id in an unreadable message.
var idWithin = text.Pattern(`"id"\s*:\s*"?(\d{1,18})\b`)

// methodWithin matches an unreadable message that is a request or a notification.
var methodWithin = text.Pattern(`"method"\s*:`)

// reportInvalid answers a malformed message with an error, if the protocol requires an
// answer.
func (c *Conn) reportInvalid(id json.RawMessage, code int, problem string) {
	if c.client() {
		return
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	c.refuse(id, Errorf(code, "%s", problem))
}

// refuse rejects a request at once. If the other side does not read and sends more requests,
// they are delayed; in MCP, where that could deadlock, they get no answer.
func (c *Conn) refuse(id json.RawMessage, why *Error) {
	select {
	case c.busy <- struct{}{}:
	default:
		if !c.handler.LSPDialect {
			return
		}
		select {
		case c.busy <- struct{}{}:
		case <-c.ctx.Done():
			return
		}
	}
	go func() { c.answer(id, nil, why); <-c.busy }()
}

// client reports whether the other side is a server: it may write a log where its messages
// are expected, and gets no error for a line that is no message.
func (c *Conn) client() bool { return !c.handler.LSPDialect && !c.handler.ServerSide }

// answerWithin matches an unreadable text that may be an answer. Lines of logs begin with
// brackets, too: [info], { level: 30 }.
var answerWithin = text.Pattern(`"(jsonrpc|result)"\s*:`)

// unparsed passes a text that is no message to the handler.
func (c *Conn) unparsed(text []byte) {
	if c.handler.OnUnparsed != nil {
		c.handler.OnUnparsed(text)
	}
}

// fail fails the calls that an unreadable text may have answered: the call whose id the text
// names, or all calls. The beginning of the text is enough. Text that is no message is only
// reported.
func (c *Conn) fail(text []byte, err error) {
	head := text[:min(len(text), 64<<10)]
	begun := startsWith(text, '{') || startsWith(text, '[')
	if !begun || c.client() && !answerWithin().Match(head) {
		c.unparsed(text)
		c.reportInvalid(nil, protocol.PARSE_ERROR, "this is no JSON")
		return
	}
	if !c.client() && methodWithin().Match(head) { // the text is no answer
		code, id := protocol.PARSE_ERROR, json.RawMessage(nil)
		if errors.Is(err, ErrTooLong) {
			code = protocol.INVALID_REQUEST
			if found := idWithin().FindSubmatch(head); found != nil {
				id = found[1]
			}
		} else if m := (Message{}); json.Valid(text) {
			err, code = Unmarshal(text, &m), protocol.INVALID_REQUEST
			id = m.ID
		} else {
			err = errors.New("this is no JSON")
		}
		c.reportInvalid(id, code, err.Error())
		return
	}
	if found := idWithin().FindSubmatch(head); found != nil {
		id, _ := strconv.ParseInt(string(found[1]), 10, 64)
		if answer := c.take(id); answer != nil {
			answer <- outcome{err: err}
			return
		}
	}
	if c.handler.ServerSide { // the text may be a request
		defer c.reportInvalid(nil, protocol.PARSE_ERROR, "this is no JSON")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, answer := range c.pending {
		answer <- outcome{err: err}
		delete(c.pending, id)
	}
}
