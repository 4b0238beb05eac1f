package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest delay that the server may request; with a longer delay, the request
// fails without a retry.
const maxWait = 5 * time.Minute

// A failure is an error response of the server.
type failure struct {
	http    int    // the status of the response
	code    int    // the code in the body
	status  string // such as RESOURCE_EXHAUSTED
	message string
	details []detail
	after   time.Duration // from the header
	hinted  bool          // after is from the header
	page    string        // its description, if the body is a web page

	answering bool // the failure interrupted an answer
}

// Error returns the server's message.
func (f *failure) Error() string { return f.message }

// A detail is a record in a failure, of any type.
type detail struct {
	Type       string `json:"@type"`
	RetryDelay wait
	Reason     string
	Domain     string
	Violations []violation
	Metadata   map[string]any
	Links      []struct{ Description, URL string }
}

// A violation names a quota that is used up.
type violation struct{ QuotaID, QuotaValue string }

// A wait is a delay, such as 34.07s. Some servers send a number of seconds, or an object.
type wait string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *wait) UnmarshalJSON(b []byte) error {
	var parts struct{ Seconds, Nanos json.Number }
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(w))
	case '{':
		json.Unmarshal(b, &parts) // other values than numbers are left out
		*w = wait(cmp.Or(parts.Seconds, "0") + "s" + cmp.Or(parts.Nanos, "0") + "ns")
	default:
		*w = wait(b) + "s"
	}
	return nil
}

// parseFailure parses the body of an error in every known format.
func parseFailure(status int, header http.Header, body []byte) *failure {
	f := &failure{http: status, code: status}
	f.after, f.hinted = retryAfter(header)
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff"))
	type envelope struct{ Error json.RawMessage }
	var env envelope
	if bytes.HasPrefix(body, []byte("[")) {
		var list []envelope
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			env = list[0]
		}
	} else if bytes.HasPrefix(body, []byte("{")) {
		json.Unmarshal(body, &env) // a body that is not JSON is a message
	}
	switch {
	case isPresent(env.Error):
		f.read(env.Error)
	case bytes.HasPrefix(body, []byte("<")):
		f.page = describePage(body)
	case bytes.HasPrefix(body, []byte("{")):
		f.read(body)
	default:
		f.message = oneLine(string(body[:min(len(body), 4096)]))
	}
	return f
}

// read takes over the valid fields of an error object.
func (f *failure) read(raw json.RawMessage) {
	var s string
	if json.Unmarshal(raw, &s) == nil { // {"error": "text"}
		f.message = oneLine(s)
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		f.message = oneLine(string(raw[:min(len(raw), 4096)]))
		return
	}
	var code json.Number
	if json.Unmarshal(fields["code"], &code) == nil {
		if n, err := strconv.Atoi(code.String()); err == nil && n >= 100 && n < 600 && (n >= 400 || f.http < 400) {
			f.code = n
		}
	}
	var status string
	for _, name := range []string{"status", "code", "type"} { // the names of Google's, OpenAI's and Anthropic's servers
		if f.status == "" && json.Unmarshal(fields[name], &status) == nil {
			f.status = oneLine(status)
		}
	}
	if n, ok := typed[f.status]; ok && f.answering {
		f.code = n
	}
	if f.message = oneLine(words(raw)); f.message == "" && fields["message"] == nil {
		f.message = oneLine(string(raw[:min(len(raw), 4096)]))
	}
	var details []json.RawMessage
	if json.Unmarshal(fields["details"], &details) == nil {
		for _, raw := range details {
			var d detail
			if json.Unmarshal(raw, &d); d.Type != "" { // a field of another type leaves the rest
				f.details = append(f.details, d)
			}
		}
	}
}

// typed maps OpenAI's and Anthropic's types of errors to statuses, for errors in the middle of an
// answer, which come without a header.
var typed = map[string]int{"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
	"permission_error": 403, "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429,
	"rate_limit_exceeded": 429, "insufficient_quota": 429, "context_length_exceeded": 400, "overloaded_error": 503,
	"invalid_api_key": 401, "model_not_found": 404}

