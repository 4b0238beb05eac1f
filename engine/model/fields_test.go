package model

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"
)

// fields are those of the library's types that requests and answers have, as far as they are
// known here. What is carried goes over the wire as it is; what is not is named behind a "-".
// A field that stands nowhere is new: see what it is for before it is added.
var fields = []struct {
	value any
	names string
}{
	{genai.GenerateContentConfig{}, `SystemInstruction Temperature TopP TopK CandidateCount MaxOutputTokens StopSequences
		ResponseLogprobs Logprobs PresencePenalty FrequencyPenalty Seed ResponseMIMEType ResponseSchema ResponseJsonSchema
		RoutingConfig SafetySettings Tools ToolConfig Labels CachedContent ResponseModalities MediaResolution SpeechConfig
		AudioTimestamp ThinkingConfig ImageConfig EnableEnhancedCivicAnswers ModelArmorConfig ServiceTier
		AudioTranscriptionConfig ContinuationToken GenerationOutputConfig Store
		-HTTPOptions -AutomaticContinuation -ModelSelectionConfig`}, // for the library's client; the last has another name on the wire
	{genai.GenerateContentResponse{}, `Candidates CreateTime ModelVersion PromptFeedback ResponseID UsageMetadata ModelStatus
		-SDKHTTPResponse`},
	{genai.Candidate{}, `Content CitationMetadata FinishMessage TokenCount FinishReason GroundingMetadata AvgLogprobs Index
		LogprobsResult SafetyRatings URLContextMetadata ContinuationToken`},
	{genai.Content{}, "Parts Role"},
	{genai.Part{}, `MediaResolution CodeExecutionResult ExecutableCode FileData FunctionCall FunctionResponse InlineData Text
		Thought ThoughtSignature VideoMetadata ToolCall ToolResponse PartMetadata AudioTranscription MediaProcessing SpeechMetadata`},
	{genai.FunctionCall{}, "ID Args Name PartialArgs WillContinue"},
	{genai.FunctionResponse{}, "Parts ID Name Response -WillContinue -Scheduling"}, // which live sessions alone have
	{genai.FunctionResponsePart{}, "InlineData FileData MediaProcessing"},
	{genai.FunctionDeclaration{}, "Description Name Parameters ParametersJsonSchema Response ResponseJsonSchema Behavior"},
	{genai.Tool{}, `Retrieval ComputerUse FileSearch GoogleSearch GoogleMaps CodeExecution EnterpriseWebSearch
		FunctionDeclarations GoogleSearchRetrieval ParallelAISearch URLContext MCPServers ExaAISearch`},
	{genai.ThinkingConfig{}, "IncludeThoughts ThinkingBudget ThinkingLevel"},
	{genai.GenerateContentResponseUsageMetadata{}, `CacheTokensDetails CachedContentTokenCount CandidatesTokenCount
		CandidatesTokensDetails PromptTokenCount PromptTokensDetails ThoughtsTokenCount ToolUsePromptTokenCount
		ToolUsePromptTokensDetails TotalTokenCount TrafficType`},
	{genai.GenerateContentResponsePromptFeedback{}, "BlockReason BlockReasonMessage SafetyRatings"},
	{genai.GroundingMetadata{}, `ImageSearchQueries GroundingChunks GroundingSupports RetrievalMetadata SearchEntryPoint
		WebSearchQueries GoogleMapsWidgetContextToken RetrievalQueries SourceFlaggingUris`},
}

// TestFields compares the fields of the library's types with those that are known here, so
// that an upgrade shows what is new.
func TestFields(t *testing.T) {
	for _, c := range fields {
		kind, known := reflect.TypeOf(c.value), map[string]bool{}
		for name := range strings.FieldsSeq(c.names) {
			known[strings.TrimPrefix(name, "-")] = true
		}
		for i := range kind.NumField() {
			if f := kind.Field(i); f.IsExported() && !known[f.Name] {
				t.Errorf("%s has a new field, %s %s", kind, f.Name, f.Type)
			} else {
				delete(known, f.Name)
			}
		}
		for name := range known {
			t.Errorf("%s no longer has the field %s", kind, name)
		}
	}
}

