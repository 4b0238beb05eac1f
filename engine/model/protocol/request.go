package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"google.golang.org/genai"

	"gemline/engine"
	"gemline/engine/lists"
	"gemline/engine/model"
	"gemline/engine/redact/wrap"
	"gemline/engine/text"
)

// Config returns the settings of a request, empty if it has none.
func Config(req *engine.Request) *genai.GenerateContentConfig {
	if req.Config == nil {
		return &genai.GenerateContentConfig{}
	}
	return req.Config
}

// System returns the system instruction, cleaned by clean.
func System(c *genai.GenerateContentConfig, clean func(string) string) string {
	if c.SystemInstruction == nil {
		return ""
	}
	return clean(engine.TextOf(c.SystemInstruction.Parts))
}

// Contents returns the messages of a request that have parts, cleaned by clean. A signed thought
// that clean changes is dropped, since its signature is void.
func Contents(req *engine.Request, clean func(string) string) (all []*genai.Content) {
	for _, c := range req.Contents {
		if c == nil || len(c.Parts) == 0 {
			continue
		}
		cleaned := wrap.Content(c, clean)
		for i, p := range c.Parts {
			if p != nil && engine.IsSignedThought(p) && cleaned.Parts[i].Text != p.Text {
				cleaned.Parts[i] = nil // cleaned is a copy, since clean changed it
			}
		}
		all = append(all, cleaned)
	}
	return all
}

// A Tool is a tool that the model may call, in the form of OpenAI and Ollama.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters"` // of an object
}

// A Function is a [Tool] in the JSON of OpenAI's and Ollama's servers.
type Function struct {
	Type     string `json:"type"`
	Function Tool   `json:"function"`
}

// Functions returns tools in the JSON of OpenAI's and Ollama's servers.
func Functions(tools []Tool) (all []Function) {
	for _, t := range tools {
		all = append(all, Function{"function", t})
	}
	return all
}

// Tools returns the tools that are declared in c, with schemas cut by cut. A tool of Google's
// server is an error, since no other server has it.
func Tools(c *genai.GenerateContentConfig, cut Cut) (all []Tool, err error) {
	for _, t := range c.Tools {
		if t == nil {
			continue
		}
		if t.GoogleSearch != nil || t.URLContext != nil || t.CodeExecution != nil {
			return nil, &model.Error{Kind: model.BadRequest, Final: true,
				Message: "this provider has no search and reads no pages by itself",
				Advice:  "a model of Google's does: see model.roles"}
		}
		for _, d := range t.FunctionDeclarations {
			var schema any = d.ParametersJsonSchema
			if d.Parameters != nil {
				schema = d.Parameters
			}
			raw, err := cut.Schema(schema)
			if err != nil {
				return nil, fmt.Errorf("the schema of %s: %w", d.Name, err)
			}
			all = append(all, Tool{Name(d.Name), d.Description, raw})
		}
	}
	return all, nil
}

// ToolChoice returns the tool choice: "auto", "any" of names (nil is all), or "none".
func ToolChoice(c *genai.GenerateContentConfig) (how string, names []string) {
	if c.ToolConfig == nil || c.ToolConfig.FunctionCallingConfig == nil {
		return "auto", nil
	}
	f := c.ToolConfig.FunctionCallingConfig
	switch f.Mode {
	case genai.FunctionCallingConfigModeAny:
		return "any", lists.Map(f.AllowedFunctionNames, Name)
	case genai.FunctionCallingConfigModeNone:
		return "none", nil
	}
	return "auto", nil
}

// A Cut says which keywords to remove from, and add to, JSON Schemas for a server that refuses
// the originals.
type Cut struct {
	Keywords []string // removed at any depth
	Top      []string // removed at the top
	Complete bool     // add the keywords of wanted
}

// always are the keywords that are removed in any case: they are for schema files.
var always = []string{"$schema", "$id", "$comment"}

// wanted are types, each with a keyword that some servers require. An empty value of the keyword
// allows everything.
var wanted = [][2]string{{"object", "properties"}, {"array", "items"}}