// words returns the message in the JSON of an error, "" if there is none. Servers and gateways
// use various forms: a text, perhaps with JSON in it, an object with a text, or a list of these.
func words(raw json.RawMessage) string {
	var (
		said   string
		list   []json.RawMessage
		fields map[string]json.RawMessage
	)
	switch {
	case json.Unmarshal(raw, &said) == nil:
		if s := strings.TrimSpace(said); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return cmp.Or(words([]byte(s)), said)
		}
		return said
	case json.Unmarshal(raw, &list) == nil:
		var all []string
		for _, item := range list {
			if said := words(item); said != "" {
				all = append(all, said)
			}
		}
		return strings.Join(all, "; ")
	case json.Unmarshal(raw, &fields) != nil:
		return ""
	}
	for _, name := range []string{"error", "message", "detail", "msg", "errors"} {
		if said = words(fields[name]); said != "" {
			break
		}
	}
	var place []any // the place in the request, from FastAPI
	if json.Unmarshal(fields["loc"], &place) == nil && len(place) > 0 {
		said += fmt.Sprintf(" at %v", place)
	}
	var from struct{ Raw json.RawMessage } // the error of OpenRouter's provider
	if json.Unmarshal(fields["metadata"], &from) == nil && isPresent(from.Raw) {
		if told := words(from.Raw); told != "" && told != said {
			said = strings.TrimPrefix(said+": "+told, ": ")
		}
	}
	return said
}

// describePage describes a web page by its title.
func describePage(page []byte) string {
	page = page[:min(len(page), 64<<10)]
	lower := bytes.ToLower(page)
	if len(lower) == len(page) { // otherwise the indexes differ
		if i := bytes.Index(lower, []byte("<title>")); i >= 0 {
			if j := bytes.Index(lower[i:], []byte("</title>")); j >= 0 {
				if t := oneLine(html.UnescapeString(string(page[i+len("<title>") : i+j]))); t != "" {
					return "a web page: " + t
				}
			}
		}
	}
	return "a web page"
}

