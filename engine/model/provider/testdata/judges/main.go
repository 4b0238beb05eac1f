// Judges read a request on standard input as the types of a vendor's SDK do, send what these
// have understood to a server, and write what the SDK makes of the answer. The arguments are
// the protocol (openai, anthropic or ollama) and the address of the server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// A heard is what the SDK has heard.
type heard struct {
	Text, Thought, Signature, Finish string
	Calls                            []call
	Tokens                           [3]int64 // of the prompt, of which cached, of the answer
	Unknown                          []string // fields that the SDK's types do not have
}

type call struct {
	ID, Name string
	Args     json.RawMessage
}

func main() {
	ask := map[string]func(string, []byte, *heard) error{"openai": askOpenAI, "anthropic": askAnthropic, "ollama": askOllama}[os.Args[1]]
	var h heard
	body, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = ask(os.Args[2], body, &h)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(h)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func askOpenAI(at string, body []byte, h *heard) error {
	var req openai.ChatCompletionNewParams
	var how struct {
		Stream     bool
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if err := json.Unmarshal(body, &how); err != nil {
		return err
	}
	if len(how.ToolChoice) > 0 && how.ToolChoice[0] == '{' { // which the union takes for a tool of another kind
		var named openai.ChatCompletionNamedToolChoiceParam
		if err := json.Unmarshal(how.ToolChoice, &named); err != nil {
			return err
		}
		req.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfFunctionToolChoice: &named}
	}
	client := openai.NewClient(option.WithBaseURL(at), option.WithAPIKey("sk-key"), option.WithMaxRetries(0))
	var whole openai.ChatCompletion
	if how.Stream {
		all := client.Chat.Completions.NewStreaming(context.Background(), req)
		var acc openai.ChatCompletionAccumulator
		for all.Next() {
			chunk := all.Current()
			h.unknown("", reflect.ValueOf(chunk))
			if !acc.AddChunk(chunk) {
				return fmt.Errorf("this chunk does not belong to the answer: %s", chunk.RawJSON())
			}
		}
		if err := all.Err(); err != nil {
			return err
		}
		whole = acc.ChatCompletion
	} else {
		c, err := client.Chat.Completions.New(context.Background(), req)
		if err != nil {
			return err
		}
		h.unknown("", reflect.ValueOf(*c))
		whole = *c
	}
	for _, c := range whole.Choices {
		h.Text, h.Finish = h.Text+c.Message.Content, c.FinishReason
		for _, called := range c.Message.ToolCalls {
			h.Calls = append(h.Calls, call{called.ID, called.Function.Name, json.RawMessage(called.Function.Arguments)})
		}
	}
	u := whole.Usage
	h.Tokens = [3]int64{u.PromptTokens, u.PromptTokensDetails.CachedTokens, u.CompletionTokens}
	return nil
}

func askAnthropic(at string, body []byte, h *heard) error {
	var req anthropic.MessageNewParams
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	client := anthropic.NewClient(anthropicoption.WithBaseURL(at), anthropicoption.WithAPIKey("sk-key"), anthropicoption.WithMaxRetries(0))
	all := client.Messages.NewStreaming(context.Background(), req)
	var whole anthropic.Message
	for all.Next() {
		event := all.Current()
		h.unknown("", reflect.ValueOf(event.AsAny()))
		if err := whole.Accumulate(event); err != nil {
			return err
		}
	}
	if err := all.Err(); err != nil {
		return err
	}
	for _, b := range whole.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			h.Text += b.Text
		case anthropic.ThinkingBlock:
			h.Thought, h.Signature = h.Thought+b.Thinking, h.Signature+b.Signature
		case anthropic.ToolUseBlock:
			h.Calls = append(h.Calls, call{b.ID, b.Name, b.Input})
		}
	}
	u := whole.Usage
	h.Finish, h.Tokens = string(whole.StopReason), [3]int64{u.InputTokens + u.CacheReadInputTokens, u.CacheReadInputTokens, u.OutputTokens}
	return nil
}

func askOllama(at string, body []byte, h *heard) error {
	var req api.ChatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	return api.NewClient(u, http.DefaultClient).Chat(context.Background(), &req, func(c api.ChatResponse) error {
		h.Text, h.Thought = h.Text+c.Message.Content, h.Thought+c.Message.Thinking
		for _, called := range c.Message.ToolCalls {
			h.Calls = append(h.Calls, call{called.ID, called.Function.Name, json.RawMessage(called.Function.Arguments.String())})
		}
		if c.Done {
			h.Finish, h.Tokens = c.DoneReason, [3]int64{int64(c.PromptEvalCount), 0, int64(c.EvalCount)}
		}
		return nil
	})
}

// unknown notes the fields of a value, and of all within, that its type does not have.
func (h *heard) unknown(at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			h.unknown(at, v.Index(i))
		}
	case reflect.Interface:
		h.unknown(at, v.Elem())
	case reflect.Struct:
		if said := v.FieldByName("JSON"); said.IsValid() && said.Kind() == reflect.Struct {
			if extra := said.FieldByName("ExtraFields"); extra.IsValid() {
				for _, key := range extra.MapKeys() {
					if name := at + "." + key.String(); !slices.Contains(h.Unknown, name) {
						h.Unknown = append(h.Unknown, name)
					}
				}
			}
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "JSON" {
				h.unknown(at+"."+f.Name, v.Field(i))
			}
		}
	}
}
