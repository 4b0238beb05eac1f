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

// Config returns the settings of a request, which may have none.
func Config(req *engine.Request) *genai.GenerateContentConfig {
	if req.Config == nil {
		return &genai.GenerateContentConfig{}
	}
	return req.Config
}

// System returns the system's instruction, less what clean takes out.
func System(c *genai.GenerateContentConfig, clean func(string) string) string {
	if c.SystemInstruction == nil {
		return ""
	}
	return clean(engine.TextOf(c.SystemInstruction.Parts))
}

// Contents returns the messages of a request that have parts, cleaned by clean. A signed thought
// that clean changes is left out, since its signature is void.
func Contents(req *engine.Request, clean func(string) string) (all []*genai.Content) {
	for _, c := range req.Contents {
		if c == nil || len(c.Parts) == 0 {
			continue
		}
		cleaned := wrap.Content(c, clean)
		for i, p := range c.Parts {
			if p != nil && engine.IsSignedThought(p) && cleaned.Parts[i].Text != p.Text {
				cleaned.Parts[i] = nil // in a copy, since it was cleaned
			}
		}
		all = append(all, cleaned)
	}
	return all
}

// A Tool is a tool that the model may call, in the words of OpenAI and Ollama.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parameters"` // of an object
}

// A Function is a [Tool] as OpenAI's and Ollama's servers take it.
type Function struct {
	Type     string `json:"type"`
	Function Tool   `json:"function"`
}

// Functions returns tools as OpenAI's and Ollama's servers take them.
func Functions(tools []Tool) (all []Function) {
	for _, t := range tools {
		all = append(all, Function{"function", t})
	}
	return all
}

// Tools returns the tools that are declared in c. The schemas are cut by cut. A tool of
// Google's server is an error: nobody else has it.
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

// ToolChoice returns what the model may call: "auto", "any" of names (nil is all), or "none".
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

// A Cut says which parts of a JSON Schema are taken out, and put in, for a server that refuses the
// schema as it is.
type Cut struct {
	Keywords []string // are taken out anywhere
	Top      []string // are taken out at the top
	Complete bool     // puts in the keywords of wanted
}

// always are the keywords that are for programs that read schemas as files.
var always = []string{"$schema", "$id", "$comment"}

// wanted are types, each with a keyword that some servers want in its schemas. An empty value of the
// keyword allows everything.
var wanted = [][2]string{{"object", "properties"}, {"array", "items"}}

// Schema returns a JSON Schema of an object without what c takes out. Properties stay in their
// order, in which the model is to write them.
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

// cut takes keywords out of a value. Names says that the keys of an object are names and no
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

// Schema returns the JSON Schema that the answer is to fit, nil if there is none, and whether
// it is to be JSON at all.
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

// Effort returns how much the model is to think: low, medium or high, "" where nothing is
// said.
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

// MarkedText returns what r says, and says that the call failed if it did.
func (r Result) MarkedText() string {
	if r.Failed {
		return "Error: " + r.Text
	}
	return r.Text
}

// Results returns the answers to calls in a message of the user, and what else the user says:
// of both the files are among the rest.
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

// result returns what the answer to a call says, and whether the call failed.
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

// IsImage reports whether p is an image in a format that all servers with models that see take.
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

// DescribeFile says in words what a file is that can't be sent.
func DescribeFile(p *genai.Part) string {
	if b := p.InlineData; b != nil {
		return fmt.Sprintf("[a file of %s with %d bytes, which this model can't read]", b.MIMEType, len(b.Data))
	}
	return fmt.Sprintf("[the file %s, which this model can't read]", p.FileData.FileURI)
}

// The longest id of a call, and the longest name of a tool, that every server takes.
const (
	longestID   = 40
	longestName = 64
)

// isPlain reports whether every server takes r in ids of calls and names of tools.
func isPlain(r rune) bool {
	return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// ID returns id if a server accepts it in the form of [model.Provider], else an id that replaces
// it, the same each time.
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

// Name returns the name of a tool in a form that servers take, the same each time. Names of MCP
// servers' tools may be too long, or have dots and colons: they are replaced by others.
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
	sum := sha256.Sum256([]byte(tool)) // tells issue.get from issue:get
	return plain[:min(len(plain), longestName-7)] + "_" + hex.EncodeToString(sum[:3])
}

// Thoughts returns what goes back to a provider of its own thoughts in a message: the words,
// and the signatures.
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