// classify returns the Error for f, about a request to model.
func (f *failure) classify(model string) *Error {
	e := &Error{HTTP: f.http, Code: f.status, Message: f.message, RetryAfter: f.after,
		Hinted: f.hinted, Answering: f.answering}
	e.Message = cmp.Or(e.Message, strings.TrimSpace(fmt.Sprintf("the server answered %d %s", f.code, http.StatusText(f.code))))
	if f.page != "" {
		e.Message = fmt.Sprintf("the server answered %d with %s", f.code, f.page)
	}
	switch code := f.code; {
	case f.moderated():
		e.Kind, e.Final, e.Advice = Refused, true, hintRephrase
		e.Message = "the model's server refuses to answer: " + e.Message
	case f.unpaid():
		e.Kind, e.Code, e.Final, e.Advice = Auth, CodeNoCredit, true, f.help(cmp.Or(link(f.message), hintCredit))
		if before, _, _ := strings.Cut(e.Message, " To increase"); hasAny(before, "can only afford") { // OpenRouter
			e.Message, e.Advice = "too little is left to pay with: "+before, hintShorter
		} else {
			e.Message = "nothing is left to pay with: " + sentence(e.Message)
		}
	case code < 500 && f.exhausted():
		e.Kind, e.Final, e.Advice = Quota, true, hintDaily
		e.Message = "the server refused: " + e.Message
	case hasAny(f.message, "requires more system memory"): // Ollama
		e.Kind, e.Final, e.Advice = Unavailable, true, "choose a smaller model with -m or /model, or stop other programs"
	case f.regionBlocked():
		e.Kind, e.Final, e.Advice = Auth, true, hintLocation
		e.Message = "the model's server refuses requests from where this one came from: " + sentence(e.Message)
	case f.page != "" && code < 400:
		e.Kind, e.Final, e.Advice = Unavailable, true, hintWebPage
	case code >= 300 && code < 400:
		e.Kind, e.Final, e.Advice = Config, true, "set GOOGLE_GEMINI_BASE_URL to where the API really is"
		e.Message = fmt.Sprintf("the server answered with a redirect (%d), which is not followed", code)
	case code < 500 && closed(f.message):
		e.Kind, e.Final, e.Advice = NotFound, true, cmp.Or(link(f.message), hintModel)
		e.Message = fmt.Sprintf("model %s is closed to this user: %s", model, sentence(e.Message))
	case code == http.StatusNotFound, code < 500 && f.unknownModel():
		e.Kind, e.Final, e.Advice = NotFound, true, hintModel
		e.Message = fmt.Sprintf("model %s: %s", model, e.Message)
	case code == http.StatusUnauthorized, f.reason("API_KEY_INVALID"), f.reason("API_KEY_EXPIRED"), code < 500 && hasAny(f.message, "api key expired", "api key not valid", "incorrect api key"):
		e.Kind, e.Final, e.Advice = Auth, true, hintKey
		e.Message = "the API key was refused: " + e.Message
	case code == http.StatusForbidden && f.reason(unverified):
		e.Kind, e.Final, e.Advice = Auth, true, f.help("sign in with the account in a browser, and see what Google asks for")
		e.Message = "Google wants this account to be verified: " + e.Message
	case code == http.StatusForbidden:
		e.Kind, e.Final, e.Advice = Auth, true, f.help(cmp.Or(link(f.message), hintAccess))
		e.Message = "access denied: " + e.Message
		if f.page != "" { // not from the API, which answers in JSON
			e.Advice = hintWebPage
		}
	case code == http.StatusProxyAuthRequired:
		e.Kind, e.Final, e.Advice = Config, true, "the proxy wants a name and a password, or has refused them: HTTPS_PROXY has them before the host, as NAME:PASSWORD@HOST:PORT"
	case code == http.StatusTooManyRequests && hasAny(f.message, "request too large"): // larger than the limit per minute
		e.Kind, e.Final, e.Advice = Overflow, true, hintTooLong
	case code == http.StatusTooManyRequests, code == 499, code == http.StatusServiceUnavailable:
		f.busy(e)
	case f.status == "tool_use_failed": // Groq could not parse a call of the model
		e.Kind, e.Answering = Invalid, true
		e.Message = "the model wrote a tool call that can't be read: " + e.Message
	case (code == http.StatusBadRequest || code == http.StatusUnprocessableEntity || code == http.StatusInternalServerError || f.answering) && overlong(f.message), f.status == "context_length_exceeded", code == http.StatusRequestEntityTooLarge:
		e.Kind, e.Final, e.Advice = Overflow, true, hintTooLong
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooEarly, code == 498: // Groq's flexible tier is full
		e.Kind, e.Advice = Unavailable, hintServer
	case code == http.StatusBadRequest && f.signature():
		e.Kind, e.Code, e.Final, e.Advice = BadRequest, CodeSignature, true, hintSignature
		e.Message = "the request was refused: " + e.Message
	default:
		e.Kind, e.Final = BadRequest, true
		if hasAny(f.message, "maximum allowed number of output tokens", "max_tokens is too large") { // Anthropic, OpenAI
			e.Advice = hintOutput
		}
		e.Message = "the request was refused: " + e.Message
	}
	if e.RetryAfter > maxWait && !e.Final {
		e.Final = true
		e.Advice = later(e.RetryAfter)
	}
	if !strings.Contains(e.Message, strconv.Itoa(f.code)) {
		e.Message += fmt.Sprintf(" (%s)", strings.TrimSpace(strconv.Itoa(f.code)+" "+f.status))
	}
	return e
}

// busy classifies an exceeded limit: temporary or permanent.
func (f *failure) busy(e *Error) {
	e.Kind, e.Advice = Quota, hintWait
	if f.code != http.StatusTooManyRequests {
		e.Kind, e.Advice = Unavailable, hintServer
	}
	if info, ok := f.delay(); ok {
		e.RetryAfter, e.Hinted = info, true
	}
	cloudcode := f.errorInfo(func(d detail) bool { return strings.Contains(d.Domain, "cloudcode-pa") })
	switch used := f.used(); {
	case f.noQuota():
		e.Message = "there is no quota for this model" // on the free tier, say
	case used != "":
		e.Message = used
	default:
		e.Message = "the server refused: " + sentence(e.Message)
	}
	switch {
	case f.noQuota():
		e.Kind, e.Final, e.Advice = Quota, true, hintNoQuota
	case f.quota("PerDay"), f.quota("Daily"):
		e.Kind, e.Final, e.Advice = Quota, true, hintDaily
	case f.reason("MODEL_CAPACITY_EXHAUSTED"), f.reason("MODEL_CAPACITY_EXCEEDED"), len(f.details) == 0 && capacity(f.message):
		e.Kind, e.Code, e.Advice = Unavailable, CodeCapacity, hintServer
	case f.reason("INSUFFICIENT_G1_CREDITS_BALANCE"), cloudcode && f.reason("QUOTA_EXHAUSTED"):
		e.Kind, e.Final, e.Advice = Quota, true, hintDaily
	case cloudcode && f.reason("RATE_LIMIT_EXCEEDED") && !e.Hinted:
		e.Kind, e.Final = Quota, true
	case !e.Hinted && (f.quota("PerMinute") || f.errorInfo(perMinute)):
		e.RetryAfter, e.Hinted = time.Minute, true // by the name of the quota
	}
}

