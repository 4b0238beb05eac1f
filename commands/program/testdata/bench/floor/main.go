// Floor does the wire work of one turn with the standard library and nothing
// else: what a program in Go can hardly be faster than.
//
//	floor URL [STEPS [once]]
//	floor parse FILE
//
// It posts a request, copies the texts of the streamed answer to standard
// output, and, given STEPS, reads a file and posts again that many times. It encodes the
// whole conversation each time or, if that is wanted, what is new of it once. The second
// looks through a file of JSON lines.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
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
