package model

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"gemline/engine/text"
)

//go:embed providers.toml
var providersText string

// A Provider is a provider of models.
type Provider struct {
	Name            string            `toml:"name" json:"-"`
	Protocol        string            `toml:"protocol" json:"protocol"`
	BaseURL         string            `toml:"baseUrl" json:"baseUrl"`
	KeyVariable     string            `toml:"keyVariable" json:"keyVariable"`
	AddressVariable string            `toml:"addressVariable" json:"-"`
	AddressPath     string            `toml:"addressPath" json:"-"`
	KeyHeader       string            `toml:"keyHeader" json:"keyHeader"`
	Headers         map[string]string `toml:"headers" json:"headers"`
	List            string            `toml:"list" json:"-"`
	Thoughts        string            `toml:"thoughts" json:"thoughts"`
	IDs             string            `toml:"ids" json:"-"`
	Lacking         []string          `toml:"lacks" json:"lacks"`
	Longer          string            `toml:"longer" json:"-"`
	Models          []Exception       `toml:"models" json:"-"`
	fault           error             // the error of the user's entry
}

// An Exception applies to the models of a provider with a common prefix of their names.
type Exception struct {
	Prefix  string   `toml:"prefix"`
	Lacking []string `toml:"lacks"`
	Context int      `toml:"context"`
}

// The features that a server may lack.
const (
	Temperature         = "temperature"
	Effort              = "effort"
	MaxCompletionTokens = "max_completion_tokens"
	StreamOptions       = "stream_options"
	JSONSchema          = "json_schema"
	Images              = "images"
	PDF                 = "pdf"
	Audio               = "audio"
	Pattern             = "pattern"
	Tools               = "tools"
	LooseSchemas        = "loose_schemas"   // of tools
	UserAfterTool       = "user_after_tool" // messages of the user after the answers to calls
	Thinking            = "thinking"        // of models that do not think
	Adaptive            = "adaptive"        // of models that think within a budget
)

// lackable are the names of the features that a server may lack.
var lackable = []string{Temperature, Effort, MaxCompletionTokens, StreamOptions, JSONSchema, Images, PDF, Audio, Pattern,
	Tools, LooseSchemas, UserAfterTool, Thinking, Adaptive}

// The fields in which thoughts are sent back.
const (
	ReasoningContent = "reasoning_content"
	ReasoningDetails = "reasoning_details"
)

// The protocols.
const (
	Gemini    = "gemini"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Ollama    = "ollama"
)

// Lacks reports whether a model of p lacks a feature.
func (p Provider) Lacks(model, what string) bool {
	lacks := p.Lacking
	for _, e := range p.Models {
		if strings.HasPrefix(model, e.Prefix) && e.Lacking != nil {
			lacks = e.Lacking
		}
	}
	return slices.Contains(lacks, what)
}

// ContextTokens returns the minimum context of a model of p in tokens, 0 if only the server knows
// it.
func (p Provider) ContextTokens(model string) (n int) {
	for _, e := range p.Models {
		if strings.HasPrefix(model, e.Prefix) && e.Context > 0 {
			n = e.Context
		}
	}
	return n
}

// Free reports whether a model of p costs nothing, since it runs on this machine.
func (p Provider) Free(model string) bool {
	u, err := url.Parse(p.BaseURL)
	return err == nil && text.Loopback(u.Hostname()) && !strings.HasSuffix(model, "cloud") // which Ollama forwards to its cloud
}

// Address names the setting or variable for the server's address.
func (p Provider) Address() string {
	return cmp.Or(p.AddressVariable, "providers."+p.Name+".baseUrl")
}

// Providers are the known providers, in the order of lists.
type Providers []Provider

// builtin are the providers of the table, which must not be changed.
var builtin = sync.OnceValue(func() Providers {
	var t struct{ Providers Providers }
	if _, err := toml.Decode(providersText, &t); err != nil {
		panic(fmt.Sprintf("providers.toml: %v", err))
	}
	return t.Providers
})