// Schema returns a JSON Schema of an object, changed by c. Properties keep their order, which the
// model should follow.
func (c Cut) Schema(v any) (json.RawMessage, error) {
	const empty = `{"type":"object","properties":{}}`
	b, err := text.JSON(v, "")
	if err != nil || len(bytes.TrimSpace(b)) == 0 || string(b) == "null" {
		return json.RawMessage(empty), err
	}
	root, err := hujson.Parse(b)
	if err != nil {
		return nil, err
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("a schema is an object")
	}
	c.cut(root, true, false)
	switch said := root.Pack(); {
	case find(object, "type") >= 0:
		return said, nil
	case len(object.Members) > 0:
		return append([]byte(`{"type":"object",`), said[1:]...), nil
	}
	return json.RawMessage(empty), nil
}

// cut removes keywords from a value. Names says that the keys of an object are names, not
// keywords.
func (c Cut) cut(v hujson.Value, top, names bool) {
	switch v := v.Value.(type) {
	case *hujson.Array:
		for _, e := range v.Elements {
			c.cut(e, false, false)
		}
	case *hujson.Object:
		v.Members = slices.DeleteFunc(v.Members, func(m hujson.ObjectMember) bool {
			key := keyOf(m)
			return !names && (slices.Contains(always, key) || slices.Contains(c.Keywords, key) || top && slices.Contains(c.Top, key))
		})
		for i := range v.Members {
			m, key := &v.Members[i].Value, keyOf(v.Members[i])
			c.cut(*m, false, !names && (key == "properties" || key == "$defs" || key == "definitions" || key == "patternProperties"))
			if key == "type" && !names { // which Google writes in capitals
				m.Value = hujson.Literal(bytes.ToLower(m.Pack()))
			}
		}
		if c.Complete && !names {
			complete(v, top)
		}
	}
}

// complete adds the keywords of [wanted] that the schema o lacks. At the top, a schema without a
// type is an object's.
func complete(o *hujson.Object, top bool) {
	of := []byte(`"object"`)
	if i := find(o, "type"); i >= 0 {
		of = o.Members[i].Value.Pack()
	} else if !top {
		return
	}
	for _, w := range wanted {
		if bytes.Contains(of, []byte(`"`+w[0]+`"`)) && find(o, w[1]) < 0 {
			o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(w[1])}, Value: hujson.Value{Value: &hujson.Object{}}})
		}
	}
}

// find returns the index of a key, -1 if o has none.
func find(o *hujson.Object, key string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return keyOf(m) == key })
}

func keyOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// Schema returns the JSON Schema for the answer, nil if there is none, and whether the answer
// must be JSON.
func Schema(c *genai.GenerateContentConfig, cut Cut) (schema json.RawMessage, asked bool, err error) {
	var v any = c.ResponseJsonSchema
	if c.ResponseSchema != nil {
		v = c.ResponseSchema
	}
	if v != nil {
		schema, err = cut.Schema(v)
	}
	return schema, v != nil || c.ResponseMIMEType == "application/json", err
}

// Effort returns the requested level of thinking: low, medium or high, "" if none is set.
func Effort(c *genai.GenerateContentConfig) string {
	t := c.ThinkingConfig
	if t == nil {
		return ""
	}
	switch level := strings.ToLower(string(t.ThinkingLevel)); level {
	case "low", "medium", "high":
		return level
	case "minimal":
		return "low"
	}
	switch b := t.ThinkingBudget; {
	case b == nil || *b < 0:
		return ""
	case *b <= 2048:
		return "low"
	case *b <= 8192:
		return "medium"
	}
	return "high"
}

// A Result is the answer to a call.
type Result struct {
	ID, Name, Text string
	Failed         bool
}

// MarkedText returns the text of r, with a mark if the call failed and its
// text has none.
func (r Result) MarkedText() string {
	if r.Failed && !strings.HasPrefix(r.Text, "Error: ") {
		return "Error: " + r.Text
	}
	return r.Text
}

