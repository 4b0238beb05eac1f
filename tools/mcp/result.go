package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
	"gemline/tools/mcp/rpc"
)

// A callResult is a server's answer to a call. The library's type fails if one content has
// an unknown type.
type callResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
}

// A content is a content block, with the fields of all types. Servers may omit any field.
type content struct {
	Type, Text, Data, MIMEType, URI, Name, Title string
	Resource                                     resourceContents
	whole                                        json.RawMessage
}

// The resourceContents of a resource are a text if Text is not nil.
type resourceContents struct {
	Text           *string
	Blob, MIMEType string
}

// readContent reads a part of an answer.
func readContent(raw json.RawMessage) (c content, err error) {
	c.whole = raw
	err = rpc.Decode(raw, &c)
	return c, err
}

// The limits of a result's media.
const (
	mostMedia      = 16
	mostMediaBytes = 12 << 20
)

// A reading is a result being converted for the engine.
type reading struct {
	tool    string
	plain   []string // for files and shortened results
	marked  []string // for the model
	display []string // for the user
	media   []*genai.Part
	size    int // of media
	dropped []string
}

// forModel converts a result for the engine. Text from a server is marked as untrusted.
func (r callResult) forModel(tool string, args map[string]any,
	cut func(string) (string, engine.Cut)) (engine.Result, error) {
	if r.IsError {
		return engine.Result{}, r.err(tool, args, cut)
	}
	rd := reading{tool: clean(tool, longestName)}
	words := false
	for _, raw := range r.Content {
		c, err := readContent(raw)
		if err != nil {
			rd.add("[Error: Could not parse tool response]", "")
			continue
		}
		words = words || c.Type == protocol.ContentTypeText
		rd.block(c)
	}
	if s := bytes.TrimSpace(r.Structured); !words && len(s) > 0 && string(s) != "null" {
		rd.text(string(s))
	}
	if len(rd.dropped) > 0 {
		note := fmt.Sprintf("[SYSTEM: Binary content (%s) stripped from response due to protocol limitations.]",
			strings.Join(rd.dropped, ", "))
		rd.plain, rd.marked = append([]string{note}, rd.plain...), append([]string{note}, rd.marked...)
	}
	all := strings.Join(rd.plain, "\n")
	res := engine.Result{Text: strings.Join(rd.marked, "\n"), Media: rd.media, Display: strings.Join(rd.display, "\n")}
	if given, c := cut(all); c.Total > 0 {
		res.Text, res.Cut = text.Untrusted(given), c
	}
	return res, nil
}

// err returns the error that a server reports.
func (r callResult) err(tool string, args map[string]any, cut func(string) (string, engine.Cut)) error {
	call, _ := json.Marshal(map[string]any{"name": tool, "args": args})
	whole, _ := json.Marshal(r.Content)
	all, _ := cut(string(whole))
	var words []string
	for _, raw := range r.Content {
		if c, _ := readContent(raw); c.Type == protocol.ContentTypeText && c.Text != "" {
			words = append(words, c.Text)
		}
	}
	return &engine.CallError{Type: toolError,
		Message: fmt.Sprintf("MCP tool '%s' reported tool error for function call: %s with response: %s",
			clean(tool, longestName), text.Shorten(string(call), mostSaid), text.Untrusted(all)),
		Display: cmp.Or(text.OneLine(strings.Join(words, " "), longestError),
			"MCP tool '"+clean(tool, longestName)+"' reported an error.")}
}

// add adds a text that does not come from the server.
func (rd *reading) add(said, display string) {
	rd.plain, rd.marked = append(rd.plain, said), append(rd.marked, said)
	if display != "" {
		rd.display = append(rd.display, display)
	}
}

// text adds a text from the server.
func (rd *reading) text(s string) {
	rd.plain, rd.marked, rd.display = append(rd.plain, s), append(rd.marked, text.Untrusted(s)), append(rd.display, s)
}

// block adds a content. A type of a later protocol version is shown as JSON.
func (rd *reading) block(c content) {
	switch c.Type {
	case protocol.ContentTypeText:
		rd.text(c.Text)
	case protocol.ContentTypeImage:
		rd.data(c.Data, c.MIMEType, "image data", "Image")
	case protocol.ContentTypeAudio:
		rd.data(c.Data, c.MIMEType, "audio data", "Audio")
	case protocol.ContentTypeResource:
		if r := c.Resource; r.Text != nil {
			rd.text(*r.Text)
		} else {
			rd.data(r.Blob, r.MIMEType, "embedded resource", "Embedded Resource")
		}
	case protocol.ContentTypeLink:
		name := cleanLine(cmp.Or(c.Title, c.Name), mostAddress)
		uri := cleanLine(c.URI, mostAddress)
		link := "Resource Link: " + name + " at " + uri
		rd.plain, rd.marked = append(rd.plain, link), append(rd.marked, text.Untrusted(link))
		rd.display = append(rd.display, "[Link to "+name+": "+uri+"]")
	default:
		rd.text(string(c.whole))
	}
}

// data adds binary data.
func (rd *reading) data(encoded, kind, what, display string) {
	kind = mediaType(kind)
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	switch {
	case err != nil:
		rd.add("[Error: Could not parse tool response]", "")
		return
	case len(rd.media) >= mostMedia, rd.size+len(b) > mostMediaBytes:
		rd.add(fmt.Sprintf("[The %s of the mime-type %s is left out: it is too large, or one of too many]", what, kind),
			"["+display+": left out]")
		return
	}
	rd.add(fmt.Sprintf("[Tool '%s' provided the following %s with mime-type: %s]", rd.tool, what, kind),
		"["+display+": "+kind+"]")
	if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" || len(b) == 0 { // the API refuses other types
		rd.dropped = append(rd.dropped, kind)
		return
	}
	rd.size += len(b)
	rd.media = append(rd.media, genai.NewPartFromBytes(b, kind))
}

// mediaType returns s if it is a valid media type.
func mediaType(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	odd := func(r rune) bool {
		return r != '/' && r != '+' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}
	if len(s) > 100 || !strings.Contains(s, "/") || strings.ContainsFunc(s, odd) {
		return "application/octet-stream"
	}
	return s
}