// TestCarried sends each setting of a request that is carried, and reads each field of an
// answer, one at a time.
func TestCarried(t *testing.T) {
	wire := map[string]string{"GenerationOutputConfig": "outputConfig"} // else it is the name in JSON
	for name := range strings.FieldsSeq(fields[0].names) {
		if strings.HasPrefix(name, "-") {
			continue
		}
		var config genai.GenerateContentConfig
		f, _ := reflect.TypeOf(config).FieldByName(name)
		reflect.ValueOf(&config).Elem().FieldByName(name).Set(something(f.Type))
		sent, err := body{config: &config}.encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if wire[name] != "" {
			key = wire[name]
		}
		if text := string(sent.text()); !strings.Contains(text, `"`+key+`":`) {
			t.Errorf("%s is not sent: %s", name, text)
		}
	}
	for _, c := range fields[1:3] {
		for name := range strings.FieldsSeq(c.names) {
			f, ok := reflect.TypeOf(c.value).FieldByName(name)
			if !ok {
				continue
			}
			value := reflect.New(reflect.TypeOf(c.value)).Elem()
			value.FieldByName(name).Set(something(f.Type))
			said, err := json.Marshal(value.Addr().Interface())
			if err != nil {
				t.Fatal(err)
			}
			if _, part := c.value.(genai.Candidate); part {
				said = []byte(`{"candidates":[` + string(said) + `]}`)
			}
			var d decoder
			chunk, _, err := d.decode(said)
			if err != nil {
				t.Fatalf("%s: %v", said, err)
			}
			got := reflect.ValueOf(chunk).Elem()
			if _, part := c.value.(genai.Candidate); part {
				got = reflect.ValueOf(chunk.Candidates[0]).Elem()
			}
			if got.FieldByName(name).IsZero() {
				t.Errorf("%s is not read from %s", name, said)
			}
		}
	}
}

// What is written field by field is what encoding/json writes.
func TestFieldsWritten(t *testing.T) {
	for _, value := range []any{genai.GenerateContentConfig{}, genai.Tool{}} {
		kind := reflect.TypeOf(value)
		for i := range kind.NumField() + 1 {
			for _, empty := range []bool{false, true} {
				v := reflect.New(kind).Elem()
				if i < kind.NumField() {
					f := v.Field(i)
					switch {
					case !empty:
						f.Set(something(f.Type()))
					case f.Kind() == reflect.Slice:
						f.Set(reflect.MakeSlice(f.Type(), 0, 0))
					case f.Kind() == reflect.Map:
						f.Set(reflect.MakeMap(f.Type()))
					}
				}
				got, want := newWriter(nil), newWriter(nil)
				if err := cmp.Or(got.fields(v), want.value(v.Interface())); err != nil || string(got.buf) != string(want.buf) {
					t.Errorf("%s is written, not %s: %v", got.buf, want.buf, err)
				}
			}
		}
	}
}

// TestCarriedParts sends, and reads, each field that a part, a call and what it brought can
// have, one at a time.
func TestCarriedParts(t *testing.T) {
	for _, hold := range []struct {
		kind any
		part func(field reflect.Value) *genai.Part
	}{
		{genai.Part{}, func(v reflect.Value) *genai.Part { return v.Addr().Interface().(*genai.Part) }},
		{genai.FunctionCall{}, func(v reflect.Value) *genai.Part {
			return &genai.Part{FunctionCall: v.Addr().Interface().(*genai.FunctionCall)}
		}},
		{genai.FunctionResponse{}, func(v reflect.Value) *genai.Part {
			return &genai.Part{FunctionResponse: v.Addr().Interface().(*genai.FunctionResponse)}
		}},
	} {
		kind := reflect.TypeOf(hold.kind)
		for i := range kind.NumField() {
			if isUnsent(hold.kind, kind.Field(i).Name) {
				continue
			}
			value := reflect.New(kind).Elem()
			value.Field(i).Set(something(kind.Field(i).Type))
			part := hold.part(value)
			want, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			sent, err := body{contents: []*genai.Content{{Parts: []*genai.Part{part}}}}.encode(nil)
			if err != nil {
				t.Fatal(err)
			}
			key, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if text := string(sent.text()); !strings.Contains(text, `"`+key+`":`) {
				t.Errorf("%s.%s is not sent: %s", kind, kind.Field(i).Name, text)
			}
			var d decoder
			chunk, _, err := d.decode([]byte(`{"candidates":[{"content":{"parts":[` + string(want) + `]}}]}`))
			if err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			if got, _ := json.Marshal(chunk.Candidates[0].Content.Parts[0]); string(got) != string(want) {
				t.Errorf("%s.%s is read as %s, want %s", kind, kind.Field(i).Name, got, want)
			}
		}
	}
}

// isUnsent reports whether a field is listed as not carried.
func isUnsent(value any, field string) bool {
	for _, c := range fields {
		if reflect.TypeOf(c.value) == reflect.TypeOf(value) {
			return slices.Contains(strings.Fields(c.names), "-"+field)
		}
	}
	return false
}

// something returns a value that is not the zero value, nor empty.
func something(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		if t.Elem().Kind() != reflect.Struct {
			v.Elem().Set(something(t.Elem()))
		}
	case reflect.Slice:
		v.Set(reflect.Append(v, something(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(something(t.Key()), something(t.Elem()))
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	}
	return v
}
