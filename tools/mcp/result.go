package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/text"
)

// A callResult is what a server answers to a call.
type callResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
}

// A block is a part of an answer.
type block struct {
	Type     string   `json:"type"`
	Text     string   `json:"text"`
	Data     string   `json:"data"`
	MIMEType string   `json:"mimeType"`
	Resource contents `json:"resource"`
	URI      string   `json:"uri"`
	Name     string   `json:"name"`
	Title    string   `json:"title"`
}

// contents are what is in a resource.
type contents struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     string  `json:"blob"`
}

// Bounds of what is taken of a result beside its text.
const (
	mostMedia      = 16
	mostMediaBytes = 12 << 20
)

// A reading is what is made of a result.
type reading struct {
	tool    string
	plain   []string // for a file and for a cut
	marked  []string // for the model
	display []string // for the user
	media   []*genai.Part
	size    int // of media
	dropped []string
}

// forModel returns a result as the engine has it. What a server says is data.
func (r callResult) forModel(tool string, args map[string]any, cut func(string) (string, engine.Cut)) (engine.Result, error) {
	if r.IsError {
		return engine.Result{}, r.err(tool, args, cut)
	}
	rd := reading{tool: clean(tool, longestName)}
	words := false
	for _, raw := range r.Content {
		var b block
		if json.Unmarshal(raw, &b) != nil {
			rd.add("[Error: Could not parse tool response]", "")
			continue
		}
		words = words || b.Type == "text"
		rd.block(b, raw)
	}
	if s := bytes.TrimSpace(r.Structured); !words && len(s) > 0 && string(s) != "null" {
		rd.text(string(s))
	}
	if len(rd.dropped) > 0 {
		note := fmt.Sprintf("[SYSTEM: Binary content (%s) stripped from response due to protocol limitations.]", strings.Join(rd.dropped, ", "))
		rd.plain, rd.marked = append([]string{note}, rd.plain...), append([]string{note}, rd.marked...)
	}
	all := strings.Join(rd.plain, "\n")
	res := engine.Result{Text: strings.Join(rd.marked, "\n"), Media: rd.media, Display: strings.Join(rd.display, "\n")}
	if given, c := cut(all); c.Of > 0 {
		res.Text, res.Cut = text.Untrusted(given), c
	}
	return res, nil
}

// err returns the error that a server reports.
func (r callResult) err(tool string, args map[string]any, cut func(string) (string, engine.Cut)) error {
	call, _ := json.Marshal(map[string]any{"name": tool, "args": args})
	content, _ := json.Marshal(r.Content)
	said, _ := cut(string(content))
	var words []string
	for _, raw := range r.Content {
		var b block
		if json.Unmarshal(raw, &b) == nil && b.Text != "" {
			words = append(words, b.Text)
		}
	}
	return &engine.CallError{Type: toolError,
		Message: fmt.Sprintf("MCP tool '%s' reported tool error for function call: %s with response: %s", clean(tool, longestName), text.Shorten(string(call), mostSaid), text.Untrusted(said)),
		Display: cmp.Or(text.OneLine(strings.Join(words, " "), longestError), "MCP tool '"+clean(tool, longestName)+"' reported an error.")}
}

// add adds something that the server has not said.
func (rd *reading) add(said, display string) {
	rd.plain, rd.marked = append(rd.plain, said), append(rd.marked, said)
	if display != "" {
		rd.display = append(rd.display, display)
	}
}

// text adds a text of the server's.
func (rd *reading) text(s string) {
	rd.plain, rd.marked, rd.display = append(rd.plain, s), append(rd.marked, text.Untrusted(s)), append(rd.display, s)
}

func (rd *reading) block(b block, raw json.RawMessage) {
	switch b.Type {
	case "text":
		rd.text(b.Text)
	case "image", "audio":
		kind := strings.ToUpper(b.Type[:1]) + b.Type[1:]
		rd.data(b.Data, b.MIMEType, b.Type+" data", kind)
	case "resource":
		if b.Resource.Text != nil {
			rd.text(*b.Resource.Text)
			return
		}
		rd.data(b.Resource.Blob, b.Resource.MIMEType, "embedded resource", "Embedded Resource")
	case "resource_link":
		name := clean(text.OneLine(cmp.Or(b.Title, b.Name), mostAddress), mostAddress)
		uri := clean(text.OneLine(b.URI, mostAddress), mostAddress)
		rd.plain, rd.marked = append(rd.plain, "Resource Link: "+name+" at "+uri), append(rd.marked, text.Untrusted("Resource Link: "+name+" at "+uri))
		rd.display = append(rd.display, "[Link to "+name+": "+uri+"]")
	default: // of a later version of the protocol
		rd.text(string(raw))
	}
}

// data adds what is no text.
func (rd *reading) data(encoded, kind, what, display string) {
	kind = mediaType(kind)
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	switch {
	case err != nil:
		rd.add("[Error: Could not parse tool response]", "")
		return
	case len(rd.media) >= mostMedia, rd.size+len(b) > mostMediaBytes:
		rd.add(fmt.Sprintf("[The %s of the mime-type %s is left out: it is too large, or one of too many]", what, kind), "["+display+": left out]")
		return
	}
	rd.add(fmt.Sprintf("[Tool '%s' provided the following %s with mime-type: %s]", rd.tool, what, kind), "["+display+": "+kind+"]")
	if !strings.HasPrefix(kind, "image/") && kind != "application/pdf" {
		rd.dropped = append(rd.dropped, kind)
		return
	}
	rd.size += len(b)
	rd.media = append(rd.media, genai.NewPartFromBytes(b, kind))
}

// mediaType returns a media type that is one.
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
