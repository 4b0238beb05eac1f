package enginetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genai"
)

// Whole returns a reply with the given body and status 200.
func Whole(body string) Reply { return Reply{Wire: &Wire{Body: body}} }

// Status returns an error reply in the API's form.
func Status(code int, status, message string, details ...any) Reply {
	if details == nil {
		details = []any{}
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": code, "status": status, "message": message, "details": details}})
	if err != nil {
		panic(fmt.Sprintf("enginetest: details that are no JSON: %v", err))
	}
	return Reply{Wire: &Wire{Status: code, Body: string(body)}}
}

// RateLimited is a 429 with a retry delay.
func RateLimited(after time.Duration) Reply {
	return Status(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo",
			"retryDelay": fmt.Sprintf("%gs", after.Seconds())})
}

// DailyQuota is a 429 for which a retry does not help.
func DailyQuota() Reply {
	return Status(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]any{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
			"quotaId":     "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "50"}}},
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"})
}

// Unavailable is a 503.
func Unavailable() Reply {
	return Status(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.")
}

// Unauthenticated is a 401.
func Unauthenticated() Reply {
	return Status(http.StatusUnauthorized, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
}

// BadKey is the 400 for a wrong API key.
func BadKey() Reply {
	return Status(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
			"reason": "API_KEY_INVALID", "domain": "googleapis.com"})
}

// NoCredit is the 429 for a project without credit.
func NoCredit() Reply {
	return Status(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. "+
		"Please go to AI Studio at https://ai.studio/projects to manage your project and billing.")
}

// NoFreeTier is the 429 for a model that is not in the free tier.
func NoFreeTier() Reply {
	return Status(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota.\n"+
		"* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-4-argon\n"+
		"Please retry in 5.2s.")
}

// Abroad is the 400 for a region without the API.
func Abroad() Reply {
	return Status(http.StatusBadRequest, "FAILED_PRECONDITION", "User location is not supported for the API use.")
}

// Closed is the 404 for a model that is closed to new users.
func Closed(model string) Reply {
	return Status(http.StatusNotFound, "NOT_FOUND", "This model models/"+model+" is no longer available to new users. "+
		"Please update your code to use a newer model.")
}

// BadSignature is the 400 for a conversation with another key's signature.
func BadSignature() Reply { return BadRequest("Corrupted thought signature.") }

// Forbidden is a 403.
func Forbidden() Reply {
	return Status(http.StatusForbidden, "PERMISSION_DENIED",
		"Your API key was reported as leaked. Please use another API key.")
}

// Unverified is the 403 for an account that must be verified at url first.
func Unverified(url string) Reply {
	return Status(http.StatusForbidden, "PERMISSION_DENIED", "Verify your account to continue.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
			"reason": "VALIDATION_REQUIRED", "domain": "cloudcode-pa.googleapis.com"},
		map[string]any{"@type": "type.googleapis.com/google.rpc.Help",
			"links": []any{map[string]any{"description": "Verify your account", "url": url}}})
}

// NotFound is the 404 for a model that doesn't exist.
func NotFound(model string) Reply {
	return Status(http.StatusNotFound, "NOT_FOUND", "models/"+model+" is not found for API version v1beta.")
}

// BadRequest is a 400.
func BadRequest(message string) Reply {
	return Status(http.StatusBadRequest, "INVALID_ARGUMENT", message)
}

// InArray returns r, an error, in the array form that some endpoints use.
func InArray(r Reply) Reply {
	w := *r.Wire
	w.Body = "[" + w.Body + "]"
	r.Wire = &w
	return r
}

// WebPage is an answer with a web page, as from a proxy.
func WebPage(code int, title string) Reply {
	return Reply{Wire: &Wire{Status: code, Header: http.Header{"Content-Type": {"text/html"}},
		Body: "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title +
			"</h1></body></html>\n"}}
}

// Reset breaks the connection after r has been sent.
func Reset(r Reply) Reply { return wired(r, func(w *Wire) { w.Reset = true }) }

// Slow sends nothing for d, then r.
func Slow(r Reply, d time.Duration) Reply { return wired(r, func(w *Wire) { w.Delay = d }) }

// Stalled sends r without its finish reason, and then nothing more, without an end.
func Stalled(r Reply) Reply {
	r.Chunks, r.Stall = copiedChunks(r.Chunks), true
	for _, c := range r.Chunks {
		for _, said := range c.Candidates {
			said.FinishReason = ""
		}
	}
	return r
}

// Silent sends a status and nothing more, without an end.
func Silent() Reply { return Reply{Stall: true} }

// InvalidJSON sends a chunk that ends in the middle, as an event of its own.
func InvalidJSON() Reply {
	return Reply{Wire: &Wire{Pieces: []string{Event(text(Chunk("", &genai.Part{Text: "one"}))),
		Event(`{"candidates":[`)}}}
}

// Truncated is a stream that ends within an event, without a connection error.
func Truncated() Reply {
	return Reply{Wire: &Wire{Pieces: []string{Event(text(Chunk("", &genai.Part{Text: "one"}))),
		`data: {"candidates":[{"conte`}}}
}

// Empty is a stream without a chunk.
func Empty() Reply { return Reply{} }

// Unfinished says text and ends without a finish reason.
func Unfinished(text string) Reply {
	return Reply{Chunks: []*genai.GenerateContentResponse{Chunk("", &genai.Part{Text: text})}}
}

// Ends says text, which may be empty, and ends for the given reason.
func Ends(text string, reason genai.FinishReason) Reply {
	var parts []*genai.Part
	if text != "" {
		parts = append(parts, &genai.Part{Text: text})
	}
	return Reply{Chunks: []*genai.GenerateContentResponse{Chunk(reason, parts...)}}
}

// MalformedCall ends because the model wrote an invalid call.
func MalformedCall() Reply { return Ends("", genai.FinishReasonMalformedFunctionCall) }

// ThoughtOnly holds reasoning and nothing else.
func ThoughtOnly(s string) Reply {
	return Reply{Chunks: []*genai.GenerateContentResponse{Chunk(genai.FinishReasonStop, Thought(s))}}
}

// Blocked refuses the prompt.
func Blocked() Reply {
	return Reply{Chunks: []*genai.GenerateContentResponse{{PromptFeedback: &genai.GenerateContentResponsePromptFeedback{
		BlockReason: genai.BlockedReasonProhibitedContent}}}}
}

// ErrorInStream sends r's chunks and then the error of fault, as an event of the stream.
func ErrorInStream(r, fault Reply) Reply {
	return wired(r, func(w *Wire) { w.After = Event(fault.Wire.Body) })
}

// KeepAlive puts comments between the chunks of r.
func KeepAlive(r Reply) Reply {
	return framed(r, func(json string) string { return ": keep-alive\n\n" + Event(json) + ":\n" })
}

// Named gives the chunks of r fields that no client needs.
func Named(r Reply) Reply {
	return framed(r, func(json string) string {
		return "event: message\nid: 7\nretry: 1000\ndata: " + json + "\nid: 8\n\n"
	})
}

// ManyLines spreads every chunk of r over several data lines.
func ManyLines(r Reply) Reply {
	return framed(r, func(json string) string {
		return "data: " + strings.ReplaceAll(json, `,"`, ",\ndata:\"") + "\n\n"
	})
}

// WithBOM puts a byte order mark before r.
func WithBOM(r Reply) Reply { return wired(r, func(w *Wire) { w.Before = "\ufeff" }) }

// WithDone puts after r the mark that ends streams of other APIs.
func WithDone(r Reply) Reply { return wired(r, func(w *Wire) { w.After = "data: [DONE]\n\n" }) }

// MixedEnds uses every kind of line end in r.
func MixedEnds(r Reply) Reply {
	ends := []string{"\n\n", "\r\n\r\n", "\r\r", "\r\n\n", "\n\r\n"}
	n := 0
	return framed(r, func(json string) string {
		n++
		return "data:" + json + ends[n%len(ends)]
	})
}

// Bare ends r without the blank line that closes the last event.
func Bare(r Reply) Reply {
	return framed(r, func(json string) string { return "\n\ndata: " + json })
}

// Bytewise sends r byte by byte.
func Bytewise(r Reply) Reply {
	var all []string
	for _, b := range []byte(strings.Join(pieces(r, &Wire{}, true), "")) {
		all = append(all, string([]byte{b}))
	}
	return Reply{Wire: &Wire{Pieces: all}}
}

// Huge says n bytes of text in a single chunk.
func Huge(n int) Reply { return Says(Text(n)) }

// Text returns n bytes of words that do not repeat themselves.
func Text(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%015d ", i)
	}
	return b.String()[:n]
}

// Long says n chunks of the same text.
func Long(n int, text string) Reply {
	r := Reply{Chunks: make([]*genai.GenerateContentResponse, n)}
	for i := range r.Chunks {
		reason := genai.FinishReasonUnspecified
		if i == n-1 {
			reason = genai.FinishReasonStop
		}
		r.Chunks[i] = Chunk(reason, &genai.Part{Text: text})
	}
	return r
}

func framed(r Reply, frame func(string) string) Reply {
	return wired(r, func(w *Wire) { w.Frame = frame })
}

// wired returns r with a changed copy of its wire.
func wired(r Reply, change func(*Wire)) Reply {
	w := Wire{}
	if r.Wire != nil {
		w = *r.Wire
	}
	change(&w)
	r.Wire = &w
	return r
}