// signature reports whether the server refuses thoughts because of a signature or a change.
func (f *failure) signature() bool {
	return hasAny(f.message, "thought signature", "thought_signature", "thoughtsignature") ||
		hasAny(f.message, "thinking` block", "thinking block") && hasAny(f.message, "signature", "cannot be modified")
}

// moderated reports whether moderation refuses the question or the answer: by codes of OpenAI,
// Azure, Qwen and others, or by messages of OpenRouter, xAI, OpenAI, Anthropic, DeepSeek and
// Z.AI.
func (f *failure) moderated() bool {
	return f.code < 500 && (f.status == "content_filter" || f.status == "data_inspection_failed" ||
		hasAny(f.message, "input was flagged", "prompt was flagged", "content was flagged", "violates usage guidelines", "content filtering policy",
			"content exists risk", "unsafe or sensitive content"))
}

// unknownModel reports whether there is no such model, by messages of servers that do not answer
// with 404: OpenAI, Mistral, DeepSeek, OpenRouter, LiteLLM and LM Studio.
func (f *failure) unknownModel() bool {
	return f.status == "model_not_found" || f.status == "invalid_model" || hasAny(f.message, "model not exist", "model not found", "not a valid model id",
		"invalid model:", "invalid model name", "invalid model id", "no models loaded")
}

// unpaid reports whether the credit is used up or the project's spending limit is reached. The
// code may be the same as for a busy server.
func (f *failure) unpaid() bool {
	switch {
	case f.code == http.StatusPaymentRequired, f.status == "insufficient_quota":
		return true
	case f.code >= 500 && !f.answering:
		return false
	case hasAny(f.message, "prepay", "pre-pay", "prepaid"): // in contrast to a busy server's hint at paid plans
		return hasAny(f.message, "deplet", "exhaust", "requir", "must", "insufficient", "empty", "run out", "used up", "balance")
	}
	return hasAny(f.message, "credits are depleted", "credit balance", "spending cap", "spending limit", "spend cap",
		"insufficient credit", "insufficient funds", "insufficient balance", "out of credit", "no credit")
}

// exhausted reports whether a limit is reached that resets only after days, by messages of
// Anthropic, Ollama and OpenRouter.
func (f *failure) exhausted() bool {
	return hasAny(f.message, "api usage limit", "weekly usage limit", "daily usage limit", "monthly usage limit", "free-models-per-day")
}

// regionBlocked reports whether the API is not available in the user's region.
func (f *failure) regionBlocked() bool {
	return f.code < 500 && hasAny(f.message, "location is not supported", "location not supported",
		"country is not supported", "region is not supported", "not available in your country",
		"not available in your region", "not available in your location", "territory not supported")
}

// closed reports whether message says that a model is available only to others, or no longer.
func closed(message string) bool {
	return hasAny(message, "no longer available", "not available to new users", "closed to new users",
		"has been retired", "has been shut down", "has been discontinued", "must be verified to") && hasAny(message, "model")
}

// noQuota reports whether the exhausted quota is zero.
func (f *failure) noQuota() bool {
	_, rest, ok := strings.Cut(f.message, "limit: 0")
	if ok && (rest == "" || !strings.ContainsAny(rest[:1], "0123456789.") || strings.HasPrefix(rest, ". ") || rest == ".") {
		return true
	}
	return f.violated(func(v violation) bool { return v.QuotaValue == "0" })
}

// link returns the first address in message, without punctuation after it.
func link(message string) string {
	_, rest, ok := strings.Cut(message, "https://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, " \"'<>)"); i >= 0 {
		rest = rest[:i]
	}
	return "https://" + strings.TrimRight(rest, ".,;:")
}

// hasAny reports whether message contains one of words, in any case.
func hasAny(message string, words ...string) bool {
	m := strings.ToLower(message)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(m, w) })
}

