// Say says each argument to gemline and prints the answers. DECISION says what needs approval.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
)

type record = map[string]any // a line, of either side

type client struct {
	in  *json.Encoder
	out *json.Decoder
}

// say says a text and writes the answer to w. Decide returns allow or deny for a call.
func (c client) say(text string, w io.Writer, decide func(record) string) (err error) {
	for line := (record{"type": "user", "content": text}); err == nil; {
		if line != nil {
			c.in.Encode(line)
		}
		r := record{}
		line, err = nil, c.out.Decode(&r)
		switch r["type"] {
		case "message":
			if piece, _ := r["content"].(string); r["role"] == "assistant" {
				io.WriteString(w, piece)
			}
		case "approval_request":
			line = record{"type": "approval", "id": r["id"], "decision": decide(r)}
		case "question":
			line = record{"type": "answer", "id": r["id"], "answers": []string{}}
		case "turn_result":
			return nil
		}
	}
	return err
}

func main() {
	cmd := exec.Command(cmp.Or(os.Getenv("GEMLINE"), "gemline"), "--input-format", "stream-json")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	c, err := client{json.NewEncoder(in), json.NewDecoder(out)}, cmd.Start()
	for _, text := range os.Args[1:] {
		err = cmp.Or(err, c.say(text, os.Stdout, func(record) string { return cmp.Or(os.Getenv("DECISION"), "deny") }))
		fmt.Println()
	}
	in.Close()
	io.Copy(io.Discard, out)
	if err = cmp.Or(err, cmd.Wait()); err != nil {
		log.Fatal(err)
	}
}
