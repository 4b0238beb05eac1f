// Floor does the wire work of one turn with the standard library and nothing
// else: what a program in Go can hardly be faster than.
//
//	floor URL [STEPS [once]]
//	floor stream PROTOCOL URL [json]
//	floor parse FILE
//
// It posts a request, copies the texts of the streamed answer to standard
// output, and, given STEPS, reads a file and posts again that many times. It encodes the
// whole conversation each time or, if that is wanted, what is new of it once. The second
// copies the texts of an answer in a protocol (gemini, openai, anthropic or ollama), each as a
// record of its own if that is wanted. The third looks through a file of JSON lines.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

type part struct {
	Text             string          `json:"text,omitempty"`
	FunctionCall     json.RawMessage `json:"functionCall,omitempty"`
	FunctionResponse map[string]any  `json:"functionResponse,omitempty"`
}

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

func main() {
	steps := 0
	if os.Args[1] == "parse" {
		parse(os.Args[2])
		return
	}
	if os.Args[1] == "stream" {
		stream(os.Args[2], os.Args[3], len(os.Args) > 4)
		return
	}
	if len(os.Args) > 2 {
		steps, _ = strconv.Atoi(os.Args[2])
	}
	once := len(os.Args) > 3
	history := []content{{"user", []part{{Text: "hi"}}}}
	encoded := []byte(`{"contents":[`)
	out := bufio.NewWriterSize(os.Stdout, 1)
	for i := 0; i <= steps; i++ {
		var body []byte
		if once {
			b, err := json.Marshal(history)
			fail(err)
			if i > 0 {
				encoded = append(encoded, ',')
			}
			encoded = append(encoded, b[1:len(b)-1]...)
			body, history = append(encoded, "]}"...), nil
		} else {
			b, err := json.Marshal(map[string]any{"contents": history})
			fail(err)
			body = b
		}
		resp, err := http.Post(os.Args[1], "application/json", bytes.NewReader(body))
		fail(err)
		said := content{Role: "model"}
		for r := bufio.NewReaderSize(resp.Body, 1<<16); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				break
			}
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var chunk struct{ Candidates []struct{ Content content } }
			fail(json.Unmarshal(data, &chunk))
			for _, c := range chunk.Candidates {
				for _, p := range c.Content.Parts {
					out.WriteString(p.Text)
					said.Parts = append(said.Parts, p)
				}
			}
			out.Flush()
		}
		resp.Body.Close()
		answer := content{Role: "user"}
		for _, p := range said.Parts {
			if p.FunctionCall == nil {
				continue
			}
			var fc struct {
				ID, Name string
				Args     struct {
					Path string `json:"file_path"`
				}
			}
			fail(json.Unmarshal(p.FunctionCall, &fc))
			b, _ := os.ReadFile(fc.Args.Path)
			answer.Parts = append(answer.Parts, part{FunctionResponse: map[string]any{
				"id": fc.ID, "name": fc.Name, "response": map[string]string{"output": string(b)}}})
		}
		if answer.Parts == nil {
			break
		}
		history = append(history, said, answer)
	}
	out.WriteString("\n")
	out.Flush()
}

// A record is a text as stream-json has it.
type record struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	Delta     bool   `json:"delta"`
	Seq       int    `json:"seq"`
	Elapsed   int64  `json:"elapsed_ms"`
}

// stream posts a request and copies the texts of the answer, as records if asRecords is set.
func stream(protocol, url string, asRecords bool) {
	resp, err := http.Post(url, "application/json", bytes.NewReader([]byte(`{"model":"x","stream":true,"messages":[{"role":"user","content":"hi"}]}`)))
	fail(err)
	defer resp.Body.Close()
	out := bufio.NewWriterSize(os.Stdout, 1)
	began, seq := time.Now(), 0
	write := func(text string) {
		if !asRecords {
			out.WriteString(text)
			return
		}
		now := time.Now()
		fail(json.NewEncoder(out).Encode(record{"message", now.UTC().Format("2006-01-02T15:04:05.000Z"), "assistant", text, true, seq, now.Sub(began).Milliseconds()}))
		seq++
	}
	for r := bufio.NewReaderSize(resp.Body, 1<<16); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if protocol != "ollama" && (!ok || data[0] != '{') {
			continue
		}
		switch protocol {
		case "gemini":
			var chunk struct{ Candidates []struct{ Content content } }
			fail(json.Unmarshal(data, &chunk))
			for _, c := range chunk.Candidates {
				for _, p := range c.Content.Parts {
					write(p.Text)
				}
			}
		case "openai":
			var chunk struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			fail(json.Unmarshal(data, &chunk))
			for _, c := range chunk.Choices {
				write(c.Delta.Content)
			}
		case "anthropic":
			var chunk struct{ Delta struct{ Text string } }
			fail(json.Unmarshal(data, &chunk))
			write(chunk.Delta.Text)
		case "ollama":
			var chunk struct{ Message struct{ Content string } }
			fail(json.Unmarshal(line, &chunk))
			write(chunk.Message.Content)
		}
		out.Flush()
	}
	out.WriteString("\n")
	out.Flush()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// parse reads one value after the other, and keeps none.
func parse(path string) {
	f, err := os.Open(path)
	fail(err)
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	n := 0
	for ; d.More(); n++ {
		var line json.RawMessage
		fail(d.Decode(&line))
	}
	fmt.Println(n)
}