// used describes the exhausted quota, "" if f does not name it.
func (f *failure) used() string {
	per := ""
	switch {
	case f.quota("PerDay"), f.quota("Daily"):
		per = "day"
	case f.quota("PerMinute"), f.errorInfo(perMinute):
		per = "minute"
	default:
		return ""
	}
	what := "quota"
	switch {
	case f.quota("Token"):
		what = "quota of tokens"
	case f.quota("Request"):
		what = "quota of requests"
	}
	return fmt.Sprintf("the %s per %s is used up", what, per)
}

// sentence returns the first sentence of s; the others refer to documentation.
func sentence(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	return strings.TrimSuffix(s, ".")
}

func perMinute(d detail) bool {
	return strings.Contains(fmt.Sprint(d.Reason, d.Metadata), "PerMinute")
}

// capacity reports whether message says that the model, not the user, has reached a limit.
func capacity(message string) bool {
	return hasAny(message, "capacity", "overloaded")
}

// overlong reports whether message says that the request is too long.
func overlong(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "token count") && strings.Contains(m, "exceed") ||
		hasAny(m, "request payload size exceeds", "context length", "context size", "context limit", "context window",
			"prompt is too long", "prompt too long", "input is too long", "longer than the maximum model length", "reduce the length of the messages",
			"maximum prompt length", "prompt exceeds max length", "range of input length", "n_ctx", "maximum context", "model token limit", "inputs` tokens +", "inputs` must have less")
}

// delay returns the retry delay in the body of f.
func (f *failure) delay() (time.Duration, bool) {
	for _, d := range f.details {
		if strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			if t, ok := seconds(string(d.RetryDelay)); ok {
				return t, true
			}
		}
	}
	for _, phrase := range []string{"please retry in ", "try again in "} { // the second of OpenAI and Groq
		if i := strings.Index(strings.ToLower(f.message), phrase); i >= 0 && i+len(phrase) <= len(f.message) {
			word, _, _ := strings.Cut(f.message[i+len(phrase):], " ")
			return seconds(strings.TrimRight(word, ".,;"))
		}
	}
	return 0, false
}

// seconds reads a delay such as 34.07s, 900ms or 1h2m3s.
func seconds(s string) (time.Duration, bool) {
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// reason reports whether a detail of f has the reason r.
func (f *failure) reason(r string) bool {
	return f.errorInfo(func(d detail) bool { return d.Reason == r })
}

func (f *failure) errorInfo(is func(detail) bool) bool {
	return slices.ContainsFunc(f.details, func(d detail) bool {
		return strings.HasSuffix(d.Type, "google.rpc.ErrorInfo") && is(d)
	})
}

// quota reports whether a quota whose id contains word is exhausted.
func (f *failure) quota(word string) bool {
	return f.violated(func(v violation) bool { return strings.Contains(v.QuotaID, word) })
}

func (f *failure) violated(is func(violation) bool) bool {
	return slices.ContainsFunc(f.details, func(d detail) bool { return slices.ContainsFunc(d.Violations, is) })
}

// help returns the link in f, or else hint.
func (f *failure) help(hint string) string {
	for _, d := range f.details {
		for _, l := range d.Links {
			if strings.HasPrefix(l.URL, "https://") {
				return strings.TrimPrefix(oneLine(l.Description)+": ", ": ") + oneLine(l.URL)
			}
		}
	}
	for _, d := range f.details {
		if link, _ := d.Metadata["validation_link"].(string); strings.HasPrefix(link, "https://") {
			return "verify it, then ask again: " + oneLine(link)
		}
	}
	return hint
}

// retryAfter returns the retry delay in the header: in Retry-After, as seconds or a date, in a
// more exact header, or by the time at which the exhausted limit resets.
func retryAfter(h http.Header) (after time.Duration, ok bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	if h.Get("Retry-After") == "" {
		return reset(h)
	}
	s := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(s); err == nil {
		if n < 0 || n > int(time.Duration(1<<62)/time.Second) {
			return 0, false
		}
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now)), true
}

// reset returns the time until all exhausted limits in the header reset.
func reset(h http.Header) (after time.Duration, ok bool) {
	for _, limit := range []string{"requests", "tokens"} {
		if h.Get("X-Ratelimit-Remaining-"+limit) != "0" {
			continue
		}
		if d, known := seconds(h.Get("X-Ratelimit-Reset-" + limit)); known {
			after, ok = max(after, d), true
		}
	}
	return after, ok
}
