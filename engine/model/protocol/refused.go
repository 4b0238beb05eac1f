package protocol

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"gemline/engine"
	"gemline/engine/model"
)

// refusals are the texts of servers' errors about features that a model lacks, in small letters
// and without quotation marks.
var refusals = []struct {
	what  string
	words []string
}{
	{model.Tools, []string{"not support tool", "n't support tool", "not supported tool", "support tool use", "not support function call", "n't support function call",
		"tools is not supported", "tools are not supported", "tool calling is not supported", "function calling is not supported", "function calling is not enabled",
		"tool choice requires", "requires --jinja"}},
	{model.Images, []string{"not support image", "n't support image", "support image input", "image input is not supported", "image input is not enabled",
		"image inputs are not supported", "image inputs are not enabled", "images are not supported",
		"not a multimodal model", "not support vision", "n't support vision", "content part type: image_url", "unknown variant image_url", "image_url is only supported",
		"at most 0 image"}},
	{model.PDF, []string{"unknown variant file", "part type: file", "unsupported content[].type", "not support file", "n't support file", "not support pdf", "input tag file"}},
	{model.Audio, []string{"audio input is not supported", "audio input is not enabled", "unknown variant input_audio", "not support audio", "n't support audio", "support input audio", "at most 0 audio"}},
	{model.LooseSchemas, []string{"object schema missing properties", "array schema missing items", "must have type object and not have"}},
	{model.UserAfterTool, []string{"unexpected role user after role tool", "roles must alternate"}},
}

// onlySome are texts that follow if a server refuses only a certain file or tool choice.
var onlySome = []string{"/", " format", " type", " mime", " size", "s larger", "s over", " larger", "_choice", " choice"}

// RefusedFeature returns the feature in sent that the model lacks according to err; "" for other
// errors.
func RefusedFeature(err error, sent []string) string {
	e, ok := err.(*model.Error)
	if !ok || e.Answering || e.HTTP < 400 || e.HTTP == http.StatusUnauthorized {
		return ""
	}
	m := strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'`", r) {
			return -1
		}
		return r
	}, strings.ToLower(e.Message))
	says := func(words string) bool {
		_, rest, found := strings.Cut(m, words)
		return found && !slices.ContainsFunc(onlySome, func(s string) bool { return strings.HasPrefix(rest, s) })
	}
	for _, r := range refusals {
		if slices.Contains(sent, r.what) && slices.ContainsFunc(r.words, says) {
			return r.what
		}
	}
	return ""
}

// Refusals are the features that models lack, according to servers' errors. The zero value has
// none.
type Refusals struct {
	mu sync.Mutex
	of map[string][]string
}

// Lacks returns a function that reports whether a model of p lacks a feature, by the table of
// providers or by an error of the server.
func (r *Refusals) Lacks(p model.Provider, name string) func(what string) bool {
	r.mu.Lock()
	refused := r.of[name]
	r.mu.Unlock()
	return func(what string) bool { return slices.Contains(refused, what) || p.Lacks(name, what) }
}

// Learn reports whether err says that a model of p lacks a feature in sent, so that req may be
// repeated without it.
func (r *Refusals) Learn(p model.Provider, req *engine.Request, err error, sent []string) bool {
	what := RefusedFeature(err, sent)
	if what != "" {
		r.Add(p, req, what)
	}
	return what != ""
}

// Add records that a model of p lacks a feature. The user is told, once.
func (r *Refusals) Add(p model.Provider, req *engine.Request, what string) {
	r.mu.Lock()
	known := slices.Contains(r.of[req.Model], what) // by a concurrent request
	if r.of == nil {
		r.of = map[string][]string{}
	}
	if !known {
		r.of[req.Model] = append(slices.Clone(r.of[req.Model]), what)
	}
	r.mu.Unlock()
	if said := consequence(what); said != "" && !known && req.Notify != nil { // not under the lock
		req.Notify(engine.Notice{Text: p.Name + "/" + req.Model + " takes no " + said})
	}
}

// consequence names a feature that a model lacks, and the effect for the user; "" if there is
// none.
func consequence(what string) string {
	switch what {
	case model.LooseSchemas, model.UserAfterTool:
		return ""
	case model.Tools:
		return "tools: it can only talk, and reads and changes nothing"
	case model.PDF:
		what = "PDF files"
	}
	return what + ": it is only told that there are some"
}
