package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// FuzzCommon holds the quick decoder against encoding/json.
func FuzzCommon(f *testing.F) {
	for _, s := range []string{
		`{"candidates": [{"content": {"parts": [{"text": "a"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 1,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 1}]},"modelVersion": "m","responseId": "r"}`,
		`{"candidates":[{"content":{"parts":[{"text":"a\n\"b\" \u003c \/ \\ \u00e4 \t","thought":true}],"role":"user"},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"\ud83d\ude00"}]}}]}`,
		`{"candidates":[{"content":{}}],"usageMetadata":{}} `, `{"error":{"code":1}}`,
		`{"candidates":[{"citationMetadata":{"citationSources":[{"uri":"u","startIndex":1}]}},null]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a","text":"b"}],"parts":[]}}]}`,
		`{"candidates":[{"index":01}]}`, `{"candidates":[{"index":1.0}]}`, `{"candidates":[{"index":-1}]}`,
		`{"candidates":[{}],"candidates":[{}]}`, `{}`, `{"modelVersion":"\u0041"}`, `{"Candidates":[{}]}`,
		`{"candidates":[{"content":{"role":"` + "\xff" + `"}}]}`, `{"modelVersion":"` + "\xff" + `"}`,
		`{"candidates":[{"content":{"parts":[{"text":"\u00g0"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":"\x"}]}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d decoder
		d.last[ruleVersion] = "m"
		(&decoder{}).decode(b) // must not panic
		got := d.fastDecode(b)
		if got == nil {
			return
		}
		var want wireResponse
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("%q: decoded, but %v", b, err)
		}
		if d := cmp.Diff((*genai.GenerateContentResponse)(&want), got); d != "" {
			t.Errorf("%q: %s", b, d)
		}
	})
}

// FuzzUnwrapped puts documents into the envelope of Code Assist and takes them
// out again.
func FuzzUnwrapped(f *testing.F) {
	for _, s := range []string{`{}`, `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"error":{"code":1}}`, `[]`, `null`, `7`, `{`,
		`{"response":{"response":{}}}`, `{"response":null}`, `{"Response":{},"traceId":7}`, `[{"response":{}}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if inner, _ := unwrapped(b); !bytes.Contains(b, inner) {
			t.Errorf("%q: %q", b, inner)
		}
		(&decoder{wrapped: true}).decode(b) // must not panic
		if b = bytes.TrimSpace(b); !json.Valid(b) || b[0] != '{' {
			return
		}
		wrapped := append(append([]byte(`{"traceId":"t","response":`), b...), '}')
		if inner, id := unwrapped(wrapped); !bytes.Equal(inner, b) || id != "t" {
			t.Errorf("%q: %q, %q", b, inner, id)
		}
	})
}

// FuzzEvents holds the reader of streams against a plain reading of the
// standard, whatever pieces the stream comes in.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\ndata: b\r\n\r\ndata:c\r\r", "\ufeffdata: a\n\n", ": x\nevent: y\ndata\ndata: \ndata: a\nid\n\n",
		"data: {}\n", "data: {}\r\n", "data: {", "data:  a\n\n\n\n", "\r\n\r\ndata:a\r\n\r\n", "dataa: x\n\ndata:\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, wantErr := reference(b)
		for name, r := range map[string]io.Reader{
			"whole": bytes.NewReader(b), "bytewise": iotest.OneByteReader(bytes.NewReader(b)),
			"with the end": iotest.DataErrReader(bytes.NewReader(b)),
		} {
			e := newEventReader(r)
			var got []string
			var err error
			for {
				var data []byte
				if data, err = e.next(); err != nil {
					break
				}
				got = append(got, string(data))
				if len(got) > len(b) {
					t.Fatal("endless")
				}
			}
			if d := cmp.Diff(want, got); d != "" || !errors.Is(err, wantErr) {
				t.Errorf("%s %q: error %v, want %v\n%s", name, b, err, wantErr, d)
			}
			newEventReader(bytes.NewReader(b)).peek()
		}
	})
}

// reference reads events in the simplest way.
func reference(b []byte) (events []string, err error) {
	s := strings.TrimPrefix(string(b), "\ufeff")
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	var lines []string
	scanner := bufio.NewScanner(strings.NewReader(s))
	scanner.Buffer(nil, len(s)+1)
	scanner.Split(func(data []byte, end bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i], nil
		}
		if end && len(data) > 0 {
			return len(data), data, nil
		}
		return 0, nil, nil
	})
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	var data []string
	for _, line := range lines {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "":
			if s := strings.Join(data, "\n"); s != "" {
				events = append(events, s)
			}
			data = nil
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	if s := strings.Join(data, "\n"); s != "" {
		if !complete([]byte(s)) {
			return events, io.ErrUnexpectedEOF
		}
		events = append(events, s)
	}
	return events, io.EOF
}

// FuzzFailure gives the reader of errors whatever a server may say.
func FuzzFailure(f *testing.F) {
	for _, s := range []string{
		`{"error":{"code":429,"message":"m Please retry in 3.5s.","status":"S","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`,
		`[{"error":{"code":"503","message":"limit: 0"}}]`, `{"error":"x"}`, `{"error":5}`, `{"error":null}`, `[]`, `[1]`, "", "<html><title>&amp;</title>", "<TITLE>\u0130</TITLE>",
		`{"error":{"message":"{\"error\":{\"message\":\"inner\"}}","details":{"a":1}}}`, "\xff\xfe", "please retry in ",
	} {
		f.Add(429, []byte(s), "7")
		f.Add(200, []byte(s), "Wed, 21 Oct 2015 07:28:00 GMT")
		f.Add(400, []byte(s), "-1")
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, after string) {
		e := parseFailure(status, http.Header{"Retry-After": {after}}, body).classify("m")
		if e.Message == "" || strings.ContainsAny(told(e), "\r") || strings.Count(told(e), "\n") > 1 {
			t.Errorf("text %q", told(e))
		}
		if e.RetryAfter < 0 || len(told(e)) > 8000 {
			t.Errorf("%+v", e)
		}
		if e.RetryAfter > maxWait && !e.Final {
			t.Errorf("waits for %s", e.RetryAfter)
		}
	})
}

// FuzzShape holds the reader of usual pieces against encoding/json.
func FuzzShape(f *testing.F) {
	shape := Shape{"id": Scalar, "usage": "null", "choices": []Shape{{"index": "0", "delta": Shape{"role": Scalar, "content": Content}}}}
	for _, s := range []string{`{"id":"a","choices":[{"index":0,"delta":{"role":"assistant","content":"a\u00e9\n"}}],"usage":null}`, `{"id":1234567890123,"choices":[{"delta":{"content":""}}]} `,
		`{"choices":[{"delta":{"content":"a","content":"b"}}]}`, `{"id":01,"choices":[]}`, `{"id":"\u0000"}`, `{"id":-1.5e3,"usage":nullx}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		said, ok := shape.Text(b)
		if !ok {
			return
		}
		var c struct {
			Usage   any
			Choices []struct {
				Index int
				Delta struct{ Content *string }
			}
		}
		if err := json.Unmarshal(b, &c); err != nil || c.Usage != nil || len(c.Choices) != 1 || c.Choices[0].Index != 0 || c.Choices[0].Delta.Content == nil || *c.Choices[0].Delta.Content != said {
			t.Errorf("%q says %q: %v", b, said, err)
		}
	})
}