// NewProviders returns the built-in providers, changed and extended by the user's settings and
// the environment. Only [Providers.Named] returns the error of a faulty provider: a newer gemline
// may have written it, and others work.
func NewProviders(custom map[string]any, getenv func(string) string) Providers {
	all := slices.Clone(builtin())
	for i := range all {
		p := &all[i]
		at := ""
		if p.AddressVariable != "" {
			at = strings.TrimSpace(getenv(p.AddressVariable))
		}
		switch {
		case at == "":
		case p.Protocol == Ollama:
			p.BaseURL = ollamaAddress(at)
		case p.AddressPath == "":
			p.BaseURL = at
		default:
			p.BaseURL = pathed(at, p.AddressPath)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(custom)) {
		i := all.index(name)
		if i < 0 {
			i, all = len(all), append(all, Provider{Name: name, Protocol: OpenAI})
		}
		p := all[i]
		p.Lacking = slices.Clone(p.Lacking) // since the table has the original
		b, err := json.Marshal(custom[name])
		if err = cmp.Or(err, json.Unmarshal(b, &p)); err != nil {
			p = Provider{Name: name, Protocol: OpenAI, fault: mistyped(err)}
		}
		if p.BaseURL != all[i].BaseURL { // the variable does not change the user's address
			p.AddressVariable = ""
		}
		if given, ok := custom[name].(map[string]any); ok && given["lacks"] != nil { // the user's value applies to all models
			p.Models = slices.Clone(p.Models)
			for i, e := range p.Models {
				if e.Lacking != nil {
					p.Models[i].Lacking = slices.Concat(e.Lacking, p.Lacking)
				}
			}
		}
		p.List = cmp.Or(p.List, p.Protocol)
		all[i] = p
	}
	return all
}

// UnknownKeys describes the unknown keys of a user's provider.
func UnknownKeys(provider any) (said []string) {
	known := []string{"protocol", "baseUrl", "keyVariable", "keyHeader", "headers", "thoughts", "lacks"}
	entry, _ := provider.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, key) }) {
			continue
		}
		if near := text.Nearest(key, known); near != "" {
			key += " means nothing; did you mean " + near + "?"
		} else {
			key += " means nothing"
		}
		said = append(said, text.PrintableLine(key))
	}
	return said
}

// mistyped returns an error of encoding/json in plain words.
func mistyped(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case e.Field == "":
		return errors.New("it must be an object")
	}
	return fmt.Errorf("%s takes no %s", e.Field, e.Value)
}

// check returns an error if p is invalid.
func (p Provider) check() error {
	unknown := slices.IndexFunc(p.Lacking, func(s string) bool { return !slices.Contains(lackable, s) })
	var wrong error
	if p.BaseURL != "" && p.AddressVariable == "" {
		_, wrong = checkedBase(p.BaseURL, p.Address(), exampleBase, true)
	}
	switch {
	case p.fault != nil:
		return p.fault
	case !pathWord(p.Name) || strings.Contains(p.Name, ":"):
		return fmt.Errorf("the name must be of letters, digits, - and _")
	case p.Protocol == Gemini && p.BaseURL == "":
		return nil // Google's own
	case !slices.Contains([]string{OpenAI, Anthropic, Ollama}, p.Protocol):
		return fmt.Errorf("the protocol %q is none of openai, anthropic and ollama", p.Protocol)
	case p.BaseURL == "" && p.AddressVariable == "":
		return fmt.Errorf("the baseUrl is missing")
	case tooLong(p) != "":
		return fmt.Errorf("the baseUrl is what stands before %s", tooLong(p))
	case wrong != nil:
		return wrong
	case !slices.Contains([]string{"", ReasoningContent, ReasoningDetails}, p.Thoughts):
		return fmt.Errorf("thoughts go back in %s or %s, not in %q", ReasoningContent, ReasoningDetails, p.Thoughts)
	case unknown >= 0:
		return fmt.Errorf("nothing is known that is called %q; there are %s", p.Lacking[unknown], strings.Join(lackable, ", "))
	}
	for name, value := range p.Headers {
		if !headerValue(value) || !pathWord(name) {
			return fmt.Errorf("the header %q has characters that no header has", name)
		}
	}
	return nil
}

// exampleBase is a valid address of a provider.
const exampleBase = "https://api.example.com/v1"

