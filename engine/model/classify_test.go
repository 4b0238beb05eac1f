package model

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// told returns what the user is told of an error.
func told(e *Error) string { return strings.TrimSuffix(e.Message+"\nhint: "+e.Hint(), "\nhint: ") }

func TestClassify(t *testing.T) {
	info := func(reason, domain string) string {
		return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":%q}`, reason, domain)
	}
	retryInfo := func(delay string) string {
		return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%q}`, delay)
	}
	quota := func(id string) string {
		return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":%q}]}`, id)
	}
	body := func(code int, message string, details ...string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":"S","details":[%s]}}`, code, message, strings.Join(details, ","))
	}
	const cloudcode = "cloudcode-pa.googleapis.com"
	for _, c := range []struct {
		name  string
		http  int
		body  string
		kind  Kind
		final bool
		after time.Duration
		text  string // a part of it
	}{
		{"a vendor's quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan.","type":"insufficient_quota","code":"insufficient_quota"}}`,
			Auth, true, 0, "nothing is left to pay with"},
		{"a vendor's credit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, Auth, true, 0, "nothing is left"},
		{"a vendor's overload", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Unavailable, false, 0, "Overloaded (529 overloaded_error)"},
		{"a vendor's context", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, Overflow, true, 0, ""},
		{"a prompt too long", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, Overflow, true, 0, ""},
		{"a small context", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, Overflow, true, 0, ""},
		{"a filter", 400, `{"error":{"code":"content_filter","message":"The response was filtered"}}`, Refused, true, 0, "refuses to answer"},
		{"moderation of OpenRouter", 403, `{"error":{"code":403,"message":"a/b requires moderation on Anthropic. Your input was flagged for \"violence\". No credits were charged.","metadata":{"reasons":["violence"],"flagged_input":"kill"}}}`,
			Refused, true, 0, "refuses to answer: a/b requires moderation on Anthropic. Your input was flagged for \"violence\". No credits were charged. (403)\nhint: say it in other words"},
		{"moderation of xAI", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}`, Refused, true, 0, "SAFETY_CHECK_TYPE_BIO"},
		{"moderation of OpenAI", 400, `{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.","type":"invalid_request_error","code":"invalid_prompt"}}`, Refused, true, 0, "refuses to answer"},
		{"moderation of Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, Refused, true, 0, "refuses to answer"},
		{"moderation of DeepSeek", 400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}`, Refused, true, 0, "refuses to answer"},
		{"moderation of Qwen", 400, `{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content.","type":"data_inspection_failed"}}`, Refused, true, 0, "refuses to answer"},
		{"too little credit", 402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account","code":402}}`,
			Auth, true, 0, "or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234. (402)\nhint: pay in, or have answers be shorter, by maxOutputTokens"},
		{"an unknown model of DeepSeek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","code":"invalid_request_error"}}`, NotFound, true, 0, "model m: Model Not Exist (400 invalid_request_error)\nhint: choose another model"},
		{"an unknown model of Mistral", 400, `{"object":"error","message":"Invalid model: foo","type":"invalid_model","code":"1500"}`, NotFound, true, 0, "choose another model"},
		{"an unknown model of OpenRouter", 400, `{"error":{"message":"foo/bar is not a valid model ID","code":400},"user_id":"u"}`, NotFound, true, 0, "choose another model"},
		{"a model of another project", 403, `{"error":{"message":"Project p does not have access to model m","type":"invalid_request_error","code":"model_not_found"}}`, NotFound, true, 0, "choose another model"},
		{"a model for those who are verified", 400, `{"error":{"message":"Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.","code":"unsupported_value"}}`,
			NotFound, true, 0, "model m is closed to this user: Your organization must be verified to stream this model (400 unsupported_value)\nhint: https://platform.openai.com/settings"},
		{"a key that xAI does not know", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***yz. You can obtain an API key from https://console.x.ai."}`, Auth, true, 0, "the API key was refused: Incorrect API key provided"},
		{"a territory", 403, `{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","type":"request_forbidden"}}`, Auth, true, 0, "requests from where this one came from"},
		{"too much for a minute", 429, `{"error":{"message":"Request too large for gpt-4o in organization org-X on tokens per min (TPM): Limit 30000, Requested 42000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`,
			Overflow, true, 0, "Requested 42000"},
		{"a context of LM Studio", 400, `{"error":"Cannot truncate prompt with n_keep (14169) >= n_ctx (4096)"}`, Overflow, true, 0, ""},
		{"a context of llama.cpp", 500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, Overflow, true, 0, ""},
		{"a context of GLM", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, Overflow, true, 0, ""},
		{"a context of Qwen", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]","code":"invalid_parameter_error"}}`, Overflow, true, 0, ""},
		{"a tier that is full", 498, `{"error":{"message":"Flex tier capacity exceeded","type":"capacity_exceeded"}}`, Unavailable, false, 0, "try again later"},
		{"a conflict", 409, `{"error":{"message":"conflict"}}`, Unavailable, false, 0, "try again later"},
		{"no credit of Z.AI", 429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, Auth, true, 0, "nothing is left to pay with"},
		{"a model that loads", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, Unavailable, false, 0, "Loading model"},
		{"a bare text", 404, `{"error":"model 'x' not found"}`, NotFound, true, 0, "model 'x' not found"},
		{"no quota at all", 429, body(429, "Quota exceeded, limit: 0, model: m"), Quota, true, 0, "there is no quota for this model (429 S)"},
		{"no quota, by its value", 429, body(429, "x", `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"PerDay","quotaValue":"0"}]}`),
			Quota, true, 0, "turn on billing"},
		{"no quota for one of two", 429, body(429, "* Quota exceeded, limit: 50\n* Quota exceeded, limit: 0\nPlease retry in 5s.", retryInfo("5s")),
			Quota, true, 5 * time.Second, "turn on billing"},
		{"a low quota", 429, body(429, "Quota exceeded, limit: 0.5"), Quota, false, 0, "the server refused: Quota exceeded, limit: 0.5"},
		{"no prepaid credit", 429, body(429, "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing."),
			Auth, true, 0, "nothing is left to pay with: Your prepayment credits are depleted (429 S)\nhint: https://ai.studio/projects"},
		{"the cap", 429, body(429, "Your project has exceeded its monthly spending cap. Please go to AI Studio at https://ai.studio/spend."),
			Auth, true, 0, "its monthly spending cap (429 S)\nhint: https://ai.studio/spend"},
		{"the cap, and a time to wait", 429, body(429, "Monthly Spending Cap reached", retryInfo("5s")), Auth, true, 0, "hint: see https://ai.studio/projects"},
		{"to be paid", 402, body(402, "Payment required"), Auth, true, 0, "nothing is left to pay with: Payment required (402 S)"},
		{"prepaid only", 400, body(400, "This project must use prepaid billing."), Auth, true, 0, "nothing is left to pay with"},
		{"no credit in the middle", 200, body(429, "Your prepayment credits are depleted"), Auth, true, 0, "nothing is left"},
		{"busy, for those who prepay", 429, body(429, "Rate limit of the prepay tier exceeded", retryInfo("5s")), Quota, false, 5 * time.Second, ""},
		{"quota and billing", 429, body(429, "You exceeded your current quota, please check your plan and billing details."), Quota, false, 0, ""},
		{"service switched off", 403, body(403, "Generative Language API has not been used in project 1 before or it is disabled. Enable it by visiting https://console.example.com/apis?project=1 then retry."),
			Auth, true, 0, "\nhint: https://console.example.com/apis?project=1"},
		{"busy with credits", 503, body(503, "the service of prepayment is overloaded"), Unavailable, false, 0, ""},
		{"location", 400, body(400, "User location is not supported for the API use."), Auth, true, 0,
			"refuses requests from where this one came from: User location is not supported for the API use (400 S)\nhint: see https://ai.google.dev/"},
		{"country", 400, body(400, "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."),
			Auth, true, 0, "not available in your country (400 S)"},
		{"closed to new users", 404, body(404, "This model models/m is no longer available to new users. Please update your code."),
			NotFound, true, 0, "model m is closed to this user: This model models/m is no longer available to new users (404 S)\nhint: choose another model"},
		{"shut down", 400, body(400, "The model m has been shut down."), NotFound, true, 0, "closed to this user"},
		{"signature", 400, body(400, "Corrupted thought signature."), BadRequest, true, 0, "Corrupted thought signature. (400 S)\nhint: begin a new conversation (/clear"},
		{"signature, in other words", 400, body(400, "Thought signature is not valid"), BadRequest, true, 0, "hint: begin a new conversation (/clear"},
		{"plain", 429, body(429, "slow down"), Quota, false, 0, "slow down (429 S)"},
		{"phrase", 429, body(429, "Quota. Please retry in 34.07s."), Quota, false, 34070 * time.Millisecond, "the server refused: Quota (429 S)\n"},
		{"phrase in ms", 429, body(429, "please retry in 900ms"), Quota, false, 900 * time.Millisecond, ""},
		{"a key that has expired, without details", 400, `{"error":{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}}`, Auth, true, 0, "the API key was refused: API key expired. Please renew the API key. (400 INVALID_ARGUMENT)"},
		{"a firewall", 403, "<html><title>Access Denied</title></html>", Auth, true, 0, "a proxy or a log-in page may stand between"},
		{"phrase of OpenAI", 429, `{"error":{"message":"Rate limit reached for m. Please try again in 250ms. Visit https://x.","code":"rate_limit_exceeded"}}`, Quota, false, 250 * time.Millisecond, ""},
		{"long phrase", 429, body(429, "Please retry in 301s"), Quota, true, 301 * time.Second, "try again in 5m1s"},
		{"capacity", 429, body(429, "No capacity available for model m"), Unavailable, false, 0, ""},
		{"capacity by name", 429, body(429, "x", info("MODEL_CAPACITY_EXHAUSTED", "d")), Unavailable, false, 0, ""},
		{"per day", 429, body(429, "x", quota("RequestsPerDayPerProject"), retryInfo("2s")), Quota, true, 2 * time.Second, "the quota of requests per day is used up (429 S)"},
		{"daily", 429, body(429, "x", quota("DailyLimit")), Quota, true, 0, "the quota per day is used up"},
		{"per minute", 429, body(429, "x", quota("GenerateRequestsPerMinutePerProject")), Quota, false, time.Minute, "the quota of requests per minute is used up (429 S)"},
		{"per minute, at once", 429, body(429, "x", quota("RequestsPerMinute"), retryInfo("0s")), Quota, false, 0, ""},
		{"cloudcode rate, at once", 429, body(429, "x", info("RATE_LIMIT_EXCEEDED", cloudcode), retryInfo("0s")), Quota, false, 0, ""},
		{"per minute with delay", 429, body(429, "x", quota("InputTokensPerModelPerMinute"), retryInfo("2s")), Quota, false, 2 * time.Second, "the quota of tokens per minute is used up (429 S)"},
		{"credits", 429, body(429, "x", info("INSUFFICIENT_G1_CREDITS_BALANCE", "d")), Quota, true, 0, ""},
		{"cloudcode quota", 429, body(429, "x", info("QUOTA_EXHAUSTED", cloudcode), retryInfo("2s")), Quota, true, 2 * time.Second, ""},
		{"cloudcode rate", 429, body(429, "x", info("RATE_LIMIT_EXCEEDED", cloudcode), retryInfo("2s")), Quota, false, 2 * time.Second, ""},
		{"cloudcode rate without delay", 429, body(429, "x", info("RATE_LIMIT_EXCEEDED", cloudcode)), Quota, true, 0, ""},
		{"rate elsewhere", 429, body(429, "x", info("RATE_LIMIT_EXCEEDED", "googleapis.com")), Quota, false, 0, ""},
		{"delay", 429, body(429, "x", retryInfo("1.5s")), Quota, false, 1500 * time.Millisecond, ""},
		{"odd delay", 429, body(429, "x", retryInfo("soon")), Quota, false, 0, ""},
		{"long delay", 429, body(429, "x", retryInfo("3600s")), Quota, true, time.Hour, "try again in 1h00m"},
		{"client closed", 499, body(499, "The operation was cancelled."), Unavailable, false, 0, ""},
		{"overloaded", 503, body(503, "overloaded"), Unavailable, false, 0, "try again later"},
		{"internal", 500, body(500, "An internal error"), Unavailable, false, 0, "hint: the fault is the server's"},
		{"gateway timeout", 504, "upstream request timeout", Unavailable, false, 0, "upstream request timeout (504)"},
		{"timeout", 408, "", Unavailable, false, 0, "408 Request Timeout"},
		{"key", 400, body(400, "API key expired", info("API_KEY_EXPIRED", "d")), Auth, true, 0, "GEMINI_API_KEY"},
		{"unauthenticated", 401, "Unauthorized", Auth, true, 0, "the API key was refused: Unauthorized (401)"},
		{"to be verified", 403, body(403, "verify", info("VALIDATION_REQUIRED", cloudcode),
			`{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Verify your account","url":"https://example.com/v"}]}`),
			Auth, true, 0, "hint: Verify your account: https://example.com/v"},
		{"to be verified, by another link", 403, body(403, "verify", strings.Replace(info("VALIDATION_REQUIRED", cloudcode), "{", `{"metadata":{"validation_link":"https://example.com/w"},`, 1)),
			Auth, true, 0, "Google wants this account to be verified: verify (403 S)\nhint: verify it, then ask again: https://example.com/w"},
		{"to be verified, by no link", 403, body(403, "verify", strings.Replace(info("VALIDATION_REQUIRED", cloudcode), "{", `{"metadata":{"validation_link":"javascript:x"},`, 1)),
			Auth, true, 0, "in a browser"},
		{"unknown model", 404, body(404, "models/m is not found"), NotFound, true, 0, "model m: models/m is not found (404 S)"},
		{"bad", 400, body(400, "Invalid value"), BadRequest, true, 0, "the request was refused: Invalid value (400 S)"},
		{"too large", 413, "", Overflow, true, 0, "/clear"},
		{"proxy", 407, "", Config, true, 0, "NAME:PASSWORD"},
		{"teapot", 418, "I am a teapot", BadRequest, true, 0, "I am a teapot (418)"},
		{"code in the body", 200, body(503, "overloaded"), Unavailable, false, 0, "(503 S)"},
		{"nested", 400, body(400, `{"error":{"message":"inside"}}`), BadRequest, true, 0, "refused: inside (400 S)"},
		{"a text", 502, `{"error":"upstream is down"}`, Unavailable, false, 0, "upstream is down (502)"},
		{"details of other types", 429, `{"error":{"code":429,"message":5,"details":[7,{"@type":"google.rpc.RetryInfo","retryDelay":"1s","reason":7}]}}`, Quota, false, time.Second, ""},
		{"a delay that is an object", 429, body(429, "x", `{"@type":"google.rpc.RetryInfo","retryDelay":{"seconds":"3","nanos":500000000}}`), Quota, false, 3500 * time.Millisecond, ""},
		{"a delay that is a number", 429, body(429, "x", `{"@type":"google.rpc.RetryInfo","retryDelay":2.5}`), Quota, false, 2500 * time.Millisecond, ""},
		{"a delay that is neither", 429, body(429, "x Please retry in 4s.", `{"@type":"google.rpc.RetryInfo","retryDelay":[1]}`), Quota, false, 4 * time.Second, ""},
		{"an object without an envelope", 400, `{"object":"error","message":"This model's maximum context length is 8 tokens","type":"BadRequestError","param":null,"code":400}`, Overflow, true, 0, "context length is 8 tokens (400 BadRequestError)"},
		{"a detail", 404, `{"detail":"Not Found"}`, NotFound, true, 0, "model m: Not Found (404)"},
		{"a list of details", 422, `{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":null},{"msg":"Bad"}]}`, BadRequest, true, 0, "refused: Field required at [body messages 0]; Bad (422)"},
		{"a detail in a message", 422, `{"object":"error","message":{"detail":[{"loc":["body","x"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error"}`, BadRequest, true, 0, "refused: Extra inputs are not permitted at [body x] (422 invalid_request_error)"},
		{"a bare message", 401, `{"message":"Unauthorized","request_id":"1"}`, Auth, true, 0, "refused: Unauthorized (401)"},
		{"a status in the body", 404, `{"statusCode":404,"message":"Resource not found"}`, NotFound, true, 0, "Resource not found (404)"},
		{"a list of errors", 400, `{"success":false,"errors":[{"code":7003,"message":"No route"}],"messages":[]}`, BadRequest, true, 0, "refused: No route (400)"},
		{"a text beside a code", 403, `{"code":"The caller does not have permission","error":"Your team has no access"}`, Auth, true, 0, "access denied: Your team has no access (403)"},
		{"what a gateway was told", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 9 tokens\"}}","provider_name":"X"}},"user_id":"u"}`, Overflow, true, 0, "Provider returned error: prompt is too long: 9 tokens (400)"},
		{"what a gateway was told in words", 429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"m is temporarily rate-limited upstream. Please retry shortly."}}}`, Quota, false, 0, "Provider returned error: m is temporarily rate-limited upstream (429)"},
		{"a code of another kind", 400, `{"code":200,"msg":"no"}`, BadRequest, true, 0, "refused: no (400)"},
		{"nothing that is known", 400, `{"a":1}`, BadRequest, true, 0, `refused: {"a":1} (400)`},
		{"no error", 500, `{"error":null}`, Unavailable, false, 0, ""},
		{"a call that can't be read", 400, `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=f{"}}`, Invalid, false, 0, "the model wrote a tool call that can't be read: Failed to call a function. (400 tool_use_failed)"},
		{"the limit of a month", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}`,
			Quota, true, 0, "You will regain access on 2026-12-01"},
		{"the limit of a week", 429, `{"error":"you (x) have reached your weekly usage limit, upgrade for higher limits: https://ollama.com/upgrade"}`, Quota, true, 0, "weekly usage limit"},
		{"the limit of a day", 429, `{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429}}`, Quota, true, 0, "free-models-per-day"},
		{"too little memory", 500, `{"error":"model requires more system memory (9.8 GiB) than is available (4.1 GiB)"}`, Unavailable, true, 0, "choose a smaller model"},
		{"a prompt of xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, Overflow, true, 0, ""},
		{"long message", 400, strings.Repeat("long ", 10000), BadRequest, true, 0, "long long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := parseFailure(c.http, nil, []byte(c.body)).classify("m")
			if e.Kind != c.kind || e.Final != c.final || e.RetryAfter != c.after || !strings.Contains(told(e), c.text) {
				t.Errorf("%s, final %v, after %s: %s\nwant %s, final %v, after %s: %s",
					e.Kind, e.Final, e.RetryAfter, told(e), c.kind, c.final, c.after, c.text)
			}
			if e.HTTP != c.http || len(told(e)) > 1200 || strings.Count(told(e), "\n") > 1 {
				t.Errorf("%d %q", e.HTTP, told(e))
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	date := func(s string) http.Header {
		return http.Header{"Retry-After": {s}, "Date": {"Wed, 21 Oct 2026 07:28:00 GMT"}}
	}
	for _, c := range []struct {
		value string
		want  time.Duration
	}{
		{"7", 7 * time.Second}, {" 7 ", 7 * time.Second}, {"0", 0}, {"-1", 0}, {"1.5", 0}, {"soon", 0}, {"", 0},
		{"99999999999999999999", 0}, {"9999999999999", 0},
		{"Wed, 21 Oct 2026 07:28:30 GMT", 30 * time.Second}, {"Wed, 21 Oct 2026 07:27:00 GMT", 0},
	} {
		if got, _ := retryAfter(date(c.value)); got != c.want {
			t.Errorf("Retry-After %q: %s, want %s", c.value, got, c.want)
		}
	}
	e := parseFailure(429, date("9"), []byte(`{"error":{"code":429}}`)).classify("m")
	if e.RetryAfter != 9*time.Second {
		t.Errorf("after %s", e.RetryAfter)
	}
}

// TestLimits reads when to come back, as servers say it in the header.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		header map[string]string
		want   time.Duration
		ok     bool
	}{
		{"seconds", map[string]string{"retry-after": "7"}, 7 * time.Second, true},
		{"milliseconds come first", map[string]string{"retry-after": "7", "retry-after-ms": "1500"}, 1500 * time.Millisecond, true},
		{"the limit that is used up", map[string]string{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s",
			"x-ratelimit-remaining-tokens": "10", "x-ratelimit-reset-tokens": "9m"}, 6 * time.Minute, true},
		{"both limits", map[string]string{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s",
			"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2m59.56s"}, 2*time.Minute + 59560*time.Millisecond, true},
		{"nothing is used up", map[string]string{"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1s"}, 0, false},
		{"nonsense", map[string]string{"retry-after-ms": "soon"}, 0, false},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if got, ok := retryAfter(h); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v", c.name, got, ok)
		}
	}
}