// Results returns the answers to calls in a message of the user, and the rest: the other parts,
// and the files of the answers.
func Results(c *genai.Content) (results []Result, rest []*genai.Part) {
	for _, p := range c.Parts {
		switch {
		case p == nil || p.Thought:
		case p.FunctionResponse != nil:
			said, failed := result(p.FunctionResponse)
			results = append(results, Result{p.FunctionResponse.ID, p.FunctionResponse.Name, said, failed})
			rest = append(rest, media(p.FunctionResponse)...)
		default:
			rest = append(rest, p)
		}
	}
	return results, rest
}

// result returns the text of the answer to a call, and whether the call failed.
func result(fr *genai.FunctionResponse) (said string, failed bool) {
	why, failed := fr.Response["error"]
	output, done := fr.Response["output"]
	only := len(fr.Response) == 1
	switch {
	case done && only:
		return value(output), false
	case failed && only:
		return value(why), true
	case done && failed && len(fr.Response) == 2:
		return value(output) + "\n" + value(why), true
	}
	return value(fr.Response), failed
}

// value returns a text as it is, and anything else as JSON.
func value(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return text.Compact(v)
}

// media returns the files in the answer to a call.
func media(fr *genai.FunctionResponse) (all []*genai.Part) {
	for _, p := range fr.Parts {
		if p != nil && p.InlineData != nil {
			all = append(all, &genai.Part{InlineData: &genai.Blob{MIMEType: p.InlineData.MIMEType, Data: p.InlineData.Data}})
		}
	}
	return all
}

// IsImage reports whether p is an image in a format that all servers with vision models accept.
func IsImage(p *genai.Part) bool {
	if p.InlineData == nil {
		return false
	}
	switch p.InlineData.MIMEType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// DescribeFile describes in words a file that can't be sent.
func DescribeFile(p *genai.Part) string {
	if b := p.InlineData; b != nil {
		return fmt.Sprintf("[a file of %s with %d bytes, which this model can't read]", b.MIMEType, len(b.Data))
	}
	return fmt.Sprintf("[the file %s, which this model can't read]", p.FileData.FileURI)
}

// The longest id of a call, and the longest name of a tool, that every server accepts.
const (
	longestID   = 40
	longestName = 64
)

// isPlain reports whether every server accepts r in ids of calls and names of tools.
func isPlain(r rune) bool {
	return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// ID returns id if it has the form that the [model.Provider] requires, else a replacement, the
// same each time.
func ID(id, form string) string {
	odd := func(r rune) bool { return !isPlain(r) || form != "" && (r == '-' || r == '_') }
	if id != "" && !strings.ContainsFunc(id, odd) && (form == "" && len(id) <= longestID || form == "9" && len(id) == 9) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	if form == "9" {
		n := (&big.Int{}).SetBytes(sum[:])
		return n.Text(36)[:9]
	}
	return "call_" + hex.EncodeToString(sum[:12])
}

// Name returns the name of a tool in a form that servers accept, the same each time. Names of MCP
// servers' tools that are too long, or have dots or colons, are replaced.
func Name(tool string) string {
	if !strings.ContainsFunc(tool, func(r rune) bool { return !isPlain(r) }) && len(tool) <= longestName {
		return tool
	}
	plain := strings.Map(func(r rune) rune {
		if isPlain(r) {
			return r
		}
		return '_'
	}, tool)
	sum := sha256.Sum256([]byte(tool)) // distinguishes issue.get and issue:get
	return plain[:min(len(plain), longestName-7)] + "_" + hex.EncodeToString(sum[:3])
}

// Thoughts returns the provider's own thoughts in a message, to send them back: the text and the
// signatures.
func Thoughts(c *genai.Content, provider string) (said string, signatures []string) {
	for _, p := range c.Parts {
		if p == nil || !p.Thought {
			continue
		}
		if by, own := engine.SignedBy(p.ThoughtSignature); by == provider {
			said += p.Text
			signatures = append(signatures, string(own))
		}
	}
	return said, signatures
}