// tooLong returns the path of requests if the address of p already contains a part of it.
func tooLong(p Provider) string {
	base := strings.TrimRight(p.BaseURL, "/")
	path := map[string]string{OpenAI: "/chat/completions", Anthropic: "/v1/messages", Ollama: "/api/chat"}[p.Protocol]
	first := path[:strings.LastIndexByte(path, '/')]
	if strings.HasSuffix(base, path) || first != "" && strings.HasSuffix(base, first) {
		return path
	}
	return ""
}

// pathed returns an address with path. The address may already have a part of path, or even more,
// as Azure's page of a deployment shows it.
func pathed(at, path string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	first, _, _ := strings.Cut(path[1:], "/")
	before, whole := strings.CutSuffix(strings.TrimRight(u.Path, "/"), path)
	if some, _, has := strings.Cut(before+"/", "/"+first+"/"); has && !whole {
		before = some
	}
	u.Path, u.RawQuery = before+path, ""
	return u.String()
}

// ollamaAddress returns the address for a value of OLLAMA_HOST, as Ollama's own program parses
// it: a host, a port or both, with http:// or without. The wildcard address of a server becomes
// this machine.
func ollamaAddress(s string) string {
	s = strings.Trim(s, `"'`)
	scheme, rest, ok := strings.Cut(s, "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if !ok {
		scheme, rest, port = "http", s, "11434"
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(hostport)
	if err != nil {
		host, given = strings.Trim(hostport, "[]"), ""
	}
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, cmp.Or(given, port)), Path: path}
	return u.String()
}

func (ps Providers) index(name string) int {
	return slices.IndexFunc(ps, func(p Provider) bool { return p.Name == name })
}

// Elsewhere returns a hint how to name the provider of a model, if the name begins like the names
// of another provider's models; else "".
func Elsewhere(model string) string {
	first := func(name string) string {
		name, _, _ = strings.Cut(name, "-")
		return name
	}
	for _, p := range builtin() {
		if p.Protocol != Gemini && (first(model) == p.Name || slices.ContainsFunc(p.Models, func(e Exception) bool { return first(e.Prefix) == first(model) })) {
			return fmt.Sprintf("a name without a provider is Google's: -m %s/%s asks %s", p.Name, text.PrintableLine(model), p.Name)
		}
	}
	return ""
}

// Named returns the named provider, or an error if it is unknown or invalid.
func (ps Providers) Named(name string) (Provider, error) {
	if i := ps.index(name); i >= 0 {
		if err := ps[i].check(); err != nil {
			return Provider{}, &Error{Kind: Config, Final: true, Message: fmt.Sprintf("providers.%s: %s", text.PrintableLine(name), text.PrintableLine(err.Error())),
				Advice: `a provider is {"protocol": "openai", "baseUrl": "https://...", "keyVariable": "WORK_KEY"}; or a newer gemline has written this one`}
		}
		return ps[i], nil
	}
	var names []string
	for _, p := range ps {
		names = append(names, p.Name)
	}
	advice := "there are " + strings.Join(names, ", ") + "; providers in your settings adds others"
	if near := text.Nearest(strings.ToLower(name), names); near != "" {
		advice += "; did you mean " + near + "?"
	}
	return Provider{}, &Error{Kind: Config, Final: true, Message: "there is no provider named " + text.PrintableLine(name), Advice: advice}
}

// Options returns the options for a Client of p: the common options, p's address and headers, and
// the key, from getenv or from the user's store.
func (p Provider) Options(common Options, getenv func(string) string) Options {
	o := common
	o.BaseURL, o.Keyless, o.Header = p.BaseURL, p.KeyVariable == "", http.Header{}
	for name, value := range p.Headers {
		o.Header.Set(name, value)
	}
	if o.APIKey = ""; p.KeyVariable != "" {
		o.APIKey = strings.TrimSpace(getenv(p.KeyVariable))
	}
	o.Keyless = o.Keyless || len(o.Header) > 0 // which may authenticate
	return o
}

// Vendor returns the Vendor of p for a Client.
func (p Provider) Vendor() Vendor {
	v := Vendor{provider: p,
		Advice: fmt.Sprintf("export %s=..., or store a key with gemline auth set-key %s, in a session with /auth signin %[2]s", p.KeyVariable, p.Name)}
	if p.KeyVariable == "" {
		v.Advice = "name the variable of the key in providers." + p.Name + ".keyVariable"
	}
	return v
}
